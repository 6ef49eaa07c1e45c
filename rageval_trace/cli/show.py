"""
`rageval show TRACE_ID CAPTURES`: one live request, sentence by sentence.
"""

from __future__ import annotations

import argparse
import json

from rageval_trace.cli.screen import print_report
from rageval_trace.errors import RagEvalError
from rageval_trace.live.captures.replay import Replay, replay
from rageval_trace.live.captures.saved import CaptureReader, Saved
from rageval_trace.live.captures.text import replay_json, replay_text

__all__ = ["HELP", "NAME", "configure", "execute"]

NAME = "show"
HELP = "Show a captured request: what broke in its answer, and its scores computed again"


def configure(parser: argparse.ArgumentParser) -> None:
    """
    Add the command's arguments.
    """
    parser.add_argument("trace", metavar="TRACE_ID", help="the trace's or the run's id, or the beginning of it")
    parser.add_argument("captures", metavar="CAPTURES", help="the sink's folder, or one of its files")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print nothing but JSON")


def execute(args: argparse.Namespace) -> int:
    """
    Find the request, compute its scores again, and print both; 1 when a score differs without a known reason.
    """
    reader = CaptureReader(args.captures)
    asked = [saved for saved in reader if saved.goes_by(args.trace)]
    if not asked:
        skipped = f" ({reader.skipped} damaged lines skipped)" if reader.skipped else ""
        raise RagEvalError(
            f"{args.captures} holds no {args.trace}{skipped}: a request is kept when it breaches, or is in the sample"
        )
    if len({saved.name for saved in asked}) > 1:
        names = ", ".join(sorted({saved.name for saved in asked})[:5])
        raise RagEvalError(f"{args.trace} is the beginning of several ids: {names}")
    replays = [replay(saved) for saved in _kept(asked, reader)]
    if args.json:
        print(json.dumps([replay_json(one) for one in replays], indent=2, ensure_ascii=True, allow_nan=False))
    else:
        print_report("\n\n".join([replay_text(one, args.captures, asked=asked[0].name) for one in replays]))
    return 1 if any([_unexplained(one) for one in replays]) else 0


def _kept(asked: list[Saved], reader: CaptureReader) -> list[Saved]:
    """
    Return the whole lines; for a near duplicate, those that were kept in its place.
    """
    whole = [saved for saved in asked if saved.duplicate_of is None]
    if whole:
        return whole
    kept = asked[0].duplicate_of or ""
    found = [saved for saved in reader if saved.name == kept and saved.duplicate_of is None]
    if not found:
        raise RagEvalError(f"{asked[0].name} is nearly the same as {kept}, which is not kept any more")
    return found


def _unexplained(one: Replay) -> bool:
    return bool(one.different) and one.why is None
