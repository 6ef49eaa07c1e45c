"""
What importing the adapter loads, and what that costs beside LangChain's own import and another instrumentation's.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

import pytest

pytest.importorskip("langchain_core", reason="needs the dev extra")
pytest.importorskip("opentelemetry.sdk", reason="needs the dev extra")

# What a LangChain application has loaded before it attaches anything.
APPLICATION = "import langchain_core.callbacks.manager, langchain_core.runnables.base"
OURS = "from rageval_trace_langchain import RagEvalHandler"
OPENINFERENCE = "from openinference.instrumentation.langchain import LangChainInstrumentor"

MEASURE = """
import resource
def seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
"""


def child(script: str) -> list[str]:
    """Run *script* in a fresh interpreter that may keep compiled files, and return the words it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    return ran.stdout.split()


def loaded_by(statement: str) -> set[str]:
    """Return the modules that *statement* loads beyond the application's own."""
    return set(child(f"{APPLICATION}\nimport sys\nold = set(sys.modules)\n{statement}\nprint(*set(sys.modules) - old)"))


def cost(statement: str, after: str) -> float:
    """Return the processor seconds that *statement* takes after *after*."""
    return float(child(f"{MEASURE}\n{after}\nbegan = seconds()\n{statement}\nprint(seconds() - began)")[0])


def test_importing_the_adapter_loads_itself_and_little_of_the_core() -> None:
    """Nothing of the harness, the telemetry or anyone else is loaded before there is a handler."""
    loaded = loaded_by(OURS)
    assert {"rageval_trace", "rageval_trace_langchain"} == {
        name.split(".")[0] for name in loaded
    } - sys.stdlib_module_names
    assert {
        name for name in loaded if name.startswith(("rageval_trace.metrics", "rageval_trace.live.monitor"))
    } == set()


def test_the_first_handler_loads_no_sdk_model_client_or_framework() -> None:
    """A handler needs OpenTelemetry's API, LangChain's core and this package, and nothing else."""
    loaded = loaded_by(f"{OURS}\nRagEvalHandler()")
    assert {name.split(".")[0] for name in loaded} - sys.stdlib_module_names <= {
        "langchain_core",
        "opentelemetry",
        "rageval_trace",
        "rageval_trace_langchain",
    }
    assert {name for name in loaded if name.startswith("opentelemetry.sdk")} == set()


@pytest.mark.slow
def test_the_import_costs_half_of_openinference_and_a_twentieth_of_langchain() -> None:
    """In one run, taken in turns: the median import of the adapter beside OpenInference's and LangChain's core's."""
    pytest.importorskip("openinference.instrumentation.langchain", reason="needs OpenInference beside us")
    taken: dict[str, list[float]] = {OURS: [], OPENINFERENCE: [], APPLICATION: []}
    for turn in range(10):
        for statement in taken if turn % 2 else reversed(taken):
            taken[statement].append(cost(statement, "pass" if statement == APPLICATION else APPLICATION))
    ours, openinference, application = (statistics.median(times[1:]) for times in taken.values())
    assert ours <= openinference / 2
    assert ours <= application / 20
