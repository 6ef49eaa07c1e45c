"""
The worker: bounded, drained at exit, new in a fork, gone with its owner.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from rageval_trace.live import worker as module
from rageval_trace.live.worker import Worker


def nothing() -> None:
    pass


def test_no_thread_before_the_first_job() -> None:
    """
    A worker that has nothing to do costs nothing.
    """
    before = threading.active_count()
    worker = Worker(size=1, timeout_s=1)
    assert before == threading.active_count()

    worker.put(nothing, nothing)

    assert before + 1 == threading.active_count()
    assert worker.close(5)


def test_jobs_run_in_order_and_flush_waits() -> None:
    """
    Nothing is left when flush returns True.
    """
    worker, done = Worker(size=100, timeout_s=1), []
    for number in range(50):
        assert worker.put(lambda number=number: done.append(number), nothing)

    assert worker.flush(5)
    assert list(range(50)) == done
    worker.close()


def test_a_full_queue_refuses() -> None:
    """
    Waiting and running jobs together stay within the size.
    """
    worker, release = Worker(size=2, timeout_s=1), threading.Event()

    taken = [worker.put(release.wait, nothing) for _ in range(4)]

    assert [True, True, False, False] == taken
    assert not worker.flush(0.01)
    release.set()
    assert worker.flush(5)
    assert worker.put(nothing, nothing)
    worker.close()


def test_close_gives_up_what_is_late() -> None:
    """
    When time runs out, queued jobs are given up, each once, and no more are taken.
    """
    worker, release, given_up = Worker(size=9, timeout_s=1), threading.Event(), []
    worker.put(release.wait, nothing)
    for number in range(3):
        worker.put(nothing, lambda number=number: given_up.append(number))

    assert not worker.close(0.02)
    assert [0, 1, 2] == given_up
    assert not worker.put(nothing, nothing)
    release.set()
    assert worker.flush(5)


def test_flush_from_a_job_does_not_wait_for_itself() -> None:
    """
    An application may flush in its result callback.
    """
    worker, found = Worker(size=9, timeout_s=1), []
    worker.put(lambda: found.append(worker.flush(1)), nothing)

    assert worker.flush(5)
    assert [True] == found
    worker.close()


def test_a_dropped_worker_takes_its_thread_with_it() -> None:
    """
    Handlers made per request leave no threads behind.
    """
    before = threading.active_count()
    for _ in range(20):
        worker = Worker(size=1, timeout_s=1)
        worker.put(nothing, nothing)
        worker.flush(5)
    del worker
    gc.collect()

    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() <= before  # a thread of an earlier test may have ended meanwhile


def test_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    When the interpreter refuses a new thread, the job is refused.
    """
    worker = Worker(size=1, timeout_s=1)

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)

    assert not worker.put(nothing, nothing)
    assert worker.flush(0)


def test_all_workers_are_drained_within_their_time() -> None:
    """
    What the end of the process does, done by hand.
    """
    worker, done = Worker(size=9, timeout_s=5), []
    worker.put(lambda: done.append(1), nothing)

    module._drain_all()

    assert [1] == done
    assert not worker.put(nothing, nothing)


@pytest.mark.parametrize("worker_first", [True, False])
def test_the_end_of_the_process_drains_before_exit_handlers(worker_first: bool) -> None:
    """
    Whichever was made first, a provider that shuts down in an exit handler still gets every job's result.
    """
    parts = ["worker = Worker(size=99, timeout_s=5)", "atexit.register(lambda: print(len(done)))"]
    made = "\n".join(parts if worker_first else parts[::-1])
    code = textwrap.dedent(
        """
        import atexit, time
        from rageval_trace.live.worker import Worker
        done = []
        {made}
        for number in range(5):
            worker.put(lambda: (time.sleep(.02), done.append(1)), lambda: None)
        """
    ).format(made=made)

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    assert ("5\n", "") == (found.stdout, found.stderr)


def test_the_end_of_the_process_waits_no_longer_than_asked() -> None:
    """
    A job that hangs cannot hold the process.
    """
    code = textwrap.dedent(
        """
        import time
        from rageval_trace.live.worker import Worker
        worker = Worker(size=99, timeout_s=.1)
        worker.put(lambda: time.sleep(60), lambda: None)
        worker.put(lambda: None, lambda: print("given up", flush=True))
        """
    )

    began = time.monotonic()
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    assert "given up\n" == found.stdout
    assert time.monotonic() - began < 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_works() -> None:
    """
    The child has a thread and a queue of its own; what the parent queued, the parent does.
    """
    worker, done = Worker(size=9, timeout_s=5), []
    worker.put(lambda: (time.sleep(0.1), done.append("parent")), nothing)
    child = os.fork()
    if child == 0:
        inherited = worker.flush(0)
        worker.put(lambda: done.append("child"), nothing)
        os._exit(0 if inherited and worker.flush(5) and done == ["child"] else 1)

    assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert worker.flush(5)
    assert ["parent"] == done
    worker.close()
