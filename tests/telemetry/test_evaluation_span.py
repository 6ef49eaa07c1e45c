"""
The evaluation span: its names, types, parent, link and values.
"""

from __future__ import annotations

import math

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from rageval_trace.models import EvalRecord, MetricResult
from rageval_trace.telemetry.anchor import Anchor
from rageval_trace.telemetry.emitter import Emitter
from rageval_trace.testing import capture_telemetry


@pytest.fixture
def anchor(captured):
    """
    Give an anchor whose outer span has ended already, as after a streamed request.
    """
    with captured.tracer_provider.get_tracer("app").start_as_current_span("user"):
        return Anchor.begin()


@pytest.fixture
def emitted(emitter, captured, make_evaluation, anchor):
    """
    Give a function that sends an evaluation with changes and returns its span.
    """

    def send(**changes):
        made = emitter(spans="never")
        made.emit(make_evaluation(**changes), anchor)
        return captured.spans[-1]

    return send


def test_it_is_a_child_of_the_anchor_with_one_link_to_it(emitted, captured):
    """
    Parent and link name the evaluated span, in its trace; the kind is INTERNAL and the scope ours.
    """
    span = emitted()
    user = captured.spans[0]
    assert ("evaluation support-bot", "INTERNAL", "rageval_trace") == (span.name, span.kind, span.scope)
    assert (user.trace_id, user.span_id) == (span.trace_id, span.parent_id)
    assert ((user.trace_id, user.span_id, {"rageval.link": "evaluated"}),) == span.links


def test_without_an_anchor_it_is_a_root_without_links(emitter, captured, make_evaluation):
    """
    A request outside of every trace gets one of its own, even if a span is current while it is scored.
    """
    made = emitter(spans="never")
    with captured.tracer_provider.get_tracer("app").start_as_current_span("worker's own"):
        context = made.emit(make_evaluation(), Anchor())
    span = captured.spans[0]
    assert (None, ()) == (span.parent_id, span.links)
    assert f"{context.span_id:016x}" == span.span_id


EXACT = {
    "gen_ai.operation.name": "evaluation",
    "openinference.span.kind": "EVALUATOR",
    "rageval.pipeline": "support-bot",
    "rageval.status": "ok",
    "rageval.judge": "lexical",
    "rageval.evaluator.version": "scoring-1+0a1b2c3d",
    "rageval.sample_rate": 1.0,
    "rageval.selection": "random",
    "rageval.context.source": "retriever",
    "rageval.context.count": 5,
    "rageval.context.dated": 2,
    "rageval.claims.total": 5,
    "rageval.claims.unsupported": 2,
    "rageval.claims.unsupported_index": (2, 4),
    "rageval.contexts.unused": (3, 5),
    "rageval.abstained": False,
    "rageval.breached": ("groundedness",),
    "rageval.verdict": "fail",
    "rageval.weakest": "groundedness",
    "rageval.weakest_score": 0.5,
}


def test_every_attribute_with_its_value_and_type(emitted, make_results):
    """
    Attributes are exactly those of the contract; scores and rates are doubles, counts are integers.
    """
    span = emitted(sample_rate=1, weakest_score=0.5)
    scores = {f"rageval.score.{name}": 0.5 for name in make_results()}
    assert {**EXACT, **scores} == span.attributes
    types = {name: type(value) for name, value in span.attributes.items()}
    assert {name: type(value) for name, value in {**EXACT, **scores}.items()} == types


def test_whole_scores_are_doubles_too(emitted):
    """
    A score of 1 or 0, given as an integer, is exported as a double.
    """
    span = emitted(results={"a": MetricResult("a", 1), "b": MetricResult("b", 0)}, weakest_score=1)
    values = [span.attributes[name] for name in ("rageval.score.a", "rageval.score.b", "rageval.weakest_score")]
    assert [(1.0, float), (0.0, float), (1.0, float)] == [(value, type(value)) for value in values]


def test_scores_come_last(emitted, make_results):
    """
    A span that overflows drops its oldest attributes, so the scores are its newest.
    """
    span = emitted()
    assert [f"rageval.score.{name}" for name in make_results()] == list(span.attributes)[-16:]


def test_captured_model_facts_are_added_and_none_is_made_up(emitted):
    """
    Model, provider, response and conversation stand there only if captured.
    """
    keys = ("gen_ai.response.id", "gen_ai.request.model", "gen_ai.provider.name", "gen_ai.conversation.id")
    assert not set(keys) & set(emitted().attributes)
    span = emitted(response_id="r", request_model="m", provider_name="p", conversation_id="c")
    assert ["r", "m", "p", "c"] == [span.attributes[key] for key in keys]


@pytest.mark.parametrize("score", [None, math.nan, math.inf])
def test_undefined_has_no_score(emitted, score):
    """
    An undefined metric is named, and never stands there as 0.0, NaN or None.
    """
    span = emitted(results={"a": MetricResult("a", score), "b": MetricResult("b", 0.5)})
    assert ("b",) == tuple([key[14:] for key in span.attributes if key.startswith("rageval.score.")])
    assert ("a",) == span.attributes["rageval.undefined"]
    assert None not in span.attributes.values()


def test_nothing_undefined_or_failed_is_said_by_absence(emitted):
    """
    The lists of undefined and failed metrics stand there only if they hold something.
    """
    assert not {"rageval.undefined", "rageval.failed", "error.type"} & set(emitted().attributes)


def test_a_failed_metric_is_no_span_error(emitted):
    """
    One metric that raised is named; the span's status stays unset.
    """
    span = emitted(results={"a": MetricResult("a", None, error_type="ValueError"), "b": MetricResult("b", 0.1)})
    assert (("a",), "UNSET", False) == (
        span.attributes["rageval.failed"],
        span.status,
        "error.type" in span.attributes,
    )


def test_scoring_that_failed_as_a_whole_is_an_error(emitted):
    """
    Only then the span carries error.type and the status ERROR.
    """
    span = emitted(results={}, error_type="MemoryError", verdict="unknown")
    assert ("MemoryError", "ERROR") == (span.attributes["error.type"], span.status)


def test_without_thresholds_there_is_no_verdict(emitted):
    """
    No thresholds: nothing is breached, weak or judged.
    """
    span = emitted(verdict=None, breached=(), labels={}, weakest=None, weakest_score=None)
    assert not {"rageval.verdict", "rageval.breached", "rageval.weakest", "rageval.weakest_score"} & set(
        span.attributes
    )


def test_with_thresholds_and_no_breach_the_list_is_empty(emitted):
    """
    With thresholds the list of breaches stands there, even empty.
    """
    span = emitted(verdict="unknown", breached=(), weakest=None, weakest_score=None)
    assert ((), "unknown") == (span.attributes["rageval.breached"], span.attributes["rageval.verdict"])


def test_contexts_not_observed_are_not_counted(emitted):
    """
    None is not zero: without observed contexts there is no count, with empty ones it is 0.
    """
    nothing = emitted(record=EvalRecord("q", None, "a"), context_source=None, abstained=None)
    assert not {key for key in nothing.attributes if key.startswith("rageval.context.")}
    assert "rageval.abstained" not in nothing.attributes
    empty = emitted(record=EvalRecord("q", [], "a"))
    assert (0, 0) == (empty.attributes["rageval.context.count"], empty.attributes["rageval.context.dated"])


def test_claims_come_from_hallucination_rate_where_groundedness_is_not_selected(emitted, make_results):
    """
    Both hold the same evidence.
    """
    details = make_results()["groundedness"].details
    span = emitted(results={"hallucination_rate": MetricResult("hallucination_rate", 0.4, details=details)})
    assert (5, 2) == (span.attributes["rageval.claims.total"], span.attributes["rageval.claims.unsupported"])


def test_it_takes_the_time_of_scoring(emitted):
    """
    The span ends when it is sent and began as long before as scoring took.
    """
    span = emitted(duration_s=0.25)
    assert (1_800_000_002_750_000_000, 1_800_000_003_000_000_000) == (span.started_ns, span.ended_ns)


@pytest.mark.parametrize("seconds", [math.nan, math.inf, -1.0])
def test_an_impossible_duration_is_none(emitted, seconds):
    """
    A clock that ran backwards costs no span.
    """
    span = emitted(duration_s=seconds)
    assert span.started_ns == span.ended_ns


def test_an_unsampled_anchor_has_no_span_event_or_log(make_evaluation):
    """
    What was not traced is not joined by an orphan; the metrics still count it.
    """
    with capture_telemetry(sampler=ALWAYS_OFF) as captured:
        with captured.tracer_provider.get_tracer("app").start_as_current_span("user"):
            anchor = Anchor.begin()
        made = Emitter(**captured.providers)
        context = made.emit(make_evaluation(), anchor)
        scores = captured.metrics("rageval.evaluation.score")
    assert (None, [], [], 16) == (context, captured.spans, captured.logs, len(scores))
    assert [()] * 16 == [point.exemplar_trace_ids for point in scores]


def test_a_sampler_that_drops_our_root_drops_its_logs_too(make_evaluation):
    """
    Without an anchor the sampler decides on the span, and logs follow it.
    """
    with capture_telemetry(sampler=ALWAYS_OFF) as captured:
        for spans in ("auto", "never"):
            made = Emitter(spans_options(spans), **captured.providers)
            assert made.emit(make_evaluation(), Anchor()) is None
        scores = captured.metrics("rageval.evaluation.score")
    assert ([], [], 2) == (captured.spans, captured.logs, scores[0].count)


def spans_options(spans):
    """
    Return options with this mode of request spans.
    """
    from rageval_trace.telemetry.emitter import EmitOptions

    return EmitOptions(spans=spans)


@pytest.mark.parametrize("options", [{}, {"events": frozenset({"span-all"}), "openinference": True}])
def test_many_metrics_never_push_anything_out(emitter, captured, make_evaluation, anchor, options):
    """
    With 200 metrics the span stays below its 128 attributes, and thresholded scores are kept first.
    """
    results = {f"m{n}": MetricResult(f"m{n}", 0.5, details={"counts": {"bad": 1, "all": 2}}) for n in range(200)}
    emitter(spans="never", **options).emit(make_evaluation(results=results, labels={"m199": "fail"}), anchor)
    attributes = captured.spans[-1].attributes
    assert len(attributes) <= 128
    assert 0.5 == attributes["rageval.score.m199"]
    assert "gen_ai.operation.name" in attributes
    assert 60 == len([key for key in attributes if not key.startswith("evaluations.")])


def test_half_a_surrogate_pair_in_a_name_can_be_exported(emitted):
    """
    Text that UTF-8 cannot hold would cost the whole exported batch; it is mended.
    """
    span = emitted(pipeline="p\ud800", conversation_id="c\udfff")
    assert ("evaluation p?", "p?", "c?") == (
        span.name,
        span.attributes["rageval.pipeline"],
        span.attributes["gen_ai.conversation.id"],
    )


def test_the_verdict_is_put_on_the_evaluated_span_while_it_records(emitter, captured, make_evaluation):
    """
    With annotate_parent, an open span gets verdict, weakest and its score; an ended one is left alone.
    """
    made = emitter(spans="never", annotate_parent=True)
    with captured.tracer_provider.get_tracer("app").start_as_current_span("user"):
        anchor = Anchor.begin()
        made.emit(make_evaluation(), anchor)
    made.emit(make_evaluation(verdict="pass"), anchor)
    user = next(span for span in captured.spans if span.name == "user")
    wanted = {"rageval.verdict": "fail", "rageval.weakest": "groundedness", "rageval.weakest_score": 0.5}
    assert wanted == user.attributes


def test_the_evaluated_span_is_left_alone_by_default(emitter, captured, make_evaluation):
    """
    Without annotate_parent nothing is written to a span that is not ours.
    """
    with captured.tracer_provider.get_tracer("app").start_as_current_span("user"):
        emitter().emit(make_evaluation(), Anchor.begin())
    assert {} == captured.spans[-1].attributes
