"""
What arrives over OTLP, byte for byte decoded, and what back ends make of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("grpc", reason="needs the dev extra")
pytest.importorskip("yaml", reason="needs the dev extra")
pytest.importorskip("langchain_core", reason="needs the dev extra")
pytest.importorskip("opentelemetry.exporter.otlp.proto.grpc", reason="needs the dev extra")

import jaeger_mapping
import otlp_receiver
import yaml

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "integrations"
SERVICE = "support"


def _exporters(target: otlp_receiver.Receiver, protocol: str) -> tuple[Any, Any, Any]:
    if protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
        from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

        given = {"endpoint": target.grpc, "insecure": True}
        return OTLPSpanExporter(**given), OTLPMetricExporter(**given), OTLPLogExporter(**given)
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as Logs
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as Metrics
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as Spans

    kinds = ((Spans, "traces"), (Metrics, "metrics"), (Logs, "logs"))
    spans, metrics, logs = [
        kind(endpoint=f"{target.http}/v1/{path}", compression=Compression.Gzip) for kind, path in kinds
    ]
    return spans, metrics, logs


def send(target: otlp_receiver.Receiver, protocol: str) -> None:
    """
    Run the demo's pipeline under the handler, and send everything.
    """
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from rageval_trace.cli.live_demo.langchain_app import answers
    from rageval_trace.cli.live_demo.script import REQUESTS, THRESHOLDS

    resource = Resource.create({"service.name": SERVICE})
    spans, metrics, logs = _exporters(target, protocol)
    tracing = TracerProvider(resource=resource, shutdown_on_exit=False)
    tracing.add_span_processor(BatchSpanProcessor(spans))
    logging = LoggerProvider(resource=resource, shutdown_on_exit=False)
    logging.add_log_record_processor(BatchLogRecordProcessor(logs))
    reader = PeriodicExportingMetricReader(metrics, export_interval_millis=3_600_000)
    metering = MeterProvider(metric_readers=[reader], resource=resource, shutdown_on_exit=False)
    options = {
        "pipeline": "support-bot",
        "thresholds": THRESHOLDS,
        "tracer_provider": tracing,
        "meter_provider": metering,
        "logger_provider": logging,
    }
    tracer = tracing.get_tracer("app")
    for _ in answers(REQUESTS, now=datetime.now(timezone.utc), tracer=tracer, options=options):
        pass
    for provider in (tracing, metering, logging):
        provider.shutdown()


@pytest.fixture(scope="module", params=["http", "grpc"])
def received(request: pytest.FixtureRequest) -> Iterator[otlp_receiver.Receiver]:
    """
    Send the demo's requests to a loopback receiver.
    """
    with otlp_receiver.receiver() as target:
        target.refuse = 1 if request.param == "http" else 0
        send(target, request.param)
        yield target


def _attributes(span: Any) -> dict[str, Any]:
    return {one.key: one.value for one in span.attributes}


def _evaluations(received: otlp_receiver.Receiver) -> list[Any]:
    return [span for _, scope, span in received.spans if scope.name == "rageval_trace" and "evaluation" in span.name]


def test_a_refused_request_is_sent_again(received: otlp_receiver.Receiver) -> None:
    """
    A 503 loses nothing: all requests' evaluations arrive.
    """
    from rageval_trace.cli.live_demo.script import REQUESTS

    assert 0 == received.refuse
    assert len(REQUESTS) == len(_evaluations(received))


def test_scores_are_doubles_and_verdicts_words(received: otlp_receiver.Receiver) -> None:
    """
    Attribute types on the wire are those that back ends compare by: doubles, strings, arrays of strings.
    """
    kinds: dict[str, set[str]] = {}
    for span in _evaluations(received):
        for key, value in _attributes(span).items():
            kinds.setdefault(key.replace(key[14:], "*") if key.startswith("rageval.score.") else key, set()).add(
                value.WhichOneof("value")
            )
    assert {"double_value"} == kinds["rageval.score.*"] == kinds["rageval.weakest_score"]
    assert {"string_value"} == kinds["rageval.verdict"] == kinds["rageval.weakest"]
    assert {"array_value"} == kinds["rageval.breached"]
    assert {"bool_value"} == kinds["rageval.abstained"]
    assert {"int_value"} == kinds["rageval.context.count"]


def test_an_evaluation_lies_in_the_trace_of_its_request(received: otlp_receiver.Receiver) -> None:
    """
    Parent and link of each evaluation are a span that arrived too, in the same trace.
    """
    known = {(span.trace_id, span.span_id) for _, _, span in received.spans}
    for span in _evaluations(received):
        assert (span.trace_id, span.parent_span_id) in known
        assert [(span.trace_id, span.parent_span_id)] == [(link.trace_id, link.span_id) for link in span.links]


def test_breaches_arrive_as_events(received: otlp_receiver.Receiver) -> None:
    """
    A breached result is an event on its span, and a log record with the span's ids and no body.
    """
    broken = [span for span in _evaluations(received) if _attributes(span)["rageval.verdict"].string_value == "fail"]
    assert broken
    assert {"gen_ai.evaluation.result"} == {event.name for span in broken for event in span.events}
    assert {"gen_ai.evaluation.result"} == {record.event_name for record in received.logs}
    ids = {(span.trace_id, span.span_id) for _, _, span in received.spans}
    assert {(record.trace_id, record.span_id) for record in received.logs} <= ids
    assert {None} == {record.body.WhichOneof("value") for record in received.logs}


def test_exemplars_name_traces_that_arrived(received: otlp_receiver.Receiver) -> None:
    """
    Scores carry exemplars, and each is the trace of a request that was sent.
    """
    points = received.metrics["rageval.evaluation.score"].histogram.data_points
    traces = {one.trace_id for point in points for one in point.exemplars}
    assert traces
    assert traces <= {span.trace_id for _, _, span in received.spans}


def test_jaeger_finds_what_the_searches_ask(received: otlp_receiver.Receiver) -> None:
    """
    Under Jaeger's mapping each shipped search that the demo has answers for finds them, and only evaluations.
    """
    stored = [jaeger_mapping.stored(*one) for one in received.spans]
    searches = yaml.safe_load((FOLDER / "jaeger" / "searches.yaml").read_text(encoding="utf-8"))
    found = {one["tags"]: jaeger_mapping.search(stored, SERVICE, one["tags"]) for one in searches}
    broken = [one for one in stored if one["tags"].get("rageval.verdict") == "fail"]
    assert broken == found["rageval.verdict=fail"] == found["rageval.verdict=fail rageval.pipeline=support-bot"]
    assert 0 < len(found["rageval.verdict=fail rageval.weakest=groundedness"]) < len(broken)
    assert 1 == len(found["rageval.abstained=true"])
    assert [] == found["error=true gen_ai.operation.name=evaluation"]
    assert {"evaluation support-bot"} == {one["operationName"] for spans in found.values() for one in spans}


def test_the_collector_keeps_every_breached_trace(received: otlp_receiver.Receiver) -> None:
    """
    Of the traces that arrived, the tail sampler's first policy picks exactly those with a failed verdict.
    """
    config = yaml.safe_load((FOLDER / "otel-collector" / "config.yaml").read_text(encoding="utf-8"))
    policy = config["processors"]["tail_sampling"]["policies"][0]["string_attribute"]
    kept = {
        span.trace_id
        for _, _, span in received.spans
        if policy["key"] in _attributes(span) and _attributes(span)[policy["key"]].string_value in policy["values"]
    }
    every = {span.trace_id for span in _evaluations(received)}
    passed = {s.trace_id for s in _evaluations(received) if _attributes(s)["rageval.verdict"].string_value != "fail"}
    assert every - passed == kept
    assert passed
