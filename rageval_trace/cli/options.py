"""
The options that several commands share.

They are accepted before the command (`add_global`) and after it (`add_scoring`, `add_output`); the later word wins.
After parsing, `args` always has `now`, `metrics`, `judge`, `out` and `json`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rageval_trace.judges.named import NAMES, make_judge
from rageval_trace.models import parse_timestamp

__all__ = ["JUDGES", "add_global", "add_output", "add_scoring", "judge_named", "names", "spell_out_judge"]

# The words that may follow --judge; bare, it means the first.
JUDGES = NAMES


def add_global(parser: argparse.ArgumentParser) -> None:
    """
    Add the shared options to the program itself, with their defaults.
    """
    _scoring(parser, default=None)
    _output(parser, default=None, json_default=False)


def add_scoring(parser: argparse.ArgumentParser) -> None:
    """
    Add `--now`, `--metrics`, `--judge` and `--no-judge` to a command.

    `args.now` is an aware datetime or None, `args.metrics` a tuple of names (not looked up yet) or None for the
    default set, `args.judge` one of `JUDGES`, `module:Class` or None.
    """
    _scoring(parser, default=argparse.SUPPRESS)


def add_output(parser: argparse.ArgumentParser) -> None:
    """
    Add `--out` and `--json` to a command.

    `args.out` is a path or None, `args.json` a bool: print nothing but JSON.
    """
    _output(parser, default=argparse.SUPPRESS, json_default=argparse.SUPPRESS)


def judge_named(name: str | None) -> Any:
    """
    Return the judge that `args.judge` names; None when it names none, and the lexical one judges.
    """
    if name is None:
        return None
    return make_judge(name)


def spell_out_judge(words: Sequence[str]) -> list[str]:
    """
    Return the words with each bare `--judge` given its value: the next word if it names a judge, else `llm`.

    argparse would take any next word for the value, a file's name too.
    """
    spelled: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            return [*spelled, word, *rest]
        if spelled[-1:] == ["--judge"]:
            spelled[-1] = f"--judge={word}" if word in JUDGES else f"--judge={JUDGES[0]}"
            if word in JUDGES:
                continue
        spelled.append(word)
    if spelled[-1:] == ["--judge"]:
        spelled[-1] = f"--judge={JUDGES[0]}"
    return spelled


def _scoring(parser: argparse.ArgumentParser, *, default: Any) -> None:
    parser.add_argument(
        "--now", type=_time, metavar="TIME", default=default, help="the now of freshness (ISO-8601 or unix seconds)"
    )
    parser.add_argument(
        "--metrics", type=names, metavar="NAME[,NAME...]", default=default, help="score these instead of the default"
    )
    parser.add_argument(
        "--judge",
        type=_judge,
        metavar="NAME",
        default=default,
        help=f"ask a judge: {', '.join(JUDGES)}, or =module:Class for your own; without a name, {JUDGES[0]}",
    )
    parser.add_argument(
        "--no-judge", dest="judge", action="store_const", const=None, default=default, help="ask none (the default)"
    )


def _output(parser: argparse.ArgumentParser, *, default: Any, json_default: Any) -> None:
    parser.add_argument("--out", metavar="PATH", default=default, help="also write the JSON report there")
    parser.add_argument("--json", action="store_true", default=json_default, help="print nothing but JSON")


def _time(text: str) -> datetime:
    try:
        return parse_timestamp(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _judge(text: str) -> str:
    if text in JUDGES or ":" in text:
        return text
    raise argparse.ArgumentTypeError(f"unknown judge {text!r}: expected {', '.join(JUDGES)}, or module:Class")


def names(text: str) -> tuple[str, ...]:
    """
    Read metric names separated by commas, as an argument's type.
    """
    found = tuple([name.strip() for name in text.split(",") if name.strip()])
    if not found:
        raise argparse.ArgumentTypeError("expected metric names separated by commas")
    return found
