"""
A model as judge of live requests: which it is asked about, who waits for it, and what is sent of its work.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rageval_trace.evaluation import evaluator_version
from rageval_trace.judges.cascade import CascadeJudge
from rageval_trace.judges.lexical import LexicalJudge
from rageval_trace.judges.observe import ModelCall, notify
from rageval_trace.live.capture import Capture
from rageval_trace.live.monitor import Monitor
from rageval_trace.live.result import LiveResult
from rageval_trace.live.settings import Settings
from rageval_trace.models import Context, EvalConfig, Verdict

Make = Callable[..., Capture]

WRONG = "Zebras paint every fence."


class Model:
    """
    A judge that supports everything and tells of its calls as a model's judge does.
    """

    name = "model"
    version = "7"

    def __init__(self, *, takes_s: float = 0.0, mark: str | None = None, fails: bool = False) -> None:
        self.asked: list[str] = []
        self.takes_s, self.mark, self.fails = takes_s, mark, fails

    def judge_claims(self, claims: Sequence[str], contexts: Sequence[Context]) -> list[Verdict]:
        self.asked += claims
        time.sleep(self.takes_s)
        tokens = (0, 0, "APITimeoutError") if self.fails else (900, 40, None)
        notify(ModelCall(self.name, "claude-test", 0.25, *tokens))
        return [Verdict(supported=True, supporting=(0,), judge=self.mark) for _ in claims]

    def judge_relevance(self, question: str, answer: str) -> float | None:
        return None


@pytest.fixture
def results() -> list[LiveResult]:
    """
    Collect what is reported.
    """
    return []


@pytest.mark.parametrize(
    ("rate", "answer", "selections"),
    [
        (1.0, "It is 82 metres tall.", [("random", 1.0)]),
        (1.0, WRONG, [("random", 1.0)]),
        (0.0, "It is 82 metres tall.", []),
        (0.0, WRONG, [("rule", 1.0)]),
    ],
)
def test_what_breaches_is_always_judged(
    rate: float, answer: str, selections: list[tuple[str, float]], capture: Make, telemetry: Any
) -> None:
    """
    Outside the judge's sample a breach has it asked by rule; inside, a breach is as random as the rest.
    """
    judge = Model()
    monitor = Monitor(judge=judge, judge_sample_rate=rate, thresholds={"groundedness": 0.5}, **telemetry.providers)
    monitor.submit(capture(answer=answer))
    assert monitor.close(5)
    spans = [span.attributes for span in telemetry.spans if span.attributes.get("rageval.judge") == "model"]
    assert selections == [(span["rageval.selection"], span["rageval.sample_rate"]) for span in spans]
    points = telemetry.metrics("rageval.evaluation.score")
    judged = {point.attributes["rageval.selection"] for point in points if point.attributes["rageval.judge"] == "model"}
    assert {selection for selection, _ in selections} == judged


def test_the_judges_rate_nests_and_is_told(capture: Make, results: list[LiveResult]) -> None:
    """
    A request in the judge's sample carries the smaller of both rates.
    """
    monitor = Monitor(judge=Model(), judge_sample_rate=0.999, on_result=results.append)
    monitor.submit(capture(sample_rate=0.5))
    monitor.close(5)
    assert [("lexical", 0.5), ("model", 0.5)] == [(result.judge, result.sample_rate) for result in results]


def test_a_fallback_is_an_evaluation_of_its_own(capture: Make, telemetry: Any) -> None:
    """
    What the fallback answered never stands under the judge's name, nor among the formulas' scores.
    """
    monitor = Monitor(judge=Model(mark="lexical_fallback"), metrics=["groundedness"], **telemetry.providers)
    monitor.submit(capture(answer=WRONG))
    monitor.close(5)
    scores = {point.attributes["rageval.judge"]: point.value for point in telemetry.metrics("rageval.evaluation.score")}
    assert {"lexical": 0.0, "lexical_fallback": 1.0} == scores


def test_the_judges_version_is_its_own(capture: Make, telemetry: Any) -> None:
    """
    The evaluator version of a judge's span holds judge and version, that of the formulas does not.
    """
    judge = Model()
    monitor = Monitor(judge=judge, metrics=["groundedness"], **telemetry.providers)
    monitor.submit(capture())
    monitor.close(5)
    versions = {
        span.attributes["rageval.judge"]: span.attributes["rageval.evaluator.version"]
        for span in telemetry.spans
        if "rageval.judge" in span.attributes
    }
    assert {"lexical": evaluator_version(), "model": evaluator_version(EvalConfig(judge=judge))} == versions


def test_calls_and_tokens_are_metrics(capture: Make, telemetry: Any) -> None:
    """
    Each call's duration and tokens are recorded under the judge and the pipeline; a failed one with its error.
    """
    for fails in (False, True):
        monitor = Monitor(judge=Model(fails=fails), pipeline="bot", **telemetry.providers)
        monitor.submit(capture())
        monitor.close(5)
    durations = {
        point.attributes.get("error.type"): (point.count, point.value, point.attributes["rageval.judge"])
        for point in telemetry.metrics("rageval.judge.duration")
    }
    assert {None: (1, 0.25, "model"), "APITimeoutError": (1, 0.25, "model")} == durations
    tokens = {p.attributes["gen_ai.token.type"]: p.value for p in telemetry.metrics("rageval.judge.tokens")}
    assert {"input": 900, "output": 40} == tokens
    assert {"bot"} == {p.attributes["rageval.pipeline"] for p in telemetry.metrics("rageval.judge.tokens")}


def test_escalated_requests_are_counted(capture: Make, telemetry: Any) -> None:
    """
    Of two requests only the one that words cannot settle is passed on, and counted once.
    """
    model = Model()
    cascade = CascadeJudge(LexicalJudge(), model)
    monitor = Monitor(judge=cascade, metrics=["groundedness"], **telemetry.providers)
    for answer in ("It is 82 metres tall.", WRONG):
        monitor.submit(capture(answer=answer))
    monitor.close(5)
    assert [WRONG] == model.asked
    assert [1] == [point.value for point in telemetry.metrics("rageval.judge.escalations")]
    judged = [
        s.attributes["rageval.score.groundedness"]
        for s in telemetry.spans
        if s.attributes.get("rageval.judge") == "cascade"
    ]
    assert [1.0, 1.0] == judged


def test_a_slow_judge_does_not_hold_up_large_requests(capture: Make, results: list[LiveResult]) -> None:
    """
    Formulas in the background have their own queue: they neither wait for the judge nor lose their room to it.
    """
    judge = Model(takes_s=0.5)
    settings = Settings(mode="background", queue_size=2)
    monitor = Monitor(judge=judge, settings=settings, metrics=["groundedness"], on_result=results.append)
    started = time.monotonic()
    for _ in range(6):
        monitor.submit(capture())
        monitor._workers().flush(5)
    assert time.monotonic() - started < 0.5
    assert 6 == monitor.stats["scored"]
    assert 0 == monitor.stats["queue_full"]
    assert monitor.stats["judge_dropped"] >= 3
    monitor.close(0)


def test_close_shares_one_time_limit(capture: Make, telemetry: Any) -> None:
    """
    A judge that hangs costs the shutdown its timeout once; what waited is counted as dropped, and waits no more.
    """
    monitor = Monitor(judge=Model(takes_s=2), settings=Settings(mode="background"), **telemetry.providers)
    for _ in range(3):
        monitor.submit(capture())
    started = time.monotonic()
    assert not monitor.close(0.4)
    assert time.monotonic() - started < 1.5
    assert 2 == monitor.stats["judge_dropped"]
    assert [0] == [point.value for point in telemetry.metrics("rageval.queue.size")]


@pytest.mark.slow
def test_ten_requests_a_second_with_a_judge_of_two_seconds(capture: Make) -> None:
    """
    Under load no request waits for the judge, every request is scored, and what the judge cannot take is counted.
    """
    judge = Model(takes_s=2.0)
    monitor = Monitor(judge=judge, settings=Settings(queue_size=4))
    monitor.submit(capture())  # the first pays for imports
    waits: list[float] = []

    def request() -> None:
        began = time.perf_counter()
        monitor.submit(capture())
        waits.append(time.perf_counter() - began)

    threads = []
    for number in range(100):
        threads.append(threading.Thread(target=request))
        threads[-1].start()
        time.sleep(0.1)
        if number % 20 == 0:
            assert monitor.last is not None
    for thread in threads:
        thread.join()
    monitor.close(0)
    stats = monitor.stats
    print(  # noqa: T201 - the figures are what the test is for
        f"longest wait {max(waits) * 1e3:.1f} ms, median {sorted(waits)[50] * 1e3:.2f} ms, {dict(stats)}"
    )
    assert max(waits) < 0.5
    assert sorted(waits)[50] < 0.02
    assert 101 == stats["scored"]
    # At half a request a second, the judge takes about 6 in the ten seconds, and 4 may wait.
    assert 101 == stats["judge_dropped"] + len(judge.asked)
    assert len(judge.asked) <= 10
