"""
The chains of every tutorial, in every way of calling them.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("langgraph")

import langchain_parts as parts
from langchain_core.messages import AIMessage, HumanMessage

from rageval_trace import evaluate
from rageval_trace.models import Context
from rageval_trace.testing import CapturedTelemetry

HISTORY = [HumanMessage("Which towers are there?"), AIMessage("The Harbour Tower.")]
SHAPES: dict[str, tuple[Callable[[], Any], Any]] = {
    "lcel": (parts.lcel, parts.QUESTION),
    "create_retrieval_chain": (parts.retrieval_chain, {"input": parts.QUESTION}),
    "history-aware": (parts.history_chain, {"input": parts.QUESTION, "chat_history": HISTORY}),
    "create_agent": (parts.agent, {"messages": [("human", parts.QUESTION)]}),
    "langgraph": (parts.graph, {"question": parts.QUESTION}),
}


async def _drain(stream: Any) -> None:
    async for _ in stream:
        pass


CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "invoke": lambda chain, value, config: chain.invoke(value, config),
    "ainvoke": lambda chain, value, config: asyncio.run(chain.ainvoke(value, config)),
    "stream": lambda chain, value, config: list(chain.stream(value, config)),
    "astream": lambda chain, value, config: asyncio.run(_drain(chain.astream(value, config))),
    "astream_events": lambda chain, value, config: asyncio.run(
        _drain(chain.astream_events(value, config, version="v2"))
    ),
    "batch": lambda chain, value, config: chain.batch([value], config),
    "abatch": lambda chain, value, config: asyncio.run(chain.abatch([value], config)),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("shape", SHAPES)
def test_each_way_of_calling_gives_the_same_record(shape: str, call: str, handler: Any, results: list[Any]) -> None:
    """
    Question, contexts with their ids and times, and answer are captured once, whatever the shape and the call.
    """
    make_chain, value = SHAPES[shape]

    CALLS[call](make_chain(), value, {"callbacks": [handler]})

    (result,) = results
    record = result.record
    assert "ok" == result.status
    assert parts.QUESTION == record.question
    assert parts.ANSWER == record.answer
    assert ["tower", "opening"] == [context.id for context in record.contexts]
    assert [parts.TOWER.page_content, parts.OPENING.page_content] == [context.text for context in record.contexts]
    assert "2026-11-01T00:00:00+00:00" == record.contexts[0].timestamp.isoformat()
    assert "guide.md" == record.contexts[0].source
    assert "retriever" == result.context_source
    assert 0 == handler.stats["live_requests"]
    assert 0 == handler.stats.get("internal_errors", 0)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_span_carries_what_evaluate_says(
    shape: str, handler: Any, results: list[Any], telemetry: CapturedTelemetry
) -> None:
    """
    One evaluation span stands in the caller's trace, and its scores equal `evaluate` on the captured record,
    freshness included, through `asked_at`.
    """
    make_chain, value = SHAPES[shape]
    tracer = telemetry.tracer_provider.get_tracer("app")

    with tracer.start_as_current_span("request") as outer:
        make_chain().invoke(value, {"callbacks": [handler]})

    (span,) = [span for span in telemetry.spans if span.name == "evaluation rag"]
    record = results[0].record
    expected = {name: mean for name, mean in evaluate([record]).means.items() if mean is not None}
    sent = {
        name.removeprefix("rageval.score."): score
        for name, score in span.attributes.items()
        if name.startswith("rageval.score.")
    }
    assert f"{outer.get_span_context().trace_id:032x}" == span.trace_id
    assert record.asked_at is not None
    assert "freshness" in sent
    assert expected == sent
    assert all([type(score) is float for score in sent.values()])


def test_the_rewritten_question_is_kept_beside_the_asked_one(handler: Any, results: list[Any]) -> None:
    """
    History-aware retrieval searches for another question than was asked; both are kept.
    """
    parts.history_chain().invoke({"input": "And how tall is it?", "chat_history": HISTORY}, {"callbacks": [handler]})

    assert "And how tall is it?" == results[0].record.question
    assert ("How tall is the Harbour Tower, rewritten?",) == results[0].search_queries


def test_batch_keeps_its_inputs_apart(handler: Any, results: list[Any]) -> None:
    """
    The items of a batch are requests of their own, whose steps run interleaved on several threads.
    """
    chain = parts.lcel(parts.Echo(), parts.Script(says=[None]))
    questions = [f"question {number}" for number in range(20)]

    chain.batch(questions, {"callbacks": [handler], "max_concurrency": 8})

    _assert_no_cross_talk(results, questions)


async def test_gathered_tasks_keep_apart(handler: Any, results: list[Any]) -> None:
    """
    Tasks on one loop share a handler without mixing.
    """
    chain = parts.lcel(parts.Echo(), parts.Script(says=[None], delay_s=0.001))
    questions = [f"question {number}" for number in range(50)]

    await asyncio.gather(*[chain.ainvoke(question, {"callbacks": [handler]}) for question in questions])

    _assert_no_cross_talk(results, questions)


def test_threads_keep_apart(handler: Any, results: list[Any]) -> None:
    """
    Threads share a handler without mixing.
    """
    chain = parts.lcel(parts.Echo(), parts.Script(says=[None]))

    def work(first: int) -> None:
        for number in range(first, first + 10):
            chain.invoke(f"question {number}", {"callbacks": [handler]})

    threads = [threading.Thread(target=work, args=(10 * number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    _assert_no_cross_talk(results, [f"question {number}" for number in range(80)])


def _assert_no_cross_talk(results: list[Any], questions: list[str]) -> None:
    assert sorted(questions) == sorted([result.record.question for result in results])
    for result in results:
        question = result.record.question
        assert [f"doc of {question}"] == [context.id for context in result.record.contexts]
        assert f"It is {question}" == result.record.answer


def test_contexts_are_snapshots(handler: Any, results: list[Any]) -> None:
    """
    What is captured does not change when the application changes its documents, nor do the documents.
    """
    document = parts.Document(page_content="The gate is red.", metadata={"id": "gate", "nested": {"live": object()}})
    before = document.model_copy(deep=False)

    parts.lcel(parts.Docs(docs=[document])).invoke("Which colour?", {"callbacks": [handler]})
    assert before == document
    document.page_content = "changed"
    document.metadata["id"] = "changed"

    assert (Context("gate", "The gate is red.", metadata={"id": "gate"}),) == results[0].record.contexts
