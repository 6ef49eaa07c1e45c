"""
Streams: read, closed early, cancelled, broken off, abandoned.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("langgraph")

import langchain_parts as parts
from langchain_core.runnables import RunnableGenerator, RunnableLambda

LONG = " ".join([f"word{number}" for number in range(40)])


def chain(**model: Any) -> Any:
    return parts.lcel(model=parts.Script(**{"says": [LONG], **model}))


def only(results: list[Any]) -> Any:
    (result,) = results
    return result


def assert_clean(handler: Any) -> None:
    assert (0, 0) == (handler.stats["live_requests"], handler.stats.get("internal_errors", 0))
    assert {} == handler._tracker.runs.live


def test_the_placeholder_is_never_the_question(handler: Any, results: list[Any]) -> None:
    """
    A stream begins with an empty input; the real one comes at its end.
    """
    list(chain().stream(parts.QUESTION, {"callbacks": [handler]}))

    assert (parts.QUESTION, LONG) == (only(results).record.question, only(results).record.answer)


def test_a_stream_of_a_mapping_has_its_question(handler: Any, results: list[Any]) -> None:
    """
    The input of a stream may be a mapping as well.
    """
    list(parts.retrieval_chain().stream({"input": parts.QUESTION}, {"callbacks": [handler]}))

    assert parts.QUESTION == only(results).record.question


def test_a_stream_closed_early_is_partial(handler: Any, results: list[Any]) -> None:
    """
    Its root ends well, before its model does: it is not taken for a whole answer, and what comes late is ignored.
    """
    stream = chain().stream(parts.QUESTION, {"callbacks": [handler]})
    for _ in range(3):
        next(stream)
    stream.close()

    assert ("partial", {}) == (only(results).status, only(results).results)
    assert 1 == handler.stats["incomplete"]
    assert_clean(handler)


async def test_an_async_stream_closed_early_is_partial(handler: Any, results: list[Any]) -> None:
    """
    GeneratorExit is how a stream is closed, not an error.
    """
    stream = chain().astream(parts.QUESTION, {"callbacks": [handler]})
    async for _ in stream:
        break
    await stream.aclose()
    await asyncio.sleep(0.05)

    assert "partial" == only(results).status
    assert_clean(handler)


async def test_a_graph_stream_closed_early_is_partial(handler: Any, results: list[Any]) -> None:
    """
    A return out of `astream()` of a graph is no error either.
    """
    stream = parts.graph().astream({"question": parts.QUESTION}, {"callbacks": [handler]}, stream_mode="updates")
    async for _ in stream:
        break
    await stream.aclose()
    for step in parts.graph().stream({"question": parts.QUESTION}, {"callbacks": [handler]}):
        assert step
        break
    gc.collect()

    assert ["partial", "partial"] == [result.status for result in results]
    assert_clean(handler)


async def test_an_abandoned_stream_leaves_nothing(handler: Any, results: list[Any]) -> None:
    """
    A generator that nobody closes is finalised by the loop, in another task.
    """

    async def leave() -> None:
        stream = chain().astream(parts.QUESTION, {"callbacks": [handler]})
        await stream.__anext__()

    await asyncio.create_task(leave())
    gc.collect()
    await asyncio.sleep(0.05)

    assert "partial" == only(results).status
    assert_clean(handler)


def test_an_abandoned_synchronous_stream_leaves_nothing(handler: Any, results: list[Any]) -> None:
    """
    The garbage collector closes it.
    """
    stream = chain().stream(parts.QUESTION, {"callbacks": [handler]})
    next(stream)
    del stream
    gc.collect()

    assert "partial" == only(results).status
    assert_clean(handler)


def test_a_stream_never_begun_was_no_request(handler: Any, results: list[Any]) -> None:
    """
    Nothing runs before the first chunk is asked for.
    """
    stream = chain().stream(parts.QUESTION, {"callbacks": [handler]})
    del stream

    assert [] == results


def test_a_model_that_breaks_off_is_an_error(handler: Any, results: list[Any]) -> None:
    """
    The application sees its own exception, and the request is not scored.
    """
    with pytest.raises(ValueError, match="the model broke off"):
        list(chain(fail_at=5).stream(parts.QUESTION, {"callbacks": [handler]}))

    assert ("error", parts.QUESTION, 2) == (
        only(results).status,
        only(results).record.question,
        len(only(results).record.contexts),
    )
    assert 1 == handler.stats["request_error"]
    assert_clean(handler)


@pytest.mark.parametrize("where", ["retriever", "model"])
async def test_a_cancelled_request_is_cancelled(where: str, handler: Any, results: list[Any]) -> None:
    """
    Cancelled retrievers and models never end by themselves; they go with their request.
    """
    slow = parts.lcel(parts.Docs(delay_s=5)) if where == "retriever" else parts.lcel(model=parts.Script(delay_s=5))

    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(slow.ainvoke(parts.QUESTION, {"callbacks": [handler]}), 0.05)

    assert "cancelled" == only(results).status
    assert_clean(handler)


async def test_a_cancelled_stream_is_cancelled(handler: Any, results: list[Any]) -> None:
    """
    A client that goes away cancels the task that reads the stream.
    """

    async def read() -> None:
        async for _ in chain(delay_s=0.01).astream(parts.QUESTION, {"callbacks": [handler]}):
            pass

    task = asyncio.create_task(read())
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gc.collect()
    await asyncio.sleep(0.05)

    assert only(results).status in ("cancelled", "partial")
    assert_clean(handler)


async def test_a_cancel_storm_leaves_nothing(handler: Any, results: list[Any]) -> None:
    """
    Thirty requests cancelled at once end as thirty cancelled requests.
    """
    slow = parts.lcel(parts.Docs(delay_s=5))
    tasks = [asyncio.create_task(slow.ainvoke(f"q{n}", {"callbacks": [handler]})) for n in range(30)]
    await asyncio.sleep(0.01)
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)

    assert [asyncio.CancelledError] * 30 == [type(one) for one in ended]
    assert handler.stats["incomplete"] == len(results)
    assert {"cancelled"} >= {result.status for result in results}
    assert_clean(handler)


async def test_events_are_the_same_with_and_without(handler: Any) -> None:
    """
    `astream_events` and the chunks of `stream` do not change.
    """

    async def events(callbacks: list[Any]) -> list[Any]:
        return [
            (event["event"], event["name"], str(event["data"].get("chunk")))
            async for event in chain().astream_events(parts.QUESTION, {"callbacks": callbacks}, version="v2")
        ]

    def stable(found: list[Any]) -> list[Any]:
        return [(kind, name) for kind, name, _ in found]

    assert stable(await events([])) == stable(await events([handler]))
    assert list(chain().stream(parts.QUESTION)) == list(chain().stream(parts.QUESTION, {"callbacks": [handler]}))


def test_invoke_does_not_turn_into_streaming(handler: Any) -> None:
    """
    A handler that looked like a streaming one would make every model stream in `invoke`.
    """
    seen: list[str] = []

    class Model(parts.Script):
        def _stream(self, *args: Any, **kwargs: Any) -> Any:
            seen.append("stream")
            return super()._stream(*args, **kwargs)

    parts.lcel(model=Model()).invoke(parts.QUESTION, {"callbacks": [handler]})

    assert [] == seen
    assert not any([hasattr(handler, name) for name in ("tap_output_iter", "tap_output_aiter")])


def test_tokens_cost_nothing(handler: Any) -> None:
    """
    No callback of ours runs per token.
    """
    from langchain_core.callbacks import BaseCallbackHandler

    for name in ("on_llm_new_token", "on_text", "on_stream_event"):
        ours = getattr(type(handler), name, None)
        assert ours is getattr(BaseCallbackHandler, name, None)


def test_a_generator_step_that_stops_early_is_a_whole_answer(handler: Any, results: list[Any]) -> None:
    """
    `invoke` is never partial, whatever its steps left running.
    """
    answer = chain() | RunnableLambda(lambda text: text[:5])

    answer.invoke(parts.QUESTION, {"callbacks": [handler]})

    assert ("ok", LONG[:5]) == (only(results).status, only(results).record.answer)


def test_sync_stream_in_small_pieces(handler: Any, results: list[Any], make: Callable[..., Any]) -> None:
    """
    An option scores what was streamed before it was closed.
    """
    from rageval_trace.live.settings import Settings

    stream = chain().stream(parts.QUESTION, {"callbacks": [make(settings=Settings(score_partial=True))]})
    for _ in range(9):
        next(stream)
    stream.close()

    assert ("partial", True) == (only(results).status, bool(only(results).scores))


def test_a_stream_without_a_model_run_is_partial_too(handler: Any, results: list[Any]) -> None:
    """
    Models called by other means leave no run of their own; any step that is still open tells.
    """

    def words(texts: Any) -> Any:
        for _ in texts:
            yield from ("The ", "tower ", "is ", "tall.")

    calling = parts.Docs() | RunnableLambda(parts.join) | RunnableGenerator(words)
    assert "The tower is tall." == "".join(calling.stream(parts.QUESTION, {"callbacks": [handler]}))
    next(calling.stream(parts.QUESTION, {"callbacks": [handler]}))
    gc.collect()

    assert ["ok", "partial"] == [result.status for result in results]
    assert_clean(handler)
