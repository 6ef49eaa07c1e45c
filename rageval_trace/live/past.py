"""
Requests that have ended, remembered a while for what becomes known of them later.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import RLock
from typing import Final

from rageval_trace.live.capture import Capture
from rageval_trace.live.forks import renew_after_fork
from rageval_trace.telemetry.anchor import Anchor

__all__ = ["Ended", "Past"]

_MAX_CHARS: Final = 4_000_000


@dataclass(slots=True)  # not frozen: one is made for every request
class Ended:
    """
    A scored request.

    Args:
        capture: As it was scored.
        pipeline: Its name in telemetry.
        trace_id: None without a trace.
    """

    capture: Capture
    pipeline: str
    trace_id: int | None

    def anchor(self) -> Anchor:
        """
        Return an anchor at the span that was evaluated, which has ended.
        """
        anchor = Anchor()
        anchor.found = self.capture.anchor.target
        anchor.settled = True
        return anchor


class Past:
    """
    Remember the scored requests that ended last.

    Args:
        size: Requests remembered; at least 1. Fewer when their texts are long: four million characters in all.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """
        Begin anew: the parent's requests are the parent's.
        """
        self._lock = RLock()
        # With its number of characters, which takes a walk over the texts to know.
        self._ended: OrderedDict[str, tuple[Ended, int]] = OrderedDict()
        self._by_trace: dict[int, str] = {}
        self._chars = 0

    def __len__(self) -> int:
        return len(self._ended)

    def add(self, ended: Ended) -> None:
        """
        Remember a request, and forget the oldest for it.
        """
        run_id, chars = ended.capture.run_id, ended.capture.chars
        with self._lock:
            self._drop(run_id)
            self._ended[run_id] = ended, chars
            self._chars += chars
            if ended.trace_id is not None:
                self._by_trace[ended.trace_id] = run_id
            while len(self._ended) > self._size or (self._chars > _MAX_CHARS and len(self._ended) > 1):
                self._drop(next(iter(self._ended)))

    def find(self, name: str) -> Ended | None:
        """
        Return the request with this run id or trace id; None when it is not remembered. Of several in one trace, the
        newest.
        """
        with self._lock:
            found = self._ended.get(name) or self._ended.get(self._by_trace.get(_trace_number(name), ""))
            return None if found is None else found[0]

    def _drop(self, run_id: str) -> None:
        found = self._ended.pop(run_id, None)
        if found is None:
            return
        ended, chars = found
        self._chars -= chars
        if ended.trace_id is not None and self._by_trace.get(ended.trace_id) == run_id:
            del self._by_trace[ended.trace_id]


def _trace_number(name: str) -> int:
    try:
        return int(name, 16)
    except ValueError:
        return 0
