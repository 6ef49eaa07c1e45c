"""
Requests that ended, ready to be submitted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rageval_trace.live import tally
from rageval_trace.live.capture import Capture
from rageval_trace.models import EvalRecord
from rageval_trace.telemetry.anchor import Anchor


@pytest.fixture(autouse=True)
def _unsaid(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Let every test hear what is said once a process.
    """
    monkeypatch.setattr(tally, "_said", set())


@pytest.fixture
def capture() -> Callable[..., Capture]:
    """
    Make a request that ended well; fields of the record and of the capture may be given.
    """
    fields = {"question", "contexts", "answer", "ground_truth", "relevant_ids", "citations", "asked_at"}

    def make(**given: Any) -> Capture:
        record = {
            "question": "How tall is it?",
            "contexts": ["It is 82 metres tall."],
            "answer": "It is 82 metres tall.",
        }
        record.update({name: value for name, value in given.items() if name in fields})
        now = time.time_ns()
        about = {"status": "ok", "run_id": "run-1", "anchor": Anchor(), "started_ns": now, "ended_ns": now}
        about.update({name: value for name, value in given.items() if name not in fields})
        return Capture(record=EvalRecord(**record), **about)

    return make


@pytest.fixture
def telemetry() -> Iterator[Any]:
    """
    Catch telemetry in memory.
    """
    pytest.importorskip("opentelemetry.sdk")
    from rageval_trace.testing import capture_telemetry

    with capture_telemetry() as captured:
        yield captured
