"""
Find ids that come twice among very many, in 16 bytes an id.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from hashlib import blake2b

__all__ = ["SeenIds"]

_RUN_LENGTH = 100_000


class SeenIds:
    """
    The ids seen so far with the line of each: newest in a dict, older ones in sorted arrays.

    An id is kept as 64 bits of its hash: among ten million ids, two share one with a chance of 1 in 400,000.
    """

    def __init__(self) -> None:
        self._recent: dict[int, int] = {}
        self._runs: list[tuple[array[int], array[int]]] = []

    def add(self, name: str, line: int) -> int | None:
        """
        Add an id and return None, or the line where it was seen before.
        """
        key = int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
        before = self._line_of(key)
        if before is not None:
            return before
        self._recent[key] = line
        if len(self._recent) >= _RUN_LENGTH:
            run = sorted(self._recent.items())
            self._runs.append((array("Q", [key for key, _ in run]), array("Q", [line for _, line in run])))
            self._recent.clear()
        return None

    def _line_of(self, key: int) -> int | None:
        if key in self._recent:
            return self._recent[key]
        for keys, lines in self._runs:
            at = bisect_left(keys, key)
            if at < len(keys) and keys[at] == key:
                return lines[at]
        return None
