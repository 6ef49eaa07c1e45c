"""
What a user gets to see of one request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, runtime_checkable

from rageval_trace.models import EvalConfig, EvalRecord, MetricResult

__all__ = ["LiveResult", "ResultSink"]

_WIDTH = 160
_DOUBTFUL = 0.5


@dataclass(frozen=True, slots=True, repr=False)
class LiveResult:
    """
    One evaluation of one live request.

    Args:
        record: The request as it was captured.
        results: What was computed, by metric name; empty when the request was not scored.
        status: How the request ended: `ok`, `partial`, `abandoned`, `cancelled`, `interrupted`, `error`,
            `retrieval_only`, `answer_only`, `ambiguous` or `evicted`. Only `ok` with an answer is scored.
        verdict: `pass`, `fail` or `unknown`; None without thresholds.
        judge: Who scored: `none`, `lexical`, or a judge's name.
        context_source: Where the contexts were captured; None when none were observed.
        search_queries: What was searched for, in start order.
        pipeline: The pipeline's name.
        run_id: The framework's id of the root run.
        trace_id: Of the evaluation span, else of the span it would belong to, in lower-case hex; else None.
        span_id: The same.
        started_at: When the request began, in UTC.
        ended_at: When it ended, in UTC.
        sample_rate: The probability with which this request was taken.
        breached: The metrics past their thresholds.
        selection: `random` when the sample took it, `rule` when only a rule did.
        thresholds: Value by metric name, as they stood.
        evaluator_version: `scoring-<version>+<8 hex of the configuration>`; empty when the request was not scored.
        config: How it was scored, with which the same scores can be computed again; None when it was not scored.
        truncated: A text or the list of contexts reached the limit of what is kept of a request.
    """

    record: EvalRecord
    results: Mapping[str, MetricResult]
    status: str
    pipeline: str
    run_id: str
    started_at: datetime
    ended_at: datetime
    verdict: str | None = None
    judge: str = "none"
    context_source: str | None = None
    search_queries: tuple[str, ...] = ()
    trace_id: str | None = None
    span_id: str | None = None
    sample_rate: float = 1.0
    breached: tuple[str, ...] = ()
    selection: str = "random"
    thresholds: Mapping[str, float] = field(default_factory=dict)
    evaluator_version: str = ""
    config: EvalConfig | None = None
    truncated: bool = False

    @property
    def scores(self) -> Mapping[str, float]:
        """
        Return the defined scores by metric name.
        """
        return {name: result.score for name, result in self.results.items() if result.score is not None}

    @property
    def broken(self) -> str | None:
        """
        Return the sentence of the answer that the contexts support least; None when none is unsupported.

        That is the riskiest one where `hallucination_risk` finds one more likely wrong than right, else the first
        that the judge calls unsupported.
        """
        for result in self.results.values():
            for claim in result.details.get("claims", ()) if "weakest" in result.details else ():
                if claim["index"] == result.details["weakest"] and claim["risk"] >= _DOUBTFUL:
                    return str(claim["text"])
        for result in self.results.values():
            for claim in result.details.get("unsupported", ()):
                return str(claim["text"])
        return None

    def __repr__(self) -> str:
        return f"{self._headline()}\n{self._figures()}\n{self._sentence()}"

    def _headline(self) -> str:
        word = self.verdict or ("scored" if self.results else "not scored")
        past = f" ({', '.join(self.breached)})" if self.breached else ""
        return _line(f"{self.pipeline}: {word}{past}, status {self.status}: {self.record.question}")

    def _figures(self) -> str:
        shown = " ".join(f"{name}={score:.2f}" for name, score in self.scores.items())
        return f"  scores: {shown or '-'}"

    def _sentence(self) -> str:
        broken = self.broken
        if broken is not None:
            return _line(f"  unsupported: {broken}")
        return "  unsupported: -"


def _line(text: str) -> str:
    flat = " ".join(text.split())
    indent = "  " if text.startswith("  ") else ""
    return indent + (flat if len(flat) <= _WIDTH else flat[: _WIDTH - 3] + "...")


@runtime_checkable
class ResultSink(Protocol):
    """
    Take results as `on_result`, and be flushed and closed with the monitor that gives them.
    """

    def join(self, redact: Callable[[str], str] | None) -> Callable[[LiveResult], object]:
        """
        Return what a monitor calls with each result; its *redact* runs on every text before the sink's own.
        """
        ...

    def leave(self, timeout: float | None) -> bool:
        """
        Be told that a monitor which joined is closed; the last one closes the sink.
        """
        ...

    def flush(self, timeout: float | None) -> bool:
        """
        Wait for what was taken; False when *timeout* seconds were not enough.
        """
        ...

    @property
    def stats(self) -> Mapping[str, int]:
        """
        Return counts of what became of the results.
        """
        ...
