"""
The three signals' entry points, taken so that work is skipped where nobody listens.

A provider may be set after our objects are made; the API's proxies then upgrade, and so does `Signal.on`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from opentelemetry import metrics, trace

from rageval_trace._version import __version__
from rageval_trace.telemetry.names import SCOPE

try:  # The Logs API stands in a module that is still private: it is named here and nowhere else.
    from opentelemetry import _logs as logs
except ImportError:  # pragma: no cover - no release within our bounds lacks it
    logs = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from opentelemetry._logs import Logger, LoggerProvider
    from opentelemetry.metrics import Meter, MeterProvider
    from opentelemetry.trace import Span, SpanContext, Tracer, TracerProvider

__all__ = ["Signal", "log_signal", "meter_signal", "own_context", "severity", "tracer_signal"]

# Where the API keeps its proxies and no-op providers.
_API = ("opentelemetry.trace", "opentelemetry.metrics", "opentelemetry._logs")


class Signal:
    """
    A tracer, meter or logger, and whether a provider stands behind it.

    Args:
        source: The tracer, meter or logger; None only where the API has no logs.
        provider: The provider it was made by; None for the global one.
        current: Gives the global provider.
        behind: The attribute in which the API's proxy keeps what it hands on to, None until a provider is set; None
            where it has no such attribute.
    """

    __slots__ = ("_behind", "_current", "_on", "source")

    def __init__(
        self, source: Any, provider: object | None, current: Callable[[], object], behind: str | None = None
    ) -> None:
        self.source = source
        self._behind = behind
        self._on = provider is not None and _implements(provider)
        self._current = current if provider is None else None

    @property
    def on(self) -> bool:
        """
        Return whether more than the API's own no-op provider is set; once true, it stays so.
        """
        if not self._on and self._current is not None:
            # To ask for the provider is to read the environment, each time: dear where a request is only counted.
            if self._behind is not None and getattr(self.source, self._behind, self) is None:
                return False
            self._on = _implements(self._current())
        return self._on


def _implements(provider: object) -> bool:
    return not type(provider).__module__.startswith(_API)


def tracer_signal(provider: TracerProvider | None) -> Signal:
    """
    Return our tracer of this provider, or of the global one.
    """
    tracer: Tracer = trace.get_tracer(SCOPE, __version__, provider)
    return Signal(tracer, provider, trace.get_tracer_provider)


def meter_signal(provider: MeterProvider | None) -> Signal:
    """
    Return our meter of this provider, or of the global one.
    """
    meter: Meter = metrics.get_meter(SCOPE, __version__, provider)
    return Signal(meter, provider, metrics.get_meter_provider, "_real_meter")


def log_signal(provider: LoggerProvider | None) -> Signal:
    """
    Return our logger of this provider, or of the global one.
    """
    if logs is None:  # pragma: no cover
        return Signal(None, metrics.NoOpMeterProvider(), metrics.get_meter_provider)
    logger: Logger = logs.get_logger(SCOPE, __version__, provider)
    return Signal(logger, provider, logs.get_logger_provider)


def severity(name: str) -> Any:
    """
    Return the severity number of this name (`INFO`, `WARN`).
    """
    return logs.SeverityNumber[name]  # pyright: ignore[reportOptionalMemberAccess]  # a logger is at hand


def own_context(span: Span) -> SpanContext | None:
    """
    Return the context of a span that we started, sampled or not; None if a no-op tracer handed out another's.
    """
    context = span.get_span_context()
    if span.is_recording() or context.trace_flags.sampled is False:
        return context if context.is_valid else None
    return None
