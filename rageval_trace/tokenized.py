"""
A context's tokens, kept for the next request that retrieves the same text.

Popular chunks come back: with every chunk known the scoring of a record costs about half. A first sight stores no
more than it has to make anyway; the pairs are made at the second, so that a cache that never hits costs little.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, TypeVar

from rageval_trace.text import tokenize

__all__ = ["TokenCache", "TokenizedText"]

_MAX_CHARS = 500_000
S = TypeVar("S")
T = TypeVar("T")


class TokenizedText:
    """
    One text's tokens and what follows from them.

    Attributes:
        tokens: In order.
        words: The distinct tokens.
    """

    __slots__ = ("_derived", "_pairs", "seen_before", "tokens", "words")

    def __init__(self, text: str) -> None:
        self.tokens = tokenize(text)
        self.words = frozenset(self.tokens)
        self.seen_before = False
        self._pairs: frozenset[tuple[str, str]] | None = None
        self._derived: dict[Callable[..., Any], Any] | None = None

    def derive(self, compute: Callable[[S], T], source: S) -> T:
        """
        Return what *compute* makes of *source*, which is this text or its tokens; kept from the second sight on.

        Args:
            compute: A module's own function: it is the key, and its result should be no larger than the text.
            source: What it is given.
        """
        if not self.seen_before:
            return compute(source)
        if self._derived is None:
            self._derived = {}
        if compute not in self._derived:
            self._derived[compute] = compute(source)
        found: T = self._derived[compute]
        return found

    def shared_pairs(self, wanted: set[tuple[str, str]]) -> Iterable[tuple[str, str]]:
        """
        Return those of the wanted neighbouring pairs that stand in this text.
        """
        if self._pairs is None:
            if not self.seen_before:
                return wanted.intersection(pairwise(self.tokens))
            self._pairs = frozenset(pairwise(self.tokens))
        return wanted & self._pairs


class TokenCache:
    """
    Texts by content, first in, first out.

    Safe for threads: a race at worst tokenises a text twice.

    Args:
        max_chars: Characters of text kept in all, about 40 bytes of memory each; 0 keeps nothing.
    """

    def __init__(self, max_chars: int = _MAX_CHARS) -> None:
        self._max_chars = max_chars
        self._chars = 0
        # Not a plain dict: finding its first key skips every key deleted before it.
        self._kept: OrderedDict[str, TokenizedText] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, text: str) -> TokenizedText:
        """
        Return the text's tokens, made now or kept from before.
        """
        found = self._kept.get(text)
        if found is not None:
            found.seen_before = True
            return found
        made = TokenizedText(text)
        # A text that would push out an eighth of the others is not worth it.
        if len(text) * 8 <= self._max_chars:
            self._keep(text, made)
        return made

    def _keep(self, text: str, made: TokenizedText) -> None:
        kept = self._kept
        self._chars += len(text)
        while self._chars > self._max_chars:
            try:
                oldest, _ = kept.popitem(last=False)
            except KeyError:
                # Another thread evicts as well.
                self._chars = sum([len(one) for one in list(kept)]) + len(text)
                break
            self._chars -= len(oldest)
        kept[text] = made
