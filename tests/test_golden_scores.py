"""
Golden scores: a value that changes here changes the scoring version.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from rageval_trace import SCORING_VERSION, EvalConfig, EvalRecord, evaluate_record
from rageval_trace.stopwords import ENGLISH

PATH = Path(__file__).parent / "golden" / "scores.json"
CONFIG = EvalConfig(now="2026-08-21T12:00:00Z")
METRICS = (
    "faithfulness context_precision context_recall answer_relevance freshness hit_rate precision recall mrr ndcg "
    "groundedness hallucination_rate context_utilisation citation_accuracy citation_coverage answer_correctness"
).split()


def scored(record: dict[str, Any]) -> dict[str, float | None]:
    results = evaluate_record(EvalRecord(**record), CONFIG, metrics=METRICS).results
    assert {None} == {result.error_type for result in results.values()}
    return {name: None if result.score is None else round(result.score, 12) for name, result in results.items()}


def test_golden_scores() -> None:
    """
    The scores of a handful of records stand as written.

    When one moves on purpose: raise SCORING_VERSION, write a "Scores" section into the CHANGELOG, and write the file
    anew with UPDATE_GOLDEN=1.
    """
    golden = json.loads(PATH.read_text(encoding="utf-8"))
    found = {
        "scoring_version": SCORING_VERSION,
        "stopwords": len(ENGLISH),
        "cases": [{"record": case["record"], "scores": scored(case["record"])} for case in golden["cases"]],
    }
    if os.environ.get("UPDATE_GOLDEN"):
        PATH.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert golden == found


def test_golden_records_define_every_metric() -> None:
    """Each of the sixteen has a value somewhere, and is undefined somewhere."""
    cases = json.loads(PATH.read_text(encoding="utf-8"))["cases"]
    for name in METRICS:
        values = [case["scores"][name] for case in cases]
        assert any(value is not None for value in values), name
        assert None in values, name
