"""
What becomes known of a request after it has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rageval_trace import Monitor, Settings
from rageval_trace.live.capture import Capture

Make = Callable[..., Capture]


@pytest.mark.parametrize(("value", "score", "label"), [(True, 1.0, "pass"), (False, 0.0, "fail"), (3, 3.0, None)])
def test_feedback_joins_the_request(value: Any, score: float, label: str | None, capture: Make, telemetry: Any) -> None:
    """It is a linked evaluation span by a human below the request's span, and a count; no score of the harness."""
    monitor = Monitor(pipeline="bot", **telemetry.providers)
    monitor.submit(capture())
    result = monitor.last
    before = len(telemetry.metrics("rageval.evaluation.score"))

    assert monitor.feedback(result.trace_id, "helpful", value)
    assert monitor.feedback("run-1", "helpful", value)

    first, second = [span for span in telemetry.spans if span.attributes.get("rageval.judge") == "human"]
    (request,) = [span for span in telemetry.spans if span.name == "invoke_workflow bot"]
    assert (
        (request.trace_id, request.span_id) == (first.trace_id, first.parent_id) == (second.trace_id, second.parent_id)
    )
    assert (request.span_id, score) == (first.links[0][1], first.attributes["rageval.score.helpful"])
    (point,) = telemetry.metrics("rageval.feedback")
    expected = {"gen_ai.evaluation.name": "helpful", "rageval.pipeline": "bot"}
    assert 2 == point.value
    assert {**expected, **({} if label is None else {"gen_ai.evaluation.score.label": label})} == point.attributes
    assert before == len(telemetry.metrics("rageval.evaluation.score"))


def test_feedback_that_has_no_place_is_counted(capture: Make) -> None:
    """An unknown request, or a value that is no number, is refused."""
    monitor = Monitor()
    monitor.submit(capture())

    assert [False] * 4 == [
        monitor.feedback("unknown", "helpful", True),
        monitor.feedback("run-1", "helpful", float("nan")),
        monitor.feedback("run-1", "helpful", "very"),
        monitor.feedback(None, "helpful", 1),
    ]
    assert 4 == monitor.stats["feedback_rejected"] + monitor.stats["internal_errors"]


def test_the_truth_scores_a_request_once_more(capture: Make, telemetry: Any) -> None:
    """Only the metrics that need what is known now; the request is counted once."""
    results: list[Any] = []
    monitor = Monitor(on_result=results.append, **telemetry.providers)
    monitor.submit(capture(contexts=[{"id": "a", "text": "It is 82 metres tall."}]))

    assert monitor.ground_truth("run-1", "82 metres", relevant_ids=["a", "b"])

    late = results[1]
    assert {"context_recall", "answer_correctness", "recall", "precision", "mrr", "ndcg", "hit_rate"} == set(
        late.results
    )
    assert (0.5, 1) == (late.scores["recall"], monitor.stats["scored"])
    first, second = [span for span in telemetry.spans if span.name == "evaluation rag"]
    assert first.parent_id == second.parent_id
    assert 1 == len([span for span in telemetry.spans if span.name == "invoke_workflow rag"])
    assert not monitor.ground_truth("run-1")
    assert not monitor.ground_truth("unknown", "x")
    assert not Monitor(metrics=["faithfulness"]).ground_truth("run-1", "x")


def test_memory_is_bounded(capture: Make) -> None:
    """The newest requests are remembered, and fewer of them when they are long."""
    monitor = Monitor(metrics=["faithfulness"], settings=Settings(max_finished=3, mode="inline"))
    for number in range(10):
        monitor.submit(capture(run_id=f"run-{number}"))
    assert [False, True, True] == [monitor.feedback(f"run-{number}", "x", 1) for number in (6, 7, 9)]
    assert 3 == len(monitor._past)
    for number in range(3):
        monitor.submit(capture(run_id=f"long-{number}", contexts=["word " * 380_000] * 2))
    assert 1 == len(monitor._past)
    monitor._past.after_fork()
    assert 0 == len(monitor._past)


def test_feedback_names_are_bounded(capture: Make, telemetry: Any) -> None:
    """Past fifty names, the rest are one."""
    monitor = Monitor(**telemetry.providers)
    monitor.submit(capture())
    for number in range(60):
        monitor.feedback("run-1", f"name-{number}", 1)

    assert 51 == len({point.attributes["gen_ai.evaluation.name"] for point in telemetry.metrics("rageval.feedback")})
