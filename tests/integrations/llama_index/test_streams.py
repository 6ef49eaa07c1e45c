"""
Streams: read late, elsewhere, in part or never.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from typing import Any

import llama_parts as parts
import pytest

WORDS = [word if number == 0 else f" {word}" for number, word in enumerate(parts.ANSWER.split(" "))]


def _stream() -> Any:
    return parts.engine(streaming=True).query(parts.QUESTION)


def _in_a_thread(response: Any) -> list[str]:
    read: list[str] = []
    thread = threading.Thread(target=lambda: read.extend(response.response_gen))
    thread.start()
    thread.join()
    return read


@pytest.mark.parametrize("read", [lambda response: list(response.response_gen), _in_a_thread])
def test_a_stream_that_is_read_late(read: Callable[[Any], list[str]], handler: Any, results: list[Any]) -> None:
    """
    The record waits for the reader, wherever that is, and the reader gets every token as it was.
    """
    response = _stream()
    other = parts.engine().query("another question in between")
    assert [str(other)] == [result.record.answer for result in results]
    results.clear()

    assert WORDS == read(response)

    assert [("ok", parts.ANSWER)] == [(result.status, result.record.answer) for result in results]


async def test_a_stream_that_is_read_in_another_task(handler: Any, results: list[Any]) -> None:
    """
    The same for asyncio.
    """
    response = await parts.engine(streaming=True).aquery(parts.QUESTION)

    async def read() -> list[str]:
        return [text async for text in response.async_response_gen()]

    assert WORDS == await asyncio.create_task(read())
    assert [("ok", parts.ANSWER)] == [(result.status, result.record.answer) for result in results]


async def test_the_raw_generator_of_an_asynchronous_response(handler: Any, results: list[Any]) -> None:
    """
    `response_gen` itself may be read.
    """
    response = await parts.engine(streaming=True).aquery(parts.QUESTION)

    assert WORDS == [text async for text in response.response_gen]
    assert [parts.ANSWER] == [result.record.answer for result in results]


def _close(response: Any) -> None:
    next(response.response_gen)
    response.response_gen.close()


def _break(response: Any) -> None:
    for _ in response.response_gen:
        break


def _collect(response: Any) -> None:
    next(response.response_gen)


@pytest.mark.parametrize("leave", [_close, _break, _collect])
def test_a_stream_that_is_read_in_part(leave: Callable[[Any], None], handler: Any, results: list[Any]) -> None:
    """
    What was read is kept, and not scored.
    """
    response = _stream()
    leave(response)
    del response
    gc.collect()

    handler.flush()

    assert [("partial", WORDS[0], {})] == [(one.status, one.record.answer, one.results) for one in results]
    assert 1 == handler.stats["incomplete"]


def test_a_partial_stream_may_be_scored(make: Any, results: list[Any]) -> None:
    """
    On request, what was read counts as an answer.
    """
    from rageval_trace.live.settings import Settings

    with make(settings=Settings(score_partial=True)) as handler:
        _close(_stream())
        handler.flush()

    assert "faithfulness" in results[0].scores


def test_a_closed_stream_closes_its_model(handler: Any) -> None:
    """
    The generator below is closed with the one around it.
    """
    closed = []

    class Closing(parts.Script):
        def _words(self, prompt: str) -> Any:
            try:
                yield from super()._words(prompt)
            finally:
                closed.append(True)

    _close(parts.engine(model=Closing(), streaming=True).query(parts.QUESTION))

    assert [True] == closed


async def test_an_asynchronous_stream_that_is_closed(handler: Any, results: list[Any]) -> None:
    """
    The same for asyncio.
    """
    response = await parts.engine(streaming=True).aquery(parts.QUESTION)
    await anext(response.response_gen)
    await response.response_gen.aclose()

    handler.flush()

    assert [("partial", WORDS[0])] == [(one.status, one.record.answer) for one in results]


async def test_a_reader_that_is_cancelled(handler: Any, results: list[Any]) -> None:
    """
    A task that is cancelled while the model is at work leaves a cancelled request.
    """
    response = await parts.engine(model=parts.Script(delay_s=0.05), streaming=True, mode="simple_summarize").aquery(
        parts.QUESTION
    )

    async def read() -> None:
        async for _ in response.response_gen:
            pass

    task = asyncio.create_task(read())
    await asyncio.sleep(0.08)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    handler.flush()

    assert ["cancelled"] == [one.status for one in results]


@pytest.mark.parametrize("keep", [False, True])
def test_a_stream_that_is_never_read(keep: bool, handler: Any, results: list[Any]) -> None:
    """
    It is abandoned once nobody can read it any more, and not while its generator lives.
    """
    response = _stream()
    generator = response.response_gen if keep else None
    del response
    gc.collect()
    handler.flush()
    assert ([] if keep else ["abandoned"]) == [one.status for one in results]

    del generator
    gc.collect()
    handler.flush()

    (result,) = results
    assert ("abandoned", None) == (result.status, result.record.answer)
    assert ["tower", "opening"] == [context.id for context in result.record.contexts]


def test_the_collector_only_leaves_a_note(handler: Any, results: list[Any]) -> None:
    """
    A stream that the garbage collector closes runs nothing of ours but a queue's `put`: the next call reports it.
    """
    response = _stream()
    del response
    gc.collect()
    assert [] == results

    parts.engine().query("the next")

    assert ["abandoned", "ok"] == [one.status for one in results]


def test_a_model_that_breaks_off(handler: Any, results: list[Any]) -> None:
    """
    The reader sees the model's own error; the record keeps what was said before it.
    """
    response = parts.engine(model=parts.Script(fail_at=2), streaming=True).query(parts.QUESTION)

    with pytest.raises(ValueError, match="the model broke off"):
        list(response.response_gen)

    assert [("error", "".join(WORDS[:2]))] == [(one.status, one.record.answer) for one in results]
    assert 1 == handler.stats["request_error"]


def test_two_handlers_hear_the_same_stream(make: Any, results: list[Any]) -> None:
    """
    Each wraps what the other left, and the reader still gets every token once.
    """
    with make(), make():
        assert WORDS == list(_stream().response_gen)

    assert [parts.ANSWER] * 2 == [one.record.answer for one in results]


def test_a_stream_may_be_read_after_uninstalling(make: Any, results: list[Any]) -> None:
    """
    A request that only waits for its reader is heard to its end.
    """
    with make():
        response = _stream()

    assert WORDS == list(response.response_gen)
    assert [("ok", parts.ANSWER)] == [(one.status, one.record.answer) for one in results]


def test_odd_tokens_pass(handler: Any, results: list[Any]) -> None:
    """
    What is no text is handed on, and left out of the answer.
    """
    from llama_index.core.base.response.schema import StreamingResponse
    from llama_index.core.query_engine import CustomQueryEngine

    class Custom(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Any:
            return StreamingResponse(response_gen=iter(["It is ", None, 82, "82."]), source_nodes=parts.chunks())

    assert ["It is ", None, 82, "82."] == list(Custom().query(parts.QUESTION).response_gen)
    assert ["It is 82."] == [one.record.answer for one in results]


def test_unread_streams_are_bounded(make: Any, results: list[Any]) -> None:
    """
    Streams that stay unread for ever are given up, oldest first, and counted.
    """
    from rageval_trace.live.settings import Settings

    with make(settings=Settings(max_runs=64)) as handler:
        kept = [_stream() for _ in range(100)]
        stats = handler.stats

    assert (64, 36) == (stats["live_requests"], stats["evicted"])
    assert 100 == len(kept)
    del kept
    gc.collect()
    assert 0 == handler.stats["live_requests"]
