"""
Structured citations and the contexts they name.
"""

from __future__ import annotations

import pytest

from rageval_trace.live.citations import Citation, resolve
from rageval_trace.models import Context

CONTEXTS = (
    Context("a", "The tower is 82 metres tall.", source="guide.md"),
    Context("", "It opens at nine.", metadata={"title": "Hours"}),
    Context("c", "It is red.", source="guide.md"),
)


@pytest.mark.parametrize(
    ("citations", "expected"),
    [
        ([], None),
        ([Citation()], None),
        ([Citation(rank=1), Citation(rank=2), Citation(rank=1)], ("a", "2")),
        ([Citation(rank=9)], ("9",)),
        ([Citation(rank=0)], ("0",)),
        ([Citation(keys=("c",))], ("c",)),
        ([Citation(keys=("guide.md",))], ("a",)),
        ([Citation(keys=("unknown", "Hours"))], ("2",)),
        ([Citation(keys=("https://elsewhere.example",))], ("https://elsewhere.example",)),
        ([Citation(rank=1, quote="It opens at nine")], ("2",)),
        ([Citation(rank=3, quote="It is")], ("c",)),
        ([Citation(rank=3, keys=("a",), quote="It opens at nine")], ("a",)),
        ([Citation(quote="never said anywhere")], None),
    ],
)
def test_citations_are_resolved(citations: list[Citation], expected: tuple[str, ...] | None) -> None:
    """
    By name, then by quote, then by rank; what was never retrieved keeps the name it gives.
    """
    assert expected == resolve(citations, CONTEXTS)


def test_without_contexts_names_stand() -> None:
    """
    An empty retrieval makes every citation an unknown one.
    """
    assert ("a", "1") == resolve([Citation(keys=("a",)), Citation(rank=1)], ())
