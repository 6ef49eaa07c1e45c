"""
What must be made anew in a forked child: locks that another thread held, queues whose thread is gone.
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet

__all__ = ["ForkAware", "renew_after_fork"]


class ForkAware(Protocol):
    """
    Hold locks, threads or the state of requests that only the parent process will see ending.
    """

    def after_fork(self) -> None:
        """
        Begin anew; called in the child, where no other thread runs.
        """
        ...


_owners: WeakSet[ForkAware] = WeakSet()


def renew_after_fork(owner: ForkAware) -> None:
    """
    Call `owner.after_fork()` in every child that this process forks, for as long as *owner* lives.
    """
    _owners.add(owner)


def _renew() -> None:
    for owner in list(_owners):
        owner.after_fork()


if hasattr(os, "register_at_fork"):  # pragma: no branch - absent on Windows alone
    os.register_at_fork(after_in_child=_renew)
