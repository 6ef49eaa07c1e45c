"""
Run a mix of requests many times, and print what memory grew by, with and without a handler.

    python memory_runs.py none|handler RUNS

One in each of: plain, failed, cancelled, abandoned stream, stream closed early; one in fifty is interrupted.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import langchain_parts as parts
from langchain_core.runnables import RunnableGenerator, RunnableLambda

WARM_UP = 6_000


def fail(value: Any) -> Any:
    """
    Be the step that is broken.
    """
    raise ValueError(value)


def words(texts: Any) -> Any:
    """
    Stream an answer in pieces.
    """
    for _ in texts:
        yield from ("The ", "tower ", "is ", "82 ", "metres ", "tall.")


async def words_later(texts: Any) -> Any:
    """
    Do the same asynchronously.
    """
    async for _ in texts:
        for word in words([""]):
            yield word


def interrupted() -> Any:
    """
    Return a graph that waits for a human.
    """
    from typing import TypedDict

    from langgraph.graph import START, StateGraph
    from langgraph.types import interrupt

    class State(TypedDict, total=False):
        question: str

    graph = StateGraph(State)
    graph.add_node("review", lambda state: interrupt("good?"))
    graph.add_edge(START, "review")
    return graph.compile()


class Mix:
    """
    Requests of every fate.
    """

    def __init__(self, callbacks: list[Any]) -> None:
        self.config: Any = {"callbacks": callbacks}
        self.plain = parts.Docs() | RunnableLambda(lambda found: parts.GOOD)
        self.failing = parts.Docs() | RunnableLambda(fail)
        self.streaming = parts.Docs() | RunnableLambda(parts.join) | RunnableGenerator(words, words_later)
        self.slow = parts.Docs(delay_s=60) | RunnableLambda(parts.join)
        self.graph = interrupted()

    async def run(self, number: int) -> None:
        """
        Run the request whose turn it is.
        """
        question = f"question {number}?"
        if number % 50 == 0:
            self.graph.invoke({"question": question}, self.config)
        elif number % 5 == 0:
            self.plain.invoke(question, self.config)
        elif number % 5 == 1:
            with contextlib.suppress(ValueError):
                self.failing.invoke(question, self.config)
        elif number % 5 == 2:
            task = asyncio.ensure_future(self.slow.ainvoke(question, self.config))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        elif number % 5 == 3:
            next(self.streaming.stream(question, self.config))
        else:
            stream = self.streaming.astream(question, self.config)
            await stream.__anext__()
            await stream.aclose()


def resident_bytes() -> int:
    """
    Return the memory that this process holds.
    """
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


async def settled() -> None:
    """
    Let the event loop finish what was cancelled and closed, and collect it.
    """
    for _ in range(10):
        await asyncio.sleep(0)
    gc.collect()


async def main(which: str, runs: int) -> dict[str, Any]:
    """
    Warm up, measure, run, measure.
    """
    callbacks: list[Any] = []
    if which == "handler":
        from rageval_trace_langchain import RagEvalHandler

        callbacks = [RagEvalHandler()]
    mix = Mix(callbacks)
    # One thread, so that the objects of another that asyncio's pool may start under load are not counted as growth.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(max_workers=1))
    for number in range(WARM_UP):
        await mix.run(number)
    await settled()
    before, objects = resident_bytes(), len(gc.get_objects())
    for number in range(runs):
        await mix.run(number)
    await settled()
    found = {"bytes_a_run": (resident_bytes() - before) / runs, "objects": len(gc.get_objects()) - objects}
    return {**found, "stats": dict(callbacks[0].stats) if callbacks else {}}


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    sys.stdout.write(json.dumps(asyncio.run(main(sys.argv[1], int(sys.argv[2])))))
