"""
Everything at once, on threads and event loops: each request is reported exactly once, as what it was.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import llama_parts as parts
import pytest
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step

pytestmark = [pytest.mark.usefixtures("swept")]


def engine(model: Any = None, retriever: Any = None, **kwargs: Any) -> Any:
    return parts.engine(retriever or parts.Echo(), model or parts.Script(None, delay_s=0.0005), **kwargs)


def chat(question: str) -> ContextChatEngine:
    model = parts.Script(f"It is {question}")
    return ContextChatEngine.from_defaults(retriever=parts.Echo(), llm=model, memory=parts.memory())


class Rag(Workflow):
    """
    Ask an engine in a step, or fail.
    """

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        if ev.fails:
            raise LookupError(ev.question)
        return StopEvent(result=await engine(streaming=ev.streams).aquery(ev.question))


def query(question: str) -> str:
    return str(engine().query(question))


def stream(question: str) -> str:
    return "".join(engine(streaming=True).query(question).response_gen)


def leave_off(question: str) -> None:
    next(engine(streaming=True).query(question).response_gen)


def never_read(question: str) -> None:
    engine(streaming=True).query(question)


def fail(question: str) -> None:
    with contextlib.suppress(OSError):
        engine(parts.Script(OSError("down"))).query(question)


def stream_chat(question: str) -> str:
    return "".join(chat(question).stream_chat(question).response_gen)


async def aquery(question: str) -> str:
    return str(await engine().aquery(question))


async def astream(question: str) -> str:
    response = await engine(streaming=True).aquery(question)
    return "".join([text async for text in response.async_response_gen()])


async def aleave_off(question: str) -> None:
    stream = (await engine(streaming=True).aquery(question)).response_gen
    await anext(stream)
    await stream.aclose()


async def anever_read(question: str) -> None:
    await engine(streaming=True).aquery(question)


async def afail(question: str) -> None:
    with contextlib.suppress(OSError):
        await engine(retriever=parts.Docs(error=OSError("down"))).aquery(question)


async def cancel(question: str) -> None:
    task = asyncio.ensure_future(engine(parts.Script(None, delay_s=5), mode="tree_summarize").aquery(question))
    await asyncio.sleep(0.01)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def workflow(question: str) -> str:
    return str(await Rag().run(question=question, streams=False, fails=False))


async def workflow_stream(question: str) -> str:
    response = await Rag().run(question=question, streams=True, fails=False)
    return "".join([text async for text in response.async_response_gen()])


async def workflow_fail(question: str) -> None:
    with contextlib.suppress(LookupError):
        await Rag().run(question=question, streams=False, fails=True)


async def astream_chat(question: str) -> str:
    response = await chat(question).astream_chat(question)
    return "".join([text async for text in response.async_response_gen()])


PLAIN: dict[Callable[[str], str | None], str] = {
    query: "ok",
    stream: "ok",
    stream_chat: "ok",
    leave_off: "partial",
    never_read: "abandoned",
    fail: "error",
}
ASYNC: dict[Callable[[str], Awaitable[str | None]], str] = {
    aquery: "ok",
    astream: "ok",
    astream_chat: "ok",
    workflow: "ok",
    workflow_stream: "ok",
    aleave_off: "partial",
    anever_read: "abandoned",
    afail: "error",
    workflow_fail: "error",
    cancel: "cancelled",
}


def shuffled(kinds: Any, seed: str) -> list[Any]:
    """
    Return each kind four times, in an order that the seed tells.
    """
    return random.Random(seed).sample([*kinds] * 4, 4 * len(kinds))  # noqa: S311 - an order, no secret


@pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect")
def test_mixed_traffic(handler: Any, results: list[Any]) -> None:
    """
    Whatever else runs beside it, a request gets its own contexts, answer and status, and its reader its own text.
    """
    asked: dict[str, str] = {}
    wrong: list[str] = []

    def expect(question: str, status: str, text: str | None) -> None:
        asked[question] = status
        if status == "ok" and text != f"It is {question}":
            wrong.append(question)

    def thread(name: str) -> None:
        order = shuffled(PLAIN, name)
        for number, ask in enumerate(order):
            question = f"{ask.__name__} {number} on {name}"
            expect(question, PLAIN[ask], ask(question))

    async def task(ask: Any, question: str) -> None:
        expect(question, ASYNC[ask], await ask(question))

    async def loop(name: str) -> None:
        order = shuffled(ASYNC, name)
        await asyncio.gather(*[task(ask, f"{ask.__name__} {n} on {name}") for n, ask in enumerate(order)])

    work = [threading.Thread(target=thread, args=(f"thread {number}",)) for number in range(3)]
    work += [threading.Thread(target=lambda name=f"loop {n}": asyncio.run(loop(name))) for n in range(2)]
    for one in work:
        one.start()
    for one in work:
        one.join()
    gc.collect()
    handler.flush()

    assert [] == wrong
    assert asked == {result.record.question: result.status for result in results}
    assert {1} == set(Counter([result.record.question for result in results]).values())
    for result in results:
        question = result.record.question
        if result.record.contexts and result.status != "error":
            assert [f"doc of {question}"] == [context.id for context in result.record.contexts]
        if result.status == "ok":
            assert f"It is {question}" == result.record.answer
