"""
Tell a question and answer that were nearly seen before, in bounded memory.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from heapq import nsmallest
from itertools import pairwise
from typing import Final

__all__ = ["Duplicates"]

_SKETCH: Final = 32
_ALIKE: Final = 0.9
_KEYS: Final = 2


class Duplicates:
    """
    Remember sketches of the texts seen last: the smallest hashes of their word pairs, whose overlap estimates how
    alike two texts are (bottom-k MinHash). Two texts count as near duplicates from nine tenths on.

    Args:
        size: Texts remembered; 0 for none.
    """

    def __init__(self, size: int) -> None:
        self._size = size * _KEYS
        self._seen: OrderedDict[Hashable, tuple[frozenset[int], str]] = OrderedDict()

    def first(self, kind: Hashable, words: Iterable[str], name: str) -> str | None:
        """
        Return the name of a text like this one that was seen before; None, and remember it, when there is none.

        Args:
            kind: Only texts of the same kind are compared.
            words: The text's words, in order.
            name: What to call this text.
        """
        listed = list(words)
        lowest = nsmallest(_SKETCH, {hash(pair) for pair in pairwise(["", *listed, ""])})
        sketch = frozenset(lowest)
        # Texts that are alike share their smallest hash as often as they share any; the second makes misses rare.
        keys = [(kind, value) for value in lowest[:_KEYS]]
        for key in keys:
            known = self._seen.get(key)
            if known is not None and _alike(known[0], sketch):
                self._seen.move_to_end(key)
                return known[1]
        for key in keys if self._size else ():
            self._seen[key] = (sketch, name)
            self._seen.move_to_end(key)
        while len(self._seen) > self._size:
            self._seen.popitem(last=False)
        return None


def _alike(one: frozenset[int], other: frozenset[int]) -> bool:
    """
    Estimate the share of word pairs in common from the smallest hashes of both.
    """
    smallest = nsmallest(_SKETCH, one | other)
    return sum([value in one and value in other for value in smallest]) >= _ALIKE * len(smallest)
