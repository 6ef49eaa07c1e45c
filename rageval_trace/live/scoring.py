"""
What is computed of a live request: the formulas at once, an LLM judge's word on request.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

from rageval_trace.evaluation import (
    compute_selected,
    evaluate_record,
    evaluator_version,
    live_metrics,
    missing_labels,
)
from rageval_trace.gates import LiveVerdict, Threshold, judge_results, parse_thresholds
from rageval_trace.judges.base import Judge, RecordJudge, judge_name
from rageval_trace.judges.lexical import LexicalJudge
from rageval_trace.metrics import Metric, base
from rageval_trace.models import EvalConfig, EvalRecord, MetricResult

__all__ = ["Scored", "Scorer"]

_KEYLESS: Final = frozenset({"none", "lexical"})
_NO_VERDICT: Final = LiveVerdict()


@dataclass(frozen=True, slots=True)
class Scored:
    """
    What one judge, or the formulas, said of one record.

    Args:
        results: By metric name.
        judge: Who scored.
        verdict: What the thresholds say.
        abstained: The answer only declines; None when that is not known.
        duration_s: How long it took, in seconds.
    """

    results: Mapping[str, MetricResult]
    judge: str
    verdict: LiveVerdict
    abstained: bool | None
    duration_s: float

    @property
    def keyless(self) -> bool:
        """
        Return whether the formulas said it.
        """
        return self.judge in _KEYLESS

    @property
    def error_type(self) -> str | None:
        """
        Return what made scoring as a whole fail; None when any metric did not fail.
        """
        first: str | None = None
        for result in self.results.values():
            if result.error_type is None:
                return None
            first = first or result.error_type
        return first

    @property
    def outcome(self) -> str:
        """
        Return the request's outcome: `scored`, `timeout` or `scoring_error`.
        """
        if any([result.error_type == "TimeoutError" for result in self.results.values()]):
            return "timeout"
        return "scoring_error" if self.error_type else "scored"


class Scorer:
    """
    Score records by one configuration.

    Args:
        metrics: Metric names; None for the default set. A thresholded metric joins them.
        judge: Asked about claims. A `LexicalJudge` works with the formulas; any other apart from them.
        config: How to score; its judge counts when *judge* is None.
        thresholds: Values by metric name, or the path of a gate file.

    Raises:
        UnknownMetricError: naming the known metrics.
        GateError: if a threshold has no usable value.
        TypeError: if *judge* is no judge.
    """

    def __init__(
        self,
        *,
        metrics: Iterable[str] | None,
        judge: Judge | RecordJudge | None,
        config: EvalConfig | None,
        thresholds: Mapping[str, float] | str | None,
    ) -> None:
        config = config or EvalConfig()
        asked = config.judge if judge is None else judge
        if asked is not None and not isinstance(asked, (Judge, RecordJudge)):
            raise TypeError(f"judge is {type(asked).__name__}: expected judge_claims and judge_relevance")
        keyless = asked if isinstance(asked, LexicalJudge) else None
        self.judge: Judge | RecordJudge | None = None if asked is keyless else asked
        self.config = replace(config, judge=keyless)
        self.thresholds: tuple[Threshold, ...] = parse_thresholds(thresholds)
        names = [metric.name for metric in base.select(metrics)]
        self.metrics = base.select([*names, *[one.metric for one in self.thresholds]])
        # Three labels may be missing or not, so that there are eight selections at most.
        self._by_missing: dict[frozenset[str], tuple[Metric, ...]] = {}
        self.version = evaluator_version(self.config)
        # A judge of whole records is no judge for the config; its name and version count all the same.
        self._judge_config = replace(self.config, judge=cast("Judge | None", self.judge))
        self.judge_version = evaluator_version(self._judge_config)

    def formulas(self, record: EvalRecord, deadline_s: float) -> Scored:
        """
        Compute all that needs no model, within *deadline_s* seconds.
        """
        began = time.perf_counter()
        wanted = self._wanted(record)
        deadline = time.monotonic() + deadline_s
        results = compute_selected(record, self.config, wanted, deadline)
        return self._scored(results, _keyless_judge(results), began)

    def cheap(self, record: EvalRecord, names: Iterable[str], deadline_s: float) -> Mapping[str, MetricResult]:
        """
        Compute these metrics alone, by the formulas.
        """
        deadline = time.monotonic() + deadline_s
        return evaluate_record(record, self.config, metrics=names, deadline=deadline).results

    def late(self, record: EvalRecord, labels: Iterable[str], deadline_s: float) -> Scored | None:
        """
        Compute the chosen metrics that need one of *labels*; None when none does.
        """
        began = time.perf_counter()
        wanted = [metric for metric in self._wanted(record) if not set(labels).isdisjoint(metric.needs)]
        if not wanted:
            return None
        deadline = time.monotonic() + deadline_s
        results = evaluate_record(record, self.config, metrics=wanted, deadline=deadline).results
        return self._scored(results, _keyless_judge(results), began)

    def ask_judge(self, record: EvalRecord, deadline_s: float) -> list[Scored]:
        """
        Ask the judge, and return its answers; apart from them, those in which a fallback answered for it.
        """
        began = time.perf_counter()
        wanted = self._wanted(record)
        deadline = time.monotonic() + deadline_s
        found = evaluate_record(record, self.config, metrics=wanted, judge=self.judge, deadline=deadline).results
        groups: dict[str, dict[str, MetricResult]] = {}
        for name, result in found.items():
            if result.judge not in _KEYLESS:
                groups.setdefault(result.judge, {})[name] = result
        return [self._scored(results, judge, began) for judge, results in groups.items()]

    @property
    def judge_name(self) -> str | None:
        """
        Return the judge's name; None without one.
        """
        return None if self.judge is None else judge_name(self.judge)

    def version_of(self, scored: Scored) -> str:
        """
        Return the evaluator version of what the formulas, or the judge, said.
        """
        return self.version if scored.keyless else self.judge_version

    def config_of(self, scored: Scored) -> EvalConfig:
        """
        Return the config by which it was said.
        """
        return self.config if scored.keyless else self._judge_config

    def _wanted(self, record: EvalRecord) -> tuple[Metric, ...]:
        missing = missing_labels(record)
        wanted = self._by_missing.get(missing)
        if wanted is None:
            wanted = self._by_missing[missing] = live_metrics(record, self.metrics)
        return wanted

    def _scored(self, results: Mapping[str, MetricResult], judge: str, began: float) -> Scored:
        abstained = _abstained(results)
        verdict = _NO_VERDICT
        if self.thresholds:
            verdict = judge_results(results, self.thresholds, abstained=bool(abstained))
        return Scored(results, judge, verdict, abstained, time.perf_counter() - began)


def _keyless_judge(results: Mapping[str, MetricResult]) -> str:
    return "lexical" if any([result.judge == "lexical" for result in results.values()]) else "none"


def _abstained(results: Mapping[str, MetricResult]) -> bool | None:
    for result in results.values():
        if "abstained" in result.details:
            return bool(result.details["abstained"])
    return None
