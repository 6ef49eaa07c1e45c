"""
Aids for your own tests: telemetry caught in memory.

Needs the OpenTelemetry SDK: `pip install "rageval-trace[otlp]"`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rageval_trace.errors import MissingExtraError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.sampling import Sampler

__all__ = ["CapturedEvent", "CapturedLog", "CapturedMetric", "CapturedSpan", "CapturedTelemetry", "capture_telemetry"]


@dataclass(frozen=True, slots=True)
class CapturedEvent:
    """
    An event of a span.
    """

    name: str
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CapturedSpan:
    """
    A finished span in plain values; ids are lower-case hex, times unix nanoseconds.

    Args:
        name: Its name.
        kind: `INTERNAL`, `CLIENT`, ...
        attributes: As exported; arrays are tuples.
        trace_id: 32 hex digits.
        span_id: 16 hex digits.
        parent_id: 16 hex digits; None for a root.
        links: `(trace_id, span_id, attributes)` of each link.
        events: Its events, in order.
        status: `UNSET`, `OK` or `ERROR`.
        started_ns: Start.
        ended_ns: End.
        scope: Name of the instrumentation scope.
    """

    name: str
    kind: str
    attributes: Mapping[str, Any]
    trace_id: str
    span_id: str
    parent_id: str | None
    links: tuple[tuple[str, str, Mapping[str, Any]], ...]
    events: tuple[CapturedEvent, ...]
    status: str
    started_ns: int
    ended_ns: int
    scope: str


@dataclass(frozen=True, slots=True)
class CapturedLog:
    """
    A log record in plain values.

    Args:
        event_name: The event's name; None for an ordinary log line.
        attributes: As exported.
        body: Its body; None for our events.
        severity: `INFO`, `WARN`, ...; None when not set.
        trace_id: 32 hex digits; None outside a trace.
        span_id: 16 hex digits; None outside a span.
    """

    event_name: str | None
    attributes: Mapping[str, Any]
    body: Any
    severity: str | None
    trace_id: str | None
    span_id: str | None


@dataclass(frozen=True, slots=True)
class CapturedMetric:
    """
    One data point: a metric at one set of attributes.

    Args:
        name: The metric.
        unit: Its unit.
        attributes: The point's attributes.
        value: The sum: of a counter, or of a histogram's observations.
        count: How many observations a histogram took; None for a counter.
        buckets: Upper bounds of a histogram's buckets; empty for a counter.
        bucket_counts: Observations per bucket, the last one above every bound; empty for a counter.
        exemplar_trace_ids: 32 hex digits of each exemplar's trace.
    """

    name: str
    unit: str
    attributes: Mapping[str, Any]
    value: float
    count: int | None
    buckets: tuple[float, ...]
    bucket_counts: tuple[int, ...]
    exemplar_trace_ids: tuple[str, ...]


class CapturedTelemetry:
    """
    In-memory providers, and what they received.

    Attributes:
        tracer_provider: Give it to a handler or `Monitor`.
        meter_provider: The same for metrics.
        logger_provider: The same for log events.
    """

    def __init__(self, sampler: Sampler | None = None) -> None:
        try:
            from opentelemetry.sdk import _logs, metrics, trace  # noqa: PLC0415 - an extra, needed here alone
            from opentelemetry.sdk._logs import export as log_export  # noqa: PLC0415
            from opentelemetry.sdk.metrics.export import InMemoryMetricReader  # noqa: PLC0415
            from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: PLC0415
            from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter  # noqa: PLC0415
            from opentelemetry.sdk.trace.sampling import DEFAULT_ON  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError("otlp", "capture_telemetry()") from error
        self._spans = InMemorySpanExporter()
        self.tracer_provider = trace.TracerProvider(sampler=sampler or DEFAULT_ON, shutdown_on_exit=False)
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self._reader = InMemoryMetricReader()
        self.meter_provider = metrics.MeterProvider(metric_readers=[self._reader], shutdown_on_exit=False)
        self._logs = _in_memory(log_export)
        self.logger_provider = _logs.LoggerProvider(shutdown_on_exit=False)
        self.logger_provider.add_log_record_processor(log_export.SimpleLogRecordProcessor(self._logs))

    @property
    def providers(self) -> dict[str, Any]:
        """
        Return the three providers as the keyword arguments that handlers and `Monitor` take.
        """
        names = ("tracer_provider", "meter_provider", "logger_provider")
        return {name: getattr(self, name) for name in names}

    @property
    def spans(self) -> list[CapturedSpan]:
        """
        Return the finished spans, in the order in which they ended.
        """
        return [_span(span) for span in self._spans.get_finished_spans()]

    @property
    def logs(self) -> list[CapturedLog]:
        """
        Return the log records, oldest first.
        """
        return [_log(item.log_record) for item in self._logs.get_finished_logs()]

    def metrics(self, name: str | None = None) -> list[CapturedMetric]:
        """
        Return the data points recorded so far, cumulative: all of them, or those of one metric.
        """
        data = self._reader.get_metrics_data()
        scopes = [scope for resource in data.resource_metrics for scope in resource.scope_metrics] if data else []
        metrics = [metric for scope in scopes for metric in scope.metrics if name in (None, metric.name)]
        return [_point(metric, point) for metric in metrics for point in metric.data.data_points]

    def clear(self) -> None:
        """
        Forget spans and logs; metrics are cumulative and stay.
        """
        self._spans.clear()
        self._logs.clear()

    def shutdown(self) -> None:
        """
        Shut the providers down; what was caught stays readable, but for metrics.
        """
        self.tracer_provider.shutdown()
        self.meter_provider.shutdown()
        self.logger_provider.shutdown()


@contextmanager
def capture_telemetry(*, sampler: Sampler | None = None) -> Iterator[CapturedTelemetry]:
    """
    Give in-memory providers for the time of a `with` block.

    The global providers stay as they are: hand `captured.providers` to what you test.

    Args:
        sampler: Decides which spans are recorded; None for all but the children of unsampled parents.

    Raises:
        MissingExtraError: if the OpenTelemetry SDK is not installed.
    """
    captured = CapturedTelemetry(sampler)
    try:
        yield captured
    finally:
        captured.shutdown()


def _in_memory(log_export: Any) -> Any:
    """
    Return the SDK's in-memory log exporter, which was renamed on the way.
    """
    renamed = getattr(log_export, "InMemoryLogRecordExporter", None)
    return renamed() if renamed is not None else log_export.InMemoryLogExporter()


def _trace_id(value: int | None) -> str | None:
    return f"{value:032x}" if value else None


def _span_id(value: int | None) -> str | None:
    return f"{value:016x}" if value else None


def _span(span: ReadableSpan) -> CapturedSpan:
    context: Any = span.context
    return CapturedSpan(
        name=span.name,
        kind=span.kind.name,
        attributes=dict(span.attributes or {}),
        trace_id=f"{context.trace_id:032x}",
        span_id=f"{context.span_id:016x}",
        parent_id=_span_id(span.parent.span_id) if span.parent else None,
        links=tuple(
            [(f"{x.context.trace_id:032x}", f"{x.context.span_id:016x}", dict(x.attributes or {})) for x in span.links]
        ),
        events=tuple([CapturedEvent(event.name, dict(event.attributes or {})) for event in span.events]),
        status=span.status.status_code.name,
        started_ns=span.start_time or 0,
        ended_ns=span.end_time or 0,
        scope=span.instrumentation_scope.name if span.instrumentation_scope else "",
    )


def _log(record: Any) -> CapturedLog:
    severity = record.severity_number
    return CapturedLog(
        event_name=record.event_name,
        attributes=dict(record.attributes or {}),
        body=record.body,
        severity=severity.name if severity is not None else None,
        trace_id=_trace_id(record.trace_id),
        span_id=_span_id(record.span_id),
    )


def _point(metric: Any, point: Any) -> CapturedMetric:
    histogram = hasattr(point, "bucket_counts")
    return CapturedMetric(
        name=metric.name,
        unit=metric.unit or "",
        attributes=dict(point.attributes or {}),
        value=point.sum if histogram else point.value,
        count=point.count if histogram else None,
        buckets=tuple(point.explicit_bounds) if histogram else (),
        bucket_counts=tuple(point.bucket_counts) if histogram else (),
        exemplar_trace_ids=tuple([f"{x.trace_id:032x}" for x in point.exemplars if x.trace_id]),
    )
