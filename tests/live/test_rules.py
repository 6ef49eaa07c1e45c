"""
Rules that take a request whatever the sample says, and that means stay fair.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from statistics import fmean
from typing import Any

import pytest
from opentelemetry.trace import SpanContext, TraceFlags

from rageval_trace import Monitor, Settings, UnknownMetricError
from rageval_trace.live.capture import Capture
from rageval_trace.live.monitor import OUTCOMES

Make = Callable[..., Capture]
WRONG = "Zebras paint every fence."


def outcomes(monitor: Monitor) -> dict[str, int]:
    return {name: count for name, count in monitor.stats.items() if name in OUTCOMES and count}


@pytest.mark.parametrize(
    ("rule", "given", "outcome"),
    [
        ("error", {"status": "error"}, "request_error"),
        ("error", {}, "not_sampled"),
        ("empty_retrieval", {"contexts": []}, "scored"),
        ("empty_retrieval", {}, "not_sampled"),
        ("tag:vip", {"tags": ("vip", "eu")}, "scored"),
        ("tag:vip", {"tags": ("eu",)}, "not_sampled"),
        ("groundedness<0.5", {"answer": WRONG}, "scored"),
        ("groundedness < 0.5", {}, "not_sampled"),
        ("hallucination_risk>0.5", {"answer": WRONG}, "scored"),
        ("hallucination_risk>0.5", {"status": "error"}, "not_sampled"),
        ("error", {"status": "answer_only"}, "not_rag"),
    ],
)
def test_a_rule_takes_what_it_matches(rule: str, given: dict[str, Any], outcome: str, capture: Make) -> None:
    """Outside the sample only what a rule matches is scored, by rule, with certainty."""
    results: list[Any] = []
    monitor = Monitor(settings=Settings(sample_rate=0.0, always=(rule,)), on_result=results.append)

    monitor.submit(capture(**given))

    assert {outcome: 1} == outcomes(monitor)
    taken = outcome in ("scored", "request_error")
    assert [("rule", 1.0)] * taken == [(result.selection, result.sample_rate) for result in results]


def test_an_unknown_metric_in_a_rule_is_an_error_at_once() -> None:
    """It is named, with what is known."""
    with pytest.raises(UnknownMetricError, match="groundednes"):
        Monitor(settings=Settings(always=("groundednes<0.5",)))


def test_reweighted_means_are_unbiased(capture: Make) -> None:
    """
    Weighted by the inverse of its recorded probability, what was scored gives the mean of all; so does the plain mean
    over what the sample took.
    """
    results: list[Any] = []
    settings = Settings(sample_rate=0.2, always=("groundedness<0.5", "tag:vip"))
    monitor = Monitor(metrics=["groundedness"], settings=settings, on_result=results.append)
    chance = random.Random(11)  # noqa: S311 - a simulation
    total, truth = 6000, []
    for number in range(total):
        wrong = chance.random() < 0.15
        truth.append(0.0 if wrong else 1.0)
        tags = ("vip",) if chance.random() < 0.1 else ()
        monitor.submit(capture(run_id=f"run-{number}", answer=WRONG if wrong else "It is 82 metres tall.", tags=tags))

    weights = [1 / result.sample_rate for result in results]
    scores = [result.scores["groundedness"] for result in results]
    weighted = sum([w * s for w, s in zip(weights, scores, strict=True)])
    sampled = [result.scores["groundedness"] for result in results if result.selection == "random"]
    # Four standard errors of a sample of a fifth.
    assert abs(sum(weights) / total - 1) < 0.09
    assert abs(weighted / sum(weights) - fmean(truth)) < 0.04
    assert abs(fmean(sampled) - fmean(truth)) < 0.045
    assert fmean(scores) < fmean(truth) - 0.1  # what forgetting the weights would say
    assert truth.count(0.0) == scores.count(0.0)
    assert total == sum(outcomes(monitor).values())


@pytest.mark.parametrize(
    ("flags", "rules", "outcome"),
    [(1, (), "scored"), (0, (), "not_sampled"), (None, (), "scored"), (0, ("error",), "not_sampled")],
)
def test_only_sampled_traces(flags: int | None, rules: tuple[str, ...], outcome: str) -> None:
    """Nothing of an unsampled trace is scored, rules or not; outside of traces the rate decides."""
    from opentelemetry import trace

    monitor = Monitor(settings=Settings(only_sampled=True, always=rules))
    context = trace.set_span_in_context(trace.INVALID_SPAN)
    if flags is not None:
        span = SpanContext(1, 1, is_remote=False, trace_flags=TraceFlags(flags))
        context = trace.set_span_in_context(trace.NonRecordingSpan(span))
    from opentelemetry.context import attach, detach

    token = attach(context)
    try:
        with monitor.run("How tall is it?") as run:
            run.contexts(["It is 82 metres tall."])
            run.answer("It is 82 metres tall.")
    finally:
        detach(token)

    assert {outcome: 1} == outcomes(monitor)
