"""
What a command shows a person: lines of styled segments, wrapped to the terminal's width.

Colour appears where a person looks at a terminal that shows it and `NO_COLOR` is unset; in a file or a pipe the same
lines are plain text, 100 columns wide.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Final, Literal, TextIO, TypeAlias
from unicodedata import east_asian_width

__all__ = ["Segment", "Style", "Terminal", "cells"]

Style: TypeAlias = Literal["plain", "strong", "dim", "good", "bad", "warn", "accent", "broken"]
Segment: TypeAlias = "str | tuple[str, Style]"

WIDEST: Final = 110
NARROWEST: Final = 40
UNSEEN: Final = 100  # the width of what goes to a file

# Select Graphic Rendition: the eight basic colours, which every theme keeps readable.
_CODES: Final[dict[Style, str]] = {
    "plain": "",
    "strong": "1",
    "dim": "2",
    "good": "32",
    "bad": "31",
    "warn": "33",
    "accent": "36",
    "broken": "1;4;31",
}


class Terminal:
    """
    Where lines go.

    Args:
        stream: Any text stream; standard output for None.
        width: Columns to fill; None for those of the terminal, kept between 40 and 110.
        colour: None to find out.
    """

    def __init__(self, stream: TextIO | None = None, *, width: int | None = None, colour: bool | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        self.width = _width(self._stream) if width is None else width
        self._colour = _shows_colour(self._stream) if colour is None else colour

    def line(self, *segments: Segment, indent: int = 0) -> None:
        """
        Print one line; what does not fit goes on below, *indent* columns in. Without segments, an empty line.
        """
        for row in _rows(_words(segments), self.width, indent):
            print("".join(self._painted(row)).rstrip(), file=self._stream)

    def _painted(self, row: Iterable[tuple[str, Style]]) -> Iterator[str]:
        for style, words in groupby(row, key=itemgetter(1)):
            text = "".join([word for word, _ in words])
            code = _CODES[style] if self._colour and text.strip() else ""
            yield f"\x1b[{code}m{text}\x1b[0m" if code else text


def cells(text: str) -> int:
    """
    Return how many columns a text takes.
    """
    return len(text) if text.isascii() else sum([2 if east_asian_width(sign) in "WF" else 1 for sign in text])


def _width(stream: TextIO) -> int:
    seen = shutil.get_terminal_size((UNSEEN, 24)).columns if stream.isatty() or "COLUMNS" in os.environ else UNSEEN
    return max(NARROWEST, min(WIDEST, seen))


def _shows_colour(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def _words(segments: Iterable[Segment]) -> Iterator[tuple[str, Style]]:
    """
    Cut segments into words and the blanks between them, each with its style.
    """
    for segment in segments:
        text = segment if isinstance(segment, str) else segment[0]
        style: Style = "plain" if isinstance(segment, str) else segment[1]
        for part in re.findall(r"\s+|\S+", text):
            yield part, style


def _rows(words: Iterable[tuple[str, Style]], width: int, indent: int) -> list[list[tuple[str, Style]]]:
    rows: list[list[tuple[str, Style]]] = [[]]
    used = 0
    for text, style in words:
        room = cells(text)
        if used + room > width and used > indent:
            rows.append([(" " * indent, "plain")])
            used = indent
            if text.isspace():
                continue
        if used == indent and len(rows) > 1 and text.isspace():
            continue
        rows[-1].append((text, style))
        used += room
    return rows
