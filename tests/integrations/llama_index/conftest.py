"""
A handler on the root dispatcher, with telemetry caught in memory.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

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
def make(telemetry: CapturedTelemetry, results: list[LiveResult]) -> Iterator[Callable[..., Any]]:
    """
    Make handlers that report to `results` and send to `telemetry`.
    """
    from rageval_trace_llama_index import RagEvalHandler

    made: list[Any] = []

    def make_one(**kwargs: Any) -> Any:
        made.append(RagEvalHandler(**{"on_result": results.append, **telemetry.providers, **kwargs}))
        return made[-1]

    yield make_one
    for one in made:
        one.close()


@pytest.fixture
def handler(make: Callable[..., Any]) -> Any:
    """
    Install a handler with everything at its default; every test that uses it ends with nothing open and no error.
    """
    installed = make().install()
    yield installed
    installed.uninstall()
    stats = installed.stats
    assert {} == {name: stats[name] for name in ("live_requests", "internal_errors") if stats.get(name)}


@pytest.fixture
def swept() -> Iterator[None]:
    """
    Collect at once what LlamaIndex leaves behind: event loops and databases of its own that it does not close.
    """
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
