"""
What goes wrong in sending is counted where the user looks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rageval_trace.live.capture import Capture
from rageval_trace.live.monitor import Monitor


def test_errors_of_sending_stand_in_the_stats(capture: Callable[..., Capture]) -> None:
    """
    A span processor that raises costs the span and is counted; the request is scored all the same.
    """
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.trace import SpanProcessor

    from rageval_trace.testing import capture_telemetry

    class Angry(SpanProcessor):
        def on_start(self, span: Any, parent_context: Any = None) -> None:
            raise RuntimeError

    with capture_telemetry() as captured:
        captured.tracer_provider.add_span_processor(Angry())
        monitor = Monitor(**captured.providers)
        assert "emission_errors" not in monitor.stats
        monitor.submit(capture())
    assert (1, 1) == (monitor.stats["scored"], monitor.stats["emission_errors"])
