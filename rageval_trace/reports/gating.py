"""
What the gates said, as data: `rageval_trace.gates` finds it out, the renderings show it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["GateOutcome", "GateReport", "Outcome"]

Outcome: TypeAlias = Literal["held", "breached", "error"]


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """
    One gate with its outcome.

    Args:
        metric: The gated metric.
        threshold: Its minimum, or its maximum where lower is better.
        higher_is_better: Which of the two.
        outcome: `held`, `breached`, or `error` when it could not be judged.
        value: The mean that was held to the threshold; None when there is none.
        observed: Records behind the mean.
        reason: Why it did not hold, in words; empty when it did.
    """

    metric: str
    threshold: float
    higher_is_better: bool
    outcome: Outcome
    value: float | None = None
    observed: int = 0
    reason: str = ""

    @property
    def bound(self) -> str:
        """
        Return the gate in symbols, as in `>= 0.85`.
        """
        return f"{'>=' if self.higher_is_better else '<='} {self.threshold:g}"


@dataclass(frozen=True, slots=True)
class GateReport:
    """
    The gates of one run.

    Args:
        outcomes: One a gate, in the order given.
        warnings: What a person should know before trusting them.
    """

    outcomes: tuple[GateOutcome, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def breached(self) -> tuple[str, ...]:
        """
        Return the metrics whose gates were breached.
        """
        return tuple([one.metric for one in self.outcomes if one.outcome == "breached"])

    @property
    def errors(self) -> tuple[str, ...]:
        """
        Return the metrics whose gates could not be judged.
        """
        return tuple([one.metric for one in self.outcomes if one.outcome == "error"])

    @property
    def exit_code(self) -> int:
        """
        Return 0 when every gate held, 1 when one was breached, 2 when one could not be judged.
        """
        return 2 if self.errors else 1 if self.breached else 0

    @property
    def word(self) -> Literal["PASS", "FAIL", "ERROR"]:
        """
        Return the exit code in one word.
        """
        words: tuple[Literal["PASS", "FAIL", "ERROR"], ...] = ("PASS", "FAIL", "ERROR")
        return words[self.exit_code]

    @property
    def headline(self) -> str:
        """
        Return `PASS`, or the word with the metrics at fault, as in `FAIL (groundedness)`.
        """
        at_fault = self.errors or self.breached
        return f"{self.word} ({', '.join(at_fault)})" if at_fault else self.word
