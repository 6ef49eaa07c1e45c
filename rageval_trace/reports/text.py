"""
The scorecard as plain text for a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rageval_trace.reports.clean import plain
from rageval_trace.reports.evidence import Evidence, weakest_examples
from rageval_trace.reports.gating import GateOutcome, GateReport
from rageval_trace.reports.scorecard import MetricSummary, Scorecard

__all__ = ["format_text", "heading", "judges_of", "number"]

_TEXT_LIMIT = 300
_LISTED = 10


def number(value: float | None) -> str:
    """
    Return a score in three decimals, and a hyphen for none.
    """
    return "-" if value is None else f"{value:.3f}"


def judges_of(card: Scorecard) -> str:
    """
    Return who judged, as in `lexical` or `claude+lexical_fallback`; `none` when no judge was needed.
    """
    names = {name for summary in card.metrics.values() for name in summary.judges}
    return "+".join(sorted(names - {"none"})) or "none"


def heading(card: Scorecard) -> str:
    """
    Return the line that says what was scored, and how.
    """
    clock = f"  now={card.now_source}" if card.now_source else ""
    judge = plain(judges_of(card), 80)
    return f"judge={judge}  k={card.config.k}  examples={card.count}  {card.evaluator_version}{clock}"


def format_text(card: Scorecard, gates: GateReport | None = None) -> str:
    """
    Render the scorecard: a row a metric, the gates, overall, weakest and diagnosis, then the weakest examples.

    Args:
        card: The scorecard.
        gates: The gates' outcomes; None when there were none.

    Returns:
        Lines without a final newline; without control characters, whatever the records hold.
    """
    lines = [heading(card), *_table(card, gates)]
    if gates is not None and (gates.outcomes or gates.warnings):
        lines += _gate_lines(gates)
    weakest = card.weakest
    lines += [
        "",
        f"Overall: {number(card.overall)}",
        f"Weakest: {f'{plain(weakest)} {number(card.means[weakest])}' if weakest else '-'}",
        f"Diagnosis: {plain(card.diagnosis)}",
    ]
    examples = list(weakest_examples(card))
    if examples:
        lines += ["", "Weakest examples"]
        for entry, found in examples:
            lines += _example(entry.record.question, found)
    return "\n".join(lines)


def _table(card: Scorecard, gates: GateReport | None) -> Iterator[str]:
    width = max([len(plain(name)) for name in card.metrics], default=6)
    outcomes = {one.metric: one for one in gates.outcomes} if gates else {}
    columns = f"{'mean':>5} {'observed':>8} {'undefined':>9} {'failed':>6}  {'p10':>5} {'p50':>5} {'p90':>5}"
    yield f"  {'metric':<{width}} {columns}{'  gate' if outcomes else ''}"
    for name, summary in card.metrics.items():
        yield f"  {plain(name):<{width}} {_cells(summary)}{_gate_cell(outcomes.get(name))}".rstrip()


def _cells(summary: MetricSummary) -> str:
    spread = " ".join([f"{number(value):>5}" for value in (summary.p10, summary.p50, summary.p90)])
    return f"{number(summary.mean):>5} {summary.observed:>8} {summary.undefined:>9} {summary.failed:>6}  {spread}"


def _gate_cell(outcome: GateOutcome | None) -> str:
    if outcome is None:
        return ""
    return f"  {outcome.bound} {'held' if outcome.outcome == 'held' else outcome.outcome.upper()}"


def _gate_lines(gates: GateReport) -> Iterator[str]:
    yield f"gate: {gates.headline}"
    for one in gates.outcomes:
        if one.reason:
            yield f"  {one.metric} {number(one.value)}, gate {one.bound}: {one.reason}"
    for warning in gates.warnings:
        yield f"  warning: {warning}"


def _example(question: str, found: Evidence) -> Iterator[str]:
    score = f"  {found.metric} {number(found.score)}" if found.metric else ""
    yield f"  {plain(found.label, 80)}{score}"
    yield f"    question: {plain(question, _TEXT_LIMIT)}"
    for claim, cause in found.named[:_LISTED]:
        yield f"    - unsupported: {plain(claim, _TEXT_LIMIT)}{f' ({plain(cause, _TEXT_LIMIT)})' if cause else ''}"
    for claim, cause in found.doubtful[:_LISTED]:
        yield f"    - doubtful: {plain(claim, _TEXT_LIMIT)} ({plain(cause, _TEXT_LIMIT)})"
    for words, items in (
        ("relevant but not retrieved", found.missing),
        ("retrieved but unused", found.unused),
        ("cited but supporting nothing", found.wrong_citations),
        ("failed", [f"{name} ({error})" for name, error in found.failed]),
    ):
        if items:
            yield f"    - {words}: {_joined(items)}"


def _joined(items: Sequence[str]) -> str:
    more = f" and {len(items) - _LISTED} more" if len(items) > _LISTED else ""
    return ", ".join([plain(item, 80) for item in items[:_LISTED]]) + more
