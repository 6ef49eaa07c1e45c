"""
Runs that have ended, known a while longer, so that a late child is not taken for a new request.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

__all__ = ["EndedRuns"]

_GENERATION: Final = 4_096


class EndedRuns:
    """
    The ids of runs that ended: two generations of some thousands, of which the older goes when the newer is full.

    Requests end all the time, and late children are rare: an id is filed only when the first of them asks. Locked by
    its owner.
    """

    __slots__ = ("_filed", "_filed_before", "_size", "_unfiled", "_unfiled_before")

    def __init__(self) -> None:
        self._unfiled: list[Sequence[Hashable]] = []
        self._unfiled_before: list[Sequence[Hashable]] = []
        self._filed: set[Hashable] = set()
        self._filed_before: set[Hashable] = set()
        self._size = 0

    def __len__(self) -> int:
        unfiled = sum([len(run_ids) for run_ids in (*self._unfiled, *self._unfiled_before)])
        return unfiled + len(self._filed) + len(self._filed_before)

    def add(self, run_ids: Sequence[Hashable]) -> None:
        """
        Know these runs from now on; the sequence itself is kept, and read later.
        """
        if self._size >= _GENERATION:
            self._unfiled_before, self._unfiled = self._unfiled, []
            self._filed_before, self._filed = self._filed, set()
            self._size = 0
        self._unfiled.append(run_ids)
        self._size += len(run_ids)

    def __contains__(self, run_id: Hashable) -> bool:
        _file(self._unfiled, self._filed)
        _file(self._unfiled_before, self._filed_before)
        return run_id in self._filed or run_id in self._filed_before


def _file(unfiled: list[Sequence[Hashable]], filed: set[Hashable]) -> None:
    while unfiled:
        filed.update(unfiled.pop())
