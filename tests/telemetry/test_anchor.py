"""
The anchor finds the span that scores belong to, and leaves the current context alone.
"""

from __future__ import annotations

import pytest
from opentelemetry import context, trace

from rageval_trace.telemetry.anchor import Anchor
from rageval_trace.testing import capture_telemetry


@pytest.fixture
def provider():
    with capture_telemetry() as captured:
        yield captured.tracer_provider


@pytest.fixture
def tracer(provider):
    """
    Give the application's own tracer.
    """
    return provider.get_tracer("app")


@pytest.fixture
def other(provider):
    """
    Give the tracer of another instrumentation.
    """
    return provider.get_tracer("instrumentation")


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


@pytest.mark.parametrize("user", [True, False])
def test_the_first_other_span_in_a_child_callback_wins(tracer, other, user):
    """
    What an instrumentation attaches for child runs stands for the request; later spans do not.
    """
    outer = tracer.start_span("user") if user else trace.INVALID_SPAN
    with trace.use_span(outer):
        anchor = Anchor.begin()
        with other.start_as_current_span("root run") as root:
            anchor.observe(child=True)
            assert anchor.settled
            with other.start_as_current_span("retriever"):
                anchor.observe(child=True)
        anchor.observe(child=True)
    assert (root.get_span_context(), root, True) == (anchor.target, anchor.span, anchor.instrumented)


def test_an_instrumentation_that_hears_the_start_before_us(tracer, other):
    """
    Its root span is current already when the request begins; a child's span is not taken for it in the end.
    """
    with tracer.start_as_current_span("user"), other.start_as_current_span("root run") as root:
        anchor = Anchor.begin()
        with other.start_as_current_span("retriever") as child:
            anchor.observe(child=True)
            assert (child.get_span_context(), False) == (anchor.target, anchor.settled)
        anchor.observe(child=True)
        with other.start_as_current_span("model"):
            anchor.observe(child=True)
    wanted = (root.get_span_context(), root, True, True)
    assert wanted == (anchor.target, anchor.span, anchor.instrumented, anchor.settled)


@pytest.mark.parametrize("user", [True, False])
def test_a_root_span_that_was_attached_in_another_task(tracer, other, user):
    """
    When only a child's span is current here, the span above it stands for the request.
    """
    outer = tracer.start_span("user") if user else trace.INVALID_SPAN
    with trace.use_span(outer):
        anchor = Anchor.begin()
        root = other.start_span("root run")
        with other.start_as_current_span("retriever", trace.set_span_in_context(root, context.Context())):
            anchor.observe(child=True)
    assert (root.get_span_context(), None, True) == (anchor.target, anchor.span, anchor.settled)


def test_spans_of_another_sdk_have_no_readable_parent():
    """
    The API promises neither parent nor scope; then the span that was seen is taken.
    """
    seen = trace.NonRecordingSpan(trace.SpanContext(1, 2, False, trace.TraceFlags(1)))
    anchor = Anchor.begin()
    with trace.use_span(seen):
        anchor.observe(child=True)
    assert (seen.get_span_context(), True) == (anchor.target, anchor.settled)


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
    An invalid span, as a no-op tracer gives, is nothing to belong to; the current one is looked at all the same.
    """
    anchor = Anchor.begin()
    anchor.observe(lambda: trace.INVALID_SPAN, child=True)
    assert (None, False) == (anchor.target, anchor.settled)
    with trace.use_span(trace.NonRecordingSpan(trace.SpanContext(1, 2, False))) as seen:
        anchor.observe(lambda: trace.INVALID_SPAN, child=True)
    assert seen.get_span_context() == anchor.target


def test_the_emitters_own_span_becomes_the_target(tracer):
    """
    Once a request span was built, later evaluations of the request belong to it.
    """
    with tracer.start_as_current_span("user"):
        anchor = Anchor.begin()
    built = tracer.start_span("invoke_workflow").get_span_context()
    anchor.adopt(built)
    with tracer.start_as_current_span("late"):
        anchor.observe(child=True)
    assert (built, None, False) == (anchor.target, anchor.span, anchor.instrumented)


def test_the_current_span_is_never_changed(tracer):
    """
    No callback attaches anything.
    """
    with tracer.start_as_current_span("user") as user:
        anchor = Anchor.begin()
        anchor.observe(lambda: tracer.start_span("named"), child=True)
        assert user is trace.get_current_span()
