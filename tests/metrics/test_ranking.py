"""
Ranking metrics by hand: cut-off, grades, duplicates, made-up ids.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from rageval_trace import Context, EvalConfig, EvalRecord
from rageval_trace.metrics import get

NAMES = ("hit_rate", "precision", "recall", "mrr", "ndcg")


def d(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def values(ids: str, relevant: Any, k: int = 5) -> list[float | None]:
    ranked = [Context(key, "text") for key in ids]
    record = EvalRecord("q", contexts=ranked, relevant_ids=relevant)
    return [get(name).compute(record, EvalConfig(k=k)).score for name in NAMES]


@pytest.mark.parametrize(
    ("ids", "relevant", "k", "expected"),
    [
        ("abcde", {"a"}, 5, [1, 1 / 5, 1, 1, 1]),
        ("abcde", {"c"}, 5, [1, 1 / 5, 1, 1 / 3, d(3)]),
        ("abcde", {"b", "e", "z"}, 5, [1, 2 / 5, 2 / 3, 1 / 2, (d(2) + d(5)) / (d(1) + d(2) + d(3))]),
        ("abcdef", {"f"}, 5, [0, 0, 0, 0, 0]),
        ("abcdef", {"f"}, 6, [1, 1 / 6, 1, 1 / 6, d(6)]),
        ("a", {"a"}, 5, [1, 1 / 5, 1, 1, 1]),
        ("", {"a"}, 5, [0, 0, 0, 0, 0]),
        ("ab", {"a", "b", "c"}, 1, [1, 1, 1 / 3, 1, 1]),
        ("aab", {"a"}, 3, [1, 1 / 3, 1, 1, 1]),
        ("aab", {"a", "b"}, 3, [1, 2 / 3, 1, 1, 1]),
        ("ab", {"a": 1, "b": 3}, 5, [1, 2 / 5, 1, 1, (1 + 3 * d(2)) / (3 + 1 * d(2))]),
        ("ab", {"a": 0, "b": 2}, 5, [1, 1 / 5, 1, 1 / 2, d(2)]),
        ("ab", {"a": -1, "b": 2}, 5, [1, 1 / 5, 1, 1 / 2, d(2)]),
        ("abc", {"a": 0.5, "c": 0.5}, 2, [1, 1 / 2, 1 / 2, 1, 1 / (1 + d(2))]),
    ],
)
def test_values_by_hand(ids: str, relevant: Any, k: int, expected: list[float]) -> None:
    """Hit rate, precision, recall, MRR and nDCG at k are those worked out by hand."""
    assert values(ids, relevant, k) == pytest.approx(expected, abs=1e-12)


def test_a_made_up_id_never_matches() -> None:
    """A chunk without an id gets its rank as id, fills that rank, and is never relevant."""
    record = EvalRecord("q", contexts=["one", Context("", "two"), Context("3", "three")], relevant_ids={"1", "2", "3"})
    assert ["1", "2", "3"] == [chunk.id for chunk in record.contexts or ()]
    scores = {name: get(name).compute(record).score for name in NAMES}
    assert scores == pytest.approx(
        {"hit_rate": 1, "precision": 1 / 5, "recall": 1 / 3, "mrr": 1 / 3, "ndcg": d(3) / (d(1) + d(2) + d(3))}
    )


def test_a_number_as_id_matches_its_text() -> None:
    """Ids are compared as strings, whatever the retriever gave."""
    record = EvalRecord("q", contexts=[Context(7, "x"), {"id": 0, "text": "y"}], relevant_ids=[7, 0])
    assert get("recall").compute(record).score == 1.0


def test_missing_ids_are_named_in_order() -> None:
    """Recall lists the relevant ids that the top k lacks, sorted."""
    record = EvalRecord("q", contexts=[Context("b", "x"), Context("z", "x")], relevant_ids={"c", "b", "a", "z"})
    assert get("recall").compute(record, EvalConfig(k=1)).details["missing"] == ["a", "c", "z"]


def test_deep_rankings_pass_the_table_of_discounts() -> None:
    """Ranks past the precomputed ones have the same formula."""
    ids = [f"d{n}" for n in range(100)]
    record = EvalRecord("q", contexts=[Context(key, "x") for key in ids], relevant_ids={"d0", "d80"})
    expected = (d(1) + d(81)) / (d(1) + d(2))
    assert get("ndcg").compute(record, EvalConfig(k=100)).score == pytest.approx(expected)
    every = EvalRecord("q", contexts=record.contexts, relevant_ids=set(ids))
    assert get("ndcg").compute(every, EvalConfig(k=100)).score == pytest.approx(1.0)
