"""
The results of one evaluation, sorted once for every signal that sends them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

from rageval_trace.telemetry.names import DETERMINISTIC_JUDGES
from rageval_trace.telemetry.payload import Evaluation

__all__ = ["Sorted", "finite", "sort_results"]


@dataclass(slots=True)
class Sorted:
    """
    Metric names by what became of them.

    Args:
        defined: Finite scores by name.
        undefined: Names without a value.
        failed: Class name of the error by name.
        notable: Names worth an event of their own: breached, failed, or answered by an LLM judge.
    """

    defined: dict[str, float] = field(default_factory=dict)
    undefined: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    notable: list[str] = field(default_factory=list)


def sort_results(evaluation: Evaluation) -> Sorted:
    """
    Sort an evaluation's results by what became of them, in their order.

    A score that is no finite number can stand on no wire; it counts as undefined.
    """
    found = Sorted()
    breached = evaluation.breached
    for name, result in evaluation.results.items():
        if result.error_type is not None:
            found.failed[name] = result.error_type
            found.notable.append(name)
            continue
        score = result.score if type(result.score) is float else finite(result.score)
        if score is None or not isfinite(score):
            found.undefined.append(name)
            continue
        found.defined[name] = score
        if result.judge not in DETERMINISTIC_JUDGES or name in breached:
            found.notable.append(name)
    return found


def finite(value: object) -> float | None:
    """
    Return a number of any kind as a double; None for what is no finite number.
    """
    if value is None:
        return None
    try:
        number = float(value)  # type: ignore[arg-type]  # a user's metric may give anything
    except (TypeError, ValueError, OverflowError):
        return None
    return number if isfinite(number) else None
