"""
Results are sorted once, and what is no finite number never counts as a score.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rageval_trace.models import MetricResult
from rageval_trace.telemetry.payload import Evaluation
from rageval_trace.telemetry.results import sort_results


def _sorted(*results, breached=()):
    return sort_results(Evaluation("p", {result.name: result for result in results}, breached=breached))


def test_each_result_lands_in_one_place():
    """
    Defined, undefined and failed results are told apart; a failed one's score is not looked at.
    """
    found = _sorted(
        MetricResult("a", 0.25),
        MetricResult("b", None),
        MetricResult("c", 0.5, error_type="TimeoutError"),
    )
    assert ({"a": 0.25}, ["b"], {"c": "TimeoutError"}) == (found.defined, found.undefined, found.failed)


@pytest.mark.parametrize(
    ("score", "value"),
    [(1, 1.0), (True, 1.0), (Fraction(1, 4), 0.25), (-0.5, -0.5), ("0.5", 0.5)],
)
def test_numbers_of_any_kind_become_floats(score, value):
    """
    A score is always a double on the wire.
    """
    number = _sorted(MetricResult("a", score)).defined["a"]
    assert (value, float) == (number, type(number))


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, "high", object(), 10**400, [1.0]])
def test_what_is_no_finite_number_is_undefined(score):
    """
    NaN, infinities and things that are no numbers are never sent as scores.
    """
    found = _sorted(MetricResult("a", score))
    assert ({}, ["a"]) == (found.defined, found.undefined)


def test_notable_results_breached_failed_or_came_from_a_model():
    """
    Formulas and lexical judges are quiet unless a threshold broke; a model's judge never is.
    """
    found = _sorted(
        MetricResult("quiet", 0.9, judge="lexical"),
        MetricResult("formula", 0.9, judge="none"),
        MetricResult("fallback", 0.9, judge="lexical_fallback"),
        MetricResult("broken", 0.1, judge="lexical"),
        MetricResult("failed", None, error_type="ValueError"),
        MetricResult("model", 0.9, judge="claude"),
        MetricResult("named", 0.9, judge="MyJudge"),
        MetricResult("silent model", None, judge="claude"),
        breached=("broken", "absent"),
    )
    assert ["broken", "failed", "model", "named"] == found.notable


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.tuples(st.one_of(st.none(), st.floats()), st.one_of(st.none(), st.just("ValueError"))),
        max_size=8,
    )
)
def test_no_result_is_lost_or_sent_twice(raw):
    """
    Sorting is a partition, whatever the scores are.
    """
    found = _sorted(*[MetricResult(name, score, error_type=error) for name, (score, error) in raw.items()])
    assert sorted(raw) == sorted([*found.defined, *found.undefined, *found.failed])
    assert all([math.isfinite(score) for score in found.defined.values()])
