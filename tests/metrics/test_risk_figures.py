"""
The risk on the labelled development answers, which are not part of the repository.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rageval_trace import EvalRecord, evaluate_record

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "groundedness"
FLOORS = {
    "ragtruth_qa": 0.80,
    "ragtruth_summary": 0.70,
    "ragtruth_data2txt": 0.83,
    "mtrag": 0.92,
    "expertqa": 0.61,
    "wice": 0.78,
    "begin": 0.93,
    "halueval_qa": 0.95,
    "summedits": 0.54,
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not DATA.is_dir(), reason="the labelled answers lie beside the repository on some machines only"
    ),
]


def scored(name: str) -> Iterator[tuple[int, float, float]]:
    """Yield label, risk and faithfulness of each answer that has a risk."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            record = EvalRecord(row["question"], row["contexts"], row["answer"])
            results = evaluate_record(record, metrics=["hallucination_risk", "faithfulness"]).results
            risk, faithfulness = results["hallucination_risk"].score, results["faithfulness"].score
            if risk is not None and faithfulness is not None:
                yield row["label"], risk, faithfulness


def auroc(labelled: list[tuple[int, float]]) -> float:
    """Return the probability that an answer with label 0 has a higher value than one with label 1."""
    values = sorted({value for _, value in labelled})
    good = dict.fromkeys(values, 0)
    bad = dict.fromkeys(values, 0)
    for label, value in labelled:
        (good if label else bad)[value] += 1
    below = won = 0.0
    for value in values:
        won += bad[value] * (below + good[value] / 2)
        below += good[value]
    return won / (sum(bad.values()) * sum(good.values()))


@pytest.mark.parametrize("name", FLOORS)
def test_the_risk_ranks_as_documented(name: str) -> None:
    """On each set the risk keeps its documented AUROC, and is not more than .01 under the faithfulness formula."""
    rows = list(scored(name))
    value = auroc([(label, risk) for label, risk, _ in rows])
    assert value >= FLOORS[name]
    assert value >= auroc([(label, 1 - faithfulness) for label, _, faithfulness in rows]) - 0.01
