"""
From an evaluation to OpenTelemetry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry import trace
from opentelemetry.trace import INVALID_SPAN, Link, NonRecordingSpan, SpanContext, SpanKind, set_span_in_context

from rageval_trace._version import __version__
from rageval_trace.telemetry.anchor import Anchor
from rageval_trace.telemetry.payload import EmitOptions, Evaluation, RetrievalSpan

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

__all__ = ["EmitOptions", "Emitter", "Evaluation", "RetrievalSpan"]


class Emitter:
    """
    Send evaluations through the OpenTelemetry API.
    """

    def __init__(
        self,
        options: EmitOptions | None = None,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        logger_provider: LoggerProvider | None = None,
    ) -> None:
        self.options = options or EmitOptions()
        self._tracer = trace.get_tracer("rageval_trace", __version__, tracer_provider)
        self._providers = (meter_provider, logger_provider)

    def emit(self, evaluation: Evaluation, anchor: Anchor) -> SpanContext | None:
        """
        Send one evaluation and return the context of its span; None when no span was recorded.
        """
        target = anchor.target
        if target is not None and not target.trace_flags.sampled:
            return None
        scores = {f"rageval.score.{n}": float(r.score) for n, r in evaluation.results.items() if r.score is not None}
        span = self._tracer.start_span(
            f"evaluation {evaluation.pipeline}",
            set_span_in_context(NonRecordingSpan(target) if target else INVALID_SPAN),
            SpanKind.INTERNAL,
            scores,
            [Link(target, {"rageval.link": "evaluated"})] if target else None,
        )
        span.end()
        return span.get_span_context() if span.is_recording() or span.get_span_context().is_valid else None

    def count_request(self, outcome: str, pipeline: str, anchor: Anchor | None = None) -> None:
        """
        Count one request that was seen, by what became of it.
        """

    def count_answer(self, answer: str, retrieval: str, pipeline: str, anchor: Anchor | None = None) -> None:
        """
        Count one answer: answered, abstained or blank, after a retrieval that was found, empty or not_observed.
        """

    def queue_changed(self, delta: int) -> None:
        """
        Add *delta* to the number of requests that wait to be scored.
        """
