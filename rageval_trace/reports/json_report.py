"""
The scorecard as JSON, in the shape that `report.schema.json` publishes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any

from rageval_trace.models import EvalConfig
from rageval_trace.reports.gating import GateReport
from rageval_trace.reports.scorecard import MetricSummary, RecordResult, Scorecard

__all__ = ["REPORT_VERSION", "json_chunks", "json_ready", "record_line", "schema", "to_json"]

REPORT_VERSION = 1
"""The version of the report's shape; it changes when a reader of the old one would misread the new."""

_MAX_DEPTH = 32


def schema() -> dict[str, Any]:
    """
    Return the JSON Schema of the report.
    """
    text = files("rageval_trace.reports").joinpath("report.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def to_json(card: Scorecard, gates: GateReport | None = None) -> str:
    """
    Render the whole report: ASCII text with a final newline, the same bytes for the same scores.

    The records are those that the scorecard kept; without any, its worst ones.
    """
    kept = card.results or card.worst
    return "".join(json_chunks(card, gates, [record_line(entry, at) for at, entry in enumerate(kept)]))


def json_chunks(card: Scorecard, gates: GateReport | None, record_lines: Iterable[str]) -> Iterator[str]:
    """
    Yield the report in pieces, so that its records need not be held in memory.

    Args:
        card: The scorecard.
        gates: The gates' outcomes; None when there were none.
        record_lines: One JSON object a record, as `record_line` gives them.
    """
    yield f"{_dump(_head(card, gates), indent=2)[:-2]},\n"
    yield '  "records": ['
    separator = "\n    "
    for line in record_lines:
        yield f"{separator}{line}"
        separator = ",\n    "
    yield "]\n}\n" if separator == "\n    " else "\n  ]\n}\n"


def record_line(entry: RecordResult, index: int) -> str:
    """
    Return one record of the report as JSON on one line.

    Args:
        entry: The record with its results.
        index: Its 0-based place among the records.
    """
    try:
        return _dump(_record(entry, index, _as_it_is))
    except (TypeError, ValueError, RecursionError):
        # Few metrics put anything into their details that JSON does not know; only those pay for the walk.
        return _dump(_record(entry, index, json_ready))


def _as_it_is(details: object) -> object:
    return details


def _record(entry: RecordResult, index: int, cleaned: Callable[[object], object]) -> dict[str, Any]:
    results = {
        name: {
            "score": _finite(result.score),
            "reason": result.reason,
            "judge": result.judge,
            "error_type": result.error_type,
            "details": cleaned(result.details),
        }
        for name, result in entry.results.items()
    }
    record = entry.record
    return {"index": index, "id": record.id, "question": record.question, "results": results}


def _dump(value: object, indent: int | None = None) -> str:
    # ASCII, because a C1 control character or half a surrogate pair in an answer must not reach a terminal or an
    # encoder.
    return json.dumps(value, ensure_ascii=True, allow_nan=False, indent=indent)


def _head(card: Scorecard, gates: GateReport | None) -> dict[str, Any]:
    return {
        "report_version": REPORT_VERSION,
        "scoring_version": card.scoring_version,
        "evaluator_version": card.evaluator_version,
        "config": _config(card.config),
        "count": card.count,
        "now_source": card.now_source,
        "means": {name: _finite(mean) for name, mean in card.means.items()},
        "metrics": {name: _summary(summary) for name, summary in card.metrics.items()},
        "overall": _finite(card.overall),
        "weakest": card.weakest,
        "diagnosis": card.diagnosis,
        "gates": None if gates is None else _gates(gates),
    }


def _config(config: EvalConfig) -> dict[str, Any]:
    return {
        "now": None if config.now is None else config.now.isoformat(),
        "half_life_hours": config.half_life_hours,
        "k": config.k,
        "hit_threshold": config.hit_threshold,
        "claim_threshold": config.claim_threshold,
    }


def _summary(summary: MetricSummary) -> dict[str, Any]:
    return {
        "mean": _finite(summary.mean),
        "observed": summary.observed,
        "undefined": summary.undefined,
        "failed": summary.failed,
        "p10": _finite(summary.p10),
        "p50": _finite(summary.p50),
        "p90": _finite(summary.p90),
        "higher_is_better": summary.higher_is_better,
        "judges": dict(summary.judges),
    }


def _gates(gates: GateReport) -> dict[str, Any]:
    return {
        "result": gates.word,
        "exit_code": gates.exit_code,
        "outcomes": [
            {
                "metric": one.metric,
                "threshold": one.threshold,
                "higher_is_better": one.higher_is_better,
                "outcome": one.outcome,
                "value": _finite(one.value),
                "observed": one.observed,
                "reason": one.reason,
            }
            for one in gates.outcomes
        ],
        "warnings": list(gates.warnings),
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def json_ready(value: object, depth: int = _MAX_DEPTH) -> Any:
    """
    Return free-form details as JSON can hold them, in an order that does not depend on hashing.

    Sets are sorted, keys become strings, NaN and infinities become null, anything else its type's name.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return _finite(float(value))
    if depth and isinstance(value, Mapping):
        return {str(key): json_ready(inner, depth - 1) for key, inner in value.items()}
    if depth and isinstance(value, (set, frozenset)):
        return sorted([json_ready(inner, depth - 1) for inner in value], key=repr)
    if depth and isinstance(value, (list, tuple)):
        return [json_ready(inner, depth - 1) for inner in value]
    return f"<{type(value).__name__}>"
