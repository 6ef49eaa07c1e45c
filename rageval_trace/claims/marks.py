"""
Citation marks: what they look like, what stands in them, and the ids that they point to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

__all__ = ["MARK", "is_footer", "may_hold_marks", "read_citations", "take_marks"]

_NUMBERS = r"\[\d{1,3}(?:\s*[,;\u2013-]\s*\d{1,3})*\]"
# `[1]`, `[2, 3]`, `[4-6]`, `[^7]`, lenticular brackets, `(source: x)`.
MARK = (
    rf"(?:{_NUMBERS}|\[\^[\w-]{{1,20}}\]|\u3010[^\u3010\u3011\n]{{1,40}}\u3011"
    r"|[\[(](?i:source|sources|ref|refs|see source|see sources):\s*[^\])\n]{1,120}[\])])"
)
_ANY_MARK = re.compile(MARK)
_BRACKETED = re.compile(r"\[([^\[\]\n]{1,120})\](?!\()")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*\)")
_LABEL = re.compile(r"(?i)^(?:see )?(?:sources?|refs?):\s*")
_IN_PARENTHESES = ("(s", "(S", "(r", "(R")
_LOOSE_SPACE = re.compile(r"\s+(?=[.,;:!?](?:\s|$))|\s{2,}")
_FOOTER_WORDS = frozenset("source sources reference references citation citations see and".split())


def _parts(mark: str) -> list[str]:
    inner = _LABEL.sub("", mark[1:-1].strip()).lstrip("^").split("\u2020")[0]
    parts: list[str] = []
    for part in re.split(r"\s*[,;]\s*", inner.strip()):
        span = re.fullmatch(r"(\d{1,3})\s*[\u2013-]\s*(\d{1,3})", part)
        if span and 0 < int(span[2]) - int(span[1]) < 20:
            parts += [str(number) for number in range(int(span[1]), int(span[2]) + 1)]
        elif part:
            parts.append(part)
    return parts


def may_hold_marks(text: str) -> bool:
    """
    Tell whether a text holds what every citation mark begins with: cheap, and False for most answers.
    """
    return "[" in text or "\u3010" in text or ("(" in text and any([hint in text for hint in _IN_PARENTHESES]))


def take_marks(sentence: str, ids: Collection[str]) -> tuple[str, list[str]]:
    """
    Return the sentence without its citation marks, and what stood in them, in order.

    Args:
        sentence: One sentence.
        ids: Known context ids; a bracket that holds nothing else is a citation mark.
    """
    if not may_hold_marks(sentence):
        return sentence, []
    marks: list[str] = []

    def take(match: re.Match[str]) -> str:
        marks.extend(_parts(match[0]))
        return ""

    def take_id(match: re.Match[str]) -> str:
        parts = re.split(r"\s*[,;]\s*", match[1])
        return take(match) if all(part in ids for part in parts) else match[0]

    plain = _ANY_MARK.sub(take, _LINK.sub(r"\1", sentence) if "](" in sentence else sentence)
    if ids:
        plain = _BRACKETED.sub(take_id, plain)
    return (_LOOSE_SPACE.sub(lambda gap: " " if len(gap[0]) > 1 else "", plain).strip() if marks else plain), marks


def is_footer(tokens: Collection[str]) -> bool:
    """
    Tell whether what is left beside the marks only introduces them, as in "Sources: [1], [2]".
    """
    return _FOOTER_WORDS.issuperset(tokens)


def read_citations(marks: Sequence[str], ids: Sequence[str]) -> tuple[str, ...] | None:
    """
    Return the ids that citation marks point to, each once, in order of appearance.

    Args:
        marks: What stood in the marks, in order.
        ids: The contexts' ids in rank order; a mark is an id, or else a 1-based rank.

    Returns:
        The ids; None when no mark maps to a context.
    """
    found: dict[str, None] = {}
    for mark in marks:
        if mark in ids:
            found[mark] = None
        elif mark.isdecimal() and 1 <= int(mark) <= len(ids):
            found[ids[int(mark) - 1]] = None
    return tuple(found) or None
