"""
The results of one evaluation, sorted once for every signal that sends them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from rageval_trace.models import MetricResult

__all__ = ["Sorted", "sort_results"]


@dataclass(slots=True)
class Sorted:
    """
    Metric names by what became of them.

    Args:
        defined: Finite scores by name.
        undefined: Names without a value.
        failed: Class name of the error by name.
    """

    defined: dict[str, float] = field(default_factory=dict)
    undefined: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


def sort_results(results: Mapping[str, MetricResult]) -> Sorted:
    """
    Sort results by what became of them.

    A score that is no finite number can stand on no wire; it counts as undefined.
    """
    found = Sorted()
    for name, result in results.items():
        if result.error_type is not None:
            found.failed[name] = result.error_type
            continue
        score = _finite(result.score)
        if score is None:
            found.undefined.append(name)
        else:
            found.defined[name] = score
    return found


def _finite(score: object) -> float | None:
    if score is None:
        return None
    try:
        number = float(score)  # type: ignore[arg-type]  # a user's metric may give anything
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
