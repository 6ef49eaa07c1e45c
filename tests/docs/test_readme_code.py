"""
The README's code runs, and prints what the README shows.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_first_code_prints_what_is_shown_below_it() -> None:
    """The first Python block, run as it stands, prints the text block that follows it, to the last digit."""
    pytest.importorskip("langchain_core")
    found = re.search(
        r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", README.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    assert found is not None
    code, expected = found.groups()
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert expected == ran.stdout


def test_what_a_newcomer_needs_stands_before_line_45() -> None:
    """Install, code, its output with the broken sentence, the cost, and where content stays: all in the first screen."""
    opening = "\n".join(README.read_text("utf-8").splitlines()[:44])
    for needed in ("pip install", "callbacks", "unsupported:", " ms ", "Content stays in the process"):
        assert needed in opening
