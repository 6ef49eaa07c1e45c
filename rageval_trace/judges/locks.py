"""
Locks that a forked child gets anew: in the parent another thread may have held them at that moment.
"""

from __future__ import annotations

import os
import threading
from types import TracebackType
from weakref import WeakSet

__all__ = ["Lock"]

_locks: WeakSet[Lock] = WeakSet()


class Lock:
    """
    Be a `threading.Lock` that is free in every forked child.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def renew(self) -> None:
        """
        Be free again; called in the child, where no other thread runs.
        """
        self._lock = threading.Lock()


def _renew() -> None:
    for lock in list(_locks):
        lock.renew()


if hasattr(os, "register_at_fork"):  # pragma: no branch - absent on Windows alone
    os.register_at_fork(after_in_child=_renew)
