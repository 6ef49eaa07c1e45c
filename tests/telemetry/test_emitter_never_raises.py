"""
Whatever goes wrong on the way out, the caller sees nothing of it and the other signals go on.
"""

from __future__ import annotations

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.trace import SpanProcessor

from rageval_trace.models import MetricResult
from rageval_trace.telemetry.anchor import Anchor
from rageval_trace.telemetry.emitter import EmitOptions, Emitter


class Angry(SpanProcessor):
    """
    Raise where a user's own processor might.
    """

    def on_start(self, span, parent_context=None):
        raise RuntimeError("secret")


def test_a_span_processor_that_raises_costs_only_the_span(captured, make_evaluation, caplog):
    """
    Metrics and logs are sent all the same; the fault is counted, and its message is not logged.
    """
    captured.tracer_provider.add_span_processor(Angry())
    made = Emitter(EmitOptions(spans="never"), **captured.providers)
    assert [None, None] == [made.emit(make_evaluation(), Anchor()) for _ in range(2)]
    assert (16, 2) == (len(captured.metrics("rageval.evaluation.score")), len(captured.logs))
    ((kind, count),) = made.faults.counts.items()
    assert (True, 2, False) == (kind.startswith("RuntimeError at "), count, "secret" in caplog.text)
    assert 1 == len(caplog.records)


class Unreadable:
    """
    Raise at every look.
    """

    def __getattr__(self, name):
        raise RuntimeError("secret")


@pytest.mark.parametrize(
    "changes",
    [
        {"results": {"a": Unreadable()}},
        {"results": None},
        {"results": {"freshness": MetricResult("freshness", 0.5, details={"ages_hours": {1: "old"}})}},
        {"pipeline": ["unhashable"]},
        {"record": Unreadable()},
        {"labels": None},
        {"duration_s": "long"},
    ],
)
def test_a_malformed_evaluation_is_a_counted_fault(captured, make_evaluation, changes):
    """
    A bug in the code before us never reaches the host.
    """
    made = Emitter(**captured.providers)
    made.emit(make_evaluation(**changes), Anchor())
    assert made.faults.counts


@pytest.mark.parametrize(
    "details",
    [
        {"unsupported": 1, "counts": 2},
        {"unsupported": ["claim"], "counts": {"claims": 1, "unsupported": 1}},
        {"unsupported": [], "counts": {"claims": None, "unsupported": 0}},
        {"unsupported": [], "counts": {}},
    ],
)
def test_evidence_in_another_shape_is_left_out(captured, make_evaluation, details):
    """
    A user's own metric under a built-in name costs its evidence, not the span.
    """
    made = Emitter(**captured.providers)
    results = {"groundedness": MetricResult("groundedness", 0.5, details=details)}
    assert made.emit(make_evaluation(results=results), Anchor()) is not None
    attributes = captured.spans[-1].attributes
    assert (0.5, []) == (
        attributes["rageval.score.groundedness"],
        [key for key in attributes if key.startswith("rageval.claims.")],
    )
    assert {} == made.faults.counts


def test_counting_with_a_malformed_pipeline_is_a_counted_fault(captured):
    """
    The same holds for the counters.
    """
    made = Emitter(**captured.providers)
    made.count_request("scored", ["unhashable"])
    made.count_answer("answered", "found", ["unhashable"])
    made.queue_changed("one")
    assert 3 == sum(made.faults.counts.values())


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_process_is_not_swallowed(captured, make_evaluation, stop):
    """
    Only errors are held back.
    """

    class Stopping(SpanProcessor):
        def on_start(self, span, parent_context=None):
            raise stop

    captured.tracer_provider.add_span_processor(Stopping())
    with pytest.raises(stop):
        Emitter(**captured.providers).emit(make_evaluation(), Anchor())
