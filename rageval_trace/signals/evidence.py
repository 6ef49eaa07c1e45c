"""
The contexts of one record, as the signals look at them: word beginnings, neighbours and nearness.

Words are compared by their first five letters, which forgives endings as well as a stemmer does on the labelled
sets and costs less (`numbers` compares whole numbers). Each beginning that the claims ask about gets one character and
every other word of a context is a blank, so that a context is a short string on which `in` and `find` run in C.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise, repeat
from operator import add

__all__ = ["Evidence", "beginning"]

_LETTERS = 5
_BLANK = "\0"
# Two words are near when they lie in the same or neighbouring blocks of this many tokens.
_BLOCK = 12
# A word in more blocks than this is looked up in a list of blocks.
_FEW = 32
# From so many searches for a pair of words on, all pairs of the contexts are listed once, for time linear in them.
_MANY_SEARCHES = 100


def _fold(token: str) -> str:
    """
    Drop accents, so that `Zürich` meets `Zurich`; other scripts' marks stay.
    """
    decomposed = unicodedata.normalize("NFD", token)
    plain = "".join([char for char in decomposed if not "\u0300" <= char <= "\u036f"])
    return unicodedata.normalize("NFC", plain) or token


def beginning(token: str) -> str:
    """
    Return the part of a token by which words are compared.
    """
    return token[:_LETTERS] if token.isascii() else _fold(token)[:_LETTERS]


class Evidence:
    """
    Answer which words of the claims the contexts hold, next to each other or near each other.

    Args:
        contexts: The tokens of each context.
        wanted: The tokens that will be asked about.
        stopwords: Tokens without content.
        vocabulary: The distinct tokens of the contexts; found here when not given.
        together: Pairs of tokens known to stand side by side in a context; they need no search.

    Attributes:
        held: The wanted tokens of which some context has the beginning.
    """

    def __init__(
        self,
        contexts: Sequence[Sequence[str]],
        wanted: Iterable[str],
        stopwords: Collection[str] = (),
        vocabulary: frozenset[str] | None = None,
        together: AbstractSet[tuple[str, str]] = frozenset(),
    ) -> None:
        if vocabulary is None:
            vocabulary = frozenset().union(*contexts)
        self._codes, codes = _assign_codes(wanted)
        self._stopwords = stopwords
        self._together = together
        self._contexts = contexts
        self._code_of = _encode(vocabulary, codes)
        words = frozenset(self._code_of.values())
        self.held = frozenset([token for token, code in self._codes.items() if code in words])
        self._joined = ""
        self._searched: str | frozenset[str] = ""
        self._met: dict[str, bool] = {}
        self._places: dict[str, int] = {}

    def _join(self) -> str:
        """
        Return all contexts as characters, made at the first call.

        A blank keeps neighbours from spanning two contexts; two empty blocks keep words from being near across them,
        and an empty one before the first spares looking for the beginning.
        """
        if not self._joined:
            code_of = self._code_of
            encoded = ["".join(map(code_of.get, tokens, repeat(_BLANK))) for tokens in self._contexts]
            padded = [text + _BLANK * (3 * _BLOCK - len(text) % _BLOCK) for text in encoded]
            self._joined = _BLANK * _BLOCK + "".join(padded)
        return self._joined

    @property
    def holds_nothing(self) -> bool:
        """
        No context has any wanted word but stopwords and numbers.
        """
        return all([word[0].isdigit() or word in self._stopwords for word in self.held])

    def share_of_neighbours(self, tokens: Sequence[str]) -> float:
        """
        Return the share of neighbouring words that also stand side by side in a context.

        Of one word: 1.0 when a context has it, else 0.0; of none, 0.0.
        """
        if len(tokens) < 2:
            return float(tokens[0] in self.held) if tokens else 0.0
        known, held = self._together, self.held
        open_pairs = [pair for pair in pairwise(tokens) if pair not in known]
        found = len(tokens) - 1 - len(open_pairs)
        for first, second in open_pairs:
            if first in held and second in held and self._stand_together(first, second):
                found += 1
        return found / (len(tokens) - 1)

    def _stand_together(self, first: str, second: str) -> bool:
        pair = self._codes[first] + self._codes[second]
        known = self._met.get(pair)
        if known is None:
            if not self._met:
                self._searched = self._join()
            elif len(self._met) == _MANY_SEARCHES:
                self._searched = frozenset(map(add, self._joined, self._joined[1:]))
            known = self._met[pair] = pair in self._searched
        return known

    def share_near(self, tokens: Sequence[str]) -> float:
        """
        Return the share of neighbouring words that some context holds near each other (within a dozen or two
        words); of the words, when no two neighbours differ; of none, 0.0.
        """
        codes, known, held = self._codes, self._together, self.held
        near = total = 0
        for pair in pairwise(tokens):
            first, second = codes.get(pair[0], ""), codes.get(pair[1], "")
            if first != second:
                total += 1
                if pair in known or (pair[0] in held and pair[1] in held and self._are_near(first, second)):
                    near += 1
        if total:
            return near / total
        return sum([token in self.held for token in tokens]) / len(tokens) if tokens else 0.0

    def _are_near(self, first: str, second: str) -> bool:
        find = self._join().find
        at = find(first)
        for _ in range(_FEW):
            if at < 0:
                return False
            block = at // _BLOCK
            if find(second, (block - 1) * _BLOCK, (block + 2) * _BLOCK) >= 0:
                return True
            at = find(first, (block + 1) * _BLOCK)
        here, there = self._blocks(first), self._blocks(second)
        return here & (there | there << 1 | there >> 1) != 0

    def _blocks(self, char: str) -> int:
        """
        Return the blocks that hold a word, as the bits of an integer: for words in so many that looking around each
        would cost the square of a text's length.
        """
        known = self._places.get(char)
        if known is None:
            find = self._joined.find
            bits = bytearray(len(self._joined) // (8 * _BLOCK) + 1)
            at = find(char)
            while at >= 0:
                block = at // _BLOCK
                bits[block >> 3] |= 1 << (block & 7)
                at = find(char, (block + 1) * _BLOCK)
            known = self._places[char] = int.from_bytes(bits, "little")
        return known


def _assign_codes(wanted: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """
    Give each beginning a character; a short word shares its plural's.

    Returns:
        The characters by token and by beginning.
    """
    codes: dict[str, str] = {}
    own: dict[str, str] = {}
    following = 0
    for token in dict.fromkeys(wanted):
        begun = token if len(token) <= _LETTERS and token.isascii() else beginning(token)
        code = codes.get(begun)
        if code is None:
            following += 1
            code = codes[begun] = chr(following)
            if len(begun) < _LETTERS:
                codes.setdefault(begun + "s", code)
            if begun[-1] == "s" and len(begun) > 3:
                codes.setdefault(begun[:-1], code)
        own[token] = code
    return own, codes


def _encode(vocabulary: Collection[str], codes: Mapping[str, str]) -> dict[str, str]:
    """
    Return the characters of those words that begin like a wanted one: one look at each, however often it stands.
    """
    found = {token: codes[token[:_LETTERS]] for token in vocabulary if token[:_LETTERS] in codes}
    if not "".join(vocabulary).isascii():
        for token in vocabulary:
            code = None if token.isascii() else codes.get(beginning(token))
            if code is not None:
                found[token] = code
    return found
