"""
Coming and going: installed, installed twice, in the middle of things, switched off, sampled.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import llama_parts as parts
import pytest
from llama_index.core.callbacks import CallbackManager
from llama_index_instrumentation import get_dispatcher

from rageval_trace.live.settings import Settings
from rageval_trace.testing import CapturedTelemetry


def _listeners() -> tuple[int, int]:
    dispatcher = get_dispatcher()
    return len(dispatcher.span_handlers), len(dispatcher.event_handlers)


def test_installing_twice_is_installing_once(make: Any, results: list[Any]) -> None:
    """
    And uninstalling leaves the dispatcher as it was.
    """
    before = _listeners()
    handler = make()

    assert handler.install() is handler.install()
    parts.engine().query(parts.QUESTION)
    handler.uninstall()
    handler.uninstall()
    parts.engine().query(parts.QUESTION)

    assert before == _listeners()
    assert 1 == len(results)


@pytest.mark.parametrize("streaming", [False, True])
def test_installed_in_the_middle_of_a_query(streaming: bool, make: Any, results: list[Any]) -> None:
    """
    What is already running is taken up with its next part that asks for itself.
    """
    handler = make()

    class Installs(parts.Docs):
        def _retrieve(self, query_bundle: Any) -> Any:
            handler.install()
            return super()._retrieve(query_bundle)

    text = str(parts.engine(Installs(), streaming=streaming).query(parts.QUESTION))

    assert parts.ANSWER == text
    assert [(parts.QUESTION, parts.ANSWER)] == [(one.record.question, one.record.answer) for one in results]
    assert 0 == handler.stats["live_requests"]


def test_uninstalled_in_the_middle_of_a_query(make: Any, results: list[Any]) -> None:
    """
    What is running is given up.
    """
    handler = make().install()

    class Leaves(parts.Docs):
        def _retrieve(self, query_bundle: Any) -> Any:
            handler.uninstall()
            return super()._retrieve(query_bundle)

    assert parts.ANSWER == str(parts.engine(Leaves()).query(parts.QUESTION))

    assert ["evicted"] == [one.status for one in results]
    assert (1, 0) == (handler.stats["evicted"], handler.stats["live_requests"])


def test_both_surfaces_count_once(make: Any, results: list[Any]) -> None:
    """
    The legacy callbacks are silent while the instrumentation is listened to, by this handler or another.
    """
    from llama_index.core import Settings as LlamaSettings

    legacy = make()
    LlamaSettings.callback_manager = CallbackManager([legacy])
    try:
        with make():
            parts.engine().query(parts.QUESTION)
        assert 1 == len(results)
        parts.engine(callback_manager=LlamaSettings.callback_manager).query(parts.QUESTION)
    finally:
        LlamaSettings.callback_manager = CallbackManager()

    assert 2 == len(results)


def test_the_operators_switch(make: Any, results: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Switched off, nothing is listened to.
    """
    monkeypatch.setenv("RAGEVAL_TRACE_ENABLED", "0")
    before = _listeners()

    with make():
        assert before == _listeners()
        parts.engine().query(parts.QUESTION)

    assert [] == results


@pytest.mark.parametrize("streaming", [False, True])
def test_an_unsampled_request_is_only_counted(streaming: bool, make: Any, results: list[Any]) -> None:
    """
    Nothing of it is copied, and its stream is the user's own.
    """
    with make(sample_rate=0.0) as handler:
        response = parts.engine(streaming=streaming).query(parts.QUESTION)
        untouched = not streaming or response.response_gen.gi_code.co_name != "_listen"
        text = str(response)
        stats = handler.stats

    assert (parts.ANSWER, True) == (text, untouched)
    assert (1, 0, []) == (stats["not_sampled"], stats["live_requests"], results)


def test_sampling_follows_the_trace(make: Any, results: list[Any], telemetry: CapturedTelemetry) -> None:
    """
    Half of the traces are scored, and those are the ones whose ids say so.
    """
    tracer = telemetry.tracer_provider.get_tracer("app")
    kept = []
    with make(sample_rate=0.5):
        for _ in range(40):
            with tracer.start_as_current_span("request") as span:
                trace_id = span.get_span_context().trace_id
                parts.engine().query(parts.QUESTION)
            if trace_id & (2**64 - 1) < 2**63:
                kept.append(f"{trace_id:032x}")

    assert kept == [one.trace_id for one in results]
    assert {0.5} == {one.sample_rate for one in results}


def test_request_spans_where_nobody_else_draws_them(make: Any, telemetry: CapturedTelemetry) -> None:
    """
    Without another instrumentation, the request and its retrieval are drawn from recorded times.
    """
    with make():
        parts.engine().query(parts.QUESTION)

    spans = {span.name: span for span in telemetry.spans}
    request = spans["invoke_workflow rag"]
    assert {"invoke_workflow rag", "retrieval", "evaluation rag"} == set(spans)
    assert [request.span_id] * 2 == [spans[name].parent_id for name in ("retrieval", "evaluation rag")]


def test_thresholds_make_a_verdict(make: Any) -> None:
    """
    The same levers as everywhere.
    """
    with make(thresholds={"groundedness": 0.9}) as handler:
        parts.engine().query(parts.QUESTION)

    assert ("fail", ("groundedness",), "It was built by giants.") == (
        handler.last.verdict,
        handler.last.breached,
        handler.last.broken,
    )


def test_long_texts_are_scored_in_the_background(make: Any) -> None:
    """
    `flush` waits for them.
    """
    with make(settings=Settings(mode="background")) as handler:
        parts.engine().query(parts.QUESTION)
        assert handler.flush(10)

    assert 1 == handler.stats["scored"]


def test_a_forgotten_stream_is_counted_at_the_end_of_the_process() -> None:
    """
    A process that ends tells of the streams that nobody read.
    """
    code = """
import sys
sys.path.insert(0, sys.argv[1])
import llama_parts as parts
from rageval_trace_llama_index import RagEvalHandler
handler = RagEvalHandler(on_result=lambda result: print(result.status, flush=True)).install()
parts.engine(streaming=True).query(parts.QUESTION)
"""
    parts_dir = str(parts.__file__).rpartition("/")[0]
    done = subprocess.run(
        [sys.executable, "-c", code, parts_dir], capture_output=True, text=True, check=True, timeout=60
    )

    assert "abandoned\n" == done.stdout
