"""
`rageval compare BASE NEW`: what moved between two reports.
"""

from __future__ import annotations

import argparse
import sys

from rageval_trace.cli import options
from rageval_trace.cli.files import check_outputs, write_whole
from rageval_trace.cli.screen import print_report
from rageval_trace.errors import GateError
from rageval_trace.reports.comparison import Comparison, compare_reports
from rageval_trace.reports.comparison_text import comparison_json, comparison_text
from rageval_trace.reports.saved import read_report

__all__ = ["HELP", "NAME", "configure", "execute"]

NAME = "compare"
HELP = "Compare two JSON reports, record by record"


def configure(parser: argparse.ArgumentParser) -> None:
    """
    Add the command's arguments.
    """
    parser.add_argument("base", metavar="BASE", help="the older report, as run --out writes it")
    parser.add_argument("new", metavar="NEW", help="the newer one")
    parser.add_argument(
        "--fail-on-regression",
        action="store_true",
        help="exit with 1 if a gated metric got worse by more than chance (5 %%, Holm-adjusted)",
    )
    parser.add_argument(
        "--gated", type=options.names, metavar="NAME[,NAME...]", help="these metrics instead of those with a gate"
    )
    parser.add_argument(
        "--fail-on-judged", action="store_true", help="fail on metrics that a model judged, too, instead of warning"
    )
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """
    Compare, print, and return the exit code.

    Raises:
        RagEvalError: if a report cannot be read, or a gated metric cannot be tested.
    """
    check_outputs((args.out,))
    base, new = read_report(args.base), read_report(args.new)
    found = compare_reports(base, new, gated=args.gated, test_judged=args.fail_on_judged)
    if args.fail_on_regression:
        _check_testable(found)
    if args.out is not None:
        write_whole(args.out, [comparison_json(found)])
    if args.json:
        sys.stdout.write(comparison_json(found))
    else:
        print_report(comparison_text(found))
    return _exit_code(found) if args.fail_on_regression else 0


def _check_testable(found: Comparison) -> None:
    if found.blocked:
        raise GateError("; ".join(found.blocked))
    if not any([change.gated for change in found.changes]):
        raise GateError("no metric is gated: expected gates in a report, or --gated")


def _exit_code(found: Comparison) -> int:
    regressed = found.regressed
    word = f"FAIL ({', '.join(regressed)})" if regressed else "none"
    print(f"regression: {word}", file=sys.stderr)
    return 1 if regressed else 0
