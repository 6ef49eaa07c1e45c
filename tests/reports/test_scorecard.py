"""
The scorecard's data: means, overall, weakest, diagnosis, worst records.
"""

from __future__ import annotations

import pytest

from rageval_trace import EvalRecord, Scorecard, evaluate
from rageval_trace.reports.scorecard import PIPELINE_METRICS

GOOD = EvalRecord("deep lake", ["the lake is deep"], "The lake is deep.", "lake deep", id="good")
BAD = EvalRecord("deep lake", ["the lake is deep"], "Cows eat grass.", "lake deep", id="bad")
BARE = EvalRecord("deep lake", id="bare")


def test_means_leave_out_the_undefined() -> None:
    """Every selected metric is there, None where it was never defined, with its counts."""
    card = evaluate([GOOD, BAD, BARE])
    assert card.aggregates == card.means
    assert card.means["groundedness"] == 0.5
    assert card.means["recall"] is None
    assert (card.observed["groundedness"], card.undefined["groundedness"], card.failed["groundedness"]) == (2, 1, 0)
    assert card.count == 3
    assert card.results[0].scores["groundedness"] == 1.0


def test_overall_is_the_mean_of_the_five() -> None:
    """`overall` is the unweighted mean of the defined pipeline metrics, `weakest` the lowest of them."""
    card = evaluate([GOOD, BAD])
    five = [card.means[name] for name in PIPELINE_METRICS if card.means[name] is not None]
    assert card.overall == pytest.approx(sum(five) / len(five))  # type: ignore[arg-type]
    assert card.weakest == min((n for n in PIPELINE_METRICS if card.means[n] is not None), key=lambda n: card.means[n])
    assert card.diagnosis == PIPELINE_METRICS[card.weakest]


@pytest.mark.parametrize(
    ("record", "weakest", "says"),
    [
        (BAD, "faithfulness", "hallucination"),
        (EvalRecord("deep lake", ["rye mill"]), "context_precision", "unrelated"),
        (EvalRecord("deep lake", ["deep lake"], ground_truth="rye mill"), "context_recall", "retriever miss"),
        (EvalRecord("deep lake", answer="rye mill"), "answer_relevance", "off-topic"),
    ],
)
def test_one_record_has_a_weakest_step(record: EvalRecord, weakest: str, says: str) -> None:
    """Even a scorecard of one record names the weakest step and what it points to."""
    card = evaluate([record])
    assert card.weakest == weakest
    assert says in card.diagnosis


def test_without_the_five_another_metric_is_weakest() -> None:
    """When none of the five was selected, the lowest other is named, in its direction."""
    card = evaluate([BAD], metrics=["hallucination_rate", "answer_correctness"])
    assert card.overall is None
    assert card.weakest in ("hallucination_rate", "answer_correctness")
    assert card.weakest in card.diagnosis
    good = evaluate([GOOD], metrics=["hallucination_rate", "answer_correctness"])
    assert good.weakest == "answer_correctness"


def test_nothing_defined_says_so() -> None:
    """Of nothing, nothing is the weakest."""
    for card in (evaluate([]), evaluate([BARE])):
        assert (card.overall, card.weakest) == (None, None)
        assert "nothing was defined" in card.diagnosis


def test_the_worst_come_first_and_are_few() -> None:
    """The worst records are kept, worst first, at most 20, also when results are not."""
    many = [GOOD, *[BAD] * 5, *[GOOD] * 30]
    kept, lean = evaluate(many), evaluate(many, keep_results=False)
    assert len(kept.results) == 36
    assert lean.results == ()
    assert kept.means == lean.means
    for card in (kept, lean):
        assert len(card.worst) == 20
        assert ["bad"] * 5 == [one.record.id for one in card.worst[:5]]
        assert card.worst[5].record.id == "good"


def test_text_names_every_metric_and_count() -> None:
    """The plain rendering holds each metric, overall, weakest and diagnosis."""
    card: Scorecard = evaluate([GOOD, BAD])
    shown = card.format_text()
    assert all(name in shown for name in card.metrics)
    assert "Weakest: " in shown
    assert card.diagnosis in shown
