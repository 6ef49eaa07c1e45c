"""
The scorecard as plain text.
"""

from __future__ import annotations

from rageval_trace.reports.scorecard import MetricSummary, Scorecard

__all__ = ["format_text"]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _row(summary: MetricSummary, width: int) -> str:
    counts = f"{summary.observed:>8} {summary.undefined:>9} {summary.failed:>6}"
    spread = " ".join([f"{_number(value):>5}" for value in (summary.p10, summary.p50, summary.p90)])
    return f"  {summary.name:<{width}} {_number(summary.mean):>5} {counts}  {spread}"


def format_text(card: Scorecard) -> str:
    """
    Render the scorecard: every metric's mean and counts, then overall, weakest and diagnosis.
    """
    width = max([len(name) for name in card.metrics], default=6)
    counts = f"{'observed':>8} {'undefined':>9} {'failed':>6}"
    heading = f"  {'metric':<{width}} {'mean':>5} {counts}  {'p10':>5} {'p50':>5} {'p90':>5}"
    clock = f", now from {card.now_source}" if card.now_source else ""
    lines = [f"{card.count} records, {card.evaluator_version}{clock}", heading]
    lines += [_row(summary, width) for summary in card.metrics.values()]
    lines += [f"Overall: {_number(card.overall)}", f"Weakest: {card.weakest or '-'}", f"Diagnosis: {card.diagnosis}"]
    return "\n".join(lines)
