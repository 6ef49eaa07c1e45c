"""
Objects that no framework's author expected, and applications that do odd things with ordinary ones.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar

import llama_parts as parts
import pytest
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.instrumentation.span_handlers import NullSpanHandler
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index_instrumentation import get_dispatcher

WORDS = ["It ", "is ", "82."]


class Returns(CustomQueryEngine):
    """
    Retrieve, and return what *make* makes.
    """

    make: Any

    def custom_query(self, query_str: str) -> Any:
        parts.Docs().retrieve(query_str)
        return self.make()

    async def acustom_query(self, query_str: str) -> Any:
        return self.custom_query(query_str)


def query(make: Callable[[], Any]) -> Any:
    return Returns(make=make).query(parts.QUESTION)


def only(results: list[Any]) -> Any:
    (result,) = results
    return result


@pytest.mark.parametrize("kind", [list, tuple])
def test_texts_that_are_no_stream_can_be_read_again(kind: Any, handler: Any, results: list[Any]) -> None:
    """
    A list in the generator's place stays the user's own list, and its text is known at once.
    """
    texts = kind(WORDS)

    response = query(lambda: StreamingResponse(response_gen=texts, source_nodes=parts.chunks()))

    assert response.response_gen is texts
    assert ("ok", "It is 82.") == (only(results).status, only(results).record.answer)


def test_an_iterable_that_can_be_read_again_is_left_alone(handler: Any, results: list[Any]) -> None:
    """
    What makes a new iterator each time could not be heard without changing that.
    """

    class Again:
        def __iter__(self) -> Any:
            return iter(WORDS)

    response = query(lambda: StreamingResponse(response_gen=Again(), source_nodes=parts.chunks()))

    assert [WORDS, WORDS] == [list(response.response_gen), list(response.response_gen)]
    assert "retrieval_only" == only(results).status


async def _words() -> Any:
    for word in WORDS:
        yield word


def test_a_generator_of_the_other_kind(handler: Any, results: list[Any]) -> None:
    """
    An asynchronous generator in a synchronous response, and the reverse: the reader reads as before.
    """

    async def read(stream: Any) -> list[str]:
        return [text async for text in stream]

    first = query(lambda: StreamingResponse(response_gen=_words(), source_nodes=parts.chunks()))  # type: ignore[arg-type]
    assert WORDS == asyncio.run(read(first.response_gen))
    second = query(lambda: AsyncStreamingResponse(response_gen=iter(WORDS), source_nodes=parts.chunks()))  # type: ignore[arg-type]
    assert WORDS == list(second.response_gen)
    assert [("ok", "It is 82.")] * 2 == [(one.status, one.record.answer) for one in results]


def test_a_stream_that_the_engine_itself_has_read(handler: Any, results: list[Any]) -> None:
    """
    An engine that prints its stream and then returns it has the text in the response.
    """

    def make() -> Any:
        response = parts.engine(streaming=True).query("inner")
        assert parts.ANSWER == str(response)
        return response

    assert parts.ANSWER == str(query(make))
    assert ("ok", parts.QUESTION, parts.ANSWER) == (
        only(results).status,
        only(results).record.question,
        only(results).record.answer,
    )


class Lengthless(str):
    """
    A string that says nothing of its length.
    """

    __slots__ = ()

    def __len__(self) -> int:
        raise RuntimeError("no length")


class Classless:
    """
    An object that does not say what it is.
    """

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise RuntimeError("no class")


@pytest.mark.parametrize("asynchronous", [False, True])
def test_tokens_that_raise_when_looked_at(asynchronous: bool, handler: Any, results: list[Any]) -> None:
    """
    They reach the reader, in whose stack we run, and what is text in them the record.
    """
    tokens: list[Any] = ["It ", Lengthless("is "), Classless(), None, 7, "", "82."]

    async def stream() -> Any:
        for token in tokens:
            yield token

    async def read(response: Any) -> list[Any]:
        return [token async for token in response.response_gen]

    if asynchronous:
        response = query(lambda: AsyncStreamingResponse(response_gen=stream(), source_nodes=parts.chunks()))
        got = asyncio.run(read(response))
    else:
        response = query(lambda: StreamingResponse(response_gen=(one for one in tokens), source_nodes=parts.chunks()))
        got = list(response.response_gen)

    assert [id(one) for one in tokens] == [id(one) for one in got]
    assert "It is 82." == only(results).record.answer


def test_a_response_that_cannot_be_changed(make: Any) -> None:
    """
    A stream that cannot be wrapped stays as it is; the request is given up at once, and counted.
    """

    class Fixed(StreamingResponse):
        def __setattr__(self, name: str, value: Any) -> None:
            if name in vars(self):
                raise AttributeError(name)
            super().__setattr__(name, value)

    with make() as handler:
        response = query(lambda: Fixed(response_gen=(word for word in WORDS), source_nodes=parts.chunks()))
        stats = handler.stats

    assert WORDS == list(response.response_gen)
    assert (0, 1, 1) == (stats["live_requests"], stats["evicted"], stats["internal_errors"])


def test_a_close_that_raises(handler: Any, results: list[Any]) -> None:
    """
    The user's own error comes out of `close`, as it would without us.
    """

    def stream() -> Any:
        try:
            yield from WORDS
        finally:
            raise LookupError("while closing")

    response = query(lambda: StreamingResponse(response_gen=stream(), source_nodes=parts.chunks()))
    next(response.response_gen)

    with pytest.raises(LookupError, match="while closing"):
        response.response_gen.close()
    del response
    handler.flush()
    assert ("partial", "It ") == (only(results).status, only(results).record.answer)


def test_a_stream_that_is_thrown_into(handler: Any, results: list[Any]) -> None:
    """
    The error comes back, the generator below runs its `finally`, and the request failed.
    """
    closed = []

    def stream() -> Any:
        try:
            yield from WORDS
        finally:
            closed.append(True)

    response = query(lambda: StreamingResponse(response_gen=stream(), source_nodes=parts.chunks()))
    next(response.response_gen)

    with pytest.raises(ZeroDivisionError):
        response.response_gen.throw(ZeroDivisionError)
    assert ([True], []) == (closed, list(response.response_gen))
    assert ("error", "It ") == (only(results).status, only(results).record.answer)


def test_a_loop_that_ends_closes_generators_side_by_side(
    handler: Any, results: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    """
    The generator below is closed by the loop at the same time; that is no error, and nobody hears of one.
    """
    closed = []
    kept = []

    async def stream() -> Any:
        try:
            for word in WORDS:
                yield word
        finally:
            await asyncio.sleep(0.001)
            closed.append(True)

    async def leave() -> None:
        for _ in range(20):
            response = query(lambda: AsyncStreamingResponse(response_gen=stream(), source_nodes=parts.chunks()))
            kept.append(response)
            await anext(response.response_gen)

    with caplog.at_level(logging.ERROR, logger="asyncio"):
        asyncio.run(leave())

    # A set is in any order: of twenty pairs, some would be closed in each.
    assert ([True] * 20, []) == (closed, caplog.messages)
    kept.clear()
    handler.flush()
    assert [("partial", "It ")] * 20 == [(one.status, one.record.answer) for one in results]


class Broken(TextNode):
    """
    A node that cannot be read.
    """

    @property
    def node_id(self) -> str:
        raise RuntimeError("no id")


def test_one_node_that_cannot_be_read(handler: Any, results: list[Any]) -> None:
    """
    The others are contexts all the same.
    """
    nodes = [NodeWithScore(node=Broken(text="Broken.")), *parts.chunks()]

    query(lambda: StreamingResponse(response_gen=WORDS, source_nodes=nodes))  # type: ignore[arg-type]

    assert ["tower", "opening"] == [context.id for context in only(results).record.contexts]
    assert handler.stats["coerced_documents"] > 0


def test_a_retriever_that_returns_a_corpus(handler: Any, results: list[Any]) -> None:
    """
    Only as many nodes are read as anything is computed from, and texts no further than they count.
    """
    nodes = [TextNode(text=f"{number} " * 50, id_=f"n{number}") for number in range(20_000)]
    many = [NodeWithScore(node=node, score=0.5) for node in nodes]
    many[0].node.text = "long " * 2_000_000  # type: ignore[attr-defined]

    began = time.process_time()
    parts.Docs(nodes=many).retrieve(parts.QUESTION)
    took = time.process_time() - began

    record = only(results).record
    assert (100, 200_000) == (len(record.contexts), len(record.contexts[0].text))
    assert 19_900 == handler.stats["dropped_contexts"]
    assert took < 2


def test_uninstalled_while_a_chat_is_written(make: Any, results: list[Any]) -> None:
    """
    No one will tell the end of it any more, so that it is given up and not kept open.
    """
    with make() as handler:
        chat = ContextChatEngine.from_defaults(retriever=parts.Docs(), llm=Slow(), memory=parts.memory())
        response = chat.stream_chat(parts.QUESTION)

    assert (0, 1) == (handler.stats["live_requests"], handler.stats["evicted"])
    Slow.go.set()
    assert parts.ANSWER == "".join(response.response_gen)
    assert ["evicted"] == [result.status for result in results]


class Slow(parts.Script):
    """
    Wait for a sign before the first word.
    """

    go: ClassVar[threading.Event] = threading.Event()

    def _words(self, prompt: str) -> Any:
        self.go.wait(10)
        yield from super()._words(prompt)


@pytest.mark.parametrize("emptied", ["span_handlers", "event_handlers"])
def test_a_dispatcher_that_was_emptied(emptied: str, make: Any, results: list[Any]) -> None:
    """
    Installing again puts the handler back, once.
    """
    dispatcher = get_dispatcher()
    before = {name: list(getattr(dispatcher, name)) for name in ("span_handlers", "event_handlers")}
    handler = make().install()
    setattr(dispatcher, emptied, [])

    handler.install().install()
    parts.engine().query(parts.QUESTION)
    handler.uninstall()

    assert [parts.QUESTION] == [result.record.question for result in results]
    left = {name: getattr(dispatcher, name) for name in before}
    assert {**before, emptied: []} == left
    for name, handlers in before.items():
        setattr(dispatcher, name, handlers)


def test_several_handlers_keep_their_places(make: Any, results: list[Any]) -> None:
    """
    Ours move behind another's that came later, and then stay where they are, with the other's in its place.
    """
    dispatcher = get_dispatcher()
    before = list(dispatcher.span_handlers)
    with make(), make():
        other = NullSpanHandler()
        dispatcher.add_span_handler(other)
        orders = []
        for _ in range(3):
            parts.engine().query(parts.QUESTION)
            orders.append([id(one) for one in dispatcher.span_handlers])
        dispatcher.span_handlers = [one for one in dispatcher.span_handlers if one is not other]

    assert (6, orders[0], orders[0]) == (len(results), orders[1], orders[2])
    assert id(other) == orders[0][len(before)]
    assert before == dispatcher.span_handlers


def test_installing_from_many_threads_while_others_ask(make: Any) -> None:
    """
    Nobody's handler is lost, and nothing is left behind.
    """
    dispatcher = get_dispatcher()
    before = (list(dispatcher.span_handlers), list(dispatcher.event_handlers))
    handlers = [make() for _ in range(4)]
    stop = threading.Event()
    errors: list[BaseException] = []

    def switch(handler: Any) -> None:
        try:
            for _ in range(40):
                with handler:
                    time.sleep(0.0005)
        except BaseException as error:
            errors.append(error)

    def ask() -> None:
        while not stop.is_set():
            assert parts.ANSWER == "".join(parts.engine(streaming=True).query(parts.QUESTION).response_gen)

    askers = [threading.Thread(target=ask) for _ in range(2)]
    switchers = [threading.Thread(target=switch, args=(handler,)) for handler in handlers]
    for thread in (*askers, *switchers):
        thread.start()
    for thread in switchers:
        thread.join()
    stop.set()
    for thread in askers:
        thread.join()

    assert [] == errors
    assert before == (dispatcher.span_handlers, dispatcher.event_handlers)
    stats = [handler.stats for handler in handlers]
    assert [0, 0] == [sum([one.get(name, 0) for one in stats]) for name in ("live_requests", "internal_errors")]
