"""
`rageval golden CAPTURES --out FILE`: from live requests to a dataset that gates and calibration accept.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from rageval_trace.cli.files import check_outputs, write_whole
from rageval_trace.errors import RagEvalError
from rageval_trace.io import load_records
from rageval_trace.live.captures.duplicates import Duplicates
from rageval_trace.live.captures.saved import CaptureReader, Saved
from rageval_trace.text import tokenize

__all__ = ["HELP", "NAME", "configure", "execute"]

NAME = "golden"
HELP = "Make a dataset of captured requests"

_FIELDS: Final = ("question", "contexts", "answer", "ground_truth", "relevant_ids", "citations", "asked_at")
_KEPT: Final = ("trace_id", "verdict", "breached", "stratum", "stratum_rate", "sample_rate", "redacted", "truncated")
_ENOUGH: Final = 100_000


def configure(parser: argparse.ArgumentParser) -> None:
    """
    Add the command's arguments.
    """
    parser.add_argument("captures", metavar="CAPTURES", help="the sink's folder, or one of its files")
    parser.add_argument("--out", metavar="FILE", required=True, help="the dataset to write (JSONL)")
    parser.add_argument(
        "--trace", dest="traces", action="append", metavar="ID", help="only this trace or run; repeat it for several"
    )
    parser.add_argument("--breached", action="store_true", help="only requests that breached a threshold")
    parser.add_argument("--append", action="store_true", help="keep what the file holds, and add what is not in it")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def execute(args: argparse.Namespace) -> int:
    """
    Write the dataset, and say on standard error what is in it.
    """
    check_outputs([args.out], args.captures)
    reader = CaptureReader(args.captures)
    before, known = _before(args.out) if args.append else ("", set())
    records = _chosen(reader, args.traces, breached=args.breached, known=known)
    lines = [json.dumps(record, ensure_ascii=True, allow_nan=False) + "\n" for record in records]
    if not lines and not known:
        raise RagEvalError(f"{args.captures}: no captured request is asked for{_skipped(reader)}")
    write_whole(args.out, [before, *lines])
    added = f"added to {len(known)}" if args.append else "written"
    print(f"{args.out}: {len(lines)} records {added}{_skipped(reader)}", file=sys.stderr)
    return 0


def _before(path: str) -> tuple[str, set[str]]:
    """
    Return what a dataset holds so far, and the ids of its records.
    """
    if not Path(path).exists():
        return "", set()
    known = {record.id or "" for record in load_records(path)}
    text = Path(path).read_text(encoding="utf-8")
    return (text if text.endswith("\n") else f"{text}\n"), known


def _chosen(
    reader: Iterable[Saved], traces: list[str] | None, *, breached: bool, known: set[str]
) -> Iterator[dict[str, Any]]:
    """
    Yield the records asked for, each request once, and near duplicates of other processes left out.
    """
    seen, alike = set(known), Duplicates(_ENOUGH)
    for saved in _followed(reader, traces):
        record = saved.record
        name = record.id or saved.run_id
        if saved.duplicate_of is not None or name in seen or (breached and not saved.fields.get("breached")):
            continue
        words = [*tokenize(record.question), "\n", *tokenize(record.answer or "")]
        if not traces and alike.first(None, words, name) is not None:
            continue
        seen.add(name)
        yield _row(saved.fields, name)


def _followed(reader: Iterable[Saved], traces: list[str] | None) -> Iterator[Saved]:
    """
    Yield what goes by the names asked for, and what was kept in the place of a near duplicate asked for.
    """
    if not traces:
        yield from reader
        return
    asked = [saved for saved in reader if any([saved.goes_by(name) for name in traces])]
    names = [*traces, *[saved.duplicate_of for saved in asked if saved.duplicate_of]]
    for saved in reader:
        if any([saved.goes_by(name) for name in names]):
            yield saved


def _row(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    row = {"id": name, **{key: fields[key] for key in _FIELDS if fields.get(key) is not None}}
    about = {key: fields[key] for key in _KEPT if fields.get(key) not in (None, [])}
    return {**row, "metadata": {**(fields.get("metadata") or {}), "capture": about}}


def _skipped(reader: CaptureReader) -> str:
    return f" ({reader.skipped} damaged lines skipped)" if reader.skipped else ""
