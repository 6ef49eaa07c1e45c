"""
The token budget: two windows, reservations, one budget a process.
"""

from __future__ import annotations

import threading

import pytest

from rageval_trace.judges.budget import TokenBudget, set_shared_budget, shared_budget


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_defaults_are_finite() -> None:
    """
    Nobody who sets nothing can spend without end.
    """
    budget = TokenBudget()
    assert (500_000, 5_000_000) == (budget.per_hour, budget.per_day)


@pytest.mark.parametrize("limits", [{"per_hour": 0}, {"per_day": -1}, {"per_hour": float("nan")}])
def test_rejects_limits_that_are_not_positive(limits: dict[str, int]) -> None:
    """
    A limit that would let nothing or everything through is an error at construction.
    """
    with pytest.raises(ValueError, match="must be above 0"):
        TokenBudget(**limits)


def test_an_hour_passes_and_the_day_still_counts() -> None:
    """
    The hour's window slides; the day's goes on counting, and ends too.
    """
    clock = Clock()
    budget = TokenBudget(100, 150, clock=clock)
    assert budget.reserve(100) is not None
    assert budget.reserve(1) is None
    clock.now = 3600.0
    assert (0, 100) == (budget.spent_last_hour, budget.spent_last_day)
    assert budget.reserve(51) is None
    assert budget.reserve(50) is not None
    clock.now = 86_400.0
    assert (0, 50) == (budget.spent_last_hour, budget.spent_last_day)
    clock.now = 3 * 86_400.0
    assert budget.spent_last_day == 0


def test_the_real_cost_replaces_the_reservation() -> None:
    """
    What a call really cost is what counts, more or less than its estimate.
    """
    budget = TokenBudget(100, 100, clock=Clock())
    booked_at = budget.reserve(80)
    assert booked_at is not None
    budget.settle(booked_at, 80, 10)
    assert budget.spent_last_hour == 10
    booked_at = budget.reserve(5)
    assert booked_at is not None
    budget.settle(booked_at, 5, 200)
    assert budget.spent_last_hour == 210


def test_a_settlement_after_a_day_is_dropped() -> None:
    """
    A call that ends a day after it began is too old to count.
    """
    clock = Clock()
    budget = TokenBudget(100, 100, clock=clock)
    booked_at = budget.reserve(10)
    assert booked_at is not None
    clock.now = 2 * 86_400.0
    assert budget.spent_last_day == 0
    budget.settle(booked_at, 10, 50)
    assert budget.spent_last_day == 0


def test_threads_cannot_overshoot_together() -> None:
    """
    Of many simultaneous reservations only those that fit succeed.
    """
    budget = TokenBudget(1000, 1000, clock=Clock())
    taken: list[float | None] = []
    threads = [threading.Thread(target=lambda: taken.append(budget.reserve(100))) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([booked for booked in taken if booked is not None]) == 10


def test_a_process_has_one_budget_until_it_is_replaced() -> None:
    """
    Everyone who names no budget spends from the same one.
    """
    set_shared_budget(None)
    first = shared_budget()
    assert first is shared_budget()
    own = TokenBudget(5, 5)
    set_shared_budget(own)
    assert own is shared_budget()
    set_shared_budget(None)
    assert shared_budget() not in (first, own)
