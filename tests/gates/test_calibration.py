"""
Thresholds from labelled answers, by hand and by law.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rageval_trace.errors import GateError
from rageval_trace.gates.calibration import Alarms, Judged, Rate, alarms_at, budget_threshold, propose

# Ten good answers below .5 with one straggler at .8, ten bad ones above .5 with one straggler at .2.
GOOD = [Judged(score, supported=True) for score in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.8)]
BAD = [Judged(score, supported=False) for score in (0.2, 0.55, 0.6, 0.65, 0.7, 0.75, 0.85, 0.9, 0.95, 1.0)]


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [(8, 10, (0.4901625, 0.9433178)), (0, 10, (0.0, 0.2775328)), (10, 10, (0.7224672, 1.0)), (0, 0, (0.0, 1.0))],
)
def test_wilson_intervals(part: int, whole: int, expected: tuple[float, float]) -> None:
    """Intervals are those of the tables."""
    assert expected == pytest.approx(Rate(part, whole).interval, abs=1e-6)


def test_a_share_of_none_has_no_value() -> None:
    """Nothing out of nothing is no number."""
    assert Rate(0, 0).value is None
    assert Rate(1, 4).value == 0.25


def test_alarms_lie_past_the_threshold() -> None:
    """Reaching a threshold is no alarm, in either direction."""
    answers = [Judged(0.5, supported=True), Judged(0.6, supported=False)]
    assert Alarms(found=1, false=0, bad=1, good=1) == alarms_at(answers, 0.5, higher_is_better=False)
    assert Alarms(found=0, false=1, bad=1, good=1) == alarms_at(answers, 0.6, higher_is_better=True)


def test_proposals_by_hand() -> None:
    """Each rule picks the cut that a person would."""
    thresholds = {one.rule: one.threshold for one in propose(GOOD + BAD, higher_is_better=False)}
    assert {"balanced": 0.5, "few-alarms": 0.5, "catch-most": 0.5} == thresholds
    turned = [Judged(1 - answer.score, answer.supported) for answer in GOOD + BAD]
    assert {0.5} == {one.threshold for one in propose(turned, higher_is_better=True)}


def test_expectations_come_from_answers_that_did_not_choose() -> None:
    """A cut through pure noise is not expected to do what it did on its own answers."""
    noise = [Judged((37 * at % 101) / 101, supported=at % 2 == 0) for at in range(60)]
    balanced = propose(noise, higher_is_better=False)[0]
    own = alarms_at(noise, balanced.threshold, higher_is_better=False)
    assert balanced.expected.balanced_accuracy < own.balanced_accuracy
    assert (own.bad, own.good) == (balanced.expected.bad, balanced.expected.good)


@pytest.mark.parametrize("answers", [[], GOOD, BAD])
def test_one_kind_is_not_enough(answers: list[Judged]) -> None:
    """Without both kinds of answers there is nothing to separate."""
    with pytest.raises(GateError, match="needs both kinds"):
        propose(answers, higher_is_better=False)


def test_one_of_each_kind_is_little_but_works() -> None:
    """Two answers give a threshold, and no expectation."""
    found = propose([GOOD[0], BAD[-1]], higher_is_better=False)[0]
    assert 0.525 == found.threshold
    assert found.expected.recall.value is None


SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=60)


@given(SCORES, st.floats(0, 999), st.booleans())
def test_a_budget_is_kept(scores: list[float], budget: float, higher: bool) -> None:
    """A threshold never gives more breaches than were welcome."""
    threshold, rate = budget_threshold(scores, budget, higher_is_better=higher)
    past = [(threshold - score if higher else score - threshold) > 1e-9 for score in scores]
    assert sum(past) == rate.part
    assert rate.part <= budget * len(scores) / 1000 + 1e-6


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40), st.booleans())
def test_thresholds_lie_between_0_and_1(rows: list[tuple[float, bool]], higher: bool) -> None:
    """Every proposal is a threshold that a gate file may hold."""
    answers = [Judged(*row) for row in rows] + [Judged(0.3, supported=True), Judged(0.7, supported=False)]
    assert all(0 <= one.threshold <= 1 for one in propose(answers, higher_is_better=higher))
