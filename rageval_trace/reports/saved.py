"""
Read a JSON report back, as far as comparing needs it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rageval_trace.errors import DatasetError
from rageval_trace.reports.json_report import REPORT_VERSION

__all__ = ["SavedMetric", "SavedReport", "read_report"]


@dataclass(frozen=True, slots=True)
class SavedMetric:
    """
    A metric of a saved report.

    Args:
        higher_is_better: Its direction.
        judges: Who decided it.
    """

    higher_is_better: bool
    judges: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SavedReport:
    """
    A saved report.

    Args:
        scoring_version: The version of its formulas.
        evaluator_version: That, with a digest of its config.
        count: Records that were scored.
        metrics: Its metrics, by name.
        scores: By record id, the score of every metric; None where undefined or failed.
        gated: The metrics that had a gate.
        unnamed: Records without an id.
    """

    scoring_version: int
    evaluator_version: str
    count: int
    metrics: Mapping[str, SavedMetric]
    scores: Mapping[str, Mapping[str, float | None]]
    gated: tuple[str, ...]
    unnamed: int


def read_report(path: str) -> SavedReport:
    """
    Read the report that `rageval run --out` wrote.

    Raises:
        DatasetError: naming the file, if it is no report of this version.
    """
    try:
        loaded = json.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror or error}", path=path) from None
    except (ValueError, RecursionError):
        raise DatasetError("is not JSON: expected a report of `rageval run --out`", path=path) from None
    if not isinstance(loaded, dict) or "report_version" not in loaded:
        raise DatasetError("is no report: expected what `rageval run --out` writes", path=path)
    if loaded["report_version"] != REPORT_VERSION:
        raise DatasetError(f"is a report of version {loaded['report_version']!r}: expected {REPORT_VERSION}", path=path)
    try:
        return _report(loaded)
    except DatasetError as error:
        raise DatasetError(error.message, path=path) from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DatasetError(f"is a damaged report ({type(error).__name__}: {error})", path=path) from None


def _report(loaded: Mapping[str, Any]) -> SavedReport:
    metrics = {
        name: SavedMetric(bool(summary["higher_is_better"]), tuple(summary["judges"]))
        for name, summary in loaded["metrics"].items()
    }
    scores: dict[str, dict[str, float | None]] = {}
    unnamed = 0
    for record in loaded["records"]:
        key = record["id"]
        if key is None:
            unnamed += 1
        elif key in scores:
            raise DatasetError(f"holds record {key!r} twice: expected each id once")
        else:
            scores[key] = {name: _score(result["score"]) for name, result in record["results"].items()}
    gates = loaded["gates"]
    gated = tuple([one["metric"] for one in gates["outcomes"]]) if gates else ()
    return SavedReport(
        int(loaded["scoring_version"]), str(loaded["evaluator_version"]), int(loaded["count"]), metrics, scores, gated,
        unnamed,
    )  # fmt: skip


def _score(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"score {value!r}")
    return float(value)
