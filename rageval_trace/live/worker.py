"""
One thread behind a bounded queue, for work that must not hold up the host.
"""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final, Protocol, TypeAlias

from rageval_trace.live.forks import renew_after_fork

__all__ = ["JUDGE_STAGE", "SINK_STAGE", "Job", "Worker", "settle_at_exit"]

Job: TypeAlias = Callable[[], None]
# Workers are drained in this order, since those before hand on to those behind.
SCORE_STAGE: Final = 0
JUDGE_STAGE: Final = 1
SINK_STAGE: Final = 2
_Queue: TypeAlias = "SimpleQueue[tuple[Job, Job] | None]"


class _Pending:
    """
    Count the jobs that were taken and are not done.
    """

    __slots__ = ("changed", "count")

    def __init__(self) -> None:
        self.changed = threading.Condition(threading.RLock())
        self.count = 0

    def done(self) -> None:
        with self.changed:
            self.count -= 1
            self.changed.notify_all()


class Worker:
    """
    Run jobs one after another in a thread that starts with the first of them.

    A job must not raise. At the end of the process the queue is drained before `atexit` handlers run, so that
    telemetry providers still take what the jobs send, whichever was made first; jobs that are still queued when the
    time is up are given up.

    Args:
        size: Jobs that may wait or run; at least 1.
        timeout_s: How long the end of the process waits, in seconds.
        stage: Its turn when the process ends; later ones are fed by earlier ones.
    """

    def __init__(self, *, size: int, timeout_s: float, stage: int = SCORE_STAGE) -> None:
        self.stage = stage
        self._size = size
        self._timeout_s = timeout_s
        self._lock = threading.RLock()
        self._begin()
        _workers.add(self)
        renew_after_fork(self)

    def _begin(self) -> None:
        self._closed = False
        self._thread: threading.Thread | None = None
        self._pending = _Pending()
        # SimpleQueue.put may be interrupted by itself: by a stream that the garbage collector closes, for one.
        self._queue: _Queue = SimpleQueue()
        # The thread holds the queue alone, so that a handler that is dropped takes its thread with it.
        weakref.finalize(self, self._queue.put, None).atexit = False

    def after_fork(self) -> None:
        """
        Begin anew: the parent's thread runs what the parent queued.
        """
        self._lock = threading.RLock()
        self._begin()

    def put(self, job: Job, give_up: Job) -> bool:
        """
        Take a job, or return False when there is no room or the worker is closed.

        Args:
            job: What to do.
            give_up: What to do instead when time runs out.
        """
        pending = self._pending
        with pending.changed:
            if self._closed or pending.count >= self._size:
                return False
            pending.count += 1
        try:
            self._start()
        except RuntimeError:
            # No thread can be started any more: the interpreter is on its way out.
            pending.done()
            return False
        self._queue.put((job, give_up))
        return True

    def flush(self, timeout_s: float | None = None) -> bool:
        """
        Wait until nothing is queued or running; False when *timeout_s* seconds were not enough.
        """
        pending = self._pending
        if threading.current_thread() is self._thread:
            return pending.count <= 1
        with pending.changed:
            return pending.changed.wait_for(lambda: pending.count == 0, timeout_s)

    def close(self, timeout_s: float | None = None) -> bool:
        """
        Take no more jobs, wait, give up what is still queued, and let the thread end.
        """
        self._closed = True
        flushed = self.flush(self._timeout_s if timeout_s is None else timeout_s)
        while not flushed:
            try:
                item = self._queue.get_nowait()
            except Empty:
                break
            if item is not None:
                item[1]()
                self._pending.done()
        self._queue.put(None)
        return flushed

    def _start(self) -> None:
        if self._thread is not None:
            return
        with self._lock:
            if self._thread is None:
                thread = threading.Thread(
                    target=_work, args=(self._queue, self._pending), name="rageval-trace", daemon=True
                )
                thread.start()
                self._thread = thread


def _work(queue: _Queue, pending: _Pending) -> None:
    while True:
        item = queue.get()
        if item is None:
            return
        try:
            item[0]()
        finally:
            del item
            pending.done()


_workers: weakref.WeakSet[Worker] = weakref.WeakSet()


_before_draining: weakref.WeakSet[Unsettled] = weakref.WeakSet()


class Unsettled(Protocol):
    """
    Keep notes that the garbage collector left, for it may do no more than that.
    """

    def settle(self) -> None:
        """
        Act on them.
        """
        ...


def settle_at_exit(owner: Unsettled) -> None:
    """
    Call `owner.settle()` before the queues are drained at the end of the process, if *owner* lives that long.
    """
    _before_draining.add(owner)


def _drain_all() -> None:
    began = time.monotonic()
    for owner in list(_before_draining):
        owner.settle()
    for stage in (SCORE_STAGE, JUDGE_STAGE, SINK_STAGE):
        _drain(stage, began)


def _drain(stage: int, began: float) -> None:
    # Listed when the stage has come, for the last jobs of an earlier one may only now have made a worker.
    for worker in [one for one in list(_workers) if one.stage == stage]:
        worker.close(max(0.0, worker._timeout_s - (time.monotonic() - began)))  # noqa: SLF001 - same module


# The standard library's own thread pools drain here: after the main thread's work, before `atexit` handlers.
_at_thread_shutdown = getattr(threading, "_register_atexit", atexit.register)
_at_thread_shutdown(_drain_all)
