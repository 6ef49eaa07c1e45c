"""
An evaluation lands in the right trace, below the right span, beside every instrumentation of LangChain.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).resolve().parents[2] / "parts" / "anchor_matrix.py"
PACKAGES = {
    "none": "langchain_core",
    "openinference": "openinference.instrumentation.langchain",
    "genai": "opentelemetry.instrumentation.genai.langchain",
    "traceloop": "opentelemetry.instrumentation.langchain",
}
# What each instrumentation calls the root run of this chain; ours where there is none.
ROOTS = {
    "none": ("invoke_workflow bot", "rageval_trace"),
    "openinference": ("RunnableSequence", "openinference.instrumentation.langchain"),
    "genai": ("invoke_workflow RunnableSequence", None),
    "traceloop": ("RunnableSequence.workflow", "opentelemetry.instrumentation.langchain"),
}


def _present(module):
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@pytest.fixture(scope="module", params=list(PACKAGES))
def beside(request):
    """
    Run the program beside one instrumentation and give its name and what it printed.
    """
    if not _present(PACKAGES[request.param]):
        pytest.skip(f"{PACKAGES[request.param]} is not installed")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(PROGRAM), request.param],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    return request.param, json.loads(done.stdout)


def _misplaced(instrumentation, rows):
    name, scope = ROOTS[instrumentation]
    for row in rows:
        wanted = {
            "parent": name,
            "parent_scope": scope or row["parent_scope"],
            "above": "user" if row["user"] else None,
            "above_is_root": True,
        }
        if wanted != {key: row[key] for key in wanted}:
            yield row


def test_the_32_combinations(beside):
    """
    {user span, none} x {sync, async} x {with_config, call config}: below the root run's span, eight of eight.
    """
    instrumentation, rows = beside
    chosen = [row for row in rows if row["call"] in ("invoke", "ainvoke") and row["attach"] != "hook"]
    assert 8 == len(chosen)
    assert [] == list(_misplaced(instrumentation, chosen))


def test_streams_and_batches(beside):
    """
    The same for stream, astream, batch and abatch.
    """
    instrumentation, rows = beside
    chosen = [row for row in rows if row["call"] not in ("invoke", "ainvoke") and row["attach"] != "hook"]
    assert 16 == len(chosen)
    assert [] == list(_misplaced(instrumentation, chosen))


def test_a_handler_that_hears_events_after_the_instrumentation(beside):
    """
    Through a configure hook ours comes last: the parent is right all the same, but for Traceloop's streams and
    batches in asyncio, where only a step of the chain can be seen.
    """
    instrumentation, rows = beside
    hooked = [row for row in rows if row["attach"] == "hook"]
    misplaced = [row["call"] for row in _misplaced(instrumentation, hooked)]
    known = ["astream", "astream", "abatch", "abatch"] if instrumentation == "traceloop" else []
    assert (12, known) == (len(hooked), misplaced)


def test_what_holds_in_every_combination(beside):
    """
    One evaluation in one trace, linked to its parent; no second workflow span; the current span left alone.
    """
    instrumentation, rows = beside
    wanted = {
        "evaluations": 1,
        "traces": 1,
        "linked_to_parent": True,
        "workflows_of_ours": 1 if instrumentation == "none" else 0,
        "current_unchanged": True,
    }
    assert [] == [row for row in rows if wanted != {key: row[key] for key in wanted}]
