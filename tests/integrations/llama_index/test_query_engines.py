"""
Query engines of every kind, called in every way: one record, the same one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import llama_parts as parts
import pytest
from pydantic import BaseModel

from rageval_trace import evaluate
from rageval_trace.testing import CapturedTelemetry


async def _read(engine: Any, question: str) -> str:
    response = await engine.aquery(question)
    return "".join([text async for text in response.async_response_gen()])


CALLS: dict[str, tuple[bool, Callable[[Any, str], str]]] = {
    "query": (False, lambda engine, question: str(engine.query(question))),
    "aquery": (False, lambda engine, question: str(asyncio.run(engine.aquery(question)))),
    "stream": (True, lambda engine, question: "".join(engine.query(question).response_gen)),
    "stream as text": (True, lambda engine, question: str(engine.query(question))),
    "astream": (True, lambda engine, question: asyncio.run(_read(engine, question))),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("mode", ["compact", "refine", "tree_summarize", "simple_summarize"])
def test_each_way_of_calling_gives_the_same_record(mode: str, call: str, handler: Any, results: list[Any]) -> None:
    """
    Question, contexts with their ids and times, and answer are captured once, and the user reads what was said.
    """
    streaming, ask = CALLS[call]

    text = ask(parts.engine(mode=mode, streaming=streaming), parts.QUESTION)

    (result,) = results
    record = result.record
    assert parts.ANSWER == text
    assert ("ok", parts.QUESTION, parts.ANSWER) == (result.status, record.question, record.answer)
    assert ["tower", "opening"] == [context.id for context in record.contexts]
    assert [parts.TOWER, parts.OPENING] == [context.text for context in record.contexts]
    assert [0.9, 0.4] == [context.score for context in record.contexts]
    assert "2026-11-01T00:00:00+00:00" == record.contexts[0].timestamp.isoformat()
    assert "guide.md" == record.contexts[0].source
    assert "chunk of tower" == record.contexts[0].metadata["node_id"]
    assert ("response", (parts.QUESTION,)) == (result.context_source, result.search_queries)


def _bm25() -> Any:
    bm25 = pytest.importorskip("llama_index.retrievers.bm25")
    nodes = [chunk.node for chunk in parts.chunks()]
    return bm25.BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=2)


@pytest.mark.parametrize("retriever", [lambda: parts.index().as_retriever(similarity_top_k=2), _bm25])
@pytest.mark.parametrize("streaming", [False, True])
def test_real_retrievers(retriever: Callable[[], Any], streaming: bool, handler: Any, results: list[Any]) -> None:
    """
    A vector index and BM25 give their documents' ids and scores.
    """
    text = str(parts.engine(retriever(), streaming=streaming).query("Harbour Tower"))

    (result,) = results
    assert (parts.ANSWER, parts.ANSWER) == (text, result.record.answer)
    assert {"tower", "opening"} == {context.id for context in result.record.contexts}
    assert all([isinstance(context.score, float) for context in result.record.contexts])


def test_the_span_carries_what_evaluate_says(handler: Any, results: list[Any], telemetry: CapturedTelemetry) -> None:
    """
    One evaluation span stands in the caller's trace, and its scores equal `evaluate` on the captured record.
    """
    tracer = telemetry.tracer_provider.get_tracer("app")

    with tracer.start_as_current_span("request") as outer:
        parts.engine().query(parts.QUESTION)

    (span,) = [span for span in telemetry.spans if span.name == "evaluation rag"]
    expected = {name: mean for name, mean in evaluate([results[0].record]).means.items() if mean is not None}
    sent = {
        name.removeprefix("rageval.score."): score
        for name, score in span.attributes.items()
        if name.startswith("rageval.score.")
    }
    assert f"{outer.get_span_context().trace_id:032x}" == span.trace_id
    assert "freshness" in sent
    assert expected == sent


class Height(BaseModel):
    """
    What a structured engine answers.
    """

    metres: int


@pytest.mark.parametrize(
    ("options", "answer", "status"),
    [
        ({"mode": "no_text"}, "", "ok"),
        (
            {"mode": "context_only"},
            f"last_modified_date: 2026-11-01\nfile_name: guide.md\n\n{parts.TOWER}\n\n{parts.OPENING}",
            "ok",
        ),
        (
            {"mode": "accumulate"},
            f"Response 1: {parts.ANSWER}\n---------------------\nResponse 2: {parts.ANSWER}",
            "ok",
        ),
        (
            {"mode": "tree_summarize", "output_cls": Height, "model": parts.Script('{"metres": 82}')},
            '{"metres":82}',
            "ok",
        ),
    ],
)
def test_unusual_answers(
    options: dict[str, Any], answer: str | None, status: str, handler: Any, results: list[Any]
) -> None:
    """
    An absent answer is not an empty one, and a structured one is its JSON.
    """
    parts.engine(**options).query(parts.QUESTION)

    (result,) = results
    assert (answer, status) == (result.record.answer, result.status)
    assert ["tower", "opening"] == [context.id for context in result.record.contexts]


@pytest.mark.parametrize("streaming", [False, True])
def test_a_retrieval_that_finds_nothing(streaming: bool, handler: Any, results: list[Any]) -> None:
    """
    Contexts are observed and empty.
    """
    text = str(parts.engine(parts.Docs(nodes=[]), streaming=streaming).query(parts.QUESTION))

    (result,) = results
    assert ((), text) == (result.record.contexts, result.record.answer)


def test_two_queries_in_one_span_of_the_users_are_two_records(handler: Any, results: list[Any]) -> None:
    """
    A span of the user's own groups requests; it is not one.
    """
    from llama_index_instrumentation import get_dispatcher

    engine = parts.engine()

    @get_dispatcher("app").span
    def ask() -> None:
        engine.query("first")
        engine.query("second")

    ask()

    assert ["first", "second"] == [result.record.question for result in results]


def test_a_function_that_retrieves_and_asks_a_model_is_a_record(handler: Any, results: list[Any]) -> None:
    """
    Without any engine, the user's own span holds the request: what was searched for, found, and said by the model.
    """
    from llama_index_instrumentation import get_dispatcher

    model = parts.Script()

    @get_dispatcher("app").span
    def ask(question: str) -> None:
        found = parts.Docs().retrieve(question)
        model.complete(f"{found} {question}")

    ask(parts.QUESTION)

    (result,) = results
    assert ("ok", "retriever") == (result.status, result.context_source)
    assert (parts.QUESTION, parts.ANSWER) == (result.record.question, result.record.answer)
    assert ["tower", "opening"] == [context.id for context in result.record.contexts]


def test_retrieve_then_synthesize_by_hand(handler: Any, results: list[Any]) -> None:
    """
    A bare synthesizer is complete in itself; the bare retrieval before it is not RAG.
    """
    from llama_index.core.response_synthesizers import get_response_synthesizer

    found = parts.Docs().retrieve(parts.QUESTION)
    get_response_synthesizer(llm=parts.Script()).synthesize(parts.QUESTION, found)

    assert ["retrieval_only", "ok"] == [result.status for result in results]
    assert (parts.QUESTION, parts.ANSWER) == (results[1].record.question, results[1].record.answer)
    assert ["tower", "opening"] == [context.id for context in results[1].record.contexts]


def test_a_model_alone_is_no_request(handler: Any, results: list[Any]) -> None:
    """
    Nothing is reported of model calls, embeddings and index building outside any request.
    """
    parts.Script().complete("Hello")
    parts.index()

    assert [] == results
    assert 0 == handler.stats["not_rag"]


def test_a_custom_engine_that_returns_text(handler: Any, results: list[Any]) -> None:
    """
    An engine that overrides `query` sends no events of its own, and names no sources.
    """
    from llama_index.core.query_engine import CustomQueryEngine

    class Custom(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            parts.Docs().retrieve(query_str)
            return parts.ANSWER

    Custom().query(parts.QUESTION)

    (result,) = results
    assert (parts.QUESTION, parts.ANSWER) == (result.record.question, result.record.answer)
    assert "retriever" == result.context_source
    assert ["tower", "opening"] == [context.id for context in result.record.contexts]


def test_labels_come_as_tags(handler: Any, results: list[Any]) -> None:
    """
    What the user says of a request in instrumentation tags labels it.
    """
    from llama_index_instrumentation.dispatcher import instrument_tags

    with instrument_tags({"rageval.relevant_ids": ["opening"], "rageval.pipeline": "guide", "session_id": "s-1"}):
        parts.engine().query(parts.QUESTION)

    (result,) = results
    assert ("guide", 0.5) == (result.pipeline, result.scores["mrr"])
