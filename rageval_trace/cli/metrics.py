"""
`rageval metrics`: what there is to measure.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys

from rageval_trace.cli import options
from rageval_trace.metrics import Metric, registered
from rageval_trace.metrics.base import load_plugins

__all__ = ["HELP", "NAME", "configure", "execute", "markdown_table"]

NAME = "metrics"
HELP = "List every metric: step, direction, meaning, needs"

_FIELDS = ("name", "step", "higher_is_better", "needs", "meaning", "undefined_when", "default")


def configure(parser: argparse.ArgumentParser) -> None:
    """
    Add the command's arguments.
    """
    parser.add_argument("--markdown", action="store_true", help="print the table that the README holds")
    options.add_output(parser)


def execute(args: argparse.Namespace) -> int:
    """
    Print the metrics that are registered here, plug-ins included.
    """
    load_plugins()
    metrics = tuple(registered().values())
    if args.json:
        sys.stdout.write(json.dumps([_declaration(metric) for metric in metrics], indent=2) + "\n")
    elif args.markdown:
        print(markdown_table(metrics))
    else:
        print(_text(metrics))
    return 0


def _declaration(metric: Metric) -> dict[str, object]:
    declared = {field.name: getattr(metric, field.name) for field in dataclasses.fields(metric)}
    return {name: declared[name] for name in _FIELDS}


def _direction(metric: Metric) -> str:
    return "higher" if metric.higher_is_better else "lower"


def _text(metrics: tuple[Metric, ...]) -> str:
    width = max([len(metric.name) for metric in metrics])
    lines = []
    for metric in metrics:
        extra = "" if metric.default else "  (only when named)"
        needs, never = ", ".join(metric.needs) or "nothing", metric.undefined_when or "never"
        lines += [
            f"{metric.name:<{width}}  {metric.step}, {_direction(metric)} is better{extra}",
            f"{'':<{width}}  {metric.meaning}",
            f"{'':<{width}}  needs {needs}; undefined when {never}",
        ]
    return "\n".join(lines)


def markdown_table(metrics: tuple[Metric, ...]) -> str:
    """
    Return the metrics as the Markdown table of the README.
    """
    lines = ["| metric | step | better | meaning | undefined when |", "|---|---|---|---|---|"]
    lines += [
        f"| `{metric.name}` | {metric.step} | {_direction(metric)} | {metric.meaning} | {metric.undefined_when} |"
        for metric in metrics
    ]
    return "\n".join(lines)
