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

_MINUTES_AN_HOUR = 60
_MINUTES_A_DAY = 24 * 60


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
        self._minutes: dict[int, int] = {}  # minute -> tokens, at most a day of them

    def reserve(self, tokens: int) -> int | None:
        """
        Take *tokens* out of the budget.

        Returns:
            The minute they are booked on, to hand to `settle`; None, with nothing taken, when they do not fit.
        """
        with self._lock:
            minute = self._minute()
            if self._spent(minute, _MINUTES_AN_HOUR) + tokens > self.per_hour:
                return None
            if self._spent(minute, _MINUTES_A_DAY) + tokens > self.per_day:
                return None
            self._minutes[minute] = self._minutes.get(minute, 0) + tokens
            return minute

    def settle(self, minute: int, reserved: int, used: int) -> None:
        """
        Replace what was reserved in *minute* by what was used.
        """
        with self._lock:
            if minute in self._minutes:
                self._minutes[minute] = max(0, self._minutes[minute] + used - reserved)

    @property
    def spent_last_hour(self) -> int:
        """
        Return the tokens of the last 60 minutes, reservations included.
        """
        with self._lock:
            return self._spent(self._minute(), _MINUTES_AN_HOUR)

    @property
    def spent_last_day(self) -> int:
        """
        Return the tokens of the last 24 hours, reservations included.
        """
        with self._lock:
            return self._spent(self._minute(), _MINUTES_A_DAY)

    def _minute(self) -> int:
        minute = int(self._clock() // 60)
        for old in [key for key in self._minutes if key <= minute - _MINUTES_A_DAY]:
            del self._minutes[old]
        return minute

    def _spent(self, minute: int, window: int) -> int:
        return sum([tokens for key, tokens in self._minutes.items() if key > minute - window])


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
