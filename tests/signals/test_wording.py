"""
Which sentences claim nothing, and which words only point at contexts.
"""

from __future__ import annotations

import pytest

from rageval_trace.signals.wording import declares_a_gap, is_filler, strip_references
from rageval_trace.text import tokenize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Here is a summary of the report:", True),
        ("以下是摘要：", True),
        ("**Opening hours**", True),
        ("Sure!", True),
        ("Let me know if you need anything else.", True),
        ("I hope this helps!", True),
        ("The bridge opened in 1932.", False),
        ("**The bridge opened in 1932 after eight long years of work by many hands**", False),
        ("Of course the bridge is closed at night.", False),
    ],
)
def test_fillers(text: str, expected: bool) -> None:
    """A lead-in, a bold title and a pleasantry claim nothing; a statement does."""
    assert expected == is_filler(text, tokenize(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Passage 2 does not mention a price.", True),
        ("The context doesn\u2019t specify the year.", True),
        ("There is no information on opening hours.", True),
        ("It is not possible to determine the date.", True),
        ("I could not find the answer.", True),
        ("The documents give the year 1932.", False),
        ("The bridge does not open at night.", False),
        ("The document is not new.", False),
    ],
)
def test_declared_gaps(text: str, expected: bool) -> None:
    """Saying what the contexts do not tell is recognised; a plain denial is not."""
    assert expected == declares_a_gap(text, tokenize(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("According to passage 2, it opened in 1932.", ", it opened in 1932."),
        ("It opened in 1932 (Document 3).", "It opened in 1932 ."),
        ("Passages 1 and 2 agree.", "agree."),
        ("It has 2 arches.", "It has 2 arches."),
    ],
)
def test_references_are_stripped(text: str, expected: str) -> None:
    """A context's number leaves the sentence; other numbers stay."""
    assert expected == strip_references(text, tokenize(text)).strip().replace("  ", " ")
