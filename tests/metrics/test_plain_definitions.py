"""
The sixteen metrics against their plain definitions.
"""

from __future__ import annotations

import gzip
import importlib.util
import itertools
import json
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rageval_trace import Context, EvalConfig, EvalRecord, evaluate_record

TESTS = Path(__file__).resolve().parents[1]
RECORDS = TESTS.parents[1] / "shared" / "bench" / "records_cold.jsonl.gz"
CONFIG = EvalConfig(now=1_796_000_000)


def plain_metrics() -> ModuleType:
    spec = importlib.util.spec_from_file_location("plain_metrics", TESTS / "bench" / "plain_metrics.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PLAIN = plain_metrics()


def differences(record: EvalRecord) -> list[str]:
    results = evaluate_record(record, CONFIG, metrics=PLAIN.PLAIN).results
    found = []
    for name, compute in PLAIN.PLAIN.items():
        expected, score = compute(record, CONFIG), results[name].score
        undefined = expected is None or score is None
        if (expected is not score) if undefined else abs(expected - score) >= 1e-12:
            found.append(f"{name}: {score}, not {expected}")
    return found


WORDS = st.sampled_from(
    "nile river spain the is 6,650 6650 long caf\u00e9 \u6771\u4eac it's 3.5 not kilometres".split()
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=8).map(lambda words: " ".join(words).capitalize() + ".")
TEXTS = st.lists(SENTENCES, min_size=1, max_size=4).map(" ".join)


@given(st.builds(EvalRecord, TEXTS, st.lists(TEXTS, min_size=1, max_size=4), TEXTS, TEXTS))
def test_random_records_score_by_the_definitions(record: EvalRecord) -> None:
    """Whatever the words, every metric equals its plain definition to 1e-12."""
    contexts = [Context(f"d{rank % 3}", one.text, timestamp=1_795_000_000) for rank, one in enumerate(record.contexts)]
    labelled = EvalRecord(
        record.question, contexts, record.answer, record.ground_truth, {"d0", "d7"}, ("d1",) if contexts else None
    )
    assert [] == differences(labelled)


@pytest.mark.slow
def test_real_records_score_by_the_definitions() -> None:
    """2,000 records of real text, Unicode included, equal the plain definitions to 1e-12."""
    if not RECORDS.exists():
        pytest.skip("the benchmark's records are not beside this checkout")
    with gzip.open(RECORDS, "rt", encoding="utf-8") as lines:
        for row in itertools.islice(lines, 2000):
            assert [] == differences(PLAIN.record_of(json.loads(row)))
