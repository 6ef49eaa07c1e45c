"""
Near duplicates: what counts as one, and in how much memory.
"""

from __future__ import annotations

import random

import pytest

from rageval_trace.live.captures.duplicates import Duplicates
from rageval_trace.text import tokenize

LONG = " ".join([f"word{number}" for number in range(120)])


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("How tall is it?", "how tall  is it", True),
        ("How tall is it?", "How old is it?", False),
        ("It costs 12 euros.", "It costs 13 euros.", False),
        (LONG, f"{LONG} indeed", True),
        (LONG, f"{LONG} {LONG.replace('word', 'other')}", False),
        ("", "", True),
    ],
)
def test_what_counts_as_a_near_duplicate(first: str, second: str, same: bool) -> None:
    """Case, punctuation and a word in a hundred do not matter; a word in a short sentence does."""
    seen = Duplicates(10)

    assert seen.first("kind", tokenize(first), "a") is None
    assert ("a" if same else None) == seen.first("kind", tokenize(second), "b")
    assert seen.first("other kind", tokenize(first), "c") is None


def test_memory_is_bounded() -> None:
    """Only the texts seen last are remembered; of size 0, none."""
    seen, none = Duplicates(3), Duplicates(0)
    for number in range(50):
        assert seen.first(None, [f"text{number}", "of", "words"], str(number)) is None
        assert none.first(None, ["the", "same"], "x") is None

    assert "49" == seen.first(None, ["text49", "of", "words"], "again")
    assert seen.first(None, ["text0", "of", "words"], "again") is None
    assert (6, 0) == (len(seen._seen), len(none._seen))


def test_most_near_duplicates_are_found() -> None:
    """Of a thousand answers with one word of two hundred changed, at least nineteen in twenty are told."""
    chance = random.Random(7)  # noqa: S311 - a simulation
    found = 0
    for number in range(1000):
        words = [f"w{chance.randrange(10**6)}" for _ in range(200)]
        seen = Duplicates(4)
        seen.first(None, words, str(number))
        words[chance.randrange(200)] = "changed"
        found += seen.first(None, words, "again") is not None

    assert found >= 950
