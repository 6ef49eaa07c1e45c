"""
Thresholds and the verdict on one request.

A threshold is a minimum, or a maximum for a metric whose lower values are better; reaching it exactly holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Literal, TypeAlias

from rageval_trace.errors import GateError
from rageval_trace.metrics import base
from rageval_trace.models import MetricResult

__all__ = [
    "TOLERANCE",
    "LiveVerdict",
    "Threshold",
    "breached",
    "judge_results",
    "parse_threshold",
    "parse_thresholds",
    "shortfall",
]

# Means of the same scores added in another order differ in the last digits; a gate must not.
TOLERANCE = 1e-9

Label: TypeAlias = Literal["pass", "fail"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """
    The value that a metric must reach (or must not pass, where lower is better).

    Args:
        metric: A registered metric's name.
        value: Finite; in [0, 1] for the built-in metrics.
    """

    metric: str
    value: float


def parse_thresholds(wanted: Mapping[str, float] | None) -> tuple[Threshold, ...]:
    """
    Check a mapping from metric name to value; None and an empty mapping give no thresholds.

    Raises:
        UnknownMetricError: if nothing registered a name.
        GateError: if a value is not a finite number, or lies outside [0, 1] for a built-in metric.
    """
    if wanted is None:
        return ()
    if not isinstance(wanted, Mapping):
        raise GateError(f"thresholds are {type(wanted).__name__}: expected a mapping from metric name to value")
    return tuple([_threshold(name, value) for name, value in wanted.items()])


def parse_threshold(text: str) -> Threshold:
    """
    Read `name=value`, as the command line's `--gate` takes it.

    Raises:
        UnknownMetricError: if nothing registered the name.
        GateError: if the text has another shape, or the value is none that the metric can have.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise GateError(f"gate {text!r}: expected name=value, as in groundedness=0.85")
    try:
        number = float(value)
    except ValueError:
        raise GateError(f"gate {text!r}: {value.strip()!r} is not a number") from None
    return _threshold(name.strip(), number)


def _threshold(name: str, value: object) -> Threshold:
    metric = base.get(name)
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise GateError(f"threshold of {name}: expected a finite number, not {value!r}")
    number = float(value)
    if metric.default and not 0 <= number <= 1:
        raise GateError(f"threshold of {name}: expected a value in [0, 1], not {number:g}")
    return Threshold(name, number)


def shortfall(threshold: Threshold, score: float, *, higher_is_better: bool) -> float:
    """
    Return how far a score is on the wrong side of its threshold; negative is the margin left.
    """
    return threshold.value - score if higher_is_better else score - threshold.value


def breached(threshold: Threshold, result: MetricResult) -> bool | None:
    """
    Tell whether a score is past its threshold; None when there is no score, for it is undefined or failed.
    """
    if result.score is None or not math.isfinite(result.score):
        return None
    return shortfall(threshold, result.score, higher_is_better=result.higher_is_better) > TOLERANCE


@dataclass(frozen=True, slots=True)
class LiveVerdict:
    """
    What the thresholds say of one request.

    Args:
        verdict: `fail` when a threshold is breached; else `unknown` when a thresholded metric has no score; else
            `pass`. None when no threshold speaks of these results.
        breached: The metrics past their thresholds, in the thresholds' order.
        labels: `pass` or `fail` for each thresholded metric that has a score.
        weakest: The metric with the largest shortfall, or with the least margin when all hold; None without one.
        weakest_score: Its score.
    """

    verdict: Literal["pass", "fail", "unknown"] | None = None
    breached: tuple[str, ...] = ()
    labels: Mapping[str, Label] = field(default_factory=dict)
    weakest: str | None = None
    weakest_score: float | None = None


def judge_results(
    results: Mapping[str, MetricResult], thresholds: Iterable[Threshold], *, abstained: bool = False
) -> LiveVerdict:
    """
    Hold one request's results to the thresholds.

    Args:
        results: By metric name. A threshold whose metric is not among them was not asked for and is left out.
        thresholds: As `parse_thresholds` gives them.
        abstained: The answer only declines: it claims nothing, so its faithfulness is left out as well.
    """
    applied = [(one, results[one.metric]) for one in thresholds if one.metric in results]
    if not applied:
        return LiveVerdict()
    counted = [(one, result) for one, result in applied if not (abstained and one.metric == "faithfulness")]
    outcomes = [(one, result, breached(one, result)) for one, result in counted]
    past = tuple([one.metric for one, _, outcome in outcomes if outcome])
    labels: dict[str, Label] = {
        one.metric: "fail" if outcome else "pass" for one, _, outcome in outcomes if outcome is not None
    }
    unknown = len(labels) < len(outcomes) or not outcomes
    weakest = _weakest(counted)
    return LiveVerdict(
        verdict="fail" if past else "unknown" if unknown else "pass",
        breached=past,
        labels=labels,
        weakest=weakest.name if weakest else None,
        weakest_score=weakest.score if weakest else None,
    )


def _weakest(counted: Iterable[tuple[Threshold, MetricResult]]) -> MetricResult | None:
    gaps = [
        (shortfall(one, result.score, higher_is_better=result.higher_is_better), result)
        for one, result in counted
        if result.score is not None and math.isfinite(result.score)
    ]
    return max(gaps, key=lambda gap: gap[0])[1] if gaps else None
