"""
Installed for the whole process, without touching code.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import llama_parts as parts
import pytest

ROOTS = Path(__file__).resolve().parents[3]


@pytest.fixture
def automatic(results: list[Any], telemetry: Any) -> Iterator[Any]:
    """
    Instrument for the time of a test, the way OpenTelemetry's loader does.
    """
    entry = EntryPoint(
        "rageval_trace_llama_index",
        "rageval_trace_llama_index.instrumentor:RagEvalInstrumentor",
        "opentelemetry_instrumentor",
    )
    instrumentor = entry.load()()
    instrumentor.instrument(skip_dep_check=True, on_result=results.append, **telemetry.providers)
    instrumentor.instrument(skip_dep_check=True)
    yield instrumentor.handler
    instrumentor.uninstrument()


def test_every_request_is_followed_once(automatic: Any, results: list[Any]) -> None:
    """
    Instrumenting twice is instrumenting once.
    """
    parts.engine().query(parts.QUESTION)

    assert [("ok", parts.ANSWER)] == [(one.status, one.record.answer) for one in results]


def test_a_handler_installed_by_hand_counts_alone(automatic: Any, make: Any, results: list[Any]) -> None:
    """
    The automatic one steps aside for as long.
    """
    with make(pipeline="by hand"):
        parts.engine().query(parts.QUESTION)
    parts.engine().query(parts.QUESTION)

    assert ["by hand", "rag"] == [one.pipeline for one in results]


def test_the_entry_point_is_declared() -> None:
    """
    Under the group and the name that the documentation tells.
    """
    text = (ROOTS / "pyproject.toml").read_text(encoding="utf-8")

    assert 'rageval_trace_llama_index = "rageval_trace_llama_index.instrumentor:RagEvalInstrumentor"' in text


def test_without_llama_index_the_mend_is_named() -> None:
    """
    The import fails as one of a missing module, which OpenTelemetry's loader passes over, and names the command.
    """
    code = """
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name.startswith("llama_index") else real(name, *rest)
try:
    import rageval_trace_llama_index.instrumentor
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    assert 'pip install "rageval-trace[llama-index]"' in done.stdout
