"""
The gates of a command line: its flags, a gate file, the project's own file.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

from rageval_trace.gates import (
    GateFile,
    GateRules,
    Threshold,
    find_project_file,
    parse_amount,
    parse_threshold,
    read_gate_file,
)

__all__ = ["add_gates", "chosen_gates"]


def add_gates(parser: argparse.ArgumentParser) -> None:
    """
    Add `--gate`, `--gate-file` and the options that say when a gate's value may be trusted.
    """
    group = parser.add_argument_group("gates")
    group.add_argument(
        "--gate",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="the least mean of a metric, or the greatest where lower is better; may be repeated",
    )
    where = group.add_mutually_exclusive_group()
    where.add_argument("--gate-file", metavar="PATH", help="read gates from a TOML file (see the docs)")
    where.add_argument(
        "--no-gate-file", action="store_true", help="do not look for [tool.rageval] in the nearest pyproject.toml"
    )
    group.add_argument("--min-observed", metavar="N|P%", help="breach a gate that fewer records were observed on")
    group.add_argument("--allow-failed", metavar="N|P%", help="gate a metric that failed on at most so many records")
    group.add_argument(
        "--allow-fallback", action="store_true", help="gate values that are not all of the judge that was asked"
    )


def chosen_gates(args: argparse.Namespace) -> tuple[tuple[Threshold, ...], GateRules]:
    """
    Return the gates and rules: a flag beats the file, for the same metric or rule.

    Raises:
        GateError: for a gate, a rule or a file that cannot be read.
        UnknownMetricError: for a gate on a metric that nothing registered.
    """
    file = _file(args)
    gates = {one.metric: one for one in file.thresholds} if file else {}
    gates |= {one.metric: one for one in map(parse_threshold, args.gate)}
    given: dict[str, Any] = {
        name: parse_amount(getattr(args, name), f"--{name.replace('_', '-')}")
        for name in ("min_observed", "allow_failed")
        if getattr(args, name) is not None
    }
    if args.allow_fallback:
        given["allow_fallback"] = True
    return tuple(gates.values()), dataclasses.replace(file.rules if file else GateRules(), **given)


def _file(args: argparse.Namespace) -> GateFile | None:
    if args.gate_file is not None:
        return read_gate_file(Path(args.gate_file))
    found = None if args.no_gate_file else find_project_file(Path.cwd())
    if found is None:
        return None
    # Gates that nobody named on this line are named here, so that an exit code is no riddle.
    print(f"gates of {found}", file=sys.stderr)
    return read_gate_file(found)
