"""
Sampling: OpenTelemetry's arithmetic, nested rates, even shares.
"""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rageval_trace.live.sampling import Sampler, run_key

TRACE_IDS = st.integers(min_value=1, max_value=(1 << 128) - 1)
RATES = st.floats(min_value=0, max_value=1)


@given(TRACE_IDS, RATES)
def test_the_decision_is_that_of_trace_id_ratio_based(trace_id: int, rate: float) -> None:
    """
    A request is scored exactly when OpenTelemetry's sampler of the same rate would record its trace.
    """
    sampling = pytest.importorskip("opentelemetry.sdk.trace.sampling")
    recorded = sampling.TraceIdRatioBased(rate).should_sample(None, trace_id, "request").decision.is_sampled()

    assert recorded == Sampler(rate).keeps(trace_id, "run")


@given(TRACE_IDS, RATES, RATES)
def test_rates_nest(trace_id: int, one: float, other: float) -> None:
    """
    What a lower rate keeps, a higher one keeps too.
    """
    low, high = sorted([one, other])

    assert Sampler(high).keeps(trace_id, "run") or not Sampler(low).keeps(trace_id, "run")


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9])
def test_without_a_trace_the_run_id_gives_an_even_share(rate: float) -> None:
    """
    Run UUIDs are hashed, for their own bits are far from even.
    """
    runs = [uuid.UUID(int=number, version=4) for number in range(20_000)]

    share = sum([Sampler(rate).keeps(None, run) for run in runs]) / len(runs)

    assert abs(share - rate) < 4 * (rate * (1 - rate) / len(runs)) ** 0.5


def test_the_ends_of_the_range_are_exact() -> None:
    """
    Rate 1 keeps the largest key, rate 0 not even the smallest.
    """
    assert Sampler(1.0).always
    assert Sampler(1.0).keeps((1 << 64) - 1, "run")
    assert Sampler(0.0).never
    assert not Sampler(0.0).keeps(0, "run")
    assert not Sampler(0.5).always
    assert not Sampler(0.5).never


def test_the_key_of_a_run_does_not_depend_on_the_process() -> None:
    """
    The same run gets the same decision everywhere.
    """
    assert 2790136970278974343 == run_key("run-1")
    assert run_key("run-1") != run_key("run-2")
