"""
Attached to every run, without touching code.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph")

import langchain_parts as parts
from langchain_core.runnables import RunnableLambda
from rageval_trace_langchain import RagEvalHandler
from rageval_trace_langchain.claims import CLAIMS
from rageval_trace_langchain.instrumentor import RagEvalInstrumentor


@pytest.fixture
def seen() -> list[Any]:
    """
    Collect what the automatic handler reports.
    """
    return []


@pytest.fixture
def automatic(seen: list[Any], telemetry: Any) -> Iterator[RagEvalHandler]:
    """
    Attach a handler to every run for the time of a test.
    """
    instrumentor = RagEvalInstrumentor()
    instrumentor.instrument(on_result=seen.append, skip_dep_check=True, **telemetry.providers)
    assert instrumentor.handler is not None
    yield instrumentor.handler
    instrumentor.uninstrument()


def test_every_run_is_followed(automatic: RagEvalHandler, seen: list[Any]) -> None:
    """
    No callbacks are given anywhere, and each request is one result; new threads are no exception.
    """
    parts.lcel().invoke(parts.QUESTION)
    list(parts.lcel().stream(parts.QUESTION))
    parts.graph().invoke({"question": parts.QUESTION})
    thread = threading.Thread(target=parts.lcel().invoke, args=(parts.QUESTION,))
    thread.start()
    thread.join()

    assert [("ok", parts.QUESTION, parts.ANSWER)] * 4 == [(r.status, r.record.question, r.record.answer) for r in seen]
    assert (4, 0) == (automatic.stats["scored"], automatic.stats["live_requests"])


@pytest.mark.parametrize(
    "attach",
    [
        lambda h: parts.lcel().invoke(parts.QUESTION, {"callbacks": [h]}),
        lambda h: parts.lcel().with_config(callbacks=[h]).invoke(parts.QUESTION),
        lambda h: list(parts.lcel().stream(parts.QUESTION, {"callbacks": [h]})),
        lambda h: (RunnableLambda(lambda q: q) | parts.lcel().with_config(callbacks=[h])).invoke(parts.QUESTION),
        lambda h: parts.lcel().with_config(tags=["rageval:unit"]).invoke(parts.QUESTION, {"callbacks": [h]}),
    ],
    ids=["in the call", "bound", "in a stream", "on an inner chain", "on a unit"],
)
def test_a_handler_attached_by_hand_counts_alone(
    attach: Callable[[Any], Any], automatic: RagEvalHandler, seen: list[Any], handler: Any, results: list[Any]
) -> None:
    """
    Nothing is counted twice: the automatic handler steps aside, whether the other sits outside or inside.
    """
    attach(handler)

    assert ([], ["ok"]) == (seen, [result.status for result in results])
    assert 0 == sum([automatic.stats[name] for name in ("scored", "not_rag", "incomplete", "not_sampled")])
    assert (0, 0, set()) == (automatic.stats["live_requests"], handler.stats["live_requests"], CLAIMS._claimed)


def test_plain_model_calls_are_outside_the_coverage(automatic: RagEvalHandler) -> None:
    """
    A process calls models for much that is no RAG.
    """
    parts.Script().invoke("Hello?")
    (parts.PROMPT | parts.Script()).invoke({"context": "", "question": "Hello?"})

    assert (2, 0, 0) == (automatic.stats["not_rag"], automatic.stats["scored"], automatic.stats["not_sampled"])


def test_unsampled_requests_count_when_they_searched(telemetry: Any) -> None:
    """
    Without a record to look at, a retriever's run tells RAG from the rest.
    """
    instrumentor = RagEvalInstrumentor()
    instrumentor.instrument(sample_rate=0.0, **telemetry.providers)
    handler = instrumentor.handler
    assert handler is not None
    try:
        parts.lcel().invoke(parts.QUESTION)
        (parts.PROMPT | parts.Script()).invoke({"context": "", "question": "Hello?"})
    finally:
        instrumentor.uninstrument()

    assert (1, 1) == (handler.stats["not_sampled"], handler.stats["not_rag"])


def test_instrumenting_twice_is_once_and_uninstrumenting_ends_it(telemetry: Any) -> None:
    """
    The instance is the process's only one, and can begin again.
    """
    from langchain_core.tracers import context

    before = len(context._configure_hooks)
    for _ in range(2):
        instrumentor = RagEvalInstrumentor()
        instrumentor.instrument(**telemetry.providers)
        instrumentor.instrument(**telemetry.providers)
        handler = instrumentor.handler
        assert handler is not None
        parts.lcel().invoke(parts.QUESTION)
        instrumentor.uninstrument()
        instrumentor.uninstrument()
        parts.lcel().invoke(parts.QUESTION)
        assert 1 == handler.stats["scored"]
    assert (before, None, False) == (len(context._configure_hooks), RagEvalInstrumentor().handler, CLAIMS.watched)


def test_the_switch_of_the_operator_works_here_too(monkeypatch: pytest.MonkeyPatch, telemetry: Any) -> None:
    """
    RAGEVAL_TRACE_ENABLED=0 leaves a handler that is passed over.
    """
    monkeypatch.setenv("RAGEVAL_TRACE_ENABLED", "0")
    instrumentor = RagEvalInstrumentor()
    instrumentor.instrument(**telemetry.providers)
    handler = instrumentor.handler
    assert handler is not None
    try:
        parts.lcel().invoke(parts.QUESTION)
        assert (None, 0) == (handler.last, handler.stats["scored"])
    finally:
        instrumentor.uninstrument()


def _entry_point() -> EntryPoint:
    tomllib = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")
    project = tomllib.loads((Path(__file__).resolve().parents[3] / "pyproject.toml").read_text())["project"]
    name = "rageval_trace_langchain"
    return EntryPoint(name, project["entry-points"]["opentelemetry_instrumentor"][name], "opentelemetry_instrumentor")


def test_opentelemetrys_loader_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    The entry point of the project file is loaded as `opentelemetry-instrument` loads it.
    """
    pytest.importorskip("opentelemetry.instrumentation")
    from opentelemetry.instrumentation.distro import DefaultDistro

    DefaultDistro().load_instrumentor(_entry_point(), skip_dep_check=True)

    assert RagEvalInstrumentor().handler is not None
    RagEvalInstrumentor().uninstrument()


def test_it_is_silent_when_langchain_is_missing() -> None:
    """
    The loader skips, without a word, an instrumentation whose framework is not installed.
    """
    pytest.importorskip("opentelemetry.instrumentation")
    code = f"""
import importlib.util, sys
from importlib.metadata import EntryPoint
from opentelemetry.instrumentation.auto_instrumentation import _load
from opentelemetry.instrumentation.distro import DefaultDistro
sys.modules["langchain_core"], find = None, importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "langchain_core" else find(name, *rest)
entry = EntryPoint("rageval_trace_langchain", {_entry_point().value!r}, "opentelemetry_instrumentor")
_load.entry_points = lambda group: [entry] if group == "opentelemetry_instrumentor" else []
_load.get_dist_dependency_conflicts = lambda dist: None
_load._load_instrumentors(DefaultDistro())
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)

    assert (0, "", "") == (found.returncode, found.stdout, found.stderr)
