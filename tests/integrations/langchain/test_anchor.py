"""
Scores stand where they belong, in traces that are recorded, not recorded, and absent.
"""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain_core")
pytest.importorskip("opentelemetry.sdk")

import langchain_parts as parts
from langchain_core.runnables import RunnableLambda


def test_without_instrumentation_the_request_stands_under_the_users_span(handler: Any, telemetry: Any) -> None:
    """
    The spans of the request are ours, children of the current span.
    """
    with telemetry.tracer_provider.get_tracer("app").start_as_current_span("user") as user:
        parts.lcel().invoke(parts.QUESTION, {"callbacks": [handler]})

    by_name = {span.name: span for span in telemetry.spans}
    request = by_name["invoke_workflow rag"]
    assert f"{user.get_span_context().span_id:016x}" == request.parent_id
    assert {request.span_id} == {by_name[name].parent_id for name in ("retrieval", "evaluation rag")}
    assert request.started_ns <= by_name["retrieval"].started_ns <= by_name["retrieval"].ended_ns <= request.ended_ns


def test_an_unsampled_trace_gets_no_span(make: Any, results: list[Any]) -> None:
    """
    Scores of a trace that is not recorded are counted in metrics alone.
    """
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased

    from rageval_trace.testing import capture_telemetry

    with capture_telemetry(sampler=ParentBased(ALWAYS_OFF)) as telemetry:
        handler = make(**telemetry.providers)
        with telemetry.tracer_provider.get_tracer("app").start_as_current_span("user"):
            parts.lcel().invoke(parts.QUESTION, {"callbacks": [handler]})

        assert ([], []) == (telemetry.spans, telemetry.logs)
        assert 1 == sum([point.count for point in telemetry.metrics("rageval.evaluation.duration")])
    assert results[0].scores


def test_scored_requests_nest_in_sampled_traces(make: Any, results: list[Any]) -> None:
    """
    At the rate of the tracer's own sampler exactly the recorded traces are scored, decided before anything is kept.
    """
    from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

    from rageval_trace.testing import capture_telemetry

    chain = parts.lcel()
    with capture_telemetry(sampler=TraceIdRatioBased(0.3)) as telemetry:
        handler = make(sample_rate=0.3, **telemetry.providers)
        tracer = telemetry.tracer_provider.get_tracer("app")
        for _ in range(100):
            with tracer.start_as_current_span("user"):
                chain.invoke(parts.QUESTION, {"callbacks": [handler]})
        recorded = {span.trace_id for span in telemetry.spans if span.name == "user"}

    assert recorded == {result.trace_id for result in results}
    assert {0.3} == {result.sample_rate for result in results}
    assert (len(recorded), 100 - len(recorded)) == (handler.stats["scored"], handler.stats["not_sampled"])
    assert 0 < len(recorded) < 100


def test_without_a_trace_the_run_decides(make: Any, results: list[Any]) -> None:
    """
    Half of the requests are scored, the rest counted, and children of unscored ones are no requests.
    """
    handler = make(sample_rate=0.5)
    chain = RunnableLambda(lambda q: q) | parts.lcel()
    for _ in range(200):
        chain.invoke(parts.QUESTION, {"callbacks": [handler]})

    assert 200 == handler.stats["scored"] + handler.stats["not_sampled"]
    assert 60 < len(results) < 140
    assert 0 == handler.stats["live_requests"]
