"""
`rageval run FILE`: score a file of records, report, gate.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from typing import TextIO

from rageval_trace.cli import options
from rageval_trace.cli.files import check_outputs, write_whole
from rageval_trace.cli.gating import add_gates, chosen_gates
from rageval_trace.cli.progress import watch
from rageval_trace.cli.screen import print_report
from rageval_trace.errors import DatasetError
from rageval_trace.evaluation import evaluate
from rageval_trace.gates import Threshold, check_gates
from rageval_trace.io import LoadOptions, load_records
from rageval_trace.io.options import FORMATS
from rageval_trace.metrics import select
from rageval_trace.models import EvalConfig
from rageval_trace.reports import RecordResult, Scorecard
from rageval_trace.reports.annotations import github_annotations
from rageval_trace.reports.gating import GateReport
from rageval_trace.reports.html_report import PageRecords, to_html
from rageval_trace.reports.json_report import json_chunks, record_line
from rageval_trace.reports.junit import to_junit
from rageval_trace.reports.markdown import to_markdown
from rageval_trace.reports.text import format_text

__all__ = ["HELP", "NAME", "configure", "execute"]

NAME = "run"
HELP = "Score a file of records"

_BAD_SHOWN = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """
    Add the command's arguments.
    """
    parser.add_argument("file", metavar="FILE", help="JSONL, JSON or CSV, plain or .gz; - for standard input")
    options.add_scoring(parser)
    parser.add_argument("-k", type=_depth, default=5, help="depth of the ranking metrics (5)")
    parser.add_argument(
        "--half-life-hours", type=_hours, default=168.0, metavar="H", help="age at which freshness is 1/e (168)"
    )
    add_gates(parser)
    _add_reading(parser)
    options.add_output(parser)
    parser.add_argument("--markdown", metavar="PATH", help="write a Markdown report, fit for a pull request's comment")
    parser.add_argument("--html", metavar="PATH", help="write one self-contained HTML page (needs the extra cli)")
    parser.add_argument("--junit", metavar="PATH", help="write the gates as JUnit XML")


def _add_reading(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("reading")
    group.add_argument("--format", choices=FORMATS, default="auto", help="the file's format, instead of finding out")
    group.add_argument("--skip-bad", action="store_true", help="score the records that can be read, count the others")


def _depth(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, not {text!r}")
    return int(text)


def _hours(text: str) -> float:
    try:
        return EvalConfig(half_life_hours=float(text)).half_life_hours
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number of hours above 0, not {text!r}") from None


def execute(args: argparse.Namespace) -> int:
    """
    Score, report, and return the gates' exit code.

    Raises:
        RagEvalError: for whatever stops the run; no report has been written then.
    """
    thresholds, rules = chosen_gates(args)
    metrics = _selected(args.metrics, thresholds)
    check_outputs((args.out, args.markdown, args.html, args.junit), args.file)
    judge = options.judge_named(args.judge)
    config = EvalConfig(now=args.now, k=args.k, half_life_hours=args.half_life_hours)
    bad = _BadRecords()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as spool, watch(args.file) as on_read:
        reading = LoadOptions(format=args.format, on_bad=bad.add if args.skip_bad else None, on_read=on_read)
        lines = _Lines(spool) if args.json or args.out else None
        page = PageRecords() if args.html else None
        card = evaluate(
            load_records(args.file, reading),
            judge,
            config,
            metrics=metrics,
            keep_results=False,
            on_result=_each([kept.add for kept in (lines, page) if kept is not None]),
        )
        gates = check_gates(card, thresholds, rules)
        bad.report()
        if page is not None:
            write_whole(args.html, [to_html(card, gates, page)])
        _write(card, gates, lines, args)
        _show(card, gates, lines, args)
    return gates.exit_code


def _selected(wanted: Iterable[str] | None, thresholds: Iterable[Threshold]) -> list[str]:
    """
    Return the metrics asked for, or the default ones, and those that have a gate.
    """
    named = [metric.name for metric in select(wanted)]
    return list(dict.fromkeys([*named, *[one.metric for one in thresholds]]))


def _each(keepers: Sequence[Callable[[RecordResult], None]]) -> Callable[[RecordResult], None] | None:
    """
    Return one call for all of *keepers*; None for none, so that nothing is called for a record.
    """
    if len(keepers) < 2:
        return keepers[0] if keepers else None

    def keep(entry: RecordResult) -> None:
        for keeper in keepers:
            keeper(entry)

    return keep


class _BadRecords:
    """
    The records that were skipped: the first few by name, all by number.
    """

    def __init__(self) -> None:
        self._count = 0

    def add(self, error: DatasetError) -> None:
        self._count += 1
        if self._count <= _BAD_SHOWN:
            print(f"skipped: {error}", file=sys.stderr)

    def report(self) -> None:
        if self._count:
            print(f"skipped {self._count} bad record{'s' if self._count > 1 else ''}", file=sys.stderr)


class _Lines:
    """
    The records of the JSON report, on disk until it is written.
    """

    def __init__(self, spool: TextIO) -> None:
        self._spool = spool
        self._count = 0

    def add(self, entry: RecordResult) -> None:
        self._spool.write(f"{record_line(entry, self._count)}\n")
        self._count += 1

    def read(self) -> Iterable[str]:
        self._spool.seek(0)
        return (line.rstrip("\n") for line in self._spool)


def _write(card: Scorecard, gates: GateReport, lines: _Lines | None, args: argparse.Namespace) -> None:
    shown = gates if gates.outcomes else None
    if args.out is not None and lines is not None:
        write_whole(args.out, json_chunks(card, shown, lines.read()))
    if args.markdown is not None:
        write_whole(args.markdown, [to_markdown(card, shown)])
    if args.junit is not None:
        write_whole(args.junit, [to_junit(card, gates)])


def _show(card: Scorecard, gates: GateReport, lines: _Lines | None, args: argparse.Namespace) -> None:
    shown = gates if gates.outcomes else None
    if args.json and lines is not None:
        sys.stdout.writelines(json_chunks(card, shown, lines.read()))
    else:
        print_report(format_text(card, shown))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in github_annotations(card, gates):
            print(line, file=sys.stderr)
