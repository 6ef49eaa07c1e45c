from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

# What each program needs beyond the core, and a line that it must print.
SHOWN = {
    "langchain_judge.py": (("langchain_core",), "1 of 2 claims unsupported"),
    "langchain_quickstart.py": (
        ("langchain_core", "opentelemetry.sdk"),
        "unsupported: Shipping back is free of charge.",
    ),
    "llama_index_quickstart.py": (("llama_index.core",), "unsupported: It was built by giants."),
    "offline_scorecard.py": ((), "invented: no context says 'Express delivery is free for members.'"),
    "own_judge.py": ((), "groundedness 0.5 by verbatim: 1 of 2 claims unsupported"),
    "sampled_production.py": ((), "BROKEN    They are paid in cash."),
}
# Services, which are put under load in test_production_examples.py.
SERVED = {"fastapi_app.py"}


def programs() -> list[str]:
    return sorted({path.name for path in EXAMPLES.glob("*.py")} - SERVED)


def test_every_example_is_run():
    """
    An example without an expected line below would be an example that nobody runs.
    """
    assert sorted(SHOWN) == programs()


@pytest.mark.parametrize("name", programs())
def test_an_example_runs_offline_and_shows_its_point(name):
    """
    Each example ends well, in a process of its own, and prints the line that it is about.
    """
    needed, expected = SHOWN[name]
    for module in needed:
        pytest.importorskip(module)
    shown = subprocess.run([sys.executable, EXAMPLES / name], check=False, capture_output=True, text=True, timeout=60)
    assert shown.returncode == 0, shown.stderr
    assert expected in shown.stdout


@pytest.mark.parametrize("name", programs())
def test_an_example_is_short(name):
    """
    An example is read in one sitting: 60 lines at the most.
    """
    assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) <= 60
