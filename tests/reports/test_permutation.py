"""
The sign-flip test, held to scipy and to its own definition.
"""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rageval_trace.reports.permutation import PairedTest, holm, paired_test

DIFFERENCES = st.lists(st.sampled_from([-1.0, -0.5, -0.25, 0.0, 0.0, 0.1, 0.3, 1.0]), min_size=1, max_size=9)


def scattered(count: int, shift: float, seed: int = 1) -> list[float]:
    draw = random.Random(seed)  # noqa: S311 - test data
    return [draw.gauss(shift, 0.3) for _ in range(count)]


def test_nothing_to_compare():
    """
    No pair, no number.
    """
    assert paired_test([]) == PairedTest(0)


def test_by_hand():
    """
    Of the 8 ways to flip three equal differences, two are as extreme: p = 1/4, and three pairs give no interval.
    """
    found = paired_test([0.5, 0.5, 0.5])
    assert (found.pairs, found.mean, found.p_value, found.low, found.high, found.detectable) == (
        3,
        0.5,
        0.25,
        None,
        None,
        None,
    )


def test_no_change_at_all():
    """
    Equal scores give p = 1 and an interval that is a point.
    """
    for count in (8, 400):
        found = paired_test([0.0] * count)
        assert (found.mean, found.p_value, found.low, found.high, found.detectable) == (0.0, 1.0, 0.0, 0.0, None)


@given(DIFFERENCES)
@settings(deadline=None)
def test_the_exact_p_value_is_its_definition(differences):
    """
    The p-value is the share of all sign patterns whose total is as far from 0.
    """
    totals = [
        sum(sign * one for sign, one in zip(signs, differences, strict=True))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    expected = sum(abs(total) >= abs(sum(differences)) - 1e-9 for total in totals) / len(totals)
    assert paired_test(differences).p_value == pytest.approx(expected)


@given(DIFFERENCES)
@settings(deadline=None)
def test_laws(differences):
    """
    The order of pairs does not matter, and turning all signs turns the interval and leaves the p-value.
    """
    found, turned = paired_test(differences), paired_test([-one for one in differences])
    assert paired_test(sorted(differences)).p_value == pytest.approx(found.p_value)
    assert turned.p_value == pytest.approx(found.p_value)
    assert 0 < found.p_value <= 1
    if found.low is not None:
        assert found.low <= found.mean + 1e-12
        assert found.mean <= found.high + 1e-12
        assert (turned.low, turned.high) == (pytest.approx(-found.high), pytest.approx(-found.low))


@pytest.mark.parametrize(
    ("count", "shift", "tolerance"), [(8, 0.2, 1e-12), (13, 0.1, 1e-12), (40, 0.1, 0.015), (200, 0.03, 0.015)]
)
def test_scipy_agrees(count, shift, tolerance):
    """
    scipy's paired permutation test gives the same p-value: to the last digit where both are exact.
    """
    stats = pytest.importorskip("scipy.stats", reason="the second opinion comes with the extra dev")
    numpy = pytest.importorskip("numpy")
    differences = scattered(count, shift)
    theirs = stats.permutation_test(
        (differences,), numpy.mean, permutation_type="samples", n_resamples=20_000, rng=numpy.random.default_rng(5)
    )
    assert paired_test(differences).p_value == pytest.approx(theirs.pvalue, abs=tolerance)


@pytest.mark.parametrize("count", [9, 60])
def test_the_interval_ends_where_the_test_stops_rejecting(count):
    """
    Shifted to either end of its interval, the sample is just about significant at 5 %.
    """
    differences = scattered(count, 0.1)
    found = paired_test(differences)
    for end, outward in ((found.low, -0.02), (found.high, 0.02)):
        assert paired_test([one - end - outward for one in differences]).p_value < 0.06
        assert paired_test([one - end + outward for one in differences]).p_value > 0.04


def test_the_interval_holds_the_truth_as_often_as_it_says():
    """
    Of 200 samples, about 95 % have the true mean in their interval.
    """
    held = 0
    for seed in range(200):
        found = paired_test(scattered(25, 0.1, seed), flips=1000)
        held += found.low <= 0.1 <= found.high
    assert 180 <= held <= 198


def test_what_could_be_shown():
    """
    The detectable difference is 2.80 standard errors.
    """
    differences = [0.1, -0.1] * 50
    scatter = (sum(one * one for one in differences) / 99) ** 0.5
    assert paired_test(differences).detectable == pytest.approx(2.8016 * scatter / 10, rel=1e-4)


def test_the_draw_is_repeatable():
    """
    The same differences give the same numbers, another seed nearly the same.
    """
    differences = scattered(300, 0.02)
    assert paired_test(differences) == paired_test(differences)
    assert paired_test(differences, seed=1).p_value == pytest.approx(paired_test(differences).p_value, abs=0.02)


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [([], []), ([0.04], [0.04]), ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]), ([0.9, 0.8], [1.0, 1.0])],
)
def test_holm(p_values, expected):
    """
    The smallest p-value is multiplied by the number of tests, and no adjusted one is below an earlier one.
    """
    assert holm(p_values) == pytest.approx(expected)
