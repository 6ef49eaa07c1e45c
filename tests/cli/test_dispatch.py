from __future__ import annotations

import argparse
import subprocess
import sys
from datetime import datetime, timezone
from types import SimpleNamespace

import pytest

from rageval_trace import cli
from rageval_trace._version import __version__
from rageval_trace.cli import main, options
from rageval_trace.errors import GateError


@pytest.fixture
def seen(monkeypatch):
    """
    Give the program one command, `look`, that stores what it was called with.
    """
    calls: list[argparse.Namespace] = []

    def configure(parser):
        options.add_scoring(parser)
        options.add_output(parser)
        parser.add_argument("file", nargs="?")

    def execute(args):
        calls.append(args)
        if args.file == "bad":
            raise GateError("no such gate")
        if args.file == "stopped":
            raise KeyboardInterrupt
        return 1 if args.file == "breached" else 0

    command = SimpleNamespace(NAME="look", HELP="Look at the arguments", configure=configure, execute=execute)
    monkeypatch.setattr(cli, "COMMANDS", (command,))
    return calls


NOW = "2026-08-21T12:00:00Z"
NOON = datetime(2026, 8, 21, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("look", {"now": None, "metrics": None, "judge": None, "out": None, "json": False}),
        (f"--now {NOW} --out report.json look", {"now": NOON, "out": "report.json"}),
        (f"look --now {NOW} --out report.json", {"now": NOON, "out": "report.json"}),
        ("--json --metrics faithfulness,freshness look f", {"json": True, "metrics": ("faithfulness", "freshness")}),
        ("--out a look --out b", {"out": "b"}),
        ("--judge look f", {"judge": "llm", "file": "f"}),
        ("look --judge f", {"judge": "llm", "file": "f"}),
        ("look f --judge", {"judge": "llm", "file": "f"}),
        ("look --judge claude f", {"judge": "claude", "file": "f"}),
        ("look f --judge=lexical", {"judge": "lexical", "file": "f"}),
        ("look --judge --no-judge f", {"judge": None, "file": "f"}),
        ("--judge look --no-judge", {"judge": None}),
        ("look -- --judge", {"judge": None, "file": "--judge"}),
    ],
)
def test_shared_options_stand_before_the_command_or_after_it(seen, line, expected):
    """
    Every shared option works in both places, the later word wins, and --judge takes a name only if it is one.
    """
    assert main(line.split()) == 0
    (args,) = seen
    assert expected == {name: getattr(args, name) for name in expected}


@pytest.mark.parametrize(("file", "code"), [("good", 0), ("breached", 1), ("bad", 2), ("stopped", 2)])
def test_exit_codes(seen, file, code):
    """
    A command's own code is passed on, and what stops it is 2.
    """
    assert code == main(["look", file])


def test_an_expected_error_is_one_line_on_standard_error(seen, capsys):
    """
    An error of ours prints its message, no traceback, and nothing to standard output.
    """
    main(["look", "bad"])
    out, err = capsys.readouterr()
    assert (out, err) == ("", "rageval: error: no such gate\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "COMMAND"),
        ("elsewhere", "invalid choice: 'elsewhere'"),
        ("look --now yesterday", "unreadable timestamp 'yesterday'"),
        ("look --metrics ,", "expected metric names separated by commas"),
        ("look --judge=oracle", "unknown judge 'oracle'"),
        ("look --met faithfulness", "unrecognized arguments"),
    ],
)
def test_bad_usage_exits_with_2_and_says_what_was_expected(seen, capsys, line, message):
    """
    Words that cannot be read end the program with code 2 and a message about them.
    """
    with pytest.raises(SystemExit) as stop:
        main(line.split())
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


CLOSED = """
import sys
from types import SimpleNamespace
from rageval_trace import cli

def execute(args):
    for _ in range(100_000):
        print("a line")
    return 0

cli.COMMANDS = (SimpleNamespace(NAME="talk", HELP="Talk", configure=lambda parser: None, execute=execute),)
sys.exit(cli.main(["talk"]))
"""


def test_a_reader_that_goes_away_ends_the_program_quietly():
    """
    `rageval ... | head -1` gets its line, exit code 2, and no traceback.
    """
    with subprocess.Popen([sys.executable, "-c", CLOSED], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        first = program.stdout.readline()
        program.stdout.close()
        complaint = program.stderr.read()
        program.wait(timeout=30)
    assert (b"a line", b"", 2) == (first.strip(), complaint, program.returncode)


def test_version(capsys):
    """
    --version names the distribution and its version.
    """
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert (stop.value.code, capsys.readouterr().out) == (0, f"rageval-trace {__version__}\n")
