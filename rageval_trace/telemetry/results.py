"""
The results of one evaluation, sorted once for every signal that sends them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

from rageval_trace.telemetry.names import DETERMINISTIC_JUDGES
from rageval_trace.telemetry.payload import Evaluation

__all__ = ["Sorted", "sort_results"]


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
        score = result.score if type(result.score) is float else _number(result.score)
        if score is None or not isfinite(score):
            found.undefined.append(name)
            continue
        found.defined[name] = score
        if result.judge not in DETERMINISTIC_JUDGES or name in breached:
            found.notable.append(name)
    return found


def _number(score: object) -> float | None:
    """
    Return what a user's metric gave as a float; None if it is no number.
    """
    try:
        return None if score is None else float(score)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
