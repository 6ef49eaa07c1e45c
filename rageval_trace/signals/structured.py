"""
Structured contexts read as facts: JSON, `key: value` lines, pipe tables.

A fact has the words of its key (`attributes OutdoorSeating` gives *outdoor seating*) and a typed value: yes or no,
unknown, a span of opening hours, or text.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple

__all__ = ["Fact", "read_facts"]

_MAX_FACTS = 500
_MAX_VALUE = 120
_MAX_LINE = 300
_FEWEST_LINES = 3
# Keys come back from record to record; the words of those up to this length are kept.
_SHORT_KEY = 60

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_]+")
_LINE = re.compile(
    r"[ \t]*(?:[-*+] )?[\"'*_`]{0,3}([^\W\d_][\w .()/&-]{0,58}?)[\"'*_`]{0,3}[ \t]*[:=][ \t]*(.*?)[,;]?[ \t]*"
)
_UNKNOWN = frozenset(["none", "null", "nil", "n/a", "na", "unknown", "nan", "-", "", "[]", "{}"])
_YES = frozenset(["true", "yes", "y", "available", "free"])
_NO = frozenset(["false", "no", "n", "unavailable"])
_SPAN = re.compile(r"(\d{1,2}):(\d{1,2})\s*(?:-|\u2013|to)\s*(\d{1,2}):(\d{1,2})")


class Fact(NamedTuple):
    """
    One entry of a structured context.

    Args:
        label: Its key as written, with the keys above it.
        words: The words of the key itself, lower case.
        above: The words of the key above; empty at the top.
        kind: `flag` (value is a bool), `unknown` (value None), `hours` (value is two minutes after midnight), `text`.
        value: As the kind says.
    """

    label: str
    words: tuple[str, ...]
    above: tuple[str, ...]
    kind: Literal["flag", "unknown", "hours", "text"]
    value: Any


def read_facts(text: str) -> list[Fact]:
    """
    Read a context as facts.

    Returns:
        The facts in order, at most 500; empty for prose.
    """
    found: list[Fact] = []
    for path, value in _entries(text):
        words = [words for words in map(_split, path) if words]
        if words:
            kind, typed = _typed(value)
            found.append(Fact(" ".join(path), words[-1], words[-2] if len(words) > 1 else (), kind, typed))
        if len(found) == _MAX_FACTS:
            break
    return _without_prefixes(found) if found else found


def _split(key: str) -> tuple[str, ...]:
    return _split_short(key) if len(key) <= _SHORT_KEY else _words_of(key)


def _words_of(key: str) -> tuple[str, ...]:
    return tuple([word.casefold() for word in _WORD.findall(key)])


_split_short = lru_cache(maxsize=4096)(_words_of)


def _without_prefixes(facts: list[Fact]) -> list[Fact]:
    """
    Drop a first word that several keys share (`RestaurantsTakeOut`, `RestaurantsReservations`): it is structure.
    """
    first = Counter([words[0] for words in dict.fromkeys([fact.words for fact in facts]) if len(words) > 1])
    return [
        Fact(fact.label, fact.words[1:], fact.above, fact.kind, fact.value)
        if len(fact.words) > 1 and first[fact.words[0]] > 1
        else fact
        for fact in facts
    ]


def _typed(value: object) -> tuple[Literal["flag", "unknown", "hours", "text"], Any]:
    if value is None:
        return "unknown", None
    if isinstance(value, bool):
        return "flag", value
    plain = str(value).strip().casefold()
    if plain in _UNKNOWN:
        return "unknown", None
    if plain in _YES or plain in _NO:
        return "flag", plain in _YES
    span = _SPAN.fullmatch(plain) if ":" in plain else None
    if span:
        return "hours", (int(span[1]) * 60 + int(span[2]), int(span[3]) * 60 + int(span[4]))
    return "text", value


# ------------------------------------------------------------------------------------------------ forms


def _entries(text: str) -> Iterator[tuple[tuple[str, ...], object]]:
    """
    Yield (key path, value) from whichever form the text has.
    """
    start = text.lstrip()[:1]
    if start in ("{", "["):
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            yield from _flatten(parsed, ())
            return
    if start == "|":
        yield from _table(text)
    elif text.count("\n") > 1 and text.count(":") + text.count("=") > 2:
        yield from _lines(text)


def _flatten(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    if len(path) > 8:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flatten(inner, (*path, str(key)))
    elif isinstance(value, list):
        for inner in value[:_MAX_FACTS]:
            yield from _flatten(inner, path)
    else:
        yield path, value


def _table(text: str) -> Iterator[tuple[tuple[str, ...], object]]:
    """
    Yield a pipe table's cells under their row's first cell and their column's head.
    """
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines() if "|" in line]
    rows = [row for row in rows if not all(set(cell) <= set("-: ") for cell in row)]
    if len(rows) < 2:
        return
    head = rows[0]
    for row in rows[1:]:
        if len(head) == 2 or len(row) == 2:
            yield (row[0],), row[-1]
        else:
            for name, cell in zip(head[1:], row[1:], strict=False):
                yield (row[0], name), cell


def _lines(text: str) -> Iterator[tuple[tuple[str, ...], object]]:
    """
    Yield `key: value` lines, when they are at least three and half of all lines.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    candidates = [line for line in lines if (":" in line or "=" in line) and len(line) <= _MAX_LINE]
    if len(candidates) < _FEWEST_LINES or len(candidates) * 2 < len(lines):
        return
    found: list[tuple[tuple[str, ...], object]] = []
    for line in candidates:
        match = _LINE.fullmatch(line)
        if match:
            value = match[2].strip().strip("\"'")
            if len(value) <= _MAX_VALUE:
                found.append((tuple(match[1].split()), value))
    if len(found) >= _FEWEST_LINES and len(found) * 2 >= len(lines):
        yield from found
