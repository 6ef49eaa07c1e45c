"""
What happened, in counts, and what went wrong in our own code: said once per kind, never with the host's texts.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import PurePath
from threading import RLock

from rageval_trace.live.forks import renew_after_fork

__all__ = ["Tally", "say_once"]

_log = logging.getLogger("rageval_trace")
_said: set[str] = set()


def say_once(key: str, message: str, *values: object) -> None:
    """
    Log a warning the first time that *key* comes up in this process.
    """
    if key not in _said:
        _said.add(key)
        _log.warning(message, *values)


class Tally:
    """
    Count by name, from any thread.
    """

    __slots__ = ("__weakref__", "_counts", "_lock")

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        # Reentrant, as every lock here: the garbage collector may close an abandoned stream inside a locked section.
        self._lock = RLock()
        renew_after_fork(self)

    def add(self, name: str, amount: int = 1) -> None:
        """
        Add to the count called *name*.
        """
        with self._lock:
            self._counts[name] = self._counts.get(name, 0) + amount

    def fault(self, place: str, error: BaseException) -> None:
        """
        Count an error of our own code and log its type and place once; its message may hold the host's texts.
        """
        self.add("internal_errors")
        kind = type(error).__name__
        say_once(f"fault {place} {kind}", "%s in %s (%s); the application is not affected", kind, place, _where(error))

    def snapshot(self) -> Mapping[str, int]:
        """
        Return the counts so far.
        """
        with self._lock:
            return dict(sorted(self._counts.items()))

    def after_fork(self) -> None:
        """
        Count anew: what the parent saw, the parent reports.
        """
        self._lock = RLock()
        self._counts = {}


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    if trace is None:
        return "nowhere"
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f"{PurePath(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
