"""
The OpenTelemetry SDK of the live demo: spans kept for showing, and, if asked, everything sent over OTLP as well.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rageval_trace.errors import MissingExtraError, RagEvalError

__all__ = ["Wiring"]

SERVICE_NAME = "rageval-demo"
SEND_TIMEOUT_S = 5


class Wiring:
    """
    Three providers, as an application would set them up.

    Args:
        otlp: Base URL of an OTLP receiver over HTTP (`http://localhost:4318`); None to send nothing.

    Raises:
        RagEvalError: if *otlp* is no HTTP address.
    """

    def __init__(self, otlp: str | None) -> None:
        resource = Resource.create({"service.name": SERVICE_NAME})
        self.failures: set[str] = set()
        self._kept = InMemorySpanExporter()
        readers: list[Any] = []
        self.tracer_provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self._kept))
        self.logger_provider = LoggerProvider(resource=resource, shutdown_on_exit=False)
        if otlp is not None:
            spans, metrics, logs = self._exporters(_base_url(otlp))
            self.tracer_provider.add_span_processor(BatchSpanProcessor(spans))
            self.logger_provider.add_log_record_processor(BatchLogRecordProcessor(logs))
            # Sent once, at the end: the interval is longer than any demo.
            readers.append(PeriodicExportingMetricReader(metrics, export_interval_millis=3_600_000))
        self.meter_provider = MeterProvider(metric_readers=readers, resource=resource, shutdown_on_exit=False)

    @property
    def providers(self) -> dict[str, Any]:
        """
        Return the three as the keyword arguments that handlers take.
        """
        names = ("tracer_provider", "meter_provider", "logger_provider")
        return {name: getattr(self, name) for name in names}

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        """
        Return the finished spans, in the order in which they ended.
        """
        return self._kept.get_finished_spans()

    def close(self) -> None:
        """
        Send what is still to be sent; `failures` then names what did not arrive.
        """
        for provider in (self.tracer_provider, self.meter_provider, self.logger_provider):
            provider.shutdown()

    def _exporters(self, base: str) -> tuple[Any, Any, Any]:
        try:
            from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter  # noqa: PLC0415
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter  # noqa: PLC0415
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise MissingExtraError("otlp", "rageval demo --live --otlp") from error
        kinds = {"spans": OTLPSpanExporter, "metrics": OTLPMetricExporter, "logs": OTLPLogExporter}
        paths = {"spans": "traces", "metrics": "metrics", "logs": "logs"}
        spans, metrics, logs = [
            _Noting(kind(endpoint=f"{base}/v1/{paths[name]}", timeout=SEND_TIMEOUT_S), name, self.failures)
            for name, kind in kinds.items()
        ]
        return spans, metrics, logs


class _Noting:
    """
    Stand before an exporter and note that it could not send.
    """

    def __init__(self, exporter: Any, name: str, failures: set[str]) -> None:
        self._exporter = exporter
        self._name = name
        self._failures = failures

    def export(self, *args: Any, **kwargs: Any) -> Any:
        outcome = self._exporter.export(*args, **kwargs)
        if outcome.name != "SUCCESS":
            self._failures.add(self._name)
        return outcome

    def __getattr__(self, name: str) -> Any:
        return getattr(self._exporter, name)


def _base_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        known = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        known = False
    if not known:
        raise RagEvalError(f"--otlp {text!r}: expected an address such as http://localhost:4318")
    return text.rstrip("/")
