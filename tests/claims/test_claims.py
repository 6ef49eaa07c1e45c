"""
Claims: which sentences are claims, what their citation marks are, and what the marks point to.
"""

from __future__ import annotations

import pytest

from rageval_trace.claims import Claim, read_citations, split_claims


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The lake is deep [1].", [("The lake is deep.", ("1",))]),
        ("The lake is deep.[1]", [("The lake is deep.", ("1",))]),
        ("The lake is deep. [2, 3] It is cold.", [("The lake is deep.", ("2", "3")), ("It is cold.", ())]),
        ("The lake [1] is deep [2-4].", [("The lake is deep.", ("1", "2", "3", "4"))]),
        ("The lake is deep [4-2].", [("The lake is deep.", ("4-2",))]),
        ("The lake is deep\u30104\u3011.", [("The lake is deep.", ("4",))]),
        ("The lake is deep\u30104\u2020survey.pdf\u3011.", [("The lake is deep.", ("4",))]),
        ("The lake is deep (source: survey).", [("The lake is deep.", ("survey",))]),
        ("The lake is deep [Source: a; b].", [("The lake is deep.", ("a", "b"))]),
        ("The lake is deep (source: a, ).", [("The lake is deep.", ("a",))]),
        ("The lake is deep (see sources: a).", [("The lake is deep.", ("a",))]),
        ("The lake is deep.[^7]", [("The lake is deep.", ("7",))]),
        ("The lake is deep [survey].", [("The lake is deep.", ("survey",))]),
        ("The lake is deep [survey, chart].", [("The lake is deep.", ("survey", "chart"))]),
        ("The lake is deep [survey, not an id].", [("The lake is deep [survey, not an id].", ())]),
        ("The lake [sic] is deep.", [("The lake [sic] is deep.", ())]),
        ("The [survey](https://example.org/s) says deep.", [("The survey says deep.", ())]),
        ("The lake is deep (and cold).", [("The lake is deep (and cold).", ())]),
        ("The lake is deep.\n[1]", [("The lake is deep.", ("1",))]),
        ("[1]\nThe lake is deep.", [("The lake is deep.", ("1",))]),
        ("The lake is deep.\n\nSources: [1], [2]", [("The lake is deep.", ("1", "2"))]),
        ("[3] The lake is deep.", [("The lake is deep.", ("3",))]),
        ("The lake is deep [1][2].", [("The lake is deep.", ("1", "2"))]),
        ("The lake is deep [12345].", [("The lake is deep [12345].", ())]),
    ],
)
def test_marks_are_taken_out(answer: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    """A citation mark leaves the claim's text and is kept beside it; other brackets stay."""
    claims = split_claims(answer, ids={"survey", "chart"})
    assert expected == [(claim.text, claim.marks) for claim in claims]


def test_a_claim_keeps_its_tokens() -> None:
    """The tokens of a claim are those of its text without marks."""
    assert (Claim("The lake's deep.", ("1",), ("the", "lake", "deep")),) == split_claims("The lake's deep [1].")


@pytest.mark.parametrize("answer", ["", "  ", "...", "It is.", "\U0001f44d", "# The lake\n", "[1]", "I don't know."])
def test_nothing_said_is_no_claim(answer: str) -> None:
    """A sentence without a content token, a heading, and an abstention are no claims."""
    assert split_claims(answer) == ()


def test_stopwords_decide_what_is_content() -> None:
    """Other stopwords make other sentences into claims."""
    assert [claim.text for claim in split_claims("It is. The lake.", stopwords=frozenset({"lake", "the"}))] == [
        "It is."
    ]


@pytest.mark.parametrize(
    ("marks", "ids", "expected"),
    [
        ((), ["a"], None),
        (("1",), ["a", "b"], ("a",)),
        (("b", "1", "b"), ["a", "b"], ("b", "a")),
        (("1",), ["2", "1"], ("1",)),
        (("0", "3", "x"), ["a", "b"], None),
        (("3", "2"), ["a", "b"], ("b",)),
        (("1",), [], None),
    ],
)
def test_marks_map_to_ids_then_ranks(marks: tuple[str, ...], ids: list[str], expected: tuple[str, ...] | None) -> None:
    """A mark is an id, else a 1-based rank; one that is neither is no citation."""
    assert expected == read_citations(marks, ids)
