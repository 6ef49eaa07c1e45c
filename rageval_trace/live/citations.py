"""
Structured citations, as models and answer schemas give them, resolved to context ids.

Marks in the text, such as `[1]`, are read by the harness itself; what is found here takes their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rageval_trace.models import Context

__all__ = ["Citation", "resolve"]

_MAX_CITATIONS = 200
_MIN_QUOTE_CHARS = 8


@dataclass(frozen=True, slots=True)
class Citation:
    """
    One citation.

    Args:
        rank: The 1-based rank of the context it names; None when it names none by number.
        keys: Ids, sources or titles by which it may name one.
        quote: The words that it quotes; None without.
    """

    rank: int | None = None
    keys: tuple[str, ...] = ()
    quote: str | None = None


def resolve(citations: Iterable[Citation], contexts: Sequence[Context]) -> tuple[str, ...] | None:
    """
    Return the ids of the cited contexts, each once, in order of appearance.

    A citation is resolved by the first of: a context with its id, source or title; the context that holds its quote;
    the context of its rank. One that names what was never retrieved stands with the name it gives, and so counts as
    inaccurate.

    Returns:
        None without any citation that says what it cites.
    """
    ids = [context.id or str(rank) for rank, context in enumerate(contexts, 1)]
    named: dict[str, str] = {}
    for name, context in zip(ids, contexts, strict=True):
        for key in (name, context.source, context.metadata.get("title")):
            if isinstance(key, str) and key:
                named.setdefault(key, name)
    found: dict[str, None] = {}
    for citation in list(citations)[:_MAX_CITATIONS]:
        cited = _resolve(citation, ids, named, contexts)
        if cited is not None:
            found.setdefault(cited)
    return tuple(found) or None


def _resolve(citation: Citation, ids: Sequence[str], named: dict[str, str], contexts: Sequence[Context]) -> str | None:
    for key in citation.keys:
        if key in named:
            return named[key]
    quote = (citation.quote or "").strip()
    if len(quote) >= _MIN_QUOTE_CHARS:
        for name, context in zip(ids, contexts, strict=True):
            if quote in context.text:
                return name
    rank = citation.rank
    if rank is not None:
        return ids[rank - 1] if 1 <= rank <= len(ids) else str(rank)
    return citation.keys[0] if citation.keys else None
