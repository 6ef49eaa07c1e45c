"""
The blocks of an answer: stretches of text that no sentence crosses.

A paragraph, a list item and a table row are blocks; wrapped lines are joined. Headings, rules, table separators and
fenced code hold no sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["split_blocks"]

_FENCE = re.compile(r"\s*(```|~~~)")
_HEADING = re.compile(r"#{1,6}\s+\S")
_RULE = re.compile(r"(?:[-*_=]\s*){3,}$")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,})$")
_TABLE_RULE = re.compile(r"[\s:|-]+$")
_QUOTE = re.compile(r"^\s*(?:>\s?)+")
_BULLET = re.compile(r"[-*+\u2022\u2013\u25aa\u25cf]\s+(?:\[[ xX]\]\s+)?(?=\S)")
_NUMBER = re.compile(r"\(?(?P<label>\d{1,3}|[a-zA-Z]|[ivx]{2,4})(?P<end>[.)])\s+(?=\S)")
# A line this short that ends without a stop was ended on purpose, not wrapped.
_WRAP_WIDTH = 50
_TITLE_AT_END = re.compile(r"(?:^|[\s(])(?:Dr|Mr|Mrs|Ms|Prof|St|No|Fig|vs|e\.g|i\.e)\.$")


def split_blocks(text: str) -> Iterator[str]:
    """
    Yield the blocks of *text* in order, each on one line, without list markers.
    """
    if "\n" not in text and text[:1].isalpha():
        yield from [line for line in text.splitlines() if line.strip()]
        return
    lines: list[str] = []
    label = ""
    fenced = False
    for raw in text.splitlines():
        if _FENCE.match(raw):
            fenced = not fenced
            yield from _flush(lines)
            continue
        line = _QUOTE.sub("", raw, count=1).strip()
        if fenced or not line or _RULE.match(line) or _HEADING.match(line):
            if len(lines) == 1 and line and _UNDERLINE.match(line) and lines[0][-1] not in ".!?\u3002:":
                lines.clear()  # an underlined heading
            yield from _flush(lines)
        elif line[0] == "|" or (line[0] in ":-" and "|" in line and _TABLE_RULE.match(line)):
            yield from _flush(lines)
            if not _TABLE_RULE.match(line):
                yield " | ".join([cell.strip() for cell in line.strip("|").split("|") if cell.strip()])
        else:
            item, label = _item(line, lines, label)
            if item or (lines and _ended_on_purpose(lines[-1], line)):
                yield from _flush(lines)
            lines.append(line[item:])
    yield from _flush(lines)


def _flush(lines: list[str]) -> Iterator[str]:
    if lines:
        yield " ".join(lines)
        lines.clear()


def _item(line: str, lines: list[str], label: str) -> tuple[int, str]:
    """
    Return the length of the list marker that opens the line, 0 without one, and the newest label of the list.
    """
    found = _BULLET.match(line)
    if found:
        return found.end(), label
    found = _NUMBER.match(line)
    if found is None or not _is_label(found["label"], found["end"], lines, label):
        return 0, label
    return found.end(), found["label"]


def _is_label(found: str, end: str, lines: list[str], before: str) -> bool:
    if found.isdigit():
        # "12. Then" after a wrapped line is prose, unless it follows item 11.
        wrapped = bool(lines) and len(lines[-1]) >= _WRAP_WIDTH and lines[-1][-1] not in ".!?:;"
        return not wrapped or found == "1" or (before.isdigit() and int(found) == int(before) + 1)
    if end == "." and len(found) == 1 and found.isupper():
        # "J. Amadi wrote it" opens with an initial; "B. Ask" is an item when it follows "A. Wait".
        return found == "A" or (len(before) == 1 and ord(found) == ord(before) + 1)
    return True


def _ended_on_purpose(line: str, following: str) -> bool:
    if line[-1] == ":":
        return True
    if len(line) >= _WRAP_WIDTH or following[0].islower() or line[-1] in ",;":
        return False
    return not _TITLE_AT_END.search(line)
