"""
Without an SDK everything is a no-op, and one that is set later is found.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from opentelemetry._logs import NoOpLoggerProvider
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.trace import NoOpTracerProvider

from rageval_trace import __version__
from rageval_trace.telemetry.anchor import Anchor
from rageval_trace.telemetry.emitter import Emitter
from rageval_trace.testing import CapturedTelemetry

LATE = """
from rageval_trace.models import MetricResult
from rageval_trace.telemetry.anchor import Anchor
from rageval_trace.telemetry.emitter import Emitter, Evaluation
emitter = Emitter()
evaluation = Evaluation("p", {"a": MetricResult("a", 0.95)}, breached=("a",), started_ns=1)
emitter.queue_changed(1)
assert emitter.emit(evaluation, Anchor.begin()) is None
assert (False, False, False) == emitter.connected
import sys
assert "opentelemetry.sdk" not in sys.modules
from opentelemetry import _logs, metrics, trace
from rageval_trace.testing import CapturedTelemetry
captured = CapturedTelemetry()
trace.set_tracer_provider(captured.tracer_provider)
metrics.set_meter_provider(captured.meter_provider)
_logs.set_logger_provider(captured.logger_provider)
assert emitter.emit(evaluation, Anchor.begin()) is not None
assert (True, True, True) == emitter.connected
assert ["invoke_workflow p", "evaluation p"] == [span.name for span in captured.spans]
assert 1 == len(captured.logs)
(point,) = captured.metrics("rageval.evaluation.score")
assert (0, .1, .2, .3, .4, .5, .6, .7, .8, .9, .95, .999, 1) == point.buckets, point.buckets
assert 1 == point.count
assert {} == emitter.faults.counts
"""


def test_an_sdk_that_is_set_later_is_found():
    """
    An emitter made first is a no-op without an SDK, and complete after one is set, buckets included.
    """
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, timeout=60, check=False)
    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.parametrize("disabled", ["true", "false"])
def test_an_sdk_that_is_disabled_is_a_no_op(disabled):
    """
    OTEL_SDK_DISABLED silences us as it does everybody.
    """
    code = """
from rageval_trace.models import MetricResult
from rageval_trace.telemetry.anchor import Anchor
from rageval_trace.telemetry.emitter import Emitter, Evaluation
from rageval_trace.testing import CapturedTelemetry
captured = CapturedTelemetry()
emitter = Emitter(**captured.providers)
evaluation = Evaluation("p", {"a": MetricResult("a", 0.95)}, breached=("a",), started_ns=1)
context = emitter.emit(evaluation, Anchor.begin())
assert {} == emitter.faults.counts
print(context is not None, len(captured.spans), len(captured.logs), len(captured.metrics()))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"OTEL_SDK_DISABLED": disabled, "PATH": ""},
    )
    wanted = "False 0 0 0" if disabled == "true" else "True 2 1 2"
    assert (0, wanted) == (done.returncode, done.stdout.strip()), done.stderr


def test_an_emitter_follows_the_global_providers(make_evaluation):
    """
    Without providers of its own it asks for the global ones at every evaluation.
    """
    from opentelemetry import trace

    made = Emitter()
    assert isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider), "a test set a global provider"
    assert (None, False, {}) == (made.emit(make_evaluation(), Anchor()), made.connected[0], made.faults.counts)


def test_a_no_op_tracer_of_a_real_provider_hands_out_no_span_of_ours(captured, make_evaluation):
    """
    A provider may give a no-op tracer, which returns the anchor's own context: no span of ours was recorded.
    """

    class Disabled:
        def get_tracer(self, *args, **kwargs):
            return NoOpTracerProvider().get_tracer("x")

    with captured.tracer_provider.get_tracer("app").start_as_current_span("user"):
        anchor = Anchor.begin()
        made = Emitter(**{**captured.providers, "tracer_provider": Disabled()})
        assert made.emit(make_evaluation(), anchor) is None
    assert (None, {}, 1) == (anchor.request, made.faults.counts, len(captured.logs))


def test_no_op_providers_are_as_good_as_none(make_evaluation):
    """
    A provider that only the API made sends nothing and raises nothing.
    """
    made = Emitter(
        tracer_provider=NoOpTracerProvider(),
        meter_provider=NoOpMeterProvider(),
        logger_provider=NoOpLoggerProvider(),
    )
    assert (None, (False, False, False), {}) == (
        made.emit(make_evaluation(), Anchor()),
        made.connected,
        made.faults.counts,
    )


def test_the_scope_is_the_package_and_its_version(make_evaluation):
    """
    Spans, metrics and logs name this package at its version, without a schema URL.
    """
    captured = CapturedTelemetry()
    Emitter(**captured.providers).emit(make_evaluation(), Anchor())
    scopes = [
        captured._spans.get_finished_spans()[0].instrumentation_scope,
        captured._logs.get_finished_logs()[0].instrumentation_scope,
        captured._reader.get_metrics_data().resource_metrics[0].scope_metrics[0].scope,
    ]
    captured.shutdown()
    assert [("rageval_trace", __version__)] * 3 == [(scope.name, scope.version) for scope in scopes]
    assert [True] * 3 == [not scope.schema_url for scope in scopes]


def test_logs_alone_need_no_tracer(captured, make_evaluation):
    """
    With only a logger provider, notable results are logged outside of every trace.
    """
    made = Emitter(
        tracer_provider=NoOpTracerProvider(),
        meter_provider=NoOpMeterProvider(),
        logger_provider=captured.logger_provider,
    )
    assert made.emit(make_evaluation(), Anchor()) is None
    (log,) = captured.logs
    assert ("gen_ai.evaluation.result", None, None) == (log.event_name, log.trace_id, log.span_id)
