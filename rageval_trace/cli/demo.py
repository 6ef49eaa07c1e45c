"""
`rageval demo`: the scorecard of seven sample records, or, with `--live`, a pipeline scored while it runs.
"""

from __future__ import annotations

import argparse
import importlib

from rageval_trace.cli import options
from rageval_trace.cli.output import show_report
from rageval_trace.cli.samples import SAMPLES
from rageval_trace.errors import RagEvalError

__all__ = ["HELP", "NAME", "configure", "execute"]

NAME = "demo"
HELP = "Score seven sample records, or a live pipeline with --live; no key, no network"

FRAMEWORKS = ("langchain", "llama-index")


def configure(parser: argparse.ArgumentParser) -> None:
    """
    Add the demo's arguments.
    """
    options.add_scoring(parser)
    options.add_output(parser)
    parser.add_argument("--live", action="store_true", help="run a pipeline with a scripted model, traced and scored")
    parser.add_argument("--framework", choices=FRAMEWORKS, help=f"what the live pipeline is built in ({FRAMEWORKS[0]})")
    parser.add_argument(
        "--otlp", metavar="URL", help="also send the live spans, metrics and logs there (http://localhost:4318)"
    )


def execute(args: argparse.Namespace) -> int:
    """
    Run the demo.

    Raises:
        RagEvalError: for an option that goes with `--live` alone, or an extra that is not installed.
    """
    if args.live:
        # By name, so that the core's import rules hold: the live demo needs a framework and the OpenTelemetry SDK.
        return int(importlib.import_module("rageval_trace.cli.live_demo.command").run(args))
    if args.framework or args.otlp:
        raise RagEvalError("--framework and --otlp go with --live")
    return _score_samples(args)


def _score_samples(args: argparse.Namespace) -> int:
    from rageval_trace.evaluation import evaluate  # noqa: PLC0415  # `rageval --help` does without
    from rageval_trace.models import EvalConfig  # noqa: PLC0415  # as above

    card = evaluate(SAMPLES, options.judge_named(args.judge), EvalConfig(now=args.now), metrics=args.metrics)
    show_report(card, args)
    return 0
