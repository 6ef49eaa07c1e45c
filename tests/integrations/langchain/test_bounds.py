"""
Bounded, whatever never ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph")

import langchain_parts as parts
import memory_runs

from rageval_trace.live.settings import Settings


async def test_no_container_grows(handler: Any) -> None:
    """
    Five hundred requests of every fate leave the handler's state empty, and every one counted.
    """
    mix = memory_runs.Mix([handler])
    for number in range(500):
        await mix.run(number)
    await asyncio.sleep(0.05)

    runs, stats = handler._tracker.runs, handler.stats
    assert ({}, {}) == (runs.live, runs._requests)
    assert len(runs._ended) <= 2 * 4_100
    outcomes = ("scored", "incomplete", "request_error", "not_rag")
    assert 500 == sum([stats[name] for name in outcomes])
    assert (90, 310, 100) == (stats["scored"], stats["incomplete"], stats["request_error"])


@pytest.mark.parametrize("settings", [Settings(max_runs=5), Settings(run_ttl_s=0.05)])
def test_requests_that_never_end_are_given_up(settings: Settings, make: Callable[..., Any], results: list[Any]) -> None:
    """
    Starts without an end, as an executor leaves them when it is cancelled, are evicted and counted.
    """
    import uuid

    handler = make(settings=settings)
    for number in range(10):
        handler.on_chain_start({}, f"question {number}", run_id=uuid.uuid4(), tags=[])
    time.sleep(0.06)
    parts.lcel().invoke(parts.QUESTION, {"callbacks": [handler]})

    evicted = handler.stats["evicted"]
    assert evicted >= 6
    assert evicted == len([result for result in results if result.status == "evicted"])
    assert evicted + handler.stats["live_requests"] == 10
    assert "question 0" == results[0].record.question


def test_the_contexts_of_one_request_are_bounded(make: Callable[..., Any], results: list[Any]) -> None:
    """
    No more are kept than the setting says; the rest is counted.
    """
    handler = make(settings=Settings(max_contexts=3))
    many = [parts.Document(page_content=f"text {number}", metadata={"id": str(number)}) for number in range(10)]

    parts.lcel(parts.Docs(docs=many)).invoke(parts.QUESTION, {"callbacks": [handler]})

    assert (3, 7) == (len(results[0].record.contexts), handler.stats["dropped_contexts"])


def test_endless_agents_are_bounded(
    make: Callable[..., Any], results: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    Past the limit of runs, more of them are dropped and counted, and none becomes a request.
    """
    monkeypatch.setattr("rageval_trace.live.runs._MAX_RUNS_PER_REQUEST", 20)
    handler = make()

    with contextlib.suppress(RecursionError):
        calls = [parts.call("search", "again", str(number)) for number in range(40)]
        parts.agent(parts.Script(says=calls)).invoke(
            {"messages": [("human", parts.QUESTION)]}, {"callbacks": [handler], "recursion_limit": 30}
        )

    assert 1 == len(results)
    assert handler.stats["dropped_runs"] > 0
    assert 0 == handler.stats["live_requests"]


def _grown(runs: int) -> list[dict[str, Any]]:
    """
    Return how memory grew without and with a handler; both at once, for two processors.
    """
    script = Path(memory_runs.__file__)
    environment = {**os.environ, "PYTHONPATH": str(script.parent)}
    started = [
        subprocess.Popen(
            [sys.executable, str(script), which, str(runs)], stdout=subprocess.PIPE, text=True, env=environment
        )
        for which in ("none", "handler")
    ]
    return [json.loads(process.communicate(timeout=800)[0]) for process in started]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_twenty_thousand_requests_leave_memory_flat() -> None:
    """
    Plain, failed, cancelled, abandoned, closed and interrupted: at most 50 bytes a request and 10 objects of the
    garbage collector beyond a chain without handler.
    """
    bare, ours = _grown(20_000)

    assert ours["bytes_a_run"] - bare["bytes_a_run"] <= 50
    assert ours["objects"] - max(bare["objects"], 0) <= 10
    seen = [ours["stats"][name] for name in ("scored", "incomplete", "request_error")]
    assert memory_runs.WARM_UP + 20_000 == sum(seen) + ours["stats"]["live_requests"]
