"""
The registry: what a metric declares, and how metrics are found by name.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rageval_trace.errors import UnknownMetricError
from rageval_trace.models import MetricResult

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "Metric",
    "MetricFunction",
    "Step",
    "get",
    "load_plugins",
    "names",
    "register",
    "registered",
    "select",
    "undefined",
]

MetricFunction: TypeAlias = Callable[..., MetricResult]
Step: TypeAlias = Literal["retrieval", "grounding", "answer", "freshness"]

ENTRY_POINT_GROUP = "rageval_trace.metrics"

_log = logging.getLogger("rageval_trace")


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """
    A metric's declaration; equal to itself alone, so that every request can look it up at no cost.

    Args:
        name: The one word for it in code, command line, telemetry, dashboards and alerts.
        compute: The pure function `(record, config=None) -> MetricResult`.
        step: The pipeline step it speaks of.
        higher_is_better: Its direction; gates, verdicts and colours read it from here.
        needs: The record's fields without which it is undefined.
        meaning: One line for `rageval metrics` and the README.
        undefined_when: When it has no value, in words.
        default: Run when no metrics are named. Only the built-in set is, so that installing a package moves
            nobody's numbers.
    """

    name: str
    compute: MetricFunction
    step: Step
    higher_is_better: bool
    needs: tuple[str, ...]
    meaning: str
    undefined_when: str
    default: bool


_registry: dict[str, Metric] = {}
_unloadable: list[EntryPoint] = []


def register(
    name: str,
    *,
    step: Step = "answer",
    higher_is_better: bool = True,
    needs: Iterable[str] = (),
    meaning: str = "",
    undefined_when: str = "",
    default: bool = False,
) -> Callable[[MetricFunction], MetricFunction]:
    """
    Register the decorated function as the metric *name* and return it unchanged.

    See `Metric` for the arguments. Registering a name again replaces it, so that a module can be reloaded.

    Raises:
        TypeError: if *name* is no string, as under a bare `@register`.
    """
    if not isinstance(name, str):
        raise TypeError('a metric needs a name: @register("name")')

    def add(compute: MetricFunction) -> MetricFunction:
        about = meaning or (compute.__doc__ or "").strip().partition("\n")[0]
        _registry[name] = Metric(name, compute, step, higher_is_better, tuple(needs), about, undefined_when, default)
        return compute

    return add


def undefined(name: str, reason: str, *, judge: str = "none", details: Mapping[str, Any] | None = None) -> MetricResult:
    """
    Return the result of a metric that has no value on this record: a score of None, never 0.
    """
    return MetricResult(name, None, reason, _registry[name].higher_is_better, judge, details or {})


def registered() -> Mapping[str, Metric]:
    """
    Return every registered metric by name, in registration order.
    """
    return dict(_registry)


def names() -> tuple[str, ...]:
    """
    Return every registered name, in registration order.
    """
    return tuple(_registry)


def get(name: str) -> Metric:
    """
    Return one metric.

    Raises:
        UnknownMetricError: if nothing registered *name*, nor an installed plug-in of that name.
    """
    found = _registry.get(name)
    if found is None:
        load_plugins([name])
        found = _registry.get(name)
    if found is None:
        raise UnknownMetricError(name, _registry)
    return found


def select(wanted: Iterable[str | Metric] | None = None) -> tuple[Metric, ...]:
    """
    Return the metrics of these names, or declarations, in the order given and each once; the default set for None.

    Raises:
        UnknownMetricError: naming the known ones.
        TypeError: if *wanted* is one string.
    """
    if wanted is None:
        return tuple([metric for metric in _registry.values() if metric.default])
    if isinstance(wanted, str):
        raise TypeError(f"metrics is one string, {wanted!r}: expected a sequence of names")
    return tuple([one if isinstance(one, Metric) else get(one) for one in dict.fromkeys(wanted)])


def load_plugins(wanted: Iterable[str] | None = None) -> None:
    """
    Import installed plug-in metrics (entry-point group `rageval_trace.metrics`), all of them or those named.

    One that fails to load is named in one warning, is not tried again, and stops nothing.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415 - a third of the package's own import, and rarely asked

    chosen = None if wanted is None else set(wanted)
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        if (chosen is not None and entry.name not in chosen) or entry.name in _registry or entry in _unloadable:
            continue
        try:
            entry.load()
        except Exception as error:
            _unloadable.append(entry)
            _log.warning("metric plug-in %r (%s) failed to load: %s", entry.name, entry.value, type(error).__name__)
