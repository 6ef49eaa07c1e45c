"""
Scores stand in the right trace, below the request's own span, whatever else instruments LlamaIndex.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import llama_parts as parts
import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).resolve().parents[2] / "parts" / "llama_anchors.py"


def _run(other: str, order: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), other, order], capture_output=True, text=True, check=True, timeout=120
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("other", ["none", "openinference"])
def test_the_evaluation_belongs_to_the_request(other: str, order: str) -> None:
    """
    With and without a span of the user's, sync and async, streamed and not: one trace, one parent, the user's text
    as it was, and the other instrumentation's own tree as it is without us.
    """
    if other == "openinference":
        pytest.importorskip("openinference.instrumentation.llama_index")

    told = _run(other, order)

    assert 8 == len(told)
    for one in told:
        call = "RetrieverQueryEngine.aquery" if one["async"] else "RetrieverQueryEngine.query"
        request = call if other == "openinference" else "invoke_workflow rag"
        assert ([request], [request]) == (one["parents"], one["links"]), one
        assert (1, ["user" if one["user"] else request]) == (one["traces"], one["roots"]), one
        assert parts.ANSWER == one["text"], one
    if other == "openinference":
        assert [one["theirs"] for one in _run(other, "without")] == [one["theirs"] for one in told]
