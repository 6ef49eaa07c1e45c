"""
The examples of judges of one's own print what they promise, offline.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(
    ("name", "needs", "output"),
    [
        ("own_judge.py", None, "groundedness 0.5 by verbatim: 1 of 2 claims unsupported\n"),
        (
            "langchain_judge.py",
            "langchain_core",
            "0.5 None 1 of 2 claims unsupported\nNone JSONDecodeError 2 of 2 claims could not be judged\n",
        ),
    ],
)
def test_examples_print_their_output(name: str, needs: str | None, output: str) -> None:
    """
    Each example runs as it is, within 60 lines.
    """
    if needs is not None:
        pytest.importorskip(needs)
    path = EXAMPLES / name
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 60
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True, timeout=120)
    assert output == done.stdout
