"""
The scorecard as one HTML page that needs nothing else: no network, no font, no image.
"""

from __future__ import annotations

import base64
import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any

from rageval_trace.errors import MissingExtraError
from rageval_trace.metrics import registered
from rageval_trace.models import Context, EvalConfig, MetricResult
from rageval_trace.reports.clean import block, plain
from rageval_trace.reports.evidence import Evidence, evidence, goodness, weakest_examples
from rageval_trace.reports.gating import GateOutcome, GateReport
from rageval_trace.reports.highlight import highlighted
from rageval_trace.reports.scorecard import MetricSummary, RecordResult, Scorecard
from rageval_trace.reports.text import heading, number

__all__ = ["PageRecords", "to_html"]

_EXAMPLES = 3
_RECORDS = 500
_COLUMNS = 6
_PREFERRED = ("groundedness", "faithfulness", "recall", "context_recall", "answer_relevance", "freshness")
_BINS = 10
_TEXT_LIMIT = 4000
_CONTEXTS = 20


class PageRecords:
    """
    What a page needs of the records: the first of them, and how every metric's scores are spread.
    """

    def __init__(self) -> None:
        self.entries: list[RecordResult] = []
        self.bins: dict[str, list[int]] = defaultdict(lambda: [0] * _BINS)

    def add(self, entry: RecordResult) -> None:
        """
        Count one record, and keep it if it is among the first 500.
        """
        if len(self.entries) < _RECORDS:
            self.entries.append(entry)
        for name, score in entry.scores.items():
            self.bins[name][min(_BINS - 1, max(0, int(score * _BINS)))] += 1


def to_html(card: Scorecard, gates: GateReport | None = None, records: PageRecords | None = None) -> str:
    """
    Render the page: the verdict, what broke, the metrics with their distributions, the records to sort and open.

    Args:
        card: The scorecard.
        gates: The gates' outcomes; None when there were none.
        records: The records to show; those that the scorecard kept for None. The worst are shown in any case.

    Raises:
        MissingExtraError: if Jinja is not installed.
    """
    try:
        import jinja2  # noqa: PLC0415  # an optional extra
    except ModuleNotFoundError:
        raise MissingExtraError("cli", "the HTML report") from None
    if records is None:
        records = PageRecords()
        for entry in card.results:
            records.add(entry)
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"number": number, "shown": plain}
    template = environment.from_string(_resource("page.html.jinja"))
    return template.render(_page(card, gates or GateReport(), records)) + "\n"


def _resource(name: str) -> str:
    return (files("rageval_trace.reports") / "page" / name).read_text(encoding="utf-8")


def _page(card: Scorecard, gates: GateReport, records: PageRecords) -> dict[str, Any]:
    import markupsafe  # noqa: PLC0415  # comes with Jinja

    style, script = _resource("page.css"), _resource("page.js")
    outcomes = {one.metric: one for one in gates.outcomes}
    columns = _columns(card, outcomes)
    entries = _shown_entries(card, records)
    return {
        "card": card,
        "verdict": _verdict(card, gates),
        "heading": heading(card),
        "has_gates": bool(outcomes),
        "examples": [_example(entry, found, card.config) for entry, found in weakest_examples(card, _EXAMPLES)],
        "metrics": [_metric(summary, outcomes.get(name), records) for name, summary in card.metrics.items()],
        "columns": [plain(name) for name in columns],
        "records": [_record(entry, columns, card.config) for entry in entries],
        "shown_note": _shown_note(card.count, len(entries)),
        "style": markupsafe.Markup(style),  # noqa: S704  # our own files, not the records'
        "script": markupsafe.Markup(script),  # noqa: S704  # as above
        "style_hash": _hash(style),
        "script_hash": _hash(script),
    }


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _verdict(card: Scorecard, gates: GateReport) -> dict[str, Any]:
    if not gates.outcomes:
        return {"title": f"{card.count} records scored", "kind": "plain", "lines": _weakest_lines(card)}
    lines = [
        f"{one.metric} {number(one.value)}, gate {_typeset(one.bound)}: {one.reason}"
        for one in gates.outcomes
        if one.outcome != "held"
    ]
    titles = {0: "Every gate held", 1: "Gate failed", 2: "Gates could not be judged"}
    kind = {0: "good", 1: "bad", 2: "warn"}[gates.exit_code]
    return {"title": titles[gates.exit_code], "kind": kind, "lines": [*lines, *gates.warnings]}


def _weakest_lines(card: Scorecard) -> list[str]:
    weakest = card.weakest
    if weakest is None:
        return [card.diagnosis]
    return [f"Weakest: {plain(weakest)} {number(card.means[weakest])} \u2013 {plain(card.diagnosis)}"]


def _typeset(bound: str) -> str:
    return bound.replace(">=", "\u2265").replace("<=", "\u2264")


def _columns(card: Scorecard, outcomes: dict[str, GateOutcome]) -> list[str]:
    observed = [name for name, summary in card.metrics.items() if summary.observed]
    wanted = dict.fromkeys([*outcomes, *_PREFERRED, *observed])
    return [name for name in wanted if name in observed][:_COLUMNS]


def _shown_entries(card: Scorecard, records: PageRecords) -> list[RecordResult]:
    held = {id(entry) for entry in records.entries}
    return [*records.entries, *[entry for entry in card.worst if id(entry) not in held]]


def _shown_note(count: int, shown: int) -> str:
    if shown >= count:
        return "All records, in the file's order."
    return f"The first {_RECORDS} of {count} records, then the worst of the others."


def _metric(summary: MetricSummary, gate: GateOutcome | None, records: PageRecords) -> dict[str, Any]:
    declared = registered().get(summary.name)
    bins = records.bins.get(summary.name)
    mean = summary.mean
    return {
        "name": plain(summary.name),
        "step": declared.step if declared else "",
        "meaning": plain(declared.meaning) if declared else "",
        "higher_is_better": summary.higher_is_better,
        "mean": mean,
        "width": round(100 * _clamped(mean), 1),
        "level": _gate_level(gate),
        "limit": round(98 * _clamped(gate.threshold), 1) if gate else 0,
        "gate": gate,
        "bound": _typeset(gate.bound) if gate else "",
        "p10": summary.p10,
        "p50": summary.p50,
        "p90": summary.p90,
        "observed": summary.observed,
        "undefined": summary.undefined,
        "failed": summary.failed,
        "bins": list(_bars(bins)) if bins else [],
        "spoken": f"records by score, in tenths: {', '.join(map(str, bins))}" if bins else "",
    }


def _clamped(value: float | None) -> float:
    return min(1.0, max(0.0, value or 0.0))


def _gate_level(gate: GateOutcome | None) -> str:
    return "plain" if gate is None else "good" if gate.outcome == "held" else "bad"


def _bars(bins: Sequence[int]) -> Iterator[dict[str, Any]]:
    most = max(bins)
    for at, count in enumerate(bins):
        height = round(22 * count / most, 1)
        # A single record among thousands must still be seen.
        height = max(height, 1.5) if count else 0
        title = f"{at / _BINS:.1f} to {(at + 1) / _BINS:.1f}: {count}"
        yield {"x": at * 12, "y": round(23 - height, 1), "height": height, "title": title}


def _level(result: MetricResult | None) -> str:
    value = goodness(result) if result else None
    return "" if value is None or value >= 0.75 else "warn" if value >= 0.5 else "bad"


def _answer(entry: RecordResult, config: EvalConfig) -> list[dict[str, str]]:
    return [
        {"text": block(part.text, _TEXT_LIMIT), "state": part.state, "note": plain(part.note, 300)}
        for part in highlighted(entry, config)
    ]


def _lists(found: Evidence) -> list[tuple[str, list[str]]]:
    lists = (
        ("Relevant but not retrieved", found.missing),
        ("Retrieved but unused", found.unused),
        ("Cited but supporting nothing", found.wrong_citations),
        ("Failed", [f"{name} ({error})" for name, error in found.failed]),
    )
    return [(words, [plain(item, 80) for item in items[:_CONTEXTS]]) for words, items in lists if items]


def _example(entry: RecordResult, found: Evidence, config: EvalConfig) -> dict[str, Any]:
    return {
        "label": plain(found.label, 80),
        "metric": plain(found.metric or ""),
        "score": number(found.score),
        "level": _level(entry.results.get(found.metric or "")),
        "question": block(entry.record.question, _TEXT_LIMIT),
        "answer": _answer(entry, config),
        "lists": _lists(found),
    }


def _record(entry: RecordResult, columns: Sequence[str], config: EvalConfig) -> dict[str, Any]:
    found = evidence(entry)
    return {
        **_example(entry, found, config),
        "short_question": plain(entry.record.question, 120),
        "cells": [_cell(entry.results.get(name)) for name in columns],
        "contexts": [
            _chunk(chunk, rank, entry) for rank, chunk in enumerate((entry.record.contexts or ())[:_CONTEXTS], 1)
        ],
        "scores": [
            {"name": plain(name), "reason": plain(result.reason, 300), **_cell(result)}
            for name, result in entry.results.items()
        ],
    }


def _cell(result: MetricResult | None) -> dict[str, str]:
    if result is None or result.score is None:
        failed = result is not None and result.error_type is not None
        return {"text": "failed" if failed else "\u2013", "value": "", "level": "bad" if failed else ""}
    return {"text": number(result.score), "value": repr(float(result.score)), "level": _level(result)}


def _chunk(chunk: Context, rank: int, entry: RecordResult) -> dict[str, Any]:
    def listed(metric: str, key: str) -> Any:
        result = entry.results.get(metric)
        return (result.details.get(key) if result else None) or ()

    relevant = entry.record.relevant_ids or ()
    ages = listed("freshness", "ages_hours")
    tags = [
        "unused" if rank in listed("context_utilisation", "unused") else "",
        "relevant" if not chunk.generated_id and chunk.id in relevant else "",
        "cited" if chunk.id in (entry.record.citations or ()) else "",
        f"{ages[rank] / 24:.0f} days old" if rank in ages else "",
    ]
    return {"id": plain(chunk.id, 80), "tags": [tag for tag in tags if tag], "text": block(chunk.text, _TEXT_LIMIT)}
