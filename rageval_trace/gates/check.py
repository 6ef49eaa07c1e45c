"""
Hold a scorecard to its gates.
"""

from __future__ import annotations

from collections.abc import Iterable

from rageval_trace.gates.rules import GateRules
from rageval_trace.gates.thresholds import TOLERANCE, Threshold, shortfall
from rageval_trace.metrics import base
from rageval_trace.reports.gating import GateOutcome, GateReport, Outcome
from rageval_trace.reports.scorecard import MetricSummary, Scorecard

__all__ = ["check_gates"]

FALLBACK = "lexical_fallback"


def check_gates(card: Scorecard, thresholds: Iterable[Threshold], rules: GateRules | None = None) -> GateReport:
    """
    Hold the means of a scorecard to thresholds.

    A metric that was never observed breaches its gate: an empty gate is not a passing one. A metric that failed on
    more records than allowed, or that averages the values of several judges, cannot be judged at all.

    Args:
        card: The scorecard.
        thresholds: The gates, as `parse_threshold` gives them.
        rules: When a mean may be trusted; the strict defaults for None.

    Returns:
        One outcome a gate in the order given, with warnings.
    """
    rules = rules or GateRules()
    wanted = tuple(thresholds)
    return GateReport(tuple([_check(card, one, rules) for one in wanted]), _warnings(card, wanted, rules))


def _check(card: Scorecard, threshold: Threshold, rules: GateRules) -> GateOutcome:
    higher_is_better = base.get(threshold.metric).higher_is_better
    summary = card.metrics.get(threshold.metric)
    if summary is None:
        return GateOutcome(threshold.metric, threshold.value, higher_is_better, "error", reason="it was not scored")
    outcome, reason = _judge(summary, threshold, rules, card.count)
    return GateOutcome(
        threshold.metric, threshold.value, higher_is_better, outcome, summary.mean, summary.observed, reason
    )


def _judge(summary: MetricSummary, threshold: Threshold, rules: GateRules, count: int) -> tuple[Outcome, str]:
    if summary.failed > rules.allow_failed.of(count):
        return "error", f"it failed on {summary.failed} of {count} records (allowed: {rules.allow_failed})"
    if not rules.allow_fallback and (len(summary.judges) > 1 or FALLBACK in summary.judges):
        mixture = ", ".join([f"{name} {number}" for name, number in summary.judges.items()])
        return "error", f"its values are not of one judge that was asked ({mixture}); --allow-fallback takes them"
    if summary.mean is None:
        return "breached", "it was observed on no record"
    needed = rules.min_observed.of(count)
    if summary.observed < needed:
        return "breached", f"it was observed on {summary.observed} of {count} records, fewer than {needed}"
    gap = shortfall(threshold, summary.mean, higher_is_better=summary.higher_is_better)
    if gap <= TOLERANCE:
        return "held", ""
    return "breached", f"it is {gap:.3g} {'below the minimum' if summary.higher_is_better else 'above the maximum'}"


def _warnings(card: Scorecard, thresholds: Iterable[Threshold], rules: GateRules) -> tuple[str, ...]:
    warnings = []
    if card.now_source == "wall clock":
        warnings += [
            f"the gate on {one.metric} reads the wall clock, so it will fall by itself: give --now, or asked_at"
            for one in thresholds
            if base.get(one.metric).step == "freshness"
        ]
    if rules.scoring_version not in {None, card.scoring_version}:
        warnings.append(
            f"the gates were set for scoring version {rules.scoring_version}, these are scores of version "
            f"{card.scoring_version}: look at the thresholds again"
        )
    return tuple(warnings)
