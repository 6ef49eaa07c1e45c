"""
What a judge tells about its work, and to whom.
"""

from __future__ import annotations

import asyncio
import threading

from rageval_trace.judges.observe import Escalation, JudgeEvent, JudgeStats, Tally, notify, observing


def test_observers_hear_their_own_context_only() -> None:
    """
    An event reaches who listens around it, also from a thread of `to_thread`, and nobody else.
    """
    heard: list[JudgeEvent] = []
    event = Escalation("cascade", 5, 2)
    notify(event)
    with observing(heard.append):
        notify(event)
        asyncio.run(asyncio.to_thread(notify, event))
        stranger = threading.Thread(target=notify, args=(event,))
        stranger.start()
        stranger.join()
    notify(event)
    assert heard == [event, event]


def test_a_failing_observer_stops_nothing() -> None:
    """
    The observers after one that raises are still told.
    """
    heard: list[JudgeEvent] = []

    def fail(event: JudgeEvent) -> None:
        raise RuntimeError("broken")

    with observing(fail), observing(heard.append):
        notify(Escalation("cascade", 1, 0))
    assert heard == [Escalation("cascade", 1, 0)]


def test_a_tally_adds_up() -> None:
    """
    Counts and errors add up to the stats; what was never counted is zero.
    """
    tally = Tally()
    assert JudgeStats() == tally.stats()
    tally.add(calls=1, input_tokens=10)
    tally.add(calls=2)
    tally.error("RefusalError")
    tally.error("RefusalError")
    assert JudgeStats(calls=3, input_tokens=10, errors={"RefusalError": 2}) == tally.stats()
