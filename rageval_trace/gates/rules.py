"""
What a gate asks for besides its value: enough observations, few failures, one judge.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from rageval_trace.errors import GateError

__all__ = ["Amount", "GateRules", "parse_amount"]

_AMOUNT = re.compile(r"(\d+)|(\d+(?:\.\d+)?)\s*%")


@dataclass(frozen=True, slots=True)
class Amount:
    """
    A number of records, or a share of them.

    Args:
        value: The number, at least 0; or the share, in [0, 1].
        is_share: Which of the two.
    """

    value: float
    is_share: bool = False

    def of(self, total: int) -> int:
        """
        Return the number of records out of *total*, a share rounded up.
        """
        # The tolerance keeps 80 % of 5 at 4, whatever the product's last digit.
        return math.ceil(self.value * total - 1e-9) if self.is_share else int(self.value)

    def __str__(self) -> str:
        return f"{self.value * 100:g}%" if self.is_share else f"{self.value:g}"


def parse_amount(text: str | int, name: str) -> Amount:
    """
    Read `20` or `80%`.

    Args:
        text: A whole number, or a percentage from 0 to 100.
        name: The option it was given to, for the message.

    Raises:
        GateError: if it is neither.
    """
    found = None if isinstance(text, bool) else _AMOUNT.fullmatch(str(text).strip())
    if found is None or float(found[2] or 0) > 100:
        raise GateError(f"{name}: expected a number of records or a percentage, as in 20 or 80%, not {text!r}")
    return Amount(float(found[2]) / 100, is_share=True) if found[2] else Amount(int(found[1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRules:
    """
    When a gate's value may be trusted.

    Args:
        min_observed: Records on which each gated metric must be defined; fewer breach its gate.
        allow_failed: Records on which it may have failed; more, and the run could not complete.
        allow_fallback: Take a mean over the values of several judges, or of a fallback. Otherwise such a run
            could not complete.
        scoring_version: The version the thresholds were chosen for; another one warns. None to take any.
    """

    min_observed: Amount = Amount(1)
    allow_failed: Amount = Amount(0)
    allow_fallback: bool = False
    scoring_version: int | None = None
