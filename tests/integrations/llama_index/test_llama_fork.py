"""
Processes that fork while requests are under way: each request is reported once, by the process that it began in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import llama_parts as parts
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "parts" / "llama_fork.py"

Told = dict[str, dict[str, tuple[list[tuple[Any, ...]], int]]]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture(scope="module")
def told() -> Told:
    """
    Run every scene once: what each process reported, and the number of its requests that are still open.
    """
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=False, timeout=100)
    assert (0, "") == (done.returncode, "" if done.returncode == 0 else done.stderr)
    scenes: Told = {}
    for line in map(json.loads, done.stdout.splitlines()):
        scene = scenes.setdefault(line["how"], {})
        assert line["who"] not in scene
        scene[line["who"]] = ([tuple(result) for result in line["reported"]], line["open"])
    return scenes


@pytest.mark.parametrize(
    ("how", "ended"),
    [
        ("unread", ("streamed", "ok", parts.ANSWER)),
        ("partly", ("streamed", "partial", "The")),
        ("dropped", ("streamed", "abandoned", None)),
        ("asynchronous", ("streamed", "partial", "The")),
        ("legacy", ("streamed", "ok", parts.ANSWER)),
    ],
)
def test_a_stream_that_is_open_at_the_fork(how: str, ended: tuple[Any, ...], told: Told) -> None:
    """
    The child may read, close or drop its copy; only the parent reports the request. Both go on to report their own.
    """
    assert {
        "child": ([("of the child", "ok", parts.ANSWER)], 0),
        "parent": ([ended, ("of the parent", "ok", parts.ANSWER)], 0),
    } == told[how]


def test_a_fork_inside_a_request(told: Told) -> None:
    """
    The child's question is a request of its own; the parent's is a part of the request that it forked in.
    """
    assert {
        "child": ([("of the child", "ok", parts.ANSWER)], 0),
        "parent": ([], 1),
        "parent at last": ([("forked", "ok", parts.ANSWER)], 0),
    } == told["inside"]


def test_a_fork_while_other_threads_ask(told: Told) -> None:
    """
    Whatever locks they hold, no child hangs, and none reports a request of the parent's.
    """
    assert {"parent": ([("streamed", "ok", parts.ANSWER)] * 10, 0)} == told["busy"]
