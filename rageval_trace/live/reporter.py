"""
What is told of a request that ended: to telemetry, to the user, and to a judge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from opentelemetry.trace import format_span_id, format_trace_id

from rageval_trace.live.capture import Capture
from rageval_trace.live.late import bounded
from rageval_trace.live.result import LiveResult
from rageval_trace.live.scoring import Scored, Scorer
from rageval_trace.live.settings import Settings
from rageval_trace.models import EvalRecord
from rageval_trace.telemetry.payload import Evaluation

if TYPE_CHECKING:
    from opentelemetry.trace import SpanContext

__all__ = ["Reporter"]


class Reporter:
    """
    Put together what was captured of a request and what was computed of it.

    Args:
        settings: The pipeline's name, and how much of a request is kept.
        scorer: Knows by which version and config it was scored.
        redact: Runs on every text before a judge sees it; None for none.
    """

    def __init__(self, settings: Settings, scorer: Scorer, redact: Callable[[str], str] | None) -> None:
        self._settings = settings
        self._scorer = scorer
        self._redact = redact
        self._thresholds = {one.metric: one.value for one in scorer.thresholds}
        self._pipelines = {settings.pipeline}

    def pipeline(self, name: str | None) -> str:
        """
        Return a pipeline's name; `other` past the number of names that metrics can bear.
        """
        if name is None:
            return self._settings.pipeline
        return bounded(name, self._pipelines)

    def evaluation(self, capture: Capture, scored: Scored, sample_rate: float, selection: str) -> Evaluation:
        """
        Return what telemetry gets.
        """
        verdict = scored.verdict
        response = capture.response or {}
        return Evaluation(
            pipeline=self.pipeline(capture.pipeline),
            results=scored.results,
            judge=scored.judge,
            status=capture.status,
            verdict=verdict.verdict,
            breached=verdict.breached,
            labels=verdict.labels,
            weakest=verdict.weakest,
            weakest_score=verdict.weakest_score,
            abstained=scored.abstained,
            evaluator_version=self._scorer.version_of(scored),
            sample_rate=sample_rate,
            selection=selection,
            record=capture.record,
            context_source=capture.context_source,
            search_queries=capture.search_queries,
            response_id=response.get("response_id"),
            request_model=response.get("request_model"),
            provider_name=response.get("provider_name"),
            conversation_id=response.get("conversation_id"),
            started_ns=capture.started_ns if capture.timed else 0,
            ended_ns=capture.ended_ns if capture.timed else 0,
            retrievals=capture.retrievals,
            duration_s=scored.duration_s,
            error_type=scored.error_type,
        )

    def result(
        self, capture: Capture, scored: Scored | None, span: SpanContext | None, sample_rate: float, selection: str
    ) -> LiveResult:
        """
        Return what the user gets; *scored* is None for a request that was not scored.
        """
        shown = span or capture.anchor.target
        return LiveResult(
            record=capture.record,
            results={} if scored is None else scored.results,
            status=capture.status,
            pipeline=self.pipeline(capture.pipeline),
            run_id=capture.run_id,
            started_at=_instant(capture.started_ns),
            ended_at=_instant(capture.ended_ns),
            verdict=None if scored is None else scored.verdict.verdict,
            judge="none" if scored is None else scored.judge,
            context_source=capture.context_source,
            search_queries=capture.search_queries,
            trace_id=None if shown is None else format_trace_id(shown.trace_id),
            span_id=None if shown is None else format_span_id(shown.span_id),
            sample_rate=sample_rate,
            breached=() if scored is None else scored.verdict.breached,
            selection=selection,
            thresholds=self._thresholds,
            evaluator_version="" if scored is None else self._scorer.version_of(scored),
            config=None if scored is None else self._scorer.config_of(scored),
            truncated=self._truncated(capture.record),
        )

    def redacted(self, record: EvalRecord) -> EvalRecord:
        """
        Return the record as a judge may see it.
        """
        redact = self._redact
        if redact is None:
            return record
        contexts = record.contexts
        return EvalRecord(
            redact(record.question),
            None if contexts is None else [replace(one, text=redact(one.text), metadata={}) for one in contexts],
            None if record.answer is None else redact(record.answer),
            None if record.ground_truth is None else redact(record.ground_truth),
            record.relevant_ids,
            record.citations,
            record.id,
            record.asked_at,
        )

    def _truncated(self, record: EvalRecord) -> bool:
        """
        Return whether a text, or the list of contexts, is as long as it may be: the rest was left out.
        """
        most, contexts = self._settings.max_chars, record.contexts or ()
        if len(contexts) >= self._settings.max_contexts or len(record.question) >= most:
            return True
        return len(record.answer or "") >= most or any([len(one.text) >= most for one in contexts])


def _instant(unix_ns: int) -> datetime:
    return datetime.fromtimestamp(unix_ns / 1e9, timezone.utc)
