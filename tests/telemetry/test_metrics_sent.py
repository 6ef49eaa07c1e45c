"""
What one evaluation puts on the metrics.
"""

from __future__ import annotations

import math

import pytest
from opentelemetry._logs import NoOpLoggerProvider
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.trace import NoOpTracerProvider

from rageval_trace.models import MetricResult
from rageval_trace.telemetry import names
from rageval_trace.telemetry.anchor import Anchor
from rageval_trace.telemetry.emitter import Emitter, JudgeCall


@pytest.fixture
def anchor(captured):
    """
    Give an anchor on an ended span.
    """
    with captured.tracer_provider.get_tracer("app").start_as_current_span("user"):
        return Anchor.begin()


def _values(points):
    return {tuple(sorted(point.attributes.items())): (point.value, point.count) for point in points}


def test_scores_by_metric_label_judge_selection_and_pipeline(emitter, captured, make_evaluation, anchor):
    """
    One histogram holds every score, told apart by exactly these attributes.
    """
    results = {
        "a": MetricResult("a", 0.25, judge="lexical"),
        "b": MetricResult("b", 1, judge="none"),
        "c": MetricResult("c", None),
    }
    evaluation = make_evaluation(results=results, labels={"a": "fail"}, breached=("a",), selection="rule")
    made = emitter()
    for _ in range(2):
        made.emit(evaluation, anchor)
    common = {"rageval.selection": "rule", "rageval.pipeline": "support-bot"}
    first = {
        "gen_ai.evaluation.name": "a",
        "rageval.judge": "lexical",
        "gen_ai.evaluation.score.label": "fail",
        **common,
    }
    second = {"gen_ai.evaluation.name": "b", "rageval.judge": "none", **common}
    wanted = {tuple(sorted(first.items())): (0.5, 2), tuple(sorted(second.items())): (2.0, 2)}
    assert wanted == _values(captured.metrics("rageval.evaluation.score"))


def test_scores_fall_into_buckets_that_isolate_the_ends(emitter, captured, make_evaluation, anchor):
    """
    Exact zeros and ones have a bucket of their own.
    """
    made = emitter()
    for score in (0.0, 1.0, 0.9995, 0.05):
        made.emit(make_evaluation(results={"a": MetricResult("a", score)}, breached=(), labels={}), anchor)
    (point,) = captured.metrics("rageval.evaluation.score")
    below = dict(zip([*point.buckets, math.inf], point.bucket_counts, strict=True))
    assert names.SCORE_BUCKETS == point.buckets
    assert {0.0: 1, 0.1: 1, 1.0: 2} == {bound: count for bound, count in below.items() if count}


@pytest.mark.parametrize("score", [-0.5, math.nan, math.inf])
def test_only_finite_scores_from_zero_up_are_observed(emitter, captured, make_evaluation, anchor, score, caplog):
    """
    What a histogram cannot hold is not given to it, and the SDK has nothing to warn of.
    """
    emitter().emit(make_evaluation(results={"a": MetricResult("a", score)}, breached=()), anchor)
    assert ([], []) == (captured.metrics("rageval.evaluation.score"), caplog.records)


def test_undefined_and_failed_results_are_counted_apart(emitter, captured, make_evaluation, anchor):
    """
    Neither has a score; the failed one is counted by its error's class.
    """
    results = {"a": MetricResult("a", None), "b": MetricResult("b", None, error_type="TimeoutError")}
    emitter().emit(make_evaluation(results=results, breached=()), anchor)
    (undefined,) = captured.metrics("rageval.evaluation.undefined")
    (failure,) = captured.metrics("rageval.evaluation.failures")
    assert ({"gen_ai.evaluation.name": "a", "rageval.pipeline": "support-bot"}, 1) == (
        undefined.attributes,
        undefined.value,
    )
    wanted = {"gen_ai.evaluation.name": "b", "error.type": "TimeoutError", "rageval.pipeline": "support-bot"}
    assert (wanted, 1) == (failure.attributes, failure.value)
    assert [] == captured.metrics("rageval.evaluation.score")


@pytest.mark.parametrize(("error", "extra"), [(None, {}), ("MemoryError", {"error.type": "MemoryError"})])
def test_the_time_of_scoring_in_seconds(emitter, captured, make_evaluation, anchor, error, extra):
    """
    The duration is told by judge and pipeline, and by the error if scoring failed as a whole.
    """
    emitter().emit(make_evaluation(duration_s=0.02, error_type=error), anchor)
    (point,) = captured.metrics("rageval.evaluation.duration")
    wanted = {"rageval.judge": "lexical", "rageval.pipeline": "support-bot", **extra}
    assert (wanted, 0.02, "s", names.DURATION_BUCKETS) == (point.attributes, point.value, point.unit, point.buckets)


@pytest.mark.parametrize("seconds", [-1.0, math.nan, math.inf])
def test_an_impossible_duration_is_not_observed(emitter, captured, make_evaluation, anchor, seconds):
    """
    Only finite values from zero up.
    """
    emitter().emit(make_evaluation(duration_s=seconds), anchor)
    assert [] == captured.metrics("rageval.evaluation.duration")


def test_ages_of_dated_contexts_in_hours(emitter, captured, make_evaluation, anchor):
    """
    Every dated context gives its age, as freshness saw it.
    """
    ages = {1: 2.0, 2: 100.0, 3: -1.0, 4: math.nan}
    results = {"freshness": MetricResult("freshness", 0.5, details={"ages_hours": ages})}
    emitter().emit(make_evaluation(results=results), anchor)
    (point,) = captured.metrics("rageval.context.age")
    assert ({"rageval.pipeline": "support-bot"}, 102.0, 2, "h") == (
        point.attributes,
        point.value,
        point.count,
        point.unit,
    )
    assert names.AGE_BUCKETS == point.buckets


def test_requests_and_answers_are_counted(emitter, captured, anchor):
    """
    Requests by outcome, answers by answer and retrieval, each by pipeline.
    """
    made = emitter()
    for outcome in names.OUTCOMES:
        made.count_request(outcome, "p", anchor)
    made.count_request("scored", "p")
    for answer in names.ANSWERS:
        made.count_answer(answer, "found", "p", anchor)
    made.count_answer("blank", "empty", "p")
    requests = {point.attributes["rageval.outcome"]: point.value for point in captured.metrics("rageval.requests")}
    assert {**dict.fromkeys(names.OUTCOMES, 1), "scored": 2} == requests
    answers = captured.metrics("rageval.answers")
    assert 4 == len(answers)
    wanted = {"rageval.answer": "blank", "rageval.retrieval": "empty", "rageval.pipeline": "p"}
    assert wanted in [point.attributes for point in answers]


def test_the_queues_size_goes_up_and_down(emitter, captured):
    """
    The size is the sum of its changes, without attributes.
    """
    made = emitter()
    for delta in (1, 1, -1):
        made.queue_changed(delta)
    (point,) = captured.metrics("rageval.queue.size")
    assert ({}, 1, "{request}") == (point.attributes, point.value, point.unit)


def test_calls_of_a_judge(emitter, captured, anchor):
    """
    Time by judge, pipeline and error; tokens by kind, none where the number is not known; escalations.
    """
    made = emitter()
    made.judge_called(JudgeCall("claude", 1.5, 200, 30), "p", anchor)
    made.judge_called(JudgeCall("claude", math.nan, 0, 0, "TimeoutError"), "p")
    made.judge_called(JudgeCall("claude", 2.0, 0, 5, "TimeoutError"), "p")
    made.judge_escalated("p", anchor)
    about = {"rageval.judge": "claude", "rageval.pipeline": "p"}
    durations = {point.attributes.get("error.type"): point for point in captured.metrics("rageval.judge.duration")}
    assert {None: 1.5, "TimeoutError": 2.0} == {error: point.value for error, point in durations.items()}
    assert [about, {**about, "error.type": "TimeoutError"}] == [durations[e].attributes for e in (None, "TimeoutError")]
    assert (captured.spans[0].trace_id,) == durations[None].exemplar_trace_ids
    tokens = captured.metrics("rageval.judge.tokens")
    assert {"input": 200, "output": 35} == {point.attributes["gen_ai.token.type"]: point.value for point in tokens}
    (escalations,) = captured.metrics("rageval.judge.escalations")
    assert ({"rageval.pipeline": "p"}, 1) == (escalations.attributes, escalations.value)


def test_exemplars_point_to_the_trace(emitter, captured, make_evaluation, anchor):
    """
    Every observation is recorded in the anchor's context, long after its span ended.
    """
    made = emitter(spans="never")
    made.emit(make_evaluation(), anchor)
    made.count_request("scored", "p", anchor)
    names_of = ("rageval.evaluation.score", "rageval.evaluation.duration", "rageval.context.age", "rageval.requests")
    traces = {trace for name in names_of for point in captured.metrics(name) for trace in point.exemplar_trace_ids}
    assert {captured.spans[0].trace_id} == traces


def test_without_an_anchor_exemplars_point_to_the_evaluation(emitter, captured, make_evaluation):
    """
    The evaluation's own trace is the only one there is.
    """
    emitter(spans="never").emit(make_evaluation(), Anchor())
    traces = {trace for point in captured.metrics() for trace in point.exemplar_trace_ids}
    assert {captured.spans[0].trace_id} == traces


def test_cardinality_does_not_grow_with_requests(emitter, captured, make_evaluation, anchor, make_retrieval):
    """
    A thousand different requests make as many series as one: no id, text or error message is an attribute.
    """
    made = emitter(capture_spans=True, capture_events=True)
    for n in range(1000):
        evaluation = make_evaluation(
            response_id=f"r{n}",
            conversation_id=f"c{n}",
            request_model=f"m{n}",
            retrievals=(make_retrieval(query=f"q{n}"),),
            duration_s=n / 1000,
            sample_rate=n / 1000,
        )
        made.emit(evaluation, anchor)
    assert {"rageval.evaluation.score": 16, "rageval.evaluation.duration": 1, "rageval.context.age": 1} == {
        name: len(captured.metrics(name)) for name in {point.name for point in captured.metrics()}
    }
    allowed = {spec.name: set(spec.attributes) for spec in names.INSTRUMENTS}
    assert all([set(point.attributes) <= allowed[point.name] for point in captured.metrics()])


def test_attribute_sets_are_kept_in_bounds(emitter, captured, make_evaluation, anchor):
    """
    Pipelines without end do not fill memory with kept dictionaries; they are still counted.
    """
    made = emitter()
    for n in range(5000):
        made.count_request("scored", f"p{n}", anchor)
    assert 4096 == len(made._instruments._sets)
    assert 5000 == sum([point.value for point in captured.metrics("rageval.requests")])


def test_metrics_alone_need_no_tracer(captured, make_evaluation):
    """
    With only a meter provider, scores are measured and nothing else is made.
    """
    made = Emitter(
        tracer_provider=NoOpTracerProvider(),
        meter_provider=captured.meter_provider,
        logger_provider=NoOpLoggerProvider(),
    )
    assert made.emit(make_evaluation(), Anchor()) is None
    assert (16, {}) == (len(captured.metrics("rageval.evaluation.score")), made.faults.counts)
    assert (False, True, False) == made.connected


def test_without_a_meter_provider_no_attributes_are_made(captured, make_evaluation, anchor):
    """
    Where nobody listens, nothing is built.
    """
    made = Emitter(**{**captured.providers, "meter_provider": NoOpMeterProvider()})
    made.emit(make_evaluation(), anchor)
    made.count_request("scored", "p", anchor)
    made.count_answer("answered", "found", "p", anchor)
    made.judge_called(JudgeCall("claude", 1.0), "p", anchor)
    made.judge_escalated("p", anchor)
    assert {} == made._instruments._sets
