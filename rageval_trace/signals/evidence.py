"""
The contexts of one record, as the signals look at them: word beginnings, neighbours and nearness.

Words are compared by their first five letters, which forgives endings as well as a stemmer does on the labelled
sets and costs less (`numbers` compares whole numbers). Each beginning that the claims ask about gets one character and
every other word of a context is a blank, so that a context is a short string on which `in` and `set` run in C.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise, repeat
from operator import add

__all__ = ["Evidence", "beginning"]

_LETTERS = 5
_BLANK = "\0"
# Two words are near when they lie in the same or neighbouring blocks of this many tokens.
_BLOCK = 12


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
        stopwords: Those that `share_near` will not be asked about.
        vocabulary: The distinct tokens of the contexts; found here when not given.
    """

    def __init__(
        self,
        contexts: Sequence[Sequence[str]],
        wanted: Iterable[str],
        stopwords: Collection[str] = (),
        vocabulary: Collection[str] | None = None,
    ) -> None:
        if vocabulary is None:
            vocabulary = frozenset().union(*contexts)
        codes: dict[str, str] = {}
        own: dict[str, str] = {}
        content: list[str] = []
        for token in dict.fromkeys(wanted):
            begun = beginning(token)
            code = codes.get(begun)
            if code is None:
                code = codes[begun] = chr(len(codes) + 1)
                if len(begun) < _LETTERS:
                    codes.setdefault(begun + "s", code)
                if begun[-1] == "s" and len(begun) > 3:
                    codes.setdefault(begun[:-1], code)
            own[token] = code
            if token not in stopwords:
                content.append(code)
        self._codes = own
        # One look at each distinct word; then the texts are encoded by whole tokens, whose hashes are made already.
        code_of = {token: codes[token[:_LETTERS]] for token in vocabulary if token[:_LETTERS] in codes}
        if not "".join(vocabulary).isascii():
            folded = [(token, codes.get(beginning(token))) for token in vocabulary if not token.isascii()]
            code_of.update([(token, code) for token, code in folded if code is not None])
        self._encoded = ["".join(map(code_of.get, tokens, repeat(_BLANK))) for tokens in contexts]
        # A blank keeps neighbours from spanning two contexts.
        self._joined = _BLANK.join(self._encoded)
        self._words = frozenset(self._joined) - {_BLANK}
        self._content = self._words.intersection(content)
        self._places: dict[str, int] | None = None
        self._met: dict[str, bool] = {}

    def _encode_wanted(self, tokens: Iterable[str]) -> str:
        return "".join(map(self._codes.__getitem__, tokens))

    def holds(self, token: str) -> bool:
        """
        Tell whether some context has a word that begins like *token*, one of the wanted; False for others.
        """
        return self._codes.get(token) in self._words

    @property
    def holds_nothing(self) -> bool:
        """
        No context has any wanted word but stopwords and numbers.
        """
        return not any([code in self._content for word, code in self._codes.items() if not word[0].isdigit()])

    def missing(self, tokens: Iterable[str]) -> list[bool]:
        """
        Return for each of the wanted tokens whether no context has it.
        """
        words = self._words
        return [char not in words for char in self._encode_wanted(tokens)]

    def share_of_neighbours(self, tokens: Sequence[str]) -> float:
        """
        Return the share of neighbouring words that also stand side by side in a context.

        Of one word: 1.0 when a context has it, else 0.0; of none, 0.0.
        """
        encoded = self._encode_wanted(tokens)
        if len(encoded) < 2:
            return float(encoded in self._words)
        met, words, joined = self._met, self._words, self._joined
        found = 0
        for pair in map(add, encoded, encoded[1:]):
            known = met.get(pair)
            if known is None:
                known = met[pair] = pair[0] in words and pair[1] in words and pair in joined
            found += known
        return found / (len(encoded) - 1)

    def share_near(self, tokens: Sequence[str]) -> float:
        """
        Return the share of neighbouring words that some context holds near each other (within a dozen or two
        words); of the words, when no two neighbours differ; of none, 0.0.
        """
        encoded = self._encode_wanted(tokens)
        near = total = 0
        places = self._nearness()
        for first, second in pairwise(encoded):
            if first != second:
                total += 1
                here, there = places.get(first, 0), places.get(second, 0)
                near += bool(here & (there | there << 1 | there >> 1))
        if total:
            return near / total
        return sum([char in self._words for char in encoded]) / len(encoded) if encoded else 0.0

    def _nearness(self) -> dict[str, int]:
        """
        Return for each word the blocks that hold it, as the bits of an integer.
        """
        if self._places is None:
            places: defaultdict[str, int] = defaultdict(int)
            inside = self._content.intersection
            bit = 1
            for encoded in self._encoded:
                for start in range(0, len(encoded), _BLOCK):
                    for char in inside(encoded[start : start + _BLOCK]):
                        places[char] |= bit
                    bit <<= 1
                bit <<= 2  # two empty blocks: words of two contexts are never near
            self._places = dict(places)
        return self._places
