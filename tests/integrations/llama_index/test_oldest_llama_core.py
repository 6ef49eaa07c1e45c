"""
The oldest llama-index-core that is supported captures what the newest does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import llama_parts as parts
import oldest_llama_core
import pytest
import rageval_trace_llama_index

import rageval_trace

OLDEST = "0.14.0"
WHOLE = ["ok", parts.QUESTION, parts.ANSWER, ["opening", "tower"]]
EXPECTED: dict[str, Any] = {
    **{name: {"read": parts.ANSWER, "captured": [WHOLE]} for name in oldest_llama_core.CALLS},
    "left": {"read": None, "captured": [["partial", parts.QUESTION, "The", ["opening", "tower"]]]},
    "failed": {"read": None, "captured": [["error", parts.QUESTION, None, ["opening", "tower"]]]},
    "left over": {"live_requests": 0, "internal_errors": 0},
}

pytestmark = [
    pytest.mark.usefixtures("swept"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect"),
    pytest.mark.filterwarnings("ignore:is_running called:DeprecationWarning"),
]


def test_the_newest_core_captures_all_of_it() -> None:
    """
    The expectation is the one that this environment's own core meets.
    """
    assert EXPECTED == oldest_llama_core.main()["found"]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_oldest_core_captures_all_of_it(tmp_path: Path) -> None:
    """
    The first release of the supported range in front of this environment's, whose other packages it shares.
    """
    roots = [Path(module.__file__).parents[1] for module in (rageval_trace, rageval_trace_llama_index)]
    environment, target = tmp_path / "pip", tmp_path / "core"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True, timeout=120)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    wanted = ["--no-deps", "--no-compile", "--target", str(target), f"llama-index-core=={OLDEST}"]
    unconstrained = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
    subprocess.run([str(python), "-m", "pip", "install", "-q", *wanted], env=unconstrained, check=True, timeout=240)
    path = os.pathsep.join([str(root) for root in (target, *roots, Path(oldest_llama_core.__file__).parent)])

    ran = subprocess.run(
        [sys.executable, "-W", "ignore", oldest_llama_core.__file__],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": path},
    )

    assert {"version": OLDEST, "found": EXPECTED} == json.loads(ran.stdout)
