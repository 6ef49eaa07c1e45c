"""
From an evaluation to OpenTelemetry: one span, events, metrics, and spans of the request where nobody drew them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from opentelemetry.context import Context
from opentelemetry.trace import (
    INVALID_SPAN,
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    set_span_in_context,
)

from rageval_trace.telemetry import names
from rageval_trace.telemetry.anchor import Anchor
from rageval_trace.telemetry.attributes import evaluation_attributes, verdict_attributes
from rageval_trace.telemetry.content import Content, known
from rageval_trace.telemetry.events import ResultEvent, result_events
from rageval_trace.telemetry.faults import Faults
from rageval_trace.telemetry.instruments import Instruments
from rageval_trace.telemetry.openinference import openinference_attributes
from rageval_trace.telemetry.payload import EmitOptions, Evaluation, JudgeCall, RetrievalSpan
from rageval_trace.telemetry.providers import log_signal, meter_signal, own_context, severity, tracer_signal
from rageval_trace.telemetry.request_spans import build_request_spans
from rageval_trace.telemetry.results import Sorted, sort_results

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

__all__ = ["EmitOptions", "Emitter", "Evaluation", "JudgeCall", "RetrievalSpan"]

_T = TypeVar("_T")

_NOWHERE: Context = set_span_in_context(INVALID_SPAN, Context())
_LINK = {names.LINK: names.LINK_EVALUATED}


class Emitter:
    """
    Send evaluations through the OpenTelemetry API.

    Nothing raises: an error on the way is counted in `faults`, and the other signals go on.

    Args:
        options: Which shapes are sent, and what of the content; None for the defaults.
        tracer_provider: Where spans go; None for the global provider, even one that is set later.
        meter_provider: The same for metrics.
        logger_provider: The same for log events.
        faults: Where errors are counted; None for a counter of its own.
        clock: Gives unix nanoseconds.
    """

    def __init__(
        self,
        options: EmitOptions | None = None,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        logger_provider: LoggerProvider | None = None,
        faults: Faults | None = None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.options = options or EmitOptions()
        self.faults = faults or Faults()
        self._clock = clock
        self._content = Content(self.options, self.faults)
        self._traces = tracer_signal(tracer_provider)
        self._metrics = meter_signal(meter_provider)
        self._logs = log_signal(logger_provider)
        self._instruments = Instruments(self._metrics.source)
        events = self.options.events
        self._span_events = bool(events & {"span", "span-all"})
        self._log_events = bool(events & {"log", "log-all"})

    @property
    def connected(self) -> tuple[bool, bool, bool]:
        """
        Return whether a provider is set for traces, for metrics, and for logs.
        """
        return self._traces.on, self._metrics.on, self._logs.on

    def emit(self, evaluation: Evaluation, anchor: Anchor) -> SpanContext | None:
        """
        Send one evaluation.

        Args:
            evaluation: What to send.
            anchor: The span it belongs to. Where the request's own span is built, the anchor takes it, so that a
                later evaluation of the same request joins it.

        Returns:
            The context of the evaluation span; None when none was recorded.
        """
        if not (self._traces.on or self._metrics.on or self._logs.on):
            return None
        return self._try("an evaluation not sent", self._emit, evaluation, anchor)

    def feedback(self, evaluation: Evaluation, anchor: Anchor) -> SpanContext | None:
        """
        Send what a person said of a request: a span and an event like any evaluation's, and a count of its own.
        """
        return self._try("feedback not sent", self._feedback, evaluation, anchor)

    def _feedback(self, evaluation: Evaluation, anchor: Anchor) -> SpanContext | None:
        found = sort_results(evaluation)
        own = self._try("no feedback span", self._trace, evaluation, found, anchor)
        target = anchor.target or own
        if self._metrics.on:
            self._try("feedback not counted", self._instruments.feedback_given, evaluation, _context(target))
        if _sampled(target) and self._log_events and self._logs.on:
            self._try("no log event of feedback", self._log, evaluation, found, target)
        return own

    @property
    def counts(self) -> bool:
        """
        Return whether a provider is set for metrics.
        """
        return self._metrics.on

    def count_request(self, outcome: str, pipeline: str, anchor: Anchor | None = None, amount: int = 1) -> None:
        """
        Count requests that were seen, by what became of them (`names.OUTCOMES`).
        """
        if self._metrics.on:
            context = _point_context(anchor)
            self._try("a request not counted", self._instruments.count_request, outcome, pipeline, context, amount)

    def count_answer(self, answer: str, retrieval: str, pipeline: str, anchor: Anchor | None = None) -> None:
        """
        Count one answer (`names.ANSWERS`) with what its retrieval came to (`names.RETRIEVALS`).
        """
        if self._metrics.on:
            context = _point_context(anchor)
            self._try("an answer not counted", self._instruments.count_answer, answer, retrieval, pipeline, context)

    def queue_changed(self, delta: int) -> None:
        """
        Add *delta* to the number of requests that wait to be scored.
        """
        self._try("a queue's change not counted", self._instruments.queue_changed, delta)

    def judge_called(self, call: JudgeCall, pipeline: str, anchor: Anchor | None = None) -> None:
        """
        Record one call of an LLM judge.
        """
        if self._metrics.on:
            context = _point_context(anchor)
            self._try("a judge's call not recorded", self._instruments.judge_called, call, pipeline, context)

    def judge_escalated(self, pipeline: str, anchor: Anchor | None = None) -> None:
        """
        Count one request of which a cascade handed something on to an LLM judge.
        """
        if self._metrics.on:
            context = _point_context(anchor)
            self._try("an escalation not counted", self._instruments.judge_escalated, pipeline, context)

    def _emit(self, evaluation: Evaluation, anchor: Anchor) -> SpanContext | None:
        found = sort_results(evaluation)
        own = self._try("no evaluation span", self._trace, evaluation, found, anchor)
        target = anchor.target or own
        kept = _sampled(target) and _sampled(own)
        if self._metrics.on:
            self._try("no metrics of an evaluation", self._instruments.record, evaluation, found, _context(target))
        if kept and self._log_events and self._logs.on:
            self._try("no log events of an evaluation", self._log, evaluation, found, target)
        if self.options.annotate_parent:
            self._try("an evaluated span not annotated", _annotate, evaluation, anchor.span)
        return own if kept else None

    def _trace(self, evaluation: Evaluation, found: Sorted, anchor: Anchor) -> SpanContext | None:
        """
        Build the spans and return the evaluation span's context; None when no tracer made one.
        """
        if not self._traces.on or not _sampled(anchor.target):
            return None
        if self._builds_request(evaluation, anchor):
            parent = _context(anchor.target)
            request = build_request_spans(self._traces.source, parent, evaluation, self.options, self._content)
            if request is not None:
                anchor.adopt(request)
        if not _sampled(anchor.target):
            return None
        return self._evaluation_span(evaluation, found, anchor.target)

    def _evaluation_span(self, evaluation: Evaluation, found: Sorted, target: SpanContext | None) -> SpanContext | None:
        events = self._events(evaluation, found, "span", self.options.capture_spans) if self._span_events else []
        attributes = evaluation_attributes(evaluation, found)
        if self.options.openinference:
            # First of all, since a span that overflows drops its oldest attributes and must keep the scores.
            attributes = openinference_attributes(events, evaluation.evaluator_version) | attributes
            events = []
        now = self._clock()
        span: Span = self._traces.source.start_span(
            names.SPAN_EVALUATION.format(pipeline=known(evaluation.pipeline)),
            _context(target),
            SpanKind.INTERNAL,
            attributes,
            [Link(target, _LINK)] if target is not None else None,
            now - _nanoseconds(evaluation.duration_s),
        )
        if span.is_recording():
            for event in events:
                span.add_event(names.EVENT_RESULT, event.attributes, now)
            if evaluation.error_type is not None:
                span.set_status(Status(StatusCode.ERROR))
        context = own_context(span)
        span.end(now)
        return context

    def _builds_request(self, evaluation: Evaluation, anchor: Anchor) -> bool:
        mode = self.options.spans
        wanted = mode == "always" or (mode == "auto" and not anchor.instrumented)
        return wanted and anchor.request is None and evaluation.started_ns > 0

    def _log(self, evaluation: Evaluation, found: Sorted, target: SpanContext | None) -> None:
        """
        Send log records in the context of the evaluated span.
        """
        events = self._events(evaluation, found, "log", self.options.capture_events)
        if not events:
            return
        now, context = self._clock(), _context(target)
        for event in events:
            self._logs.source.emit(
                event_name=names.EVENT_RESULT,
                timestamp=now,
                context=context,
                severity_number=severity("WARN" if event.failed else "INFO"),
                attributes=event.attributes,
            )

    def _events(self, evaluation: Evaluation, found: Sorted, channel: str, capture: bool) -> list[ResultEvent]:
        everything = f"{channel}-all" in self.options.events
        if not found.notable and not everything:
            return []
        return result_events(evaluation, found, self._content, everything=everything, capture=capture)

    def _try(self, loss: str, step: Callable[..., _T], *arguments: Any) -> _T | None:
        try:
            return step(*arguments)
        except Exception as error:
            self.faults.note(loss, error)
            return None


def _sampled(context: SpanContext | None) -> bool:
    """
    Return whether what belongs to this span may be sent; with no span there is nothing that forbids it.
    """
    return context is None or context.trace_flags.sampled


def _context(target: SpanContext | None) -> Context:
    """
    Return the caller's context with *target* as its span, or with none.
    """
    return set_span_in_context(INVALID_SPAN if target is None else NonRecordingSpan(target))


def _point_context(anchor: Anchor | None) -> Context:
    """
    Return the context of a metric's point: nothing but the span that its exemplar points to.
    """
    target = None if anchor is None else anchor.target
    return _NOWHERE if target is None else set_span_in_context(NonRecordingSpan(target), _NOWHERE)


def _nanoseconds(seconds: float) -> int:
    return int(seconds * 1e9) if 0 <= seconds < math.inf else 0


def _annotate(evaluation: Evaluation, span: Span | None) -> None:
    if span is not None and span.is_recording():
        span.set_attributes(verdict_attributes(evaluation))
