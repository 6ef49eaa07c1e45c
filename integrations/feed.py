"""
Feed the back ends of compose.yaml: the live demo's pipeline, over and over in one process, sent by OTLP over HTTP.

    python integrations/feed.py http://localhost:4318        (needs rageval-trace[demo])

One process, because counters that start anew with every run never grow.
"""

# ruff: noqa: INP001, TID251 - a script, and an application that sets up the SDK
from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timezone

from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from rageval_trace.cli.live_demo.langchain_app import answers
from rageval_trace.cli.live_demo.script import REQUESTS, THRESHOLDS, Request


def main(base: str, pause_s: float = 0.5, count: int | None = None) -> None:
    """
    Answer *count* of the demo's questions (None: for ever), and send what comes of it to *base*.
    """
    resource = Resource.create({"service.name": "rageval-demo"})
    traces = TracerProvider(resource=resource)
    traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{base}/v1/traces")))
    reader = PeriodicExportingMetricReader(
        OTLPMetricExporter(endpoint=f"{base}/v1/metrics"), export_interval_millis=5000
    )
    metrics = MeterProvider(metric_readers=[reader], resource=resource)
    logs = LoggerProvider(resource=resource)
    logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(endpoint=f"{base}/v1/logs")))
    options = {
        "pipeline": "support-bot",
        "thresholds": THRESHOLDS,
        "tracer_provider": traces,
        "meter_provider": metrics,
        "logger_provider": logs,
    }
    tracer, now = traces.get_tracer("app"), datetime.now(timezone.utc)
    for _ in answers(_questions(count), now=now, tracer=tracer, options=options):  # type: ignore[arg-type]
        time.sleep(pause_s)
    for provider in (traces, metrics, logs):
        provider.shutdown()


def _questions(count: int | None) -> Iterator[Request]:
    """
    Give the demo's requests at random, the good one more often.
    """
    choose = random.Random(9)  # noqa: S311 - which question comes next is no secret
    asked = 0
    while count is None or asked < count:
        yield choose.choice([*REQUESTS, REQUESTS[0], REQUESTS[0]])
        asked += 1


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/") if len(sys.argv) > 1 else "http://localhost:4318")
