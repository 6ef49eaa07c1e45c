"""
A handler with telemetry caught in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rageval_trace.live.result import LiveResult
from rageval_trace.testing import CapturedTelemetry, capture_telemetry


@pytest.fixture
def telemetry() -> Iterator[CapturedTelemetry]:
    """
    Catch telemetry in memory.
    """
    pytest.importorskip("opentelemetry.sdk")
    with capture_telemetry() as captured:
        yield captured


@pytest.fixture
def results() -> list[LiveResult]:
    """
    Collect what handlers of `make` report.
    """
    return []


@pytest.fixture
def make(telemetry: CapturedTelemetry, results: list[LiveResult]) -> Callable[..., Any]:
    """
    Make handlers that report to `results` and send to `telemetry`.
    """
    from rageval_trace_langchain import RagEvalHandler

    return lambda **kwargs: RagEvalHandler(**{"on_result": results.append, **telemetry.providers, **kwargs})


@pytest.fixture
def handler(make: Callable[..., Any]) -> Any:
    """
    Make a handler with everything at its default.
    """
    return make()
