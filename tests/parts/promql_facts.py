"""
What an expression of PromQL says: which series and labels it reads, and the unit of its value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import promql_parser as promql

from rageval_trace.telemetry import names

GRAFANA_VARIABLES = {"$__rate_interval": "5m", "$__range": "6h"}
_PARTS = ("_bucket", "_sum", "_count")
_COMMON = {"job", "instance", "le", "alertstate"}


def expand(expression: str, **variables: str) -> str:
    """
    Return a dashboard's expression as Grafana would send it; a variable without a value takes everything.
    """
    values = {**GRAFANA_VARIABLES, **{f"${name}": value for name, value in variables.items()}}
    for name in ("job", "pipeline", "judge", "metric"):
        values.setdefault(f"${name}", ".+")
    for name in sorted(values, key=len, reverse=True):
        expression = expression.replace(name, values[name])
    return expression


def walk(node: Any) -> Iterator[Any]:
    """
    Give every node of a parsed expression.
    """
    yield node
    for name in ("lhs", "rhs", "expr", "vector_selector"):
        child = getattr(node, name, None)
        if child is not None:
            yield from walk(child)
    args = getattr(node, "args", None)
    for child in args if isinstance(args, list) else getattr(args, "args", []) or []:
        yield from walk(child)


def selectors(expression: str) -> list[tuple[str, dict[str, str]]]:
    """
    Return the series that an expression reads, each with its matchers.
    """
    found = [node for node in walk(promql.parse(expression)) if type(node).__name__ == "VectorSelector"]
    return [(node.name, {one.name: one.value for one in node.matchers.matchers}) for node in found]


def grouping(expression: str) -> set[str]:
    """
    Return the labels by which an expression groups.
    """
    nodes = [node.modifier for node in walk(promql.parse(expression)) if type(node).__name__ == "AggregateExpr"]
    return {label for modifier in nodes if modifier is not None for label in modifier.labels}


def instrument(series: str) -> tuple[names.Instrument, str]:
    """
    Return the instrument that a series belongs to, and which part of a histogram it is.

    Raises:
        LookupError: if nothing that we declare has such a series.
    """
    for spec in names.INSTRUMENTS:
        parts = _PARTS if spec.kind == "histogram" else ("",)
        for part in parts:
            if series == spec.prometheus + part:
                return spec, part
    raise LookupError(f"no instrument has a series {series!r}")


def wrong_names(expression: str, recorded: frozenset[str] = frozenset()) -> list[str]:
    """
    Return what an expression reads that is not declared: a series, or a label that its instrument does not have.
    """
    wrong = []
    known: set[str] = set(_COMMON)
    every = {label.replace(".", "_") for spec in names.INSTRUMENTS for label in spec.attributes}
    for series, matchers in selectors(expression):
        if series in recorded:
            known |= every
            wrong += [f"{series} has no label {label!r}" for label in matchers if label not in known]
            continue
        try:
            spec, _ = instrument(series)
        except LookupError as error:
            wrong.append(str(error))
            continue
        own = {label.replace(".", "_") for label in spec.attributes}
        known |= own
        wrong += [f"{series} has no label {label!r}" for label in matchers if label not in own | _COMMON]
    return wrong + [f"nothing read has the label {label!r}" for label in sorted(grouping(expression) - known)]


class Quantity(NamedTuple):
    """
    What a value is: a number of things, their sum, a ratio, a rate.
    """

    kind: str  # any, count, sum, per_second, sum_per_second, level, measured, ratio
    metric: str = ""
    unit: str = ""


_RATES = {"count": "per_second", "sum": "sum_per_second"}


def quantity(node: Any) -> Quantity:
    """
    Return what the value of a parsed expression is.

    Raises:
        ValueError: where different things are added or divided.
    """
    kind = type(node).__name__
    if kind in {"ParenExpr", "AggregateExpr", "UnaryExpr"}:
        return quantity(node.expr)
    if kind == "NumberLiteral":
        return Quantity("any")
    if kind == "MatrixSelector":
        return quantity(node.vector_selector)
    if kind == "VectorSelector":
        return _read(node.name)
    if kind == "Call":
        return _called(node)
    if kind == "BinaryExpr":
        return _joined(node)
    raise ValueError(f"no rule for {kind}")


def grafana_unit(expression: str) -> str:
    """
    Return the id of Grafana's unit that fits an expression's value.
    """
    found = quantity(promql.parse(expression))
    if found.kind == "measured":
        return {"1": "none", "s": "s", "h": "h"}[found.unit]
    if found.kind == "per_second":
        return "reqps" if found.unit == "{request}" else "cps"
    return {"ratio": "percentunit", "count": "short", "level": "short"}[found.kind]


def _read(series: str) -> Quantity:
    spec, part = instrument(series)
    if spec.kind == "up_down_counter":
        return Quantity("level", spec.name, spec.unit)
    return Quantity("sum" if part == "_sum" else "count", spec.name, spec.unit)


def _called(node: Any) -> Quantity:
    name = node.func.name
    args = [quantity(one) for one in node.args]
    if name == "vector":
        return Quantity("any")
    if name == "increase":
        return args[0]
    if name == "rate":
        return args[0]._replace(kind=_RATES[args[0].kind])
    if name == "histogram_quantile":
        return args[1]._replace(kind="measured")
    raise ValueError(f"no rule for {name}()")


def _joined(node: Any) -> Quantity:
    left, right = quantity(node.lhs), quantity(node.rhs)
    if str(node.op) == "/":
        if left.metric != right.metric and left.kind != "any":
            raise ValueError(f"{left.metric} is divided by {right.metric}")
        if {left.kind, right.kind} in ({"count"}, {"per_second"}):
            return Quantity("ratio")
        if (left.kind, right.kind) in {("sum", "count"), ("sum_per_second", "per_second")}:
            return left._replace(kind="measured")
        raise ValueError(f"{left.kind} is divided by {right.kind}")
    if left.kind == "any" and str(node.op) in {"or", "*"}:
        return right
    if right.kind != "any" and left != right:
        raise ValueError(f"{left} is joined with {right}")
    return left
