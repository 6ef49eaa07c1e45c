"""
Requests without a framework: blocks, watched functions, records handed in.
"""

from __future__ import annotations

import asyncio
import gc
import os
from types import SimpleNamespace
from typing import Any

import pytest

from rageval_trace import Context, EvalRecord, Monitor, Settings
from rageval_trace.live.monitor import OUTCOMES

DOCS = ["It is 82 metres tall."]


def outcomes(monitor: Monitor) -> dict[str, int]:
    return {name: count for name, count in monitor.stats.items() if name in OUTCOMES and count}


def test_a_block_is_a_request(telemetry: Any) -> None:
    """It is scored at its end, below the span that was current at its start, and its own span is drawn."""
    monitor = Monitor(pipeline="bot", **telemetry.providers)
    tracer = telemetry.tracer_provider.get_tracer("app")
    with tracer.start_as_current_span("POST /ask") as outer, monitor.run("How tall is it?", pipeline="other") as run:
        run.contexts(DOCS)
        run.answer("It is 82 metres tall.")

    spans = {span.name: span for span in telemetry.spans}
    request, evaluation = spans["invoke_workflow other"], spans["evaluation other"]
    assert f"{outer.get_span_context().span_id:016x}" == request.parent_id
    assert request.span_id == evaluation.parent_id
    assert (run.id, "explicit", 1.0) == (
        monitor.last.run_id,
        monitor.last.context_source,
        monitor.last.scores["faithfulness"],
    )
    assert {"scored": 1} == outcomes(monitor)


def test_a_block_that_is_never_left_is_counted_once_it_is_gone() -> None:
    """The garbage collector leaves a note, which the monitor's next request acts on."""
    results: list[Any] = []
    monitor = Monitor(on_result=results.append)
    block = monitor.run("How tall is it?").__enter__()
    block.contexts(DOCS)
    del block
    gc.collect()
    assert {} == outcomes(monitor)

    monitor.run("Never entered")

    assert [("abandoned", "How tall is it?")] == [(one.status, one.record.question) for one in results]
    assert {"incomplete": 1} == outcomes(monitor)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_block_across_a_fork_counts_in_the_process_that_it_began_in() -> None:
    """The child leaves the same block, and says nothing of it."""
    monitor = Monitor(metrics=["faithfulness"])
    read, write = os.pipe()
    with monitor.run("How tall is it?") as run:
        run.contexts(DOCS)
        run.answer("It is 82 metres tall.")
        child = os.fork()
    if child == 0:
        os.write(write, repr(outcomes(monitor)).encode())
        os._exit(0)
    os.waitpid(child, 0)

    assert b"{}" == os.read(read, 100)
    assert {"scored": 1} == outcomes(monitor)


async def test_an_async_block_is_one_too() -> None:
    """Blocks of many tasks do not meet."""
    results = []
    monitor = Monitor(metrics=["faithfulness"], on_result=results.append)

    async def ask(number: int) -> None:
        async with monitor.run(f"question {number}") as run:
            run.contexts([f"fact {number}"])
            await asyncio.sleep(0)
            run.answer(f"fact {number}")

    await asyncio.gather(*[ask(number) for number in range(50)])

    assert {(f"question {number}", f"fact {number}") for number in range(50)} == {
        (result.record.question, result.record.answer) for result in results
    }


@pytest.mark.parametrize(
    ("raised", "outcome"),
    [
        (ValueError, "request_error"),
        (asyncio.CancelledError, "incomplete"),
        (KeyboardInterrupt, "incomplete"),
        (GeneratorExit, "incomplete"),
    ],
)
def test_what_the_block_raises_passes_through(raised: type[BaseException], outcome: str) -> None:
    """The application's exception is its own, and the request is counted."""
    monitor = Monitor()
    with pytest.raises(raised), monitor.run("q") as run:
        run.contexts(DOCS)
        raise raised

    assert {outcome: 1} == outcomes(monitor)


def test_documents_of_any_shape() -> None:
    """Strings, contexts, mappings and objects; what has no text is counted, what raises hurts nobody."""
    monitor = Monitor(settings=Settings(max_chars=30))
    document = SimpleNamespace(page_content="an object", metadata={"source": "a.md", "date": "2026-01-01"}, id=7)
    with monitor.run("q", relevant_ids=["7"], ground_truth="it") as run:
        run.contexts(["text", Context("c", "x" * 40, 0.5)])
        run.contexts([{"content": "mapping", "id": "m", "score": 0.25, "timestamp": "2026-02-02"}, document, 3, {}])
        run.contexts(None)
        run.answer(b"no text")
        run.answer("it")

    contexts = monitor.last.record.contexts
    assert [("1", "text"), ("c", "x" * 30), ("m", "mapping"), ("7", "an object")] == [(c.id, c.text) for c in contexts]
    assert ["2026-02-02", "2026-01-01"] == [str(one.timestamp)[:10] for one in contexts[2:]]
    assert (0.25, "a.md") == (contexts[2].score, contexts[3].source)
    assert {"recall", "context_recall"} <= monitor.last.results.keys()
    assert (2, 1) == (monitor.stats["coerced_documents"], monitor.stats["internal_errors"])


def test_watched_functions() -> None:
    """Plain, async and streaming functions; the answer is what comes back, the contexts what was said inside."""
    results: list[Any] = []
    monitor = Monitor(metrics=["faithfulness"], on_result=results.append)

    @monitor.watch
    def plain(question: str) -> str:
        monitor.current.contexts(DOCS)
        return "plain"

    @monitor.watch
    def both(top_k: int, asked: str) -> dict[str, Any]:
        return {"answer": "both", "contexts": DOCS}

    @monitor.watch
    async def awaited(question: str) -> str:
        await asyncio.sleep(0)
        monitor.current.contexts(DOCS)
        return "awaited"

    @monitor.watch
    def stream(question: str) -> Any:
        monitor.current.contexts(DOCS)
        yield "str"
        yield "eam"

    @monitor.watch
    async def async_stream(question: str) -> Any:
        monitor.current.contexts(DOCS)
        yield "async "
        yield "stream"

    async def everything() -> tuple[str, list[str]]:
        return await awaited("q3"), [piece async for piece in async_stream("q5")]

    assert "plain" == plain("q1")
    assert "both" == both(3, "q2")["answer"]
    seen = []
    for piece in stream(question="q4"):
        assert monitor.current is None
        seen.append(piece)
    assert ["str", "eam"] == seen
    assert ("awaited", ["async ", "stream"]) == asyncio.run(everything())
    assert {("q1", "plain"), ("q2", "both"), ("q3", "awaited"), ("q4", "stream"), ("q5", "async stream")} == {
        (result.record.question, result.record.answer) for result in results
    }
    assert ({"scored": 5}, "plain", None) == (outcomes(monitor), plain.__name__, monitor.current)
    next(iter(stream("closed early"))), results.clear()
    assert 1 == outcomes(monitor)["incomplete"]
    with pytest.raises(TypeError, match="missing"):
        plain()


def test_a_record_is_scored_below_a_span(telemetry: Any) -> None:
    """The evaluation is the span's child and link; no span of the request is made up."""
    monitor = Monitor(**telemetry.providers)
    with telemetry.tracer_provider.get_tracer("app").start_as_current_span("elsewhere") as span:
        parent = span.get_span_context()
    monitor.score(EvalRecord("How tall is it?", DOCS, "It is 82 metres tall.", id="r-1"), parent=parent)
    monitor.score(EvalRecord("q", None, "a"))
    monitor.score("no record")

    evaluation, _ = telemetry.spans[1], telemetry.spans[0]
    assert ("evaluation rag", f"{parent.span_id:016x}", 1) == (
        evaluation.name,
        evaluation.parent_id,
        len(evaluation.links),
    )
    assert 2 == len(telemetry.spans)
    assert ({"scored": 1, "not_rag": 1}, 1) == (outcomes(monitor), monitor.stats["internal_errors"])


def test_unsampled_and_switched_off() -> None:
    """An unsampled block is counted and nothing of it kept; switched off, not even that."""
    never, off = Monitor(sample_rate=0.0), Monitor(settings=Settings(enabled=False))
    for monitor in (never, off):
        with monitor.run("q") as run:
            run.contexts(DOCS)
            run.answer("a")
            assert run.trace_id is None
        monitor.score(EvalRecord("q", DOCS, "a"))

    assert ({"not_sampled": 2}, {}) == (outcomes(never), outcomes(off))
    assert None is never.last is off.last
