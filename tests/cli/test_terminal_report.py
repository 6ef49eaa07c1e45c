"""
A person at a terminal gets colour and, for a long file, a progress bar.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress

import pytest

pty = pytest.importorskip("pty", reason="a terminal to look at needs pseudo-terminals")
pytest.importorskip("rich", reason="colour and progress come with the extra cli")

PROGRAM = "import sys; from rageval_trace.cli import main; sys.exit(main())"


def at_a_terminal(*words: str) -> str:
    """
    Run the program with a terminal for both of its outputs and return what was shown.
    """
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-c", PROGRAM, *words]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as program:
        os.close(theirs)
        shown = bytearray()
        with suppress(OSError):  # Linux ends a terminal with an input/output error
            while block := os.read(ours, 65536):
                shown += block
        program.wait(timeout=60)
    os.close(ours)
    return shown.decode()


@pytest.mark.parametrize(("count", "bar"), [(1, False), (700, True)])
def test_colour_and_progress(tmp_path, count, bar):
    """
    The gate's result is coloured; a bar is drawn for a long file only, and taken away when it is done.
    """
    path = tmp_path / "r.jsonl"
    path.write_text(f"{json.dumps({'question': 'q', 'metadata': {'filler': 'x' * 5000}})}\n" * count)
    shown = at_a_terminal("run", str(path), "--gate", "recall=0.5")
    assert "\x1b[1;31mFAIL (recall)" in shown
    assert bar is ("scoring \x1b[" in shown or "scoring ━" in shown)
