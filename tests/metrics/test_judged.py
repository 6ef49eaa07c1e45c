"""
Metrics under a judge of one's own: its verdicts, its faults, and how often it is asked.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rageval_trace import Context, EvalConfig, EvalRecord, Verdict, evaluate_record

RECORD = EvalRecord("How deep?", [Context("a", "x"), Context("b", "y")], "Deep it is. Cold too.", citations=["a", "b"])
CLAIM_METRICS = ("groundedness", "hallucination_rate", "context_utilisation", "citation_accuracy", "citation_coverage")


class Scripted:
    """A judge that answers from a list, and counts."""

    def __init__(self, verdicts: Sequence[Verdict] | Exception, rating: float | None = None) -> None:
        self.verdicts = verdicts
        self.rating = rating
        self.asked = 0

    def judge_claims(self, claims: Sequence[str], contexts: Sequence[Context]) -> Sequence[Verdict]:
        self.asked += 1
        if isinstance(self.verdicts, Exception):
            raise self.verdicts
        return self.verdicts

    def judge_relevance(self, question: str, answer: str) -> float | None:
        return self.rating


def score(judge: Scripted, *metrics: str) -> dict[str, float | None]:
    results = evaluate_record(RECORD, EvalConfig(judge=judge), metrics=metrics or CLAIM_METRICS).results
    assert {None} == {result.error_type for result in results.values()}
    return {name: result.score for name, result in results.items()}


def test_verdicts_decide_and_are_asked_for_once() -> None:
    """Five metrics share one question to the judge, and carry its class's name."""
    judge = Scripted([Verdict(True, supporting=(1,)), Verdict(False, contradicted=True)])
    assert score(judge) == {
        "groundedness": 0.5,
        "hallucination_rate": 0.5,
        "context_utilisation": 0.5,
        "citation_accuracy": 0.5,
        "citation_coverage": 1.0,
    }
    assert judge.asked == 1
    result = evaluate_record(RECORD, judge=judge, metrics=["groundedness"]).results["groundedness"]
    assert (result.judge, result.details["contradicted"]) == ("Scripted", [2])


def test_only_supported_claims_lend_support() -> None:
    """A position named under an unsupported verdict supports nothing."""
    judge = Scripted([Verdict(True, supporting=(0,)), Verdict(False, supporting=(1,))])
    found = score(judge)
    assert (found["context_utilisation"], found["citation_accuracy"], found["citation_coverage"]) == (0.5, 0.5, 1.0)


@pytest.mark.parametrize(
    ("verdicts", "error_type"),
    [
        (RuntimeError("no"), "RuntimeError"),
        ([Verdict(True)], "ValueError"),
        ([Verdict(True, supporting=(2,)), Verdict(True)], "ValueError"),
        ([Verdict(True, supporting=(-1,)), Verdict(True)], "ValueError"),
        ([Verdict(False, error_type="Timeout"), Verdict(True)], "Timeout"),
    ],
)
def test_a_failing_judge_is_a_failure_not_a_score(verdicts: Sequence[Verdict] | Exception, error_type: str) -> None:
    """A judge that raises, miscounts or names a context it was not given fails its metrics, asked once."""
    judge = Scripted(verdicts)
    results = evaluate_record(RECORD, EvalConfig(judge=judge), metrics=(*CLAIM_METRICS, "faithfulness")).results
    for name in CLAIM_METRICS:
        assert (results[name].score, results[name].error_type) == (None, error_type), name
    assert results["faithfulness"].error_type is None
    assert judge.asked == 1


@pytest.mark.parametrize(("rating", "expected"), [(0.25, 0.25), (7.0, 1.0), (-1, 0.0)])
def test_a_rating_is_held_to_the_range(rating: float, expected: float) -> None:
    """The judge's rating replaces the formula's relevance, held to [0, 1]."""
    assert score(Scripted([], rating), "answer_relevance") == {"answer_relevance": expected}


def test_no_opinion_leaves_the_formula() -> None:
    """A rating of None leaves relevance to the formula, whose judge is none."""
    result = evaluate_record(RECORD, EvalConfig(judge=Scripted([])), metrics=["answer_relevance"])
    assert (result.results["answer_relevance"].score, result.results["answer_relevance"].judge) == (1.0, "none")


def test_a_rating_that_is_no_number_fails() -> None:
    """NaN is neither 0 nor a score."""
    judge = Scripted([], float("nan"))
    result = evaluate_record(RECORD, EvalConfig(judge=judge), metrics=["answer_relevance"]).results["answer_relevance"]
    assert (result.score, result.error_type) == (None, "ValueError")
