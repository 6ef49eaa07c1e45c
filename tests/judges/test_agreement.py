"""
The figures of agreement, against values known otherwise.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rageval_trace.judges.agreement import Confusion, auroc, confusion


def test_confusion_counts_pairs() -> None:
    """
    Each pair falls into its cell, the reference first.
    """
    reference = [True, True, True, False, False]
    assert Confusion(both=1, missed=2, false=1, neither=1) == confusion(reference, [True, False, False, True, False])


@pytest.mark.parametrize(
    ("cells", "accuracy", "kappa"),
    [
        ((20, 5, 10, 15), 0.7, 0.4),  # a textbook's example of Cohen's kappa
        ((45, 15, 25, 15), 0.6, 0.1304),
        ((10, 0, 0, 10), 1.0, 1.0),
        ((0, 10, 10, 0), 0.0, -1.0),
        ((10, 0, 0, 0), 1.0, None),
        ((0, 10, 0, 0), 0.0, 0.0),
        ((0, 0, 0, 0), None, None),
    ],
)
def test_kappa_of_known_tables(cells: tuple[int, ...], accuracy: float | None, kappa: float | None) -> None:
    """
    Kappa is agreement beyond chance, and undefined where chance alone always agrees.
    """
    table = Confusion(*cells)
    assert accuracy == table.accuracy
    assert kappa == (None if table.kappa is None else pytest.approx(table.kappa, abs=1e-4))


@pytest.mark.parametrize(
    ("labels", "scores", "expected"),
    [
        ([True, False], [0.9, 0.1], 1.0),
        ([True, False], [0.1, 0.9], 0.0),
        ([True, False], [0.5, 0.5], 0.5),
        ([True, True, False, False], [0.8, 0.4, 0.6, 0.2], 0.75),
        ([True, True], [0.1, 0.2], None),
        ([], [], None),
    ],
)
def test_auroc_of_known_rankings(labels: list[bool], scores: list[float], expected: float | None) -> None:
    """
    The area is the share of pairs in the right order, ties half, and undefined for one class.
    """
    assert expected == auroc(labels, scores)


ITEMS = st.lists(st.tuples(st.booleans(), st.integers(0, 5)), max_size=40)


def split(items: list[tuple[bool, int]]) -> tuple[list[int], list[int], float | None]:
    found = auroc([label for label, _ in items], [float(score) for _, score in items])
    return [score for label, score in items if label], [score for label, score in items if not label], found


@given(ITEMS)
@settings(deadline=None)
def test_auroc_equals_the_count_of_pairs(items: list[tuple[bool, int]]) -> None:
    """
    The rank sum gives what counting all pairs gives.
    """
    yes, no, found = split(items)
    pairs = sum([(left > right) + 0.5 * (left == right) for left in yes for right in no])
    assert found == (pytest.approx(pairs / (len(yes) * len(no))) if yes and no else None)


def test_auroc_equals_scipys_statistic() -> None:
    """
    The area is Mann and Whitney's U by the number of pairs, as scipy computes it.
    """
    stats: Any = pytest.importorskip("scipy.stats")
    items = [(bool(number % 3), (number * 7) % 11) for number in range(50)]
    yes, no, found = split(items)
    assert found == pytest.approx(stats.mannwhitneyu(yes, no).statistic / (len(yes) * len(no)))
