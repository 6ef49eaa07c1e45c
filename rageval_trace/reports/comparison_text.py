"""
A comparison as plain text and as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rageval_trace.reports.clean import plain
from rageval_trace.reports.comparison import Comparison, MetricChange
from rageval_trace.reports.text import number

__all__ = ["comparison_json", "comparison_text"]

_LISTED = 10


def comparison_text(found: Comparison) -> str:
    """
    Render a comparison for a terminal: a row a metric, then the records that got worse or stand alone.
    """
    lines = [f"pairs={found.pairs}  only in base={len(found.only_base)}  only in new={len(found.only_new)}"]
    lines += _table(found.changes)
    lines += [f"warning: {plain(warning)}" for warning in found.warnings]
    if found.worse:
        lines += ["", f"Records that got worse ({len(found.worse)})"]
        lines += [
            f"  {plain(one.id, 80)}  {plain(one.metric)} {number(one.base)} -> {number(one.new)}"
            for one in found.worse[:_LISTED]
        ]
    for words, ids in (("Only in base", found.only_base), ("Only in new", found.only_new)):
        if ids:
            lines += ["", f"{words} ({len(ids)}): {_some(ids)}"]
    return "\n".join(lines)


def _some(ids: Sequence[str]) -> str:
    return ", ".join([plain(one, 80) for one in ids[:_LISTED]]) + (" ..." if len(ids) > _LISTED else "")


def _table(changes: Sequence[MetricChange]) -> Iterator[str]:
    width = max([len(plain(change.name)) for change in changes], default=6)
    yield (
        f"  {'metric':<{width}} {'pairs':>6} {'base':>6} {'new':>6} {'change':>7}  {'95 % interval':<16} "
        f"{'p':>6} {'could show':>10}"
    )
    for change in changes:
        test = change.test
        interval = "-" if test.low is None or test.high is None else f"{test.low:+.3f} {test.high:+.3f}"
        moved = "-" if test.mean is None else f"{test.mean:+.3f}"
        yield (
            f"  {plain(change.name):<{width}} {test.pairs:>6} {number(change.base):>6} {number(change.new):>6} "
            f"{moved:>7}  {interval:<16} {number(test.p_value):>6} {number(test.detectable):>10}  {_remark(change)}"
        ).rstrip()


def _remark(change: MetricChange) -> str:
    words = [
        "REGRESSED" if change.regressed else "gated" if change.gated else "",
        "" if change.adjusted_p is None else f"Holm p {change.adjusted_p:.3f}",
        "judged by a model" if change.judged else "",
    ]
    return ", ".join([word for word in words if word])


def comparison_json(found: Comparison) -> str:
    """
    Render a comparison as JSON, ASCII with a final newline.
    """
    shown: dict[str, Any] = {"comparison_version": 1, "regressed": list(found.regressed), **asdict(found)}
    for change, made in zip(found.changes, shown["changes"], strict=True):
        made["regressed"] = change.regressed
    return json.dumps(shown, indent=2, allow_nan=False) + "\n"
