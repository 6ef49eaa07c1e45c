"""
What a model judge may spend: tokens an hour and a day.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from rageval_trace.judges.locks import Lock

__all__ = ["TOKENS_PER_DAY", "TOKENS_PER_HOUR", "TokenBudget", "set_shared_budget", "shared_budget"]

TOKENS_PER_HOUR = 500_000
TOKENS_PER_DAY = 5_000_000

_HOUR_S = 3600
_DAY_S = 24 * _HOUR_S


class _Window:
    """
    Sum what was booked over the last *span_s* seconds, in steps of a sixtieth of them.
    """

    def __init__(self, span_s: int, limit: int) -> None:
        self.limit = limit
        self._step_s = span_s // 60
        self._steps: dict[int, int] = {}

    def book(self, at_s: float, tokens: int) -> None:
        step = int(at_s // self._step_s)
        self._steps[step] = max(0, self._steps.get(step, 0) + tokens)

    def spent(self, now_s: float) -> int:
        oldest = int(now_s // self._step_s) - 59
        for step in [step for step in self._steps if step < oldest]:
            del self._steps[step]
        return sum(self._steps.values())


class TokenBudget:
    """
    Count tokens over the last hour and the last day, and say whether more may be spent.

    Input, cached input and output count alike, as `usage` reports them. A call reserves its estimate first, so that
    calls side by side cannot overshoot together; what it really cost replaces the estimate. Thread-safe.

    Args:
        per_hour: Tokens in any 60 minutes; above 0.
        per_day: Tokens in any 24 hours; above 0.
        clock: Seconds on any scale that never goes back.

    Raises:
        ValueError: if a limit is not a positive number.
    """

    def __init__(
        self,
        per_hour: int = TOKENS_PER_HOUR,
        per_day: int = TOKENS_PER_DAY,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        for name, value in (("per_hour", per_hour), ("per_day", per_day)):
            if not value > 0:
                raise ValueError(f"{name} must be above 0, not {value}")
        self.per_hour = per_hour
        self.per_day = per_day
        self._clock = clock
        self._lock = Lock()
        self._hour = _Window(_HOUR_S, per_hour)
        self._day = _Window(_DAY_S, per_day)

    def reserve(self, tokens: int) -> float | None:
        """
        Take *tokens* out of the budget.

        Returns:
            The time they are booked at, to hand to `settle`; None, with nothing taken, when they do not fit.
        """
        with self._lock:
            now = self._clock()
            if any([window.spent(now) + tokens > window.limit for window in (self._hour, self._day)]):
                return None
            self._book(now, tokens)
            return now

    def settle(self, at_s: float, reserved: int, used: int) -> None:
        """
        Replace what was reserved at *at_s* by what was used.
        """
        with self._lock:
            self._book(at_s, used - reserved)

    @property
    def spent_last_hour(self) -> int:
        """
        Return the tokens of the last 60 minutes, reservations included.
        """
        with self._lock:
            return self._hour.spent(self._clock())

    @property
    def spent_last_day(self) -> int:
        """
        Return the tokens of the last 24 hours, reservations included.
        """
        with self._lock:
            return self._day.spent(self._clock())

    def _book(self, at_s: float, tokens: int) -> None:
        self._hour.book(at_s, tokens)
        self._day.book(at_s, tokens)


class _Shared:
    """
    Hold the budget of this process behind a lock.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.budget: TokenBudget | None = None


_shared = _Shared()


def shared_budget() -> TokenBudget:
    """
    Return the budget that every judge of this process spends from unless it was given its own.
    """
    with _shared.lock:
        if _shared.budget is None:
            _shared.budget = TokenBudget()
        return _shared.budget


def set_shared_budget(budget: TokenBudget | None) -> None:
    """
    Replace the budget of this process; None brings back the default one, unspent.
    """
    with _shared.lock:
        _shared.budget = budget
