"""
The steps of scoring under pytest-benchmark, for who changes one of them:

    pytest tests/bench/bench_scoring.py --benchmark-sort=name

The name keeps it out of the usual run. `table.py` prints the figures that compare with other packages.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from plain_metrics import record_of
from prose import SIXTEEN, pages, sentences

from rageval_trace import EvalConfig, EvalRecord, evaluate_record
from rageval_trace.claims import split_claims
from rageval_trace.metrics import workspace
from rageval_trace.text import tokenize
from rageval_trace.tokenized import TokenCache

PAGES = pages(200)
CONFIG = EvalConfig(now=1_796_000_000)  # type: ignore[arg-type]  # any timestamp is read


@pytest.fixture
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read every text anew."""
    monkeypatch.setattr(workspace, "_cache", TokenCache(0))


def in_turn(act: Callable[[Any], object], things: list[Any]) -> Callable[[], object]:
    """Return what acts on the next of the things each time."""
    turn = 0

    def act_on_next() -> object:
        nonlocal turn
        turn = (turn + 1) % len(things)
        return act(things[turn])

    return act_on_next


@pytest.mark.parametrize("names", [SIXTEEN, ["hallucination_risk"], [*SIXTEEN, "hallucination_risk"]], ids=len)
@pytest.mark.usefixtures("no_cache")
def test_metrics(benchmark: Any, names: list[str]) -> None:
    """One record of five passages, read for the first time."""
    records = [record_of(page) for page in PAGES]
    benchmark(in_turn(lambda record: evaluate_record(record, CONFIG, metrics=names), records))


@pytest.mark.parametrize("beyond", ["", "\u00e9 "], ids=["ascii", "unicode"])
def test_tokens(benchmark: Any, beyond: str) -> None:
    """One passage of about 775 characters."""
    benchmark(in_turn(tokenize, [beyond + one["text"] for page in PAGES for one in page["retrieved_contexts"]]))


def test_claims(benchmark: Any) -> None:
    """One answer of three sentences."""
    benchmark(in_turn(split_claims, [page["answer"] for page in PAGES]))


@pytest.mark.usefixtures("no_cache")
def test_a_megabyte(benchmark: Any) -> None:
    """One passage of a megabyte, with all default metrics."""
    import random

    text = sentences(1_000_000, random.Random(1))  # noqa: S311 - a fixed choice
    record = EvalRecord("What is the monthly fee?", [text], "The fee is 50 euros in Oslo.")
    benchmark.pedantic(evaluate_record, (record, CONFIG), rounds=3)
