"""
OTLP metrics as Prometheus's own OTLP intake would name them, written as OpenMetrics to be scraped: a stand-in.

Our reading of its translation rules (a unit becomes a suffix, `le` is written short, no scope labels), exemplars kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_UNITS = {"s": "_seconds", "h": "_hours"}


def openmetrics(metrics: Mapping[str, Any]) -> str:
    """
    Return the newest points of OTLP metrics as text.
    """
    return "\n".join([line for metric in metrics.values() for line in _written(metric)] + ["# EOF", ""])


def _written(metric: Any) -> Iterator[str]:
    name = metric.name.replace(".", "_") + _UNITS.get(metric.unit, "")
    if metric.HasField("histogram"):
        yield f"# TYPE {name} histogram"
        for point in metric.histogram.data_points:
            yield from _histogram(name, point)
        return
    monotonic = metric.sum.is_monotonic
    yield f"# TYPE {name} {'counter' if monotonic else 'gauge'}"
    for point in metric.sum.data_points:
        value = point.as_int if point.WhichOneof("value") == "as_int" else point.as_double
        yield f"{name}{'_total' if monotonic else ''}{{{_labels(point)}}} {value}"


def _histogram(name: str, point: Any) -> Iterator[str]:
    labels, total, lower = _labels(point), 0, float("-inf")
    for bound, count in zip([*point.explicit_bounds, float("inf")], point.bucket_counts, strict=True):
        total += count
        written = "+Inf" if bound == float("inf") else f"{bound:g}"
        inside = [one for one in point.exemplars if lower < one.as_double <= bound]
        note = f' # {{trace_id="{inside[-1].trace_id.hex()}"}} {inside[-1].as_double}' if inside else ""
        yield f'{name}_bucket{{{labels},le="{written}"}} {total}{note}'
        lower = bound
    yield f"{name}_count{{{labels}}} {point.count}"
    yield f"{name}_sum{{{labels}}} {point.sum}"


def _labels(point: Any) -> str:
    return ",".join([f'{one.key.replace(".", "_")}="{one.value.string_value}"' for one in point.attributes])
