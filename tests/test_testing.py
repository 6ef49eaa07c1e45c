"""
The test aid gives back what was sent, in plain values.
"""

from __future__ import annotations

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry import trace
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from rageval_trace.testing import CapturedEvent, CapturedLog, capture_telemetry


def test_a_span_is_given_in_plain_values():
    """
    Ids are hex, attributes a dict, and the parent is named.
    """
    with capture_telemetry() as captured:
        tracer = captured.tracer_provider.get_tracer("mine")
        with tracer.start_as_current_span("outer") as outer:
            link = trace.Link(outer.get_span_context(), {"why": "test"})
            inner = tracer.start_span("inner", kind=trace.SpanKind.CLIENT, attributes={"a": 1.0}, links=[link])
            inner.add_event("hello", {"b": 2})
            inner.end()
    child, root = captured.spans
    assert ("inner", "CLIENT", {"a": 1.0}, "UNSET", "mine") == (
        child.name,
        child.kind,
        child.attributes,
        child.status,
        child.scope,
    )
    assert (root.trace_id, root.span_id) == (child.trace_id, child.parent_id)
    assert ((root.trace_id, root.span_id, {"why": "test"}),) == child.links
    assert (CapturedEvent("hello", {"b": 2}),) == child.events
    assert root.parent_id is None
    assert f"{outer.get_span_context().span_id:016x}" == root.span_id
    assert root.started_ns <= child.started_ns <= child.ended_ns <= root.ended_ns


def test_a_log_event_is_given_with_its_trace():
    """
    A log record carries the ids of the span in its context, and none outside of one.
    """
    with capture_telemetry() as captured:
        logger = captured.logger_provider.get_logger("mine")
        with captured.tracer_provider.get_tracer("mine").start_as_current_span("outer"):
            logger.emit(event_name="seen", attributes={"a": "b"})
        logger.emit(body="line")
    seen, line = captured.logs
    span = captured.spans[0]
    assert CapturedLog("seen", {"a": "b"}, None, None, span.trace_id, span.span_id) == seen
    assert CapturedLog(None, {}, "line", None, None, None) == line


def test_metrics_are_points_with_their_exemplars():
    """
    A histogram gives sum, count, buckets and the traces of its exemplars; a counter its sum.
    """
    with capture_telemetry() as captured:
        meter = captured.meter_provider.get_meter("mine")
        histogram = meter.create_histogram("h", unit="s", explicit_bucket_boundaries_advisory=[1.0, 2.0])
        with captured.tracer_provider.get_tracer("mine").start_as_current_span("outer"):
            histogram.record(1.5, {"k": "v"})
        meter.create_counter("c", unit="{thing}").add(3)
        (h,) = captured.metrics("h")
        (c,) = captured.metrics("c")
        assert 2 == len(captured.metrics())
    assert ("s", {"k": "v"}, 1.5, 1, (1.0, 2.0), (0, 1, 0)) == (
        h.unit,
        h.attributes,
        h.value,
        h.count,
        h.buckets,
        h.bucket_counts,
    )
    assert (captured.spans[0].trace_id,) == h.exemplar_trace_ids
    assert ("{thing}", {}, 3, None, ()) == (c.unit, c.attributes, c.value, c.count, c.buckets)


def test_clear_forgets_spans_and_logs():
    """
    After clear() only what follows is given.
    """
    with capture_telemetry() as captured:
        captured.tracer_provider.get_tracer("mine").start_span("one").end()
        captured.logger_provider.get_logger("mine").emit(body="one")
        captured.clear()
        captured.tracer_provider.get_tracer("mine").start_span("two").end()
    assert (["two"], []) == ([span.name for span in captured.spans], captured.logs)


def test_a_sampler_may_be_given():
    """
    An ALWAYS_OFF sampler leaves nothing to catch.
    """
    with capture_telemetry(sampler=ALWAYS_OFF) as captured:
        captured.tracer_provider.get_tracer("mine").start_span("one").end()
    assert [] == captured.spans


def test_nothing_recorded_gives_empty_lists():
    """
    Before anything was sent every list is empty, and the global provider is untouched.
    """
    before = trace.get_tracer_provider()
    with capture_telemetry() as captured:
        assert ([], [], []) == (captured.spans, captured.logs, captured.metrics())
        assert {"tracer_provider", "meter_provider", "logger_provider"} == set(captured.providers)
    assert before is trace.get_tracer_provider()
