"""
What the emitter is given: one evaluation of one request, and what may leave the process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from rageval_trace.models import Context, EvalRecord, MetricResult

__all__ = ["EmitOptions", "Evaluation", "JudgeCall", "RetrievalSpan", "SpansMode"]

SpansMode: TypeAlias = Literal["auto", "always", "never"]


@dataclass(frozen=True, slots=True)
class RetrievalSpan:
    """
    One retrieval of the request.

    Args:
        query: What was searched for; content.
        started_ns: Unix nanoseconds.
        ended_ns: Unix nanoseconds.
        documents: What came back, in rank order; content but for its length.
        top_k: How many were asked for; None when not known.
    """

    query: str
    started_ns: int
    ended_ns: int
    documents: tuple[Context, ...] = ()
    top_k: int | None = None


@dataclass(slots=True)  # not frozen: one is made for every request, and freezing its fields doubles the price
class Evaluation:
    """
    One evaluation of one request by one judge, ready to be sent.

    Args:
        pipeline: The pipeline's name; becomes part of the span's name and an attribute of every metric.
        results: What was computed, by metric name; of a judge's own evaluation, only what that judge answered.
        judge: Who scored: `none`, `lexical`, `lexical_fallback`, `claude`, `llm`, or the judge's name.
        status: How the request ended (`ok`, `partial`, ...).
        verdict: `pass`, `fail` or `unknown`; None without thresholds.
        breached: Metrics past their thresholds.
        labels: `pass` or `fail` by metric, for metrics with a threshold and a value.
        weakest: The thresholded metric with the largest shortfall; None without thresholds.
        weakest_score: Its score.
        abstained: The answer only declines; None when that is not known.
        evaluator_version: `scoring-<version>+<8 hex of the configuration>`.
        sample_rate: The probability with which the request was taken, in [0, 1]; 1.0 when a rule took it.
        selection: `random` or `rule`.
        record: The request's data: counts are read from it, and text where `EmitOptions` allows it.
        context_source: Where the contexts were captured; None when none were observed.
        search_queries: What was searched for, in order; content.
        response_id: The provider's id of the model's response; None when not captured, as the next three.
        request_model: The model asked for.
        provider_name: The model's provider.
        conversation_id: The conversation or thread.
        started_ns: When the request began, in unix nanoseconds; 0 when not known.
        ended_ns: When it ended, in unix nanoseconds; 0 when not known.
        retrievals: Its retrievals, in start order.
        duration_s: How long scoring took, in seconds.
        error_type: Class name of what made scoring as a whole fail; None when it did not. A low score is no error.
    """

    pipeline: str
    results: Mapping[str, MetricResult]
    judge: str = "none"
    status: str = "ok"
    verdict: str | None = None
    breached: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    weakest: str | None = None
    weakest_score: float | None = None
    abstained: bool | None = None
    evaluator_version: str = ""
    sample_rate: float = 1.0
    selection: str = "random"
    record: EvalRecord | None = None
    context_source: str | None = None
    search_queries: tuple[str, ...] = ()
    response_id: str | None = None
    request_model: str | None = None
    provider_name: str | None = None
    conversation_id: str | None = None
    started_ns: int = 0
    ended_ns: int = 0
    retrievals: tuple[RetrievalSpan, ...] = ()
    duration_s: float = 0.0
    error_type: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeCall:
    """
    One call of an LLM judge.

    Args:
        judge: The judge's name.
        duration_s: From asking to answer or failure, in seconds.
        input_tokens: As billed; 0 when not known.
        output_tokens: As billed; 0 when not known.
        error_type: Class name of what went wrong; None when an answer came.
    """

    judge: str
    duration_s: float
    input_tokens: int = 0
    output_tokens: int = 0
    error_type: str | None = None


@dataclass(frozen=True, slots=True)
class EmitOptions:
    """
    Which shapes are sent, and what of the content.

    Args:
        spans: When to build spans of the request itself: `auto` (only if no other instrumentation's span was found),
            `always`, `never`.
        events: Any of `log`, `log-all`, `span`, `span-all`; empty for no events.
        annotate_parent: Add the verdict to the evaluated span while it still records.
        openinference: Write OpenInference `evaluations.N.*` attributes in place of span events.
        capture_spans: Content may stand on spans and span events.
        capture_events: Content may stand on log events.
        hide_inputs: Questions, queries and contexts stay here even under capture.
        hide_outputs: Answers, claims and contexts stay here even under capture.
        redact: Runs on every whole text before it is cut or leaves. A text it raises on does not leave.
    """

    spans: SpansMode = "auto"
    events: frozenset[str] = frozenset({"log", "span"})
    annotate_parent: bool = False
    openinference: bool = False
    capture_spans: bool = False
    capture_events: bool = False
    hide_inputs: bool = False
    hide_outputs: bool = False
    redact: Callable[[str], str] | None = None
