"""
Counts, and errors of our own that are said once.
"""

from __future__ import annotations

import threading

import pytest

from rageval_trace.live.tally import Tally, say_once


def test_threads_lose_no_count() -> None:
    """
    Additions from many threads add up.
    """
    tally = Tally()
    threads = [threading.Thread(target=lambda: [tally.add("seen") for _ in range(500)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally.add("many", 3)

    assert {"many": 3, "seen": 4000} == tally.snapshot()


def test_a_fault_is_logged_once_without_its_message(caplog: pytest.LogCaptureFixture) -> None:
    """
    Type and place are said, for the message may hold the host's texts; every one is counted.
    """
    tally = Tally()
    for _ in range(3):
        try:
            raise ValueError("secret of the host")
        except ValueError as error:
            tally.fault("on_chain_end", error)

    (message,) = caplog.messages
    assert message.startswith("ValueError in on_chain_end (test_tally.py:")
    assert "secret" not in caplog.text
    assert {"internal_errors": 3} == tally.snapshot()


def test_a_fault_that_was_never_raised_has_no_place(caplog: pytest.LogCaptureFixture) -> None:
    """
    Reporting a fault never fails itself.
    """
    Tally().fault("somewhere", KeyError())

    assert ["KeyError in somewhere (nowhere); the application is not affected"] == caplog.messages


def test_things_are_said_once_by_key(caplog: pytest.LogCaptureFixture) -> None:
    """
    Another key is another thing.
    """
    for key in ("a", "b", "a"):
        say_once(key, "about %s", key)

    assert ["about a", "about b"] == caplog.messages
