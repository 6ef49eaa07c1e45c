"""
Who follows a request when a handler attaches itself to every run and another is attached by hand: the latter.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import RLock

from rageval_trace.live.forks import renew_after_fork

__all__ = ["CLAIMS", "Claims"]


class Claims:
    """
    The requests that handlers attached by hand follow, kept only while an automatic handler is at work.

    Attributes:
        watched: An automatic handler is at work.
    """

    __slots__ = ("__weakref__", "_claimed", "_lock", "_yield_to", "watched")

    def __init__(self) -> None:
        self._claimed: set[Hashable] = set()
        self._lock = RLock()
        self._yield_to: Callable[[Hashable], None] | None = None
        self.watched = False
        renew_after_fork(self)

    def after_fork(self) -> None:
        """
        Forget the parent's requests.
        """
        self._lock = RLock()
        self._claimed = set()

    def watch(self, yield_to: Callable[[Hashable], None] | None) -> None:
        """
        Begin to keep claims, or stop for None.

        Args:
            yield_to: Called with the id of the run that surrounds a claimed request: its request is another's now.
        """
        self._yield_to = yield_to
        self.watched = yield_to is not None
        if not self.watched:
            self._claimed.clear()

    def claim(self, run_id: Hashable, parent_id: Hashable) -> None:
        """
        Take a request for a handler that was attached by hand.
        """
        yield_to = self._yield_to
        if yield_to is None:
            return
        with self._lock:
            self._claimed.add(run_id)
        if parent_id is not None:
            yield_to(parent_id)

    def release(self, run_id: Hashable) -> None:
        """
        Give up a request that ended.
        """
        with self._lock:
            self._claimed.discard(run_id)

    def holds(self, run_id: Hashable) -> bool:
        """
        Return whether a handler attached by hand follows this request.
        """
        return run_id in self._claimed


CLAIMS = Claims()
