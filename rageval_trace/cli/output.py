"""
Where a scorecard goes: a person's screen, another program, a file.
"""

from __future__ import annotations

import argparse
import sys

from rageval_trace.cli.files import write_whole
from rageval_trace.cli.screen import print_report
from rageval_trace.reports import Scorecard

__all__ = ["show_report", "write_text"]


def show_report(card: Scorecard, args: argparse.Namespace) -> None:
    """
    Print a scorecard for a person, or as JSON with `--json`; write the JSON report too with `--out`.

    Raises:
        RagEvalError: if the file cannot be written.
    """
    if args.out is not None:
        write_text(args.out, card.to_json())
    if args.json:
        sys.stdout.write(card.to_json())
    else:
        print_report(card.format_text())


def write_text(path: str, text: str) -> None:
    """
    Write a file whole or not at all, saying on standard error that it was.

    Raises:
        RagEvalError: naming the path, if it cannot be written.
    """
    write_whole(path, [text])
    print(f"wrote {path}", file=sys.stderr)
