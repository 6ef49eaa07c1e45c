"""
Chat engines in every mode, called in every way.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import llama_parts as parts
import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index_instrumentation import get_dispatcher

pytestmark = pytest.mark.usefixtures("swept")

HISTORY = [ChatMessage(role="user", content="Which towers are there?"), ChatMessage(role="assistant", content="One.")]
ASKED = "And how tall is it?"
CONDENSED = "How tall is the Harbour Tower?"

ENGINES: dict[str, Callable[[], Any]] = {
    "context": lambda: ContextChatEngine.from_defaults(
        retriever=parts.Docs(), llm=parts.Script(), memory=parts.memory(list(HISTORY))
    ),
    "condense_plus_context": lambda: CondensePlusContextChatEngine.from_defaults(
        retriever=parts.Docs(), llm=parts.Script(CONDENSED, parts.ANSWER), memory=parts.memory(list(HISTORY))
    ),
    "condense_question": lambda: CondenseQuestionChatEngine.from_defaults(
        query_engine=parts.engine(), llm=parts.Script(CONDENSED), memory=parts.memory(list(HISTORY))
    ),
}


async def _astream(engine: Any) -> str:
    response = await engine.astream_chat(ASKED)
    return "".join([text async for text in response.async_response_gen()])


CALLS: dict[str, Callable[[Any], str]] = {
    "chat": lambda engine: str(engine.chat(ASKED)),
    "achat": lambda engine: str(asyncio.run(engine.achat(ASKED))),
    "stream_chat": lambda engine: "".join(engine.stream_chat(ASKED).response_gen),
    "astream_chat": lambda engine: asyncio.run(_astream(engine)),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("mode", ENGINES)
def test_the_users_message_is_the_question(mode: str, call: str, handler: Any, results: list[Any]) -> None:
    """
    One record with the message as it was sent, the sources, and the answer; what was searched for is kept beside.
    """
    text = CALLS[call](ENGINES[mode]())

    (result,) = results
    assert parts.ANSWER == text
    assert ("ok", ASKED, parts.ANSWER) == (result.status, result.record.question, result.record.answer)
    assert ["tower", "opening"] == [context.id for context in result.record.contexts]
    assert (ASKED if mode == "context" else CONDENSED,) == result.search_queries


def test_a_chat_stream_that_nobody_reads_is_written_all_the_same(handler: Any, results: list[Any]) -> None:
    """
    A thread of LlamaIndex's own writes the answer into the history, whether or not the user reads it.
    """
    response = ENGINES["context"]().stream_chat(ASKED)
    response.write_response_to_history_thread.join()

    assert [("ok", parts.ANSWER)] == [(one.status, one.record.answer) for one in results]


def test_a_chat_stream_that_breaks_off(handler: Any, results: list[Any]) -> None:
    """
    The user sees the model's own error.
    """
    engine = ContextChatEngine.from_defaults(retriever=parts.Docs(), llm=parts.Script(fail_at=2), memory=parts.memory())

    async def read() -> None:
        response = await engine.astream_chat(ASKED)
        async for _ in response.async_response_gen():
            pass

    with pytest.raises(ValueError, match="the model broke off"):
        asyncio.run(read())

    assert [("error", None)] == [(one.status, one.record.answer) for one in results]
    assert ["tower", "opening"] == [context.id for context in results[0].record.contexts]


def test_a_chat_without_retrieval_is_not_rag(handler: Any, results: list[Any]) -> None:
    """
    A bare conversation is counted, and not scored.
    """
    SimpleChatEngine.from_defaults(llm=parts.Script(), memory=parts.memory()).chat("Hello")

    assert [("answer_only", {})] == [(one.status, one.results) for one in results]
    assert 1 == handler.stats["not_rag"]


class Direct(SimpleChatEngine):
    """
    An engine whose reader reads the model's own messages, as those of older versions did.
    """

    def stream_chat(self, message: str, chat_history: Any = None) -> StreamingAgentChatResponse:
        return StreamingAgentChatResponse(
            chat_stream=_messages(), source_nodes=parts.chunks(), is_writing_to_memory=False
        )

    async def astream_chat(self, message: str, chat_history: Any = None) -> StreamingAgentChatResponse:
        async def stream() -> Any:
            for one in _messages():
                yield one

        return StreamingAgentChatResponse(
            achat_stream=stream(), source_nodes=parts.chunks(), is_writing_to_memory=False
        )


def _messages() -> Any:
    for delta in ("It ", None, "is ", "82."):
        yield ChatResponse(message=ChatMessage(role="assistant", content=delta), delta=delta)


def _direct() -> Direct:
    return Direct.from_defaults(llm=parts.Script(), memory=parts.memory())  # type: ignore[return-value]


async def _aread(left: int | None = None) -> list[str]:
    response = await _direct().astream_chat(parts.QUESTION)
    texts = []
    async for text in response.async_response_gen():
        texts.append(text)
        if len(texts) == left:
            assert response.achat_stream is not None
            await response.achat_stream.aclose()  # type: ignore[attr-defined]
    return texts


@pytest.mark.parametrize("call", ["stream_chat", "astream_chat"])
def test_a_chat_stream_that_is_read_directly(call: str, handler: Any, results: list[Any]) -> None:
    """
    No thread of LlamaIndex's own writes it: the reader's messages are heard as they pass.
    """
    plain = call == "stream_chat"

    texts = list(_direct().stream_chat(parts.QUESTION).response_gen) if plain else asyncio.run(_aread())

    (result,) = results
    assert ["It ", "", "is ", "82."] == texts
    assert ("ok", parts.QUESTION, "It is 82.") == (result.status, result.record.question, result.record.answer)
    assert ["tower", "opening"] == [context.id for context in result.record.contexts]


def test_a_directly_read_chat_stream_may_be_left(handler: Any, results: list[Any]) -> None:
    """
    In part, or unread.
    """
    next(_direct().stream_chat(parts.QUESTION).response_gen)
    _direct().stream_chat(parts.QUESTION)
    asyncio.run(_aread(left=1))
    gc.collect()
    handler.flush()

    assert [("partial", "It "), ("abandoned", None), ("partial", "It ")] == [
        (one.status, one.record.answer) for one in results
    ]


def test_an_answer_that_only_events_tell(handler: Any, results: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Older versions keep the written text nowhere but in the conversation; its pieces come as events.
    """
    write = StreamingAgentChatResponse.write_response_to_history.__wrapped__

    @get_dispatcher("chat").span
    def write_response_to_history(self: Any, *args: Any, **kwargs: Any) -> None:
        write(self, *args, **kwargs)
        self.response = ""

    monkeypatch.setattr(StreamingAgentChatResponse, "write_response_to_history", write_response_to_history)
    chat = CondenseQuestionChatEngine.from_defaults(
        query_engine=parts.engine(streaming=True), llm=parts.Script("condensed"), memory=parts.memory()
    )

    assert parts.ANSWER == "".join(chat.stream_chat(parts.QUESTION).response_gen)
    (result,) = results
    assert ("ok", parts.QUESTION, parts.ANSWER) == (result.status, result.record.question, result.record.answer)
