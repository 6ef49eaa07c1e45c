"""
The encoded contexts against plain definitions of their shares.
"""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from rageval_trace.signals.evidence import Evidence, beginning

WORDS = st.sampled_from(["alpha", "alphabet", "beta", "gamma", "12", "12000", "120001", "z\u00fcrich", "zurich", "the"])
TEXTS = st.lists(st.lists(WORDS, max_size=40), max_size=4)
CLAIM = st.lists(WORDS, max_size=8)


def missing(evidence: Evidence, words: list[str]) -> list[bool]:
    """Tell of each word whether it is not held."""
    return [word not in evidence.held for word in words]


def plain_neighbours(contexts: list[list[str]], claim: list[str]) -> float:
    """Count by lists of pairs of word beginnings."""
    known = [tuple(map(beginning, pair)) for text in contexts for pair in itertools.pairwise(text)]
    words = {beginning(word) for text in contexts for word in text}
    if len(claim) < 2:
        return float(bool(claim) and beginning(claim[0]) in words)
    pairs = list(itertools.pairwise(claim))
    return sum(tuple(map(beginning, pair)) in known for pair in pairs) / len(pairs)


def plain_near(contexts: list[list[str]], claim: list[str]) -> float:
    """Look for two words in the same or neighbouring blocks of twelve tokens of one context."""

    def near(first: str, second: str) -> bool:
        for text in contexts:
            at = {
                word: [i // 12 for i, token in enumerate(text) if beginning(token) == word] for word in (first, second)
            }
            if any(abs(here - there) <= 1 for here in at[first] for there in at[second]):
                return True
        return False

    words = [beginning(word) for word in claim]
    pairs = [pair for pair in itertools.pairwise(words) if pair[0] != pair[1]]
    if pairs:
        return sum(near(*pair) for pair in pairs) / len(pairs)
    held = {beginning(word) for text in contexts for word in text}
    return sum(word in held for word in words) / len(words) if words else 0.0


@given(TEXTS, CLAIM)
def test_neighbours_are_those_of_the_plain_definition(contexts: list[list[str]], claim: list[str]) -> None:
    """The share of neighbours is the plain definition's."""
    assert plain_neighbours(contexts, claim) == Evidence(contexts, claim).share_of_neighbours(claim)


@given(TEXTS, CLAIM)
def test_nearness_is_that_of_the_plain_definition(contexts: list[list[str]], claim: list[str]) -> None:
    """The share of near words is the plain definition's."""
    assert plain_near(contexts, claim) == Evidence(contexts, claim).share_near(claim)


@given(TEXTS, CLAIM)
def test_known_pairs_change_nothing(contexts: list[list[str]], claim: list[str]) -> None:
    """Told which pairs of tokens stand together, the evidence gives the same shares without searching for them."""
    together = {pair for text in contexts for pair in itertools.pairwise(text)}
    evidence = Evidence(contexts, claim, together=together)
    assert plain_neighbours(contexts, claim) == evidence.share_of_neighbours(claim)
    assert plain_near(contexts, claim) == evidence.share_near(claim)


def test_a_long_claim_is_searched_like_a_short_one() -> None:
    """With more pairs than are searched one by one the shares stay those of the plain definitions."""
    text = [f"w{number * number % 397}" for number in range(3000)]
    claim = [f"w{number**3 % 401}" for number in range(900)]
    assert plain_neighbours([text], claim) == Evidence([text], claim).share_of_neighbours(claim)
    assert plain_near([text], claim[:200]) == Evidence([text], claim).share_near(claim[:200])


@given(TEXTS, CLAIM)
def test_missing_words_are_those_that_no_context_begins(contexts: list[list[str]], claim: list[str]) -> None:
    """A word is missing when no context has a word that begins like it."""
    held = {beginning(word) for text in contexts for word in text}
    assert [beginning(word) not in held for word in claim] == missing(Evidence(contexts, claim), claim)


def test_accents_are_folded_and_other_marks_kept() -> None:
    """An accented word meets its plain form; Devanagari vowel signs stay."""
    assert "zuric" == beginning("z\u00fcrich")
    assert "\u0939\u093f\u0928\u094d\u0926" == beginning("\u0939\u093f\u0928\u094d\u0926\u0940")
    assert "\u0301" == beginning("\u0301")


def test_words_asked_about_elsewhere_are_not_held() -> None:
    """A word that was never wanted is not held."""
    assert frozenset() == Evidence([["alpha"]], ["beta"]).held


def test_a_short_word_meets_its_plural() -> None:
    """A word of less than five letters and its plural meet both ways; others need the same beginning."""
    evidence = Evidence([["flows", "dam", "glass"]], ["flow", "dams", "glas", "flown"])
    assert [False, False, False, True] == missing(evidence, ["flow", "dams", "glas", "flown"])
