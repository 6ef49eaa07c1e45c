"""
From records to scores: one function for a live request, one for a set.
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import product
from numbers import Real

from rageval_trace.judges.base import Judge, RecordJudge, judge_name
from rageval_trace.judges.lexical import LexicalJudge
from rageval_trace.metrics import Metric, select
from rageval_trace.metrics.workspace import open_workspace
from rageval_trace.models import EvalConfig, EvalRecord, MetricResult
from rageval_trace.reports.scorecard import RecordResult, Scorecard, ScorecardBuilder

__all__ = [
    "SCORING_VERSION",
    "compute_selected",
    "evaluate",
    "evaluate_record",
    "evaluator_version",
    "live_metrics",
    "missing_labels",
]

SCORING_VERSION = 1
"""The version of the formulas: it changes only when a golden value does, with a "Scores" section in the CHANGELOG."""

_DEFAULT_CONFIG = EvalConfig()


def evaluator_version(config: EvalConfig | None = None) -> str:
    """
    Return `scoring-<version>+<8 hex>`: equal for two evaluations that give equal scores to equal records.

    The digest covers the config but for *now*, and the judge: its name and version, or `LexicalJudge`'s settings.
    """
    config = config or _DEFAULT_CONFIG
    parts = [
        float(config.half_life_hours),
        config.k,
        float(config.hit_threshold),
        float(config.claim_threshold),
        sorted(config.stopwords),
        _judge_version(config),
    ]
    return f"scoring-{SCORING_VERSION}+{blake2b(repr(parts).encode(), digest_size=4).hexdigest()}"


def _judge_version(config: EvalConfig) -> object:
    judge = config.judge
    if judge is None:
        return None
    if type(judge) is LexicalJudge:
        own = (judge.threshold, judge.stopwords)
        return None if own == (config.claim_threshold, config.stopwords) else (own[0], sorted(own[1]))
    return judge_name(judge), str(getattr(judge, "version", ""))


def evaluate_record(
    record: EvalRecord,
    config: EvalConfig | None = None,
    *,
    metrics: Iterable[str | Metric] | None = None,
    judge: Judge | RecordJudge | None = None,
    deadline: float | None = None,
) -> RecordResult:
    """
    Score one record.

    Args:
        record: What to score.
        config: How; the defaults for None.
        metrics: Names, or declarations; the built-in set for None.
        judge: Who judges claims, instead of the config's judge; or one that judges whole records.
        deadline: A `time.monotonic` value, checked between metrics; those it overtakes fail with `TimeoutError`.

    Returns:
        The record with a result for every selected metric. A metric that raises has failed: its result says so in
        `error_type`, and the others stand.

    Raises:
        UnknownMetricError: naming the known metrics.
    """
    config, record_judge = _with_judge(config, judge)
    return _score(record, config, select(metrics), record_judge, deadline)


def _with_judge(config: EvalConfig | None, judge: Judge | RecordJudge | None) -> tuple[EvalConfig, RecordJudge | None]:
    config = config or _DEFAULT_CONFIG
    if judge is None:
        return config, None
    if isinstance(judge, type):
        raise TypeError(f"judge is the class {judge.__name__}: expected an instance of it")
    if not isinstance(judge, (Judge, RecordJudge)):
        raise TypeError(f"judge is a {type(judge).__name__}: expected judge_claims and judge_relevance, or judge")
    return (
        replace(config, judge=judge) if isinstance(judge, Judge) else config,
        judge if isinstance(judge, RecordJudge) else None,
    )


def _score(
    record: EvalRecord,
    config: EvalConfig,
    selected: Sequence[Metric],
    record_judge: RecordJudge | None,
    deadline: float | None,
) -> RecordResult:
    results = compute_selected(record, config, selected, deadline)
    if record_judge is not None and (deadline is None or time.monotonic() <= deadline):
        _replace_judged(results, selected, record_judge, record)
    return RecordResult(record, results)


def compute_selected(
    record: EvalRecord, config: EvalConfig, selected: Iterable[Metric], deadline: float | None
) -> dict[str, MetricResult]:
    """
    Compute metrics that were selected before, by the config's judge; else as `evaluate_record`.
    """
    results: dict[str, MetricResult] = {}
    with open_workspace(record, config):
        for metric in selected:
            if deadline is not None and time.monotonic() > deadline:
                results[metric.name] = _failed(metric, "TimeoutError", "the deadline had passed")
            else:
                results[metric.name] = _compute(metric, record, config)
    return results


def _failed(metric: Metric, error_type: str, reason: str) -> MetricResult:
    return MetricResult(metric.name, None, reason, metric.higher_is_better, error_type=error_type)


def _compute(metric: Metric, record: EvalRecord, config: EvalConfig) -> MetricResult:
    try:
        result = metric.compute(record, config)
    except Exception as error:
        return _failed(metric, type(error).__name__, f"the metric raised {type(error).__name__}")
    return _checked(metric, result)


def _checked(metric: Metric, result: object) -> MetricResult:
    """
    Return what a metric or judge gave when it is a result with a finite score, else a failure that says why not.
    """
    if not isinstance(result, MetricResult):
        return _failed(metric, "TypeError", f"gave a {type(result).__name__}, not a MetricResult")
    score = result.score
    if score is not None:
        if type(score) is not float:
            if not isinstance(score, Real):
                return _failed(metric, "TypeError", f"gave a {type(score).__name__} as score, not a number")
            score = float(score)
            result = replace(result, score=score)
        if not math.isfinite(score):
            return _failed(metric, "ValueError", f"gave the score {score}")
    if result.name != metric.name or result.higher_is_better is not metric.higher_is_better:
        return replace(result, name=metric.name, higher_is_better=metric.higher_is_better)
    return result


def _replace_judged(
    results: dict[str, MetricResult], selected: Sequence[Metric], judge: RecordJudge, record: EvalRecord
) -> None:
    """
    Put the record judge's results in place of the formulas'; when it raises, those stand, marked as fallback.
    """
    judged_names = ("faithfulness", "answer_relevance")
    if not any([name in results for name in judged_names]):
        return
    try:
        judged: Mapping[str, MetricResult] = judge.judge(record)
    except Exception:
        judged = {name: replace(results[name], judge="lexical_fallback") for name in judged_names if name in results}
    for metric in selected:
        if metric.name in judged:
            results[metric.name] = _checked(metric, judged[metric.name])


def live_metrics(record: EvalRecord, selected: Iterable[Metric]) -> tuple[Metric, ...]:
    """
    Leave out the metrics whose labels the record does not have: live traffic seldom has any.

    Citations count as there when the answer holds a bracket that may be a citation mark.
    """
    missing = missing_labels(record)
    return tuple([metric for metric in selected if missing.isdisjoint(metric.needs)])


def missing_labels(record: EvalRecord) -> frozenset[str]:
    """
    Return which of a record's labels are not there; see `live_metrics`.
    """
    answer = record.answer or ""
    cites = record.citations is not None or "[" in answer or "(" in answer or "\u3010" in answer
    return _MISSING[record.ground_truth is None, not record.relevant_ids, not cites]


_LABELS = ("ground_truth", "relevant_ids", "citations")
_MISSING = {
    flags: frozenset([name for name, flag in zip(_LABELS, flags, strict=True) if flag])
    for flags in product((False, True), repeat=len(_LABELS))
}


def _now_source(record: EvalRecord, config: EvalConfig) -> str | None:
    if not any([context.timestamp for context in record.contexts or ()]):
        return None
    if config.now is not None:
        return "config"
    return "wall clock" if record.asked_at is None else "asked_at"


def evaluate(
    records: Iterable[EvalRecord],
    judge: Judge | RecordJudge | None = None,
    config: EvalConfig | None = None,
    *,
    metrics: Iterable[str] | None = None,
    use_judge: bool = False,
    keep_results: bool = True,
    on_result: Callable[[RecordResult], None] | None = None,
) -> Scorecard:
    """
    Score records and add them up.

    Args:
        records: What to score; read once, so a generator will do.
        judge: Who judges claims, instead of the config's judge; or one that judges whole records (`LLMJudge`).
        config: How to score; the defaults for None.
        metrics: Names; the built-in set for None.
        use_judge: Ask `LLMJudge()` when *judge* is None.
        keep_results: Keep every record in the scorecard; else only the worst, in constant memory.
        on_result: Called with each record's results as they are there, so that a caller can keep or write them.

    Returns:
        The scorecard. Means leave out the records where a metric is undefined or failed.

    Raises:
        UnknownMetricError: naming the known metrics.
    """
    if use_judge and judge is None:
        judge = importlib.import_module("rageval_trace.judges.llm").LLMJudge()
    config, record_judge = _with_judge(config, judge)
    selected = select(metrics)
    builder = ScorecardBuilder({metric.name: metric.higher_is_better for metric in selected}, keep_results)
    for record in records:
        scored = _score(record, config, selected, record_judge, None)
        builder.add(scored, _now_source(record, config))
        if on_result is not None:
            on_result(scored)
    return builder.build(scoring_version=SCORING_VERSION, evaluator_version=evaluator_version(config), config=config)
