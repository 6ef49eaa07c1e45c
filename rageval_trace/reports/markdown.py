"""
The scorecard as GitHub Markdown, fit for a pull request's comment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rageval_trace.reports.clean import markdown, markdown_code
from rageval_trace.reports.evidence import Evidence, weakest_examples
from rageval_trace.reports.gating import GateOutcome, GateReport
from rageval_trace.reports.scorecard import MetricSummary, Scorecard
from rageval_trace.reports.text import heading, number

__all__ = ["to_markdown"]

_TEXT_LIMIT = 500
_LISTED = 10
_MARKS = {"held": "\u2705", "breached": "\u274c", "error": "\u26a0\ufe0f"}


def to_markdown(card: Scorecard, gates: GateReport | None = None) -> str:
    """
    Render the gates, the metrics' table, weakest and diagnosis, and the weakest examples.

    Args:
        card: The scorecard.
        gates: The gates' outcomes; None when there were none.

    Returns:
        Markdown with a final newline, well under the 65,536 characters that a comment may have. Text from the
        records makes no link, image, mention, HTML or table cell.
    """
    weakest = card.weakest
    lines = ["## RAG evaluation", ""]
    if gates is not None and (gates.outcomes or gates.warnings):
        lines += [*_gate_lines(gates), ""]
    if weakest is not None:
        lines += [
            f"**Weakest:** {markdown_code(weakest)} {number(card.means[weakest])} \u2013 {markdown(card.diagnosis)}",
            "",
        ]
    lines += [*_table(card, gates), "", f"<sub>{markdown(heading(card))}</sub>"]
    examples = list(weakest_examples(card))
    if examples:
        lines += ["", "## Weakest examples"]
        for entry, found in examples:
            lines += ["", *_example(entry.record.question, found)]
    return "\n".join(lines) + "\n"


def _gate_lines(gates: GateReport) -> Iterator[str]:
    at_fault = ", ".join([markdown_code(name) for name in gates.errors or gates.breached])
    mark = _MARKS[("held", "breached", "error")[gates.exit_code]]
    yield f"**Gate: {mark} {gates.word}**{f' ({at_fault})' if at_fault else ''}"
    reasons = [one for one in gates.outcomes if one.reason]
    if reasons or gates.warnings:
        yield ""
    for one in reasons:
        yield f"- {markdown_code(one.metric)} {number(one.value)}, gate {markdown(one.bound)}: {markdown(one.reason)}"
    for warning in gates.warnings:
        yield f"- Warning: {markdown(warning)}"


def _table(card: Scorecard, gates: GateReport | None) -> Iterator[str]:
    outcomes = {one.metric: one for one in gates.outcomes} if gates else {}
    yield f"| metric | mean | observed | undefined | failed | p10 | p50 | p90 |{' gate |' if outcomes else ''}"
    yield f"|---|--:|--:|--:|--:|--:|--:|--:|{'---|' if outcomes else ''}"
    for name, summary in card.metrics.items():
        gate = f" {_gate_cell(outcomes.get(name))} |" if outcomes else ""
        yield f"| {markdown_code(name)} | {' | '.join(_cells(summary))} |{gate}"


def _cells(summary: MetricSummary) -> list[str]:
    counts = [str(summary.observed), str(summary.undefined), str(summary.failed)]
    return [number(summary.mean), *counts, *[number(value) for value in (summary.p10, summary.p50, summary.p90)]]


def _gate_cell(outcome: GateOutcome | None) -> str:
    return f"{_MARKS[outcome.outcome]} {markdown(outcome.bound)}" if outcome else ""


def _example(question: str, found: Evidence) -> Iterator[str]:
    score = f" - {markdown(found.metric)} {number(found.score)}" if found.metric else ""
    yield f"### {markdown_code(found.label, 80)}{score}"
    yield ""
    yield f"> {markdown(question, _TEXT_LIMIT)}"
    yield ""
    for claim, cause in found.named[:_LISTED]:
        said = f" ({markdown(cause, _TEXT_LIMIT)})" if cause else ""
        yield f"- **Unsupported:** {markdown(claim, _TEXT_LIMIT)}{said}"
    for claim, cause in found.doubtful[:_LISTED]:
        yield f"- **Doubtful:** {markdown(claim, _TEXT_LIMIT)} ({markdown(cause, _TEXT_LIMIT)})"
    for words, items in (
        ("Relevant but not retrieved", found.missing),
        ("Retrieved but unused", found.unused),
        ("Cited but supporting nothing", found.wrong_citations),
        ("Failed", [f"{name} ({error})" for name, error in found.failed]),
    ):
        if items:
            yield f"- **{words}:** {_joined(items)}"


def _joined(items: Sequence[str]) -> str:
    more = f" and {len(items) - _LISTED} more" if len(items) > _LISTED else ""
    return ", ".join([markdown(item, 80) for item in items[:_LISTED]]) + more
