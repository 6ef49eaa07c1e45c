"""
The scorecard: what a set of records scored, as data. Its renderings are the other files of this room.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rageval_trace.models import EvalConfig, EvalRecord, MetricResult
from rageval_trace.reports.tally import MetricSummary, Tally

__all__ = ["PIPELINE_METRICS", "MetricSummary", "RecordResult", "Scorecard", "ScorecardBuilder"]

# RAGEval's five: one a step of the pipeline, over which `overall` and `weakest` range.
PIPELINE_METRICS: Mapping[str, str] = {
    "faithfulness": "hallucination: the answer adds words that the retrieved chunks do not hold",
    "context_precision": "unrelated chunks: the retriever returns text that does not speak of the question",
    "context_recall": "retriever miss: the evidence for the right answer was not retrieved",
    "answer_relevance": "off-topic answer: it does not take up the question",
    "freshness": "stale corpus: the retrieved chunks are old; recrawl, or rank by age as well",
}
_WORST_KEPT = 20
_WORST_BY = ("groundedness", "faithfulness", "recall", "context_recall", "answer_relevance", "context_precision")


@dataclass(frozen=True, slots=True)
class RecordResult:
    """
    One record with its results.

    Args:
        record: What was scored.
        results: Results by metric name, in the order they were asked for.
    """

    record: EvalRecord
    results: Mapping[str, MetricResult]

    @property
    def scores(self) -> dict[str, float]:
        """
        Return the defined scores by metric name.
        """
        return {name: result.score for name, result in self.results.items() if result.score is not None}


@dataclass(frozen=True, slots=True)
class Scorecard:
    """
    The scores of a set of records.

    Args:
        metrics: A summary of every selected metric, by name.
        count: Records scored.
        results: Each record with its results, in order; empty when they were not kept.
        worst: The worst records, worst first, at most 20; kept even when `results` is not.
        now_source: What freshness took for now: `config`, `asked_at` or `wall clock`; None when nothing was dated.
        scoring_version: The version of the formulas.
        evaluator_version: That, with a digest of the config.
        config: How they were scored.
    """

    metrics: Mapping[str, MetricSummary]
    count: int
    results: tuple[RecordResult, ...]
    worst: tuple[RecordResult, ...]
    now_source: str | None
    scoring_version: int
    evaluator_version: str
    config: EvalConfig = field(default_factory=EvalConfig)

    @property
    def means(self) -> dict[str, float | None]:
        """
        Return the mean of every selected metric; None where it was never defined.
        """
        return {name: summary.mean for name, summary in self.metrics.items()}

    @property
    def aggregates(self) -> dict[str, float | None]:
        """
        Return `means` under its other name.
        """
        return self.means

    @property
    def observed(self) -> dict[str, int]:
        """
        Return the number of records on which each metric was defined.
        """
        return {name: summary.observed for name, summary in self.metrics.items()}

    @property
    def undefined(self) -> dict[str, int]:
        """
        Return the number of records on which each metric was undefined.
        """
        return {name: summary.undefined for name, summary in self.metrics.items()}

    @property
    def failed(self) -> dict[str, int]:
        """
        Return the number of records on which each metric failed.
        """
        return {name: summary.failed for name, summary in self.metrics.items()}

    @property
    def overall(self) -> float | None:
        """
        Return the unweighted mean of the pipeline metrics' means, in [0, 1]; None when none is defined.
        """
        means = self._step_means()
        return sum(means.values()) / len(means) if means else None

    @property
    def weakest(self) -> str | None:
        """
        Return the pipeline metric with the lowest mean; another metric only when none of them is defined.
        """
        means = self._step_means() or {
            name: summary.mean if summary.higher_is_better else 1.0 - summary.mean
            for name, summary in self.metrics.items()
            if summary.mean is not None
        }
        return min(means, key=lambda name: means[name]) if means else None

    @property
    def diagnosis(self) -> str:
        """
        Return one line on what the weakest metric points to.
        """
        weakest = self.weakest
        if weakest is None:
            return "nothing was defined: the records lack what the metrics need"
        return PIPELINE_METRICS.get(weakest, f"{weakest} is the lowest of what was defined")

    def _step_means(self) -> dict[str, float]:
        means = self.means
        return {name: mean for name in PIPELINE_METRICS if (mean := means.get(name)) is not None}

    def format_text(self) -> str:
        """
        Return the scorecard as plain text for a terminal.
        """
        from rageval_trace.reports.text import format_text  # noqa: PLC0415  # the rendering imports the data

        return format_text(self)

    def to_json(self) -> str:
        """
        Return the scorecard as a JSON report; see the published schema.
        """
        from rageval_trace.reports.json_report import to_json  # noqa: PLC0415  # as above

        return to_json(self)

    def to_markdown(self) -> str:
        """
        Return the scorecard as Markdown fit for a pull request's comment.
        """
        from rageval_trace.reports.markdown import to_markdown  # noqa: PLC0415  # as above

        return to_markdown(self)


@dataclass(slots=True)
class ScorecardBuilder:
    """
    Add up record results in bounded memory.

    Args:
        selected: Direction of every selected metric, by name.
        keep_results: Keep every record; else only the worst.
    """

    selected: Mapping[str, bool]
    keep_results: bool = True
    count: int = 0
    results: list[RecordResult] = field(default_factory=list)
    _tallies: dict[str, Tally] = field(init=False)
    _worst: list[tuple[Any, RecordResult]] = field(default_factory=list)
    _now_sources: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._tallies = {name: Tally(name, higher_is_better=better) for name, better in self.selected.items()}

    def add(self, result: RecordResult, now_source: str | None = None) -> None:
        """
        Count one record.
        """
        for name, outcome in result.results.items():
            self._tallies[name].add(outcome)
        if self.keep_results:
            self.results.append(result)
        if now_source is not None:
            self._now_sources.add(now_source)
        self._note_worst(result)
        self.count += 1

    def _note_worst(self, result: RecordResult) -> None:
        scores = result.scores
        key = (*[scores.get(name, 1.0) for name in _WORST_BY], self.count)
        if len(self._worst) < _WORST_KEPT or key < self._worst[-1][0]:
            bisect.insort(self._worst, (key, result), key=lambda entry: entry[0])
            del self._worst[_WORST_KEPT:]

    def build(self, *, scoring_version: int, evaluator_version: str, config: EvalConfig) -> Scorecard:
        """
        Return the scorecard of what was added so far.
        """
        order: Iterable[str] = ("wall clock", "asked_at", "config")
        return Scorecard(
            metrics={name: tally.summary() for name, tally in self._tallies.items()},
            count=self.count,
            results=tuple(self.results),
            worst=tuple([result for _, result in self._worst]),
            now_source=next((source for source in order if source in self._now_sources), None),
            scoring_version=scoring_version,
            evaluator_version=evaluator_version,
            config=config,
        )
