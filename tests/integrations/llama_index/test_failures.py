"""
Requests that fail, and errors of our own.
"""

from __future__ import annotations

import asyncio
import copy
import logging
from typing import Any

import llama_parts as parts
import pytest
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from workflows.errors import WorkflowCancelledByUser

from rageval_trace.live.settings import Settings

pytestmark = pytest.mark.usefixtures("swept")


@pytest.mark.parametrize(
    ("engine", "contexts"),
    [
        (lambda: parts.engine(parts.Docs(error=OSError("no disk"))), None),
        (lambda: parts.engine(model=parts.Script(OSError("no model"))), ["tower", "opening"]),
    ],
)
def test_what_raises(engine: Any, contexts: list[str] | None, handler: Any, results: list[Any]) -> None:
    """
    The user gets the very error; the request is a failed one, with the contexts that it had by then.
    """
    with pytest.raises(OSError, match="no "):
        engine().query(parts.QUESTION)

    (result,) = results
    found = result.record.contexts
    assert ("error", None, {}) == (result.status, result.record.answer, result.results)
    assert contexts == (None if found is None else [context.id for context in found])
    assert (1, 0) == (handler.stats["request_error"], handler.stats["live_requests"])


async def test_a_query_that_is_cancelled(handler: Any, results: list[Any]) -> None:
    """
    A timeout around the query cancels it.
    """
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(parts.engine(parts.Docs(delay_s=5)).aquery(parts.QUESTION), 0.02)

    assert ["cancelled"] == [result.status for result in results]


class Slow(Workflow):
    """
    Retrieve, then think for too long.
    """

    @step
    async def think(self, ev: StartEvent) -> StopEvent:
        await parts.Docs().aretrieve(ev.question)
        await asyncio.sleep(5)
        return StopEvent(result="too late")


async def test_a_workflow_that_times_out(handler: Any, results: list[Any]) -> None:
    """
    That is an error of the request.
    """
    with pytest.raises(Exception, match="timed out"):
        await Slow(timeout=0.1).run(question=parts.QUESTION)

    assert [("error", parts.QUESTION)] == [(result.status, result.record.question) for result in results]


async def test_a_workflow_that_the_user_cancels(handler: Any, results: list[Any]) -> None:
    """
    LlamaIndex ends it like one that went well, but without a result.
    """
    running = Slow().run(question=parts.QUESTION)
    await asyncio.sleep(0.05)
    await running.cancel_run()
    with pytest.raises(WorkflowCancelledByUser):
        await running

    assert ["cancelled"] == [result.status for result in results]


def test_a_callback_of_the_users_that_raises(make: Any, caplog: Any) -> None:
    """
    `on_result` may fail; the query does not.
    """

    def broken(result: Any) -> None:
        raise ValueError("secret words")

    with make(on_result=broken) as handler:
        assert parts.ANSWER == str(parts.engine().query(parts.QUESTION))

    assert 1 == handler.stats["internal_errors"]
    assert "secret words" not in caplog.text


def test_errors_of_our_own_are_counted_and_hurt_nobody(make: Any, monkeypatch: Any, caplog: Any) -> None:
    """
    The dispatcher swallows what a handler raises without a word; ours are counted, and said once.
    """
    from rageval_trace_llama_index import tracker

    def broken(*args: Any, **kwargs: Any) -> Any:
        raise KeyError("secret words")

    monkeypatch.setattr(tracker, "contexts_of", broken)
    with make() as handler, caplog.at_level(logging.WARNING):
        texts = [
            str(parts.engine().query(parts.QUESTION)),
            "".join(parts.engine(streaming=True).query("q").response_gen),
        ]

    assert [parts.ANSWER] * 2 == texts
    assert handler.stats["internal_errors"] > 0
    assert 0 == handler.stats["live_requests"]
    assert "secret words" not in caplog.text


def test_odd_nodes(handler: Any, results: list[Any]) -> None:
    """
    Nodes without text, score or document never raise; a missing score stays missing.
    """
    from llama_index.core.schema import ImageNode, MediaResource, Node, NodeWithScore, TextNode

    odd = [
        NodeWithScore(node=ImageNode(image="aGk=", id_="image")),
        NodeWithScore(node=Node(text_resource=MediaResource(text="A caption."), id_="caption")),
        NodeWithScore(node=Node(id_="nothing")),
        NodeWithScore(node=TextNode(text="Plain.", id_="plain", metadata={"deep": {"x": 1}, "when": "2026"}), score=1),
    ]

    parts.engine(parts.Docs(nodes=odd), parts.Script("Plain."), mode="tree_summarize").query(parts.QUESTION)

    (result,) = results
    assert [("image", "", None), ("caption", "A caption.", None), ("nothing", "", None), ("plain", "Plain.", 1.0)] == [
        (one.id, one.text, one.score) for one in result.record.contexts
    ]


def test_the_users_objects_are_neither_kept_nor_changed(handler: Any, results: list[Any]) -> None:
    """
    What is captured is a snapshot of plain values.
    """
    nodes = parts.chunks()
    before = [one.model_copy(deep=True) for one in nodes]

    parts.engine(parts.Docs(nodes=nodes)).query(parts.QUESTION)
    assert before == nodes
    nodes[0].node.text = "changed"
    nodes[0].node.metadata.clear()

    (first, _) = results[0].record.contexts
    assert (parts.TOWER, "guide.md") == (first.text, first.source)


def test_a_handler_is_not_copied(handler: Any) -> None:
    """
    Components are deep-copied with their callbacks.
    """
    assert [handler, handler] == [copy.copy(handler), copy.deepcopy(handler)]


def test_a_bad_argument_raises_at_construction(make: Any) -> None:
    """
    What cannot work says so before anything runs.
    """
    from rageval_trace.errors import UnknownMetricError

    with pytest.raises(UnknownMetricError, match="known"):
        make(metrics=["no such metric"])
    with pytest.raises(TypeError, match="question is int"):
        make(question=1)


def test_capped_texts(make: Any, results: list[Any]) -> None:
    """
    Long answers and many chunks are cut, and counted.
    """
    with make(settings=Settings(max_chars=10, max_contexts=1)) as handler:
        text = "".join(parts.engine(streaming=True).query(parts.QUESTION).response_gen)

    (result,) = results
    assert parts.ANSWER == text
    assert (parts.ANSWER[:10], 1) == (result.record.answer, len(result.record.contexts))
    assert handler.stats["truncated_texts"] > 0
