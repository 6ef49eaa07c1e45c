"""
What a metric must reach: a minimum, or a maximum where lower is better; reaching it exactly holds.
"""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path

from rageval_trace.errors import GateError
from rageval_trace.metrics import base

__all__ = ["TOLERANCE", "Threshold", "parse_threshold", "parse_thresholds", "shortfall"]

# Means of the same scores added in another order differ in the last digits; a gate must not.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Threshold:
    """
    The value that a metric must reach (or must not pass, where lower is better).

    Args:
        metric: A registered metric's name.
        value: Finite; in [0, 1] for the built-in metrics.
    """

    metric: str
    value: float


def parse_thresholds(wanted: Mapping[str, float] | str | os.PathLike[str] | None) -> tuple[Threshold, ...]:
    """
    Check a mapping from metric name to value; None and an empty mapping give no thresholds.

    A path is that of a gate file, as `rageval calibrate --write` makes it; its thresholds are returned.

    Raises:
        UnknownMetricError: if nothing registered a name.
        GateError: if a value is not a finite number, or lies outside [0, 1] for a built-in metric; if the file cannot
            be read.
    """
    if wanted is None:
        return ()
    if isinstance(wanted, (str, os.PathLike)):
        files = importlib.import_module("rageval_trace.gates.files")  # which needs this module itself
        from_file: tuple[Threshold, ...] = files.read_gate_file(Path(wanted)).thresholds
        return from_file
    if not isinstance(wanted, Mapping):
        raise GateError(
            f"thresholds are {type(wanted).__name__}: expected a mapping from metric to value, or a gate file's path"
        )
    return tuple([_threshold(name, value) for name, value in wanted.items()])


def parse_threshold(text: str) -> Threshold:
    """
    Read `name=value`, as the command line's `--gate` takes it.

    Raises:
        UnknownMetricError: if nothing registered the name.
        GateError: if the text has another shape, or the value is none that the metric can have.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise GateError(f"gate {text!r}: expected name=value, as in groundedness=0.85")
    try:
        number = float(value)
    except ValueError:
        raise GateError(f"gate {text!r}: {value.strip()!r} is not a number") from None
    return _threshold(name.strip(), number)


def _threshold(name: str, value: object) -> Threshold:
    metric = base.get(name)
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise GateError(f"threshold of {name}: expected a finite number, not {value!r}")
    number = float(value)
    if metric.default and not 0 <= number <= 1:
        raise GateError(f"threshold of {name}: expected a value in [0, 1], not {number:g}")
    return Threshold(name, number)


def shortfall(threshold: Threshold, score: float, *, higher_is_better: bool) -> float:
    """
    Return how far a score is on the wrong side of its threshold; negative is the margin left.
    """
    return threshold.value - score if higher_is_better else score - threshold.value
