"""
The command line, one command a file.

A command is a module of this folder with four names: `NAME`, `HELP` (one line), `configure(parser)` and
`execute(args) -> int`. It joins the program by its line in `COMMANDS` below. `configure` takes the options that
several commands share from `rageval_trace.cli.options`; `execute` returns the exit code (0 held, 1 a gate was
breached, 2 could not complete), may raise any `RagEvalError` (printed in one line, exit code 2), and imports what
is slow to import itself, so that `--help` stays quick. Results go to standard output, all else to standard error.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from rageval_trace._version import __version__
from rageval_trace.cli import calibrate, compare, demo, golden, judge_agreement, metrics, options, run, show
from rageval_trace.errors import RagEvalError

__all__ = ["COMMANDS", "Command", "main"]

COULD_NOT_COMPLETE = 2


class Command(Protocol):
    """
    What a command's module offers.
    """

    @property
    def NAME(self) -> str:  # noqa: N802  # a module's constant
        """
        The word on the command line.
        """
        ...

    @property
    def HELP(self) -> str:  # noqa: N802  # a module's constant
        """
        One line of help.
        """
        ...

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """
        Add the command's own arguments.
        """
        ...

    def execute(self, args: argparse.Namespace) -> int:
        """
        Do the work and return the exit code.
        """
        ...


COMMANDS: tuple[Command, ...] = (run, demo, compare, calibrate, show, golden, metrics, judge_agreement)


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run one command.

    Args:
        argv: The words after the program's name; those of the process for None.

    Returns:
        0 when all went well, 1 when a gate was breached, 2 when the command could not complete.

    Raises:
        SystemExit: after `--help` and `--version` (code 0), or bad usage (code 2).
    """
    words = list(sys.argv[1:] if argv is None else argv)
    _tolerate_narrow_encodings()
    args = _parser().parse_args(options.spell_out_judge(words))
    try:
        code = int(args.execute(args))
        sys.stdout.flush()
    except RagEvalError as error:
        print(f"{_program()}: error: {error}", file=sys.stderr)
        return COULD_NOT_COMPLETE
    except BrokenPipeError:
        _silence_stdout()
        return COULD_NOT_COMPLETE
    except KeyboardInterrupt:
        print(f"{_program()}: interrupted", file=sys.stderr)
        return COULD_NOT_COMPLETE
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_program(),
        description="Score RAG answers, and gate on the scores.",
        epilog="The options above may stand before the command or after it.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"rageval-trace {__version__}")
    options.add_global(parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        chosen = commands.add_parser(
            command.NAME, help=command.HELP, description=f"{command.HELP}.", allow_abbrev=False
        )
        command.configure(chosen)
        chosen.set_defaults(execute=command.execute)
    return parser


def _program() -> str:
    name = Path(sys.argv[0]).name.removesuffix(".exe")
    return name if name in ("rageval", "rag-eval") else "rageval"


def _tolerate_narrow_encodings() -> None:
    # An ASCII or Latin-1 terminal shows `?` for a box-drawing line instead of a traceback.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _silence_stdout() -> None:
    # The reader has gone (`rageval run ... | head`): without this the interpreter complains again while it exits.
    with contextlib.suppress(OSError, ValueError), Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
