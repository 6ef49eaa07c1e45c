"""
The verdict on one request.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from rageval_trace.gates.thresholds import TOLERANCE, Threshold, shortfall
from rageval_trace.models import MetricResult

__all__ = ["LiveVerdict", "breached", "judge_results"]

Label: TypeAlias = Literal["pass", "fail"]


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
