"""
The anchor finds the span that scores belong to, and leaves the current context alone.
"""

from __future__ import annotations

import pytest
from opentelemetry import trace

from rageval_trace.telemetry.anchor import Anchor
from rageval_trace.testing import capture_telemetry


@pytest.fixture
def tracer():
    with capture_telemetry() as captured:
        yield captured.tracer_provider.get_tracer("app")


def test_without_any_span_there_is_no_target():
    """
    Outside of every span the anchor holds nothing.
    """
    anchor = Anchor.begin()
    anchor.observe(lambda: None, child=True)
    assert (None, None, False) == (anchor.target, anchor.span, anchor.instrumented)


def test_the_outer_span_is_the_target_when_nothing_else_is_seen(tracer):
    """
    A plain user span stays current in every callback and is no instrumentation.
    """
    with tracer.start_as_current_span("user") as user:
        anchor = Anchor.begin()
        anchor.observe(child=True)
    assert (user.get_span_context(), user, False) == (anchor.target, anchor.span, anchor.instrumented)


def test_the_first_other_span_in_a_child_callback_wins(tracer):
    """
    What an instrumentation attaches for child runs stands for the request; later spans do not.
    """
    with tracer.start_as_current_span("user"):
        anchor = Anchor.begin()
        with tracer.start_as_current_span("root run") as root:
            anchor.observe(child=True)
            with tracer.start_as_current_span("retriever"):
                anchor.observe(child=True)
    assert (root.get_span_context(), root, True) == (anchor.target, anchor.span, anchor.instrumented)


def test_a_root_callback_does_not_read_the_current_span(tracer):
    """
    At the root a current span other than the outer one may be anybody's.
    """
    anchor = Anchor.begin()
    with tracer.start_as_current_span("other"):
        anchor.observe(child=False)
    assert anchor.target is None


def test_the_lookup_comes_first(tracer):
    """
    What an instrumentation names as its span beats what is current, and counts at the root too.
    """
    named = tracer.start_span("named")
    for child in (True, False):
        anchor = Anchor.begin()
        with tracer.start_as_current_span("current"):
            anchor.observe(lambda: named, child=child)
        assert (named.get_span_context(), True) == (anchor.target, anchor.instrumented)


def test_a_lookup_that_finds_an_invalid_span_is_no_hit():
    """
    An invalid span, as a no-op tracer gives, is nothing to belong to.
    """
    anchor = Anchor.begin()
    anchor.observe(lambda: trace.INVALID_SPAN, child=True)
    assert anchor.target is None


def test_the_emitters_own_span_becomes_the_target(tracer):
    """
    Once a request span was built, later evaluations of the request belong to it.
    """
    with tracer.start_as_current_span("user"):
        anchor = Anchor.begin()
    built = tracer.start_span("invoke_workflow").get_span_context()
    anchor.adopt(built)
    assert (built, None, False) == (anchor.target, anchor.span, anchor.instrumented)


def test_the_current_span_is_never_changed(tracer):
    """
    No callback attaches anything.
    """
    with tracer.start_as_current_span("user") as user:
        anchor = Anchor.begin()
        anchor.observe(lambda: tracer.start_span("named"), child=True)
        assert user is trace.get_current_span()
