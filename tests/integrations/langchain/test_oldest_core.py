"""
The oldest langchain-core that is supported captures what the newest does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_core")

import langchain_parts as parts
import oldest_core
import rageval_trace_langchain

import rageval_trace

OLDEST = ("langchain-core==0.3.0", "opentelemetry-api==1.38.0")
WHOLE = {
    "status": "ok",
    "question": parts.QUESTION,
    "answer": parts.ANSWER,
    "contexts": ["tower", "opening"],
    "scored": True,
    "left": 0,
    "errors": 0,
}
CLOSED = {**WHOLE, "status": "partial", "answer": None, "scored": False}
EXPECTED: dict[str, Any] = {
    **dict.fromkeys(oldest_core.CALLS, WHOLE),
    "closed stream": CLOSED,
    "closed astream": CLOSED,
    "failed": {**CLOSED, "status": "error", "contexts": None},
}


def test_the_newest_core_captures_all_of_it() -> None:
    """
    The expectation below is the one that this environment's own core meets.
    """
    assert EXPECTED == oldest_core.main()["found"]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_oldest_core_captures_all_of_it(tmp_path: Path) -> None:
    """
    In a fresh environment with the first release of the supported range, sources from here.
    """
    roots = [Path(module.__file__).parents[1] for module in (rageval_trace, rageval_trace_langchain)]
    if any(["site-packages" in str(root) for root in roots]):
        pytest.skip("runs from a checkout alone: an installed package would bring its own langchain-core")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path)], check=True, timeout=120)
    python = tmp_path / ("Scripts" if os.name == "nt" else "bin") / "python"
    unconstrained = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
    install = [str(python), "-m", "pip", "install", "-q", "--no-compile", *OLDEST]
    subprocess.run(install, env=unconstrained, check=True, timeout=240)
    path = os.pathsep.join([str(root) for root in (*roots, Path(oldest_core.__file__).parent)])

    ran = subprocess.run(
        [str(python), "-W", "ignore", oldest_core.__file__],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": path},
    )

    assert {"version": "0.3.0", "found": EXPECTED} == json.loads(ran.stdout)
