"""
Locks across a fork.
"""

from __future__ import annotations

import os
import threading

import pytest

from rageval_trace.judges.budget import TokenBudget
from rageval_trace.judges.locks import Lock


def test_a_lock_excludes() -> None:
    """
    It is a lock: one holder at a time, and free again after an error.
    """
    lock, order = Lock(), []

    def second() -> None:
        with lock:
            order.append("second")

    with lock:
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.05)
        order.append("first")
    thread.join()
    with pytest.raises(ValueError, match="inside"), lock:
        raise ValueError("inside")
    with lock:
        order.append("third")
    assert ["first", "second", "third"] == order


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_child_can_go_on() -> None:
    """
    What another thread locked when the process forked is free in the child.
    """
    budget, release, held = TokenBudget(), threading.Event(), threading.Event()

    def hold() -> None:
        with budget._lock:
            held.set()
            release.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    child = os.fork()
    if child == 0:
        os._exit(0 if budget.reserve(1) is not None else 1)
    _, status = os.waitpid(child, 0)
    release.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
