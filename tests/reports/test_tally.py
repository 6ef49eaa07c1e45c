"""
Running totals: means, counts and percentiles in bounded memory.
"""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rageval_trace import MetricResult
from rageval_trace.reports.tally import Tally


def tally(scores: list[float | None], error: int = 0) -> Tally:
    found = Tally("m", higher_is_better=True)
    for score in scores:
        found.add(MetricResult("m", score))
    for _ in range(error):
        found.add(MetricResult("m", None, error_type="ValueError"))
    return found


def test_counts_and_mean() -> None:
    """Undefined and failed records are counted apart and stay out of the mean."""
    summary = tally([1.0, None, 0.0, 0.5, None], error=3).summary()
    assert (summary.mean, summary.observed, summary.undefined, summary.failed) == (0.5, 3, 2, 3)


def test_nothing_observed_is_none() -> None:
    """Without a value, mean and percentiles are None."""
    summary = tally([None]).summary()
    assert (summary.mean, summary.p10, summary.p50, summary.p90, summary.observed) == (None, None, None, None, 0)


def test_judges_are_counted() -> None:
    """Observed records are counted by who decided, in the order of names."""
    found = Tally("m", higher_is_better=False)
    for judge in ("llm", "lexical_fallback", "llm"):
        found.add(MetricResult("m", 0.5, judge=judge))
    found.add(MetricResult("m", None, judge="none"))
    assert list(found.summary().judges.items()) == [("lexical_fallback", 1), ("llm", 2)]
    assert not found.summary().higher_is_better


@given(st.lists(st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)), min_size=1, max_size=60))
def test_percentiles_equal_numpy(scores: list[float]) -> None:
    """p10, p50 and p90 are numpy's linear percentiles."""
    numpy = pytest.importorskip("numpy")
    summary = tally(list(scores)).summary()
    expected = numpy.percentile(scores, [10, 50, 90])
    assert [summary.p10, summary.p50, summary.p90] == pytest.approx(list(expected), abs=1e-12)


def test_many_different_scores_are_counted_to_four_decimals() -> None:
    """Past ten thousand different scores memory stays bounded and percentiles stay within half a rounding step."""
    rng = random.Random(1)  # noqa: S311  # a sample, not a secret
    scores = [rng.random() for _ in range(25_000)]
    found = tally(list(scores))
    summary = found.summary()
    assert len(found._scores) <= 10_001
    ordered = sorted(scores)
    for share, value in ((0.1, summary.p10), (0.5, summary.p50), (0.9, summary.p90)):
        position = (len(ordered) - 1) * share
        low = ordered[int(position)]
        exact = low + (ordered[int(position) + 1] - low) * (position % 1)
        assert value == pytest.approx(exact, abs=1e-4)
    assert summary.mean == pytest.approx(math.fsum(scores) / len(scores), abs=1e-15)


def test_the_sum_is_compensated() -> None:
    """A million tenths do not drift."""
    found = Tally("m", higher_is_better=True)
    result = MetricResult("m", 0.1)
    for _ in range(300_000):
        found.add(result)
    assert found.summary().mean == pytest.approx(0.1, abs=1e-17)
