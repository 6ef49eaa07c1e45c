"""
The overlap formulas by hand, and their laws.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rageval_trace.overlap import count_found, count_pairs_found, coverage, f1, mixed_precision

tokens = st.lists(st.sampled_from("abcde"), max_size=12)


@pytest.mark.parametrize(
    ("words", "vocabulary", "expected"), [("", "ab", 0), ("aab", "a", 2), ("aab", "", 0), ("abc", "cab", 3)]
)
def test_occurrences_are_counted(words: str, vocabulary: str, expected: int) -> None:
    """A token counts as often as it occurs."""
    assert expected == count_found(list(words), set(vocabulary))


@pytest.mark.parametrize(
    ("words", "chunks", "expected"),
    [
        ("abab", ["ab"], 2),
        ("abc", ["abc"], 2),
        ("abc", ["ab", "bc"], 2),
        ("ab", ["a", "b"], 0),
        ("ba", ["ab"], 0),
        ("a", ["aa"], 0),
        ("", ["ab"], 0),
        ("ab", [], 0),
        ("aaa", ["aa"], 2),
    ],
)
def test_pairs_stay_inside_a_chunk(words: str, chunks: list[str], expected: int) -> None:
    """Neighbours count when one chunk has them side by side in the same order; no pair spans two chunks."""
    assert expected == count_pairs_found(list(words), [list(chunk) for chunk in chunks])


@pytest.mark.parametrize(
    ("found", "pairs", "total", "expected"),
    [(0, 0, 0, 1.0), (1, 0, 1, 1.0), (0, 0, 1, 0.0), (4, 3, 4, 1.0), (2, 1, 5, 0.6 * 2 / 5 + 0.4 * 1 / 4)],
)
def test_mixed_precision_by_hand(found: int, pairs: int, total: int, expected: float) -> None:
    """0.6 of the tokens and 0.4 of the pairs; 1.0 for nothing, the tokens alone for one."""
    assert mixed_precision(found, pairs, total) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("wanted", "vocabulary", "expected"), [("", "a", 0.0), ("ab", "a", 0.5), ("ab", "abc", 1.0), ("ab", "", 0.0)]
)
def test_coverage_by_hand(wanted: str, vocabulary: str, expected: float) -> None:
    """The share of wanted words held; 0.0 when none is wanted."""
    assert expected == coverage(set(wanted), set(vocabulary))


@pytest.mark.parametrize(
    ("answer", "truth", "expected"),
    [("", "", (0.0, 0)), ("a", "", (0.0, 0)), ("a", "b", (0.0, 0)), ("aab", "ab", (0.8, 2)), ("ab", "ba", (1.0, 2))],
)
def test_f1_by_hand(answer: str, truth: str, expected: tuple[float, int]) -> None:
    """Shared occurrences, as multisets."""
    assert f1(list(answer), list(truth)) == pytest.approx(expected)


@given(tokens, tokens)
def test_f1_is_symmetric_and_in_range(one: list[str], other: list[str]) -> None:
    """F1 does not care which side is the truth."""
    assert f1(one, other) == pytest.approx(f1(other, one))
    assert 0.0 <= f1(one, other)[0] <= 1.0


@given(tokens, st.lists(tokens, max_size=3), tokens)
def test_another_chunk_never_lowers(answer: list[str], chunks: list[list[str]], extra: list[str]) -> None:
    """More text can only hold more."""
    more = [*chunks, extra]
    before, after = ({token for chunk in some for token in chunk} for some in (chunks, more))
    assert count_found(answer, before) <= count_found(answer, after)
    assert count_pairs_found(answer, chunks) <= count_pairs_found(answer, more)
