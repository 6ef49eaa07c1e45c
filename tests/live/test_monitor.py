"""
The monitor: what is scored where, who is told, and that every request is counted once.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from rageval_trace.errors import GateError, UnknownMetricError
from rageval_trace.evaluation import evaluate_record
from rageval_trace.judges.lexical import LexicalJudge
from rageval_trace.live.capture import Capture
from rageval_trace.live.monitor import OUTCOMES, Monitor
from rageval_trace.live.result import LiveResult
from rageval_trace.live.settings import Settings
from rageval_trace.models import Context, EvalConfig, EvalRecord, MetricResult, Verdict
from rageval_trace.telemetry.anchor import Anchor

Make = Callable[..., Capture]


class Word:
    """
    A judge that supports everything, and keeps what it was shown.
    """

    name = "word"

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.threads: set[str] = set()

    def judge_claims(self, claims: Sequence[str], contexts: Sequence[Context]) -> list[Verdict]:
        self.seen.append((list(claims), [context.text for context in contexts]))
        self.threads.add(threading.current_thread().name)
        return [Verdict(supported=True, score=1.0, supporting=(0,)) for _ in claims]

    def judge_relevance(self, question: str, answer: str) -> float | None:
        return None


class Rating:
    """
    A judge of whole records.
    """

    name = "rating"

    def judge(self, record: EvalRecord) -> Mapping[str, MetricResult]:
        return {"faithfulness": MetricResult("faithfulness", 0.75, judge="rating")}


class Slow:
    """
    A clock-stopper: a judge that waits until it is let go.
    """

    name = "slow"

    def __init__(self) -> None:
        self.release = threading.Event()

    def judge_claims(self, claims: Sequence[str], contexts: Sequence[Context]) -> list[Verdict]:
        self.release.wait(10)
        return [Verdict(supported=True) for _ in claims]

    def judge_relevance(self, question: str, answer: str) -> float | None:
        return None


@pytest.fixture
def results() -> list[LiveResult]:
    """
    Collect what is reported.
    """
    return []


def outcomes(monitor: Monitor) -> dict[str, int]:
    return {name: count for name, count in monitor.stats.items() if name in OUTCOMES and count}


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        ({}, "scored"),
        ({"contexts": []}, "scored"),
        ({"answer": "  "}, "incomplete"),
        ({"status": "partial"}, "incomplete"),
        ({"status": "abandoned"}, "incomplete"),
        ({"status": "cancelled"}, "incomplete"),
        ({"status": "interrupted"}, "incomplete"),
        ({"status": "ambiguous", "seen": 2}, "incomplete"),
        ({"status": "error"}, "request_error"),
        ({"status": "evicted"}, "evicted"),
        ({"status": "retrieval_only"}, "not_rag"),
        ({"status": "answer_only"}, "not_rag"),
    ],
)
def test_every_status_has_its_outcome(
    given: dict[str, Any], outcome: str, capture: Make, results: list[LiveResult], telemetry: Any
) -> None:
    """
    Only a request that ended well with an answer is scored; every request is counted and reported.
    """
    monitor = Monitor(on_result=results.append, **telemetry.providers)

    monitor.submit(capture(**given))

    seen = given.get("seen", 1)
    (result,) = results
    points = {point.attributes["rageval.outcome"]: point.value for point in telemetry.metrics("rageval.requests")}
    assert {outcome: seen} == outcomes(monitor) == points
    assert (outcome == "scored") == bool(result.results)
    assert result is monitor.last


def test_live_scores_are_those_of_evaluate(capture: Make) -> None:
    """
    One harness: the live scores equal those of `evaluate_record` on the record.
    """
    monitor = Monitor()
    monitor.submit(
        capture(contexts=[Context("a", "It is 82 metres tall.", timestamp="2026-01-01")], asked_at="2026-01-02")
    )

    last = monitor.last
    assert last is not None
    expected = evaluate_record(last.record, EvalConfig(), metrics=list(last.results)).results
    assert {name: result.score for name, result in expected.items()} == {n: r.score for n, r in last.results.items()}
    assert {"faithfulness", "groundedness", "freshness"} <= set(last.scores)
    assert "recall" not in last.results


def test_labels_bring_their_metrics(capture: Make) -> None:
    """
    A metric that needs labels runs when its labels are there.
    """
    monitor = Monitor()

    monitor.submit(capture(contexts=[Context("a", "text")], relevant_ids=["a"], ground_truth="82 metres"))

    assert {"recall", "mrr", "context_recall", "answer_correctness"} <= set(monitor.last.scores)


def test_thresholds_give_a_verdict(capture: Make, telemetry: Any) -> None:
    """
    A breached threshold fails the request, by name, in result and span; a thresholded metric joins the named ones.
    """
    monitor = Monitor(metrics=["faithfulness"], thresholds={"groundedness": 0.9}, **telemetry.providers)

    monitor.submit(capture(answer="It is 82 metres tall. Giants built everything here."))

    (span,) = [span for span in telemetry.spans if span.name == "evaluation rag"]
    assert ("fail", ("groundedness",)) == (monitor.last.verdict, monitor.last.breached)
    assert ("fail", ("groundedness",)) == (span.attributes["rageval.verdict"], span.attributes["rageval.breached"])
    assert {"faithfulness", "groundedness"} == set(monitor.last.results)
    assert "Giants built everything here." == monitor.last.broken


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"metrics": ["groundednes"]}, UnknownMetricError, r"did you mean 'groundedness'\?\); known: faithfulness"),
        ({"thresholds": {"nothing": 1}}, UnknownMetricError, "unknown metric 'nothing'"),
        ({"thresholds": {"groundedness": "high"}}, GateError, "threshold of groundedness"),
        ({"metrics": "groundedness"}, TypeError, "metrics is one string"),
        ({"sample_rate": 2}, ValueError, r"sample_rate is 2: expected a number in \[0, 1\]"),
        ({"pipeline": ""}, ValueError, "pipeline is ''"),
        ({"judge": object()}, TypeError, "judge is object: expected judge_claims"),
        ({"on_result": 1}, TypeError, "on_result is int: expected a function"),
        ({"redact": "all"}, TypeError, "redact is str: expected a function"),
        ({"settings": {}}, TypeError, "settings is dict: expected Settings"),
        ({"unknown": 1}, TypeError, "unknown"),
    ],
)
def test_a_bad_argument_is_an_error_at_once(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    """
    The error names what is wrong, and what is known.
    """
    with pytest.raises(error, match=message):
        Monitor(**arguments)


def test_switched_off_nothing_happens(capture: Make) -> None:
    """
    A disabled monitor neither scores nor counts.
    """
    monitor = Monitor(settings=Settings(enabled=False))

    monitor.submit(capture())

    assert (None, {}) == (monitor.last, outcomes(monitor))


def test_a_lexical_judge_works_inline(capture: Make) -> None:
    """
    It is deterministic and needs no worker; its threshold counts.
    """
    strict, lax = Monitor(judge=LexicalJudge(1.0)), Monitor(config=EvalConfig(judge=LexicalJudge(0.1)))
    for monitor in (strict, lax):
        monitor.submit(capture(answer="It is 82 feet tall."))

    assert (0.0, 1.0) == (strict.last.scores["groundedness"], lax.last.scores["groundedness"])
    assert "lexical" == strict.last.judge
    assert strict._worker is None


def test_a_judge_answers_apart_in_the_background(capture: Make, results: list[LiveResult], telemetry: Any) -> None:
    """
    The formulas' result comes first, then the judge's own, with only what the judge answered.
    """
    judge = Word()
    monitor = Monitor(judge=judge, on_result=results.append, **telemetry.providers)

    monitor.submit(capture(answer="Giants built everything here."))
    assert monitor.flush(5)

    assert ["lexical", "word"] == [result.judge for result in results]
    assert (0.0, 1.0) == tuple([result.scores["groundedness"] for result in results])
    assert "faithfulness" not in results[1].results
    assert {"rageval-trace"} == judge.threads
    assert {"scored": 1} == outcomes(monitor)
    spans = [span.attributes["rageval.judge"] for span in telemetry.spans if span.name == "evaluation rag"]
    assert ["lexical", "word"] == spans
    monitor.close()


def test_a_judge_of_records_replaces_its_metrics(capture: Make, results: list[LiveResult]) -> None:
    """
    Only what it rated is reported under its name.
    """
    monitor = Monitor(judge=Rating(), on_result=results.append)

    monitor.submit(capture())
    monitor.close(5)

    assert {"faithfulness": 0.75} == results[1].scores
    assert "rating" == results[1].judge


@pytest.mark.parametrize(("trace_id", "asked"), [(1, True), ((1 << 64) - 1, False)])
def test_the_judge_has_a_rate_of_its_own(trace_id: int, asked: bool, capture: Make) -> None:
    """
    It nests inside the scored requests by the trace's id.
    """
    from opentelemetry.trace import SpanContext

    judge, anchor = Word(), Anchor()
    anchor.outer = SpanContext(trace_id, 1, is_remote=False)
    monitor = Monitor(judge=judge, judge_sample_rate=0.5)

    monitor.submit(capture(anchor=anchor))
    monitor.close(5)

    assert asked == bool(judge.seen)


def test_redact_comes_before_the_judge(capture: Make) -> None:
    """
    A judge leaves the process: it sees redacted texts alone, the user's callback the whole ones.
    """
    judge = Word()
    monitor = Monitor(judge=judge, redact=lambda text: text.replace("82", "NN"))

    monitor.submit(capture(ground_truth="82"))
    monitor.close(5)

    assert [(["It is NN metres tall."], ["It is NN metres tall."])] == judge.seen
    assert "It is 82 metres tall." == monitor.last.record.answer or monitor.last.judge == "word"


def test_a_redact_that_raises_keeps_the_text_here(capture: Make) -> None:
    """
    Nothing is sent that could not be redacted, and the formulas' scores stand.
    """
    judge = Word()

    def broken(text: str) -> str:
        raise KeyError(text)

    monitor = Monitor(judge=judge, redact=broken)
    monitor.submit(capture())
    monitor.close(5)

    assert [] == judge.seen
    assert (1, 1) == (monitor.stats["scored"], monitor.stats["internal_errors"])


@pytest.mark.parametrize(
    ("settings", "background"),
    [
        (Settings(), False),
        (Settings(inline_chars=10), True),
        (Settings(inline_chars=10, mode="inline"), False),
        (Settings(mode="background"), True),
    ],
)
def test_large_requests_are_scored_in_the_background(settings: Settings, background: bool, capture: Make) -> None:
    """
    The host's thread scores what is small; the mode can say otherwise.
    """
    threads: list[str] = []
    monitor = Monitor(settings=settings, on_result=lambda result: threads.append(threading.current_thread().name))

    monitor.submit(capture())
    monitor.close(5)

    assert ["rageval-trace" if background else "MainThread"] == threads


def test_a_full_queue_drops_and_counts(capture: Make, results: list[LiveResult], telemetry: Any) -> None:
    """
    The host never waits for room.
    """
    release = threading.Event()
    monitor = Monitor(
        settings=Settings(mode="background", queue_size=1), on_result=results.append, **telemetry.providers
    )
    monitor._put(monitor._workers(), lambda: release.wait(10), lambda: None)

    monitor.submit(capture())
    release.set()
    monitor.flush(5)
    monitor.submit(capture())
    monitor.close(5)

    assert {"scored": 1, "queue_full": 1} == outcomes(monitor)
    assert [False, True] == [bool(result.results) for result in results]
    assert [0] == [point.value for point in telemetry.metrics("rageval.queue.size")]


def test_what_is_queued_at_the_end_is_a_timeout(capture: Make) -> None:
    """
    Requests that the drain deadline overtakes are counted as such.
    """
    release = threading.Event()
    monitor = Monitor(settings=Settings(mode="background"))
    monitor._put(monitor._workers(), release.wait, lambda: None)
    monitor.submit(capture())

    assert not monitor.close(0.01)
    release.set()
    assert {"timeout": 1} == outcomes(monitor)


def test_a_judge_that_finds_no_room_is_counted(capture: Make) -> None:
    """
    The request stays scored; the judge's part is dropped.
    """
    judge = Slow()
    monitor = Monitor(judge=judge, settings=Settings(queue_size=1))

    for _ in range(3):
        monitor.submit(capture())
    judge.release.set()
    monitor.close(5)

    assert ({"scored": 3}, 2) == (outcomes(monitor), monitor.stats["judge_dropped"])


def test_a_passed_deadline_is_a_timeout(capture: Make) -> None:
    """
    Metrics that the deadline overtakes fail, and the request is counted as timed out.
    """
    monitor = Monitor(settings=Settings(deadline_s=0))

    monitor.submit(capture())

    assert {"timeout": 1} == outcomes(monitor)


def test_a_scorer_that_raises_is_counted(capture: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    An error of our own costs this one score.
    """
    monitor = Monitor()
    monkeypatch.setattr(monitor._scorer, "formulas", None)

    monitor.submit(capture())

    assert {"scoring_error": 1} == outcomes(monitor)
    assert 1 == monitor.stats["internal_errors"]


def test_callbacks_and_emission_that_raise_cost_nothing_else(capture: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    The request is still counted as scored, and still reported.
    """

    def broken(result: LiveResult) -> None:
        raise ValueError("of the user")

    monitor = Monitor(on_result=broken)
    monkeypatch.setattr(monitor, "_emitter", None)

    monitor.submit(capture())

    assert {"scored": 1} == outcomes(monitor)
    assert monitor.last.results
    assert monitor.stats["internal_errors"] >= 3


def test_partial_streams_can_be_scored(capture: Make) -> None:
    """
    An option scores what was streamed before it was closed.
    """
    monitor = Monitor(settings=Settings(score_partial=True))

    monitor.submit(capture(status="partial"))

    assert {"scored": 1} == outcomes(monitor)


def test_unsampled_requests_are_counted(telemetry: Any) -> None:
    """
    They are part of the whole; bare model calls stand outside it.
    """
    monitor = Monitor(**telemetry.providers)
    monitor.skip(Anchor())
    monitor.skip(Anchor(), seen=2)
    monitor.skip(Anchor(), rag=False)

    assert {"not_sampled": 3, "not_rag": 1} == outcomes(monitor)


def test_pipelines_are_bounded(capture: Make, results: list[LiveResult]) -> None:
    """
    Past fifty names, the rest are one.
    """
    monitor = Monitor(on_result=results.append)
    for number in range(60):
        monitor.submit(capture(pipeline=f"pipeline {number}"))

    assert 49 == len({result.pipeline for result in results} - {"other"})
    assert "other" == results[-1].pipeline


def test_the_first_request_says_what_is_missing(capture: Make, caplog: pytest.LogCaptureFixture) -> None:
    """
    Without an SDK, and without thresholds, one line each names the mend, whatever the number of requests.
    """
    for _ in range(2):
        monitor = Monitor()
        monitor.submit(capture())
        monitor.submit(capture())

    assert 2 == len(caplog.messages)
    assert 'pip install "rageval-trace[otlp]"' in caplog.messages[0]
    assert "thresholds={metric: value}" in caplog.messages[1]


def test_nothing_is_said_when_all_is_there(capture: Make, telemetry: Any, caplog: pytest.LogCaptureFixture) -> None:
    """
    A provider and a threshold are enough.
    """
    Monitor(thresholds={"groundedness": 0.5}, **telemetry.providers).submit(capture())

    assert [] == caplog.messages


def test_the_result_names_its_span(capture: Make, telemetry: Any) -> None:
    """
    Ids are those of the evaluation span, in lower-case hex.
    """
    monitor = Monitor(**telemetry.providers)
    monitor.submit(capture())

    (span,) = [span for span in telemetry.spans if span.name == "evaluation rag"]
    assert (span.trace_id, span.span_id) == (monitor.last.trace_id, monitor.last.span_id)


def test_answers_are_counted_by_what_was_found(capture: Make, telemetry: Any) -> None:
    """
    Answered or blank, after a retrieval that found something or nothing.
    """
    monitor = Monitor(**telemetry.providers)
    for given in ({}, {"contexts": []}, {"answer": ""}, {"answer": "I don't know."}):
        monitor.submit(capture(**given))

    points = {
        (point.attributes["rageval.answer"], point.attributes["rageval.retrieval"]): point.value
        for point in telemetry.metrics("rageval.answers")
    }
    assert {
        ("answered", "found"): 1,
        ("answered", "empty"): 1,
        ("blank", "found"): 1,
        ("abstained", "found"): 1,
    } == points


def test_outcomes_add_up(capture: Make) -> None:
    """
    Whatever becomes of them, the outcomes together are the requests seen, on every thread.
    """
    monitor = Monitor(metrics=["answer_relevance"], settings=Settings(queue_size=3, inline_chars=60))
    statuses = ["ok", "partial", "error", "evicted", "answer_only", "interrupted"]

    def work(seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311 - a simulation
        for _ in range(300):
            if chance.random() < 0.2:
                monitor.skip(Anchor())
            else:
                answer = "x" * chance.choice([0, 5, 100])
                monitor.submit(capture(status=chance.choice(statuses), answer=answer))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    monitor.close(10)

    assert 1800 == sum(outcomes(monitor).values())
    assert 0 == monitor.stats.get("internal_errors", 0)
