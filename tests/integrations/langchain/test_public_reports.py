"""
Shapes from public reports about other tracers that no other file here holds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import pytest

pytest.importorskip("langgraph")

import langchain_parts as parts
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_core.vectorstores import InMemoryVectorStore


def only(results: list[Any]) -> Any:
    (result,) = results
    return result


def ensemble() -> Any:
    from langchain_classic.retrievers import EnsembleRetriever

    return EnsembleRetriever(retrievers=[parts.Docs(docs=[parts.TOWER]), parts.Docs(docs=[parts.OPENING])])


@pytest.mark.parametrize("retriever", [parts.Docs, ensemble])
def test_a_retriever_alone_is_half_a_request(
    retriever: Callable[[], Any], handler: Any, results: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    """
    Other tracers say "parent run not found" here; ours notes a retrieval, of the outermost retriever, and is silent.
    """
    caplog.set_level(logging.WARNING, logger="langchain_core")
    retriever().invoke(parts.QUESTION, {"callbacks": [handler]})

    assert ("retrieval_only", parts.QUESTION, 2) == (
        only(results).status,
        only(results).record.question,
        len(only(results).record.contexts),
    )
    assert [] == [record for record in caplog.records if record.name.startswith("langchain")]


def test_a_tool_that_calls_a_retriever_without_its_config_is_seen(handler: Any, results: list[Any]) -> None:
    """
    Callbacks reach the retriever by context variable.
    """
    retriever = parts.Docs()

    @tool
    def search(query: str) -> str:
        """Search the guide."""
        return parts.join(retriever.invoke(query))

    parts.agent(tools=[search]).invoke({"messages": [("human", parts.QUESTION)]}, {"callbacks": [handler]})

    assert ("ok", "retriever") == (only(results).status, only(results).context_source)


def test_retrievers_drop_the_scores_of_their_store(handler: Any, results: list[Any]) -> None:
    """
    A score that no event carries is None, not zero.
    """
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents([parts.TOWER])

    parts.lcel(store.as_retriever()).invoke(parts.QUESTION, {"callbacks": [handler]})

    assert [None] == [context.score for context in only(results).record.contexts]


async def test_events_of_a_bound_graph_are_seen(handler: Any, results: list[Any]) -> None:
    """
    `graph.with_config(callbacks=...)` with `astream_events`.
    """
    graph = parts.graph().with_config(callbacks=[handler])
    async for _ in graph.astream_events({"question": parts.QUESTION}, version="v2"):
        pass

    assert ("ok", parts.QUESTION, parts.ANSWER) == (
        only(results).status,
        only(results).record.question,
        only(results).record.answer,
    )


@pytest.mark.parametrize("mode", ["values", "updates", "messages", "custom", "debug"])
def test_every_stream_mode_of_a_graph_is_one_request(mode: str, handler: Any, results: list[Any]) -> None:
    """
    What the application reads from a graph does not change what is captured.
    """
    list(parts.graph().stream({"question": parts.QUESTION}, {"callbacks": [handler]}, stream_mode=mode))

    assert ("ok", parts.ANSWER) == (only(results).status, only(results).record.answer)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # what it tests is deprecated, and in wide use
def test_a_chain_with_message_history_is_one_request(handler: Any, results: list[Any]) -> None:
    """
    RunnableWithMessageHistory loads, runs and saves under one root.
    """
    from langchain_core.chat_history import InMemoryChatMessageHistory
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.runnables.history import RunnableWithMessageHistory

    memories: dict[str, InMemoryChatMessageHistory] = {}
    prompt = ChatPromptTemplate.from_messages(
        [("system", "{context}"), ("placeholder", "{history}"), ("human", "{question}")]
    )
    chain = (
        RunnableLambda(lambda x: {**x, "context": parts.join(parts.Docs().invoke(x["question"]))})
        | prompt
        | parts.Script()
        | StrOutputParser()
    )
    remembering = RunnableWithMessageHistory(
        chain,
        lambda session_id: memories.setdefault(session_id, InMemoryChatMessageHistory()),
        input_messages_key="question",
        history_messages_key="history",
    )
    config = {"callbacks": [handler], "configurable": {"session_id": "s"}}
    for question in ("first?", "second?"):
        remembering.invoke({"question": question}, config)

    assert [("ok", "first?"), ("ok", "second?")] == [(r.status, r.record.question) for r in results]


def test_the_documents_of_a_map_reduce_are_answered_once(handler: Any, results: list[Any]) -> None:
    """
    One model run per document, and the root's output as the only answer.
    """
    from langchain_classic.chains import RetrievalQA

    model = parts.Counted(says=["part one", "part two", parts.ANSWER])
    chain = RetrievalQA.from_chain_type(model, retriever=parts.Docs(), chain_type="map_reduce")

    chain.invoke({"query": parts.QUESTION}, {"callbacks": [handler]})

    assert ("ok", parts.ANSWER, 2) == (
        only(results).status,
        only(results).record.answer,
        len(only(results).record.contexts),
    )


def test_time_weighted_retrieval_does_not_make_documents_fresh(handler: Any, results: list[Any]) -> None:
    """
    `last_accessed_at` is set to now at every retrieval, and is no document's time.
    """
    from langchain_classic.retrievers import TimeWeightedVectorStoreRetriever

    class Scored(InMemoryVectorStore):
        def similarity_search_with_relevance_scores(self, query: str, k: int = 4, **kwargs: Any) -> Any:
            return self.similarity_search_with_score(query, k)

    retriever = TimeWeightedVectorStoreRetriever(vectorstore=Scored(DeterministicFakeEmbedding(size=8)), k=2)
    retriever.add_documents([parts.Document(page_content="The tower is tall.")])

    parts.lcel(retriever).invoke(parts.QUESTION, {"callbacks": [handler]})

    context = only(results).record.contexts[0]
    assert context.timestamp is None or context.timestamp < datetime.now(timezone.utc)
    assert "last_accessed_at" in context.metadata


async def test_a_cancelled_group_leaves_nothing(handler: Any, results: list[Any]) -> None:
    """
    A task that is cancelled inside `atrace_as_chain_group`.
    """
    from langchain_core.callbacks.manager import atrace_as_chain_group

    async def grouped() -> None:
        async with atrace_as_chain_group("group"):
            chain = parts.lcel(parts.Docs(delay_s=5)).with_config(callbacks=[handler])
            await chain.ainvoke(parts.QUESTION)

    task = asyncio.create_task(grouped())
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert ("cancelled", 0) == (only(results).status, handler.stats["live_requests"])


def test_switched_off_the_handler_is_still_a_handler(monkeypatch: pytest.MonkeyPatch, make: Callable[..., Any]) -> None:
    """
    None in a list of callbacks breaks LangChain: what is switched off stays an object that is passed over.
    """
    monkeypatch.setenv("RAGEVAL_TRACE_ENABLED", "0")
    handler = make()

    assert parts.ANSWER == parts.lcel().invoke(parts.QUESTION, {"callbacks": [handler]})
    assert (None, 0) == (handler.last, handler.stats["scored"])


def test_nothing_is_serialised(handler: Any, results: list[Any]) -> None:
    """
    Messages and documents are read, never dumped or copied.
    """
    from langchain_core.messages import HumanMessage

    def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("dumped")

    refusals = dict.fromkeys(
        ["model_dump", "model_dump_json", "dict", "json", "to_json", "__copy__", "__deepcopy__", "__str__", "__repr__"],
        refuse,
    )
    asked = type("Asked", (HumanMessage,), dict(refusals))("asked?")
    found = type("Found", (parts.Document,), dict(refusals))(page_content="The tower is tall.")
    chain = RunnableLambda(lambda state: parts.Docs(docs=[found]).invoke("q") and AIMessage("It is tall."))

    chain.invoke({"messages": [asked]}, {"callbacks": [handler]})

    record = only(results).record
    assert ("asked?", "It is tall.", "The tower is tall.") == (record.question, record.answer, record.contexts[0].text)
    assert 0 == handler.stats.get("internal_errors", 0)


def test_blocks_streamed_as_lists_are_read(handler: Any, results: list[Any]) -> None:
    """
    Models that stream content blocks hand lists to the token callback, which we leave alone.
    """
    blocks = AIMessage([{"type": "text", "text": parts.GOOD}])

    (parts.Docs() | RunnableLambda(parts.join) | parts.Script(says=[blocks])).invoke(
        parts.QUESTION, {"callbacks": [handler]}
    )

    assert parts.GOOD == only(results).record.answer
