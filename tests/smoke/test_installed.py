from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distribution, version
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOTS = ("rageval_trace", "rageval_trace_langchain", "rageval_trace_llama_index")


@pytest.mark.parametrize("root", ROOTS)
def test_each_import_root_is_installed_and_typed(root):
    """
    Every root can be found and carries the marker that makes type checkers read it.
    """
    found = find_spec(root)
    assert found is not None
    assert found.origin is not None
    assert (Path(found.origin).parent / "py.typed").is_file()


@pytest.mark.parametrize("program", ["rageval", "rag-eval"])
def test_both_programs_are_the_command_line(program):
    """
    The two names start the same program, which says the version of the distribution.
    """
    path = Path(sys.executable).parent / program
    shown = subprocess.run([path, "--version"], check=True, capture_output=True, text=True, timeout=60)
    assert shown.stdout == f"rageval-trace {version('rageval-trace')}\n"


def test_the_core_needs_the_opentelemetry_api_alone():
    """
    Everything but the OpenTelemetry API is behind an extra; Python 3.10 also needs a reader of TOML.
    """
    needed = [
        need
        for need in distribution("rageval-trace").requires or []
        if "extra ==" not in need and "python_version <" not in need
    ]
    assert ["opentelemetry-api"] == [need.partition("<")[0].partition(">")[0].strip() for need in needed]
