from __future__ import annotations

import subprocess
import sys

import pytest

LOADS_NOTHING = """
import sys
from rageval_trace import evaluate
print(sorted({name.split(".")[0] for name in sys.modules} & {"opentelemetry", "anthropic", "rich"}))
"""


def test_importing_the_harness_loads_no_telemetry():
    """
    `from rageval_trace import evaluate` is free of OpenTelemetry, model clients and terminal libraries.
    """
    pytest.importorskip("rageval_trace.evaluation", reason="the harness is not there yet")
    shown = subprocess.run([sys.executable, "-c", LOADS_NOTHING], check=True, capture_output=True, text=True)
    assert shown.stdout == "[]\n"
