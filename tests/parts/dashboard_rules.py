"""
The rules that a dashboard keeps: those of Grafana's dashboard-linter, and ours on names, units and layout.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

import promql_facts
import promql_parser as promql

SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def problems(board: dict[str, Any]) -> list[str]:
    """
    Return every breach of a rule, in words; none for a good dashboard.
    """
    found = [*_frame(board), *_variables(board), *_layout(board)]
    for panel in board["panels"]:
        found += [f"{panel['title']!r}: {problem}" for problem in _panel(panel)]
    return found


def expressions(board: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """
    Return the queries of a dashboard: title of the panel, expression, target.
    """
    return [(panel["title"], target["expr"], target) for panel in board["panels"] for target in panel["targets"]]


def _frame(board: dict[str, Any]) -> list[str]:
    found = []
    if board.get("editable"):
        found.append("uneditable-dashboard: it can be edited")
    if not 39 <= board["schemaVersion"] <= 42:
        found.append(f"schemaVersion {board['schemaVersion']}")
    if not board.get("uid") or not board.get("description"):
        found.append("no uid or description")
    unknown = set(re.findall(r"\$\{?(\w+)", str(board))) - {one["name"] for one in board["templating"]["list"]}
    found += [f"unknown variable ${name}" for name in sorted(unknown - {"__rate_interval", "__range", "__all"})]
    return found


def _variables(board: dict[str, Any]) -> list[str]:
    variables = {one["name"]: one for one in board["templating"]["list"]}
    source = variables.pop("datasource", {})
    found = []
    if source.get("type") != "datasource" or source.get("label") != "Prometheus data source":
        found.append("template-datasource-rule: no variable datasource, or not labelled as it must be")
    if list(variables) != ["job", "pipeline", "judge", "metric"]:
        found.append(f"variables are {list(variables)}")
    for name, one in variables.items():
        good = one["type"] == "query" and one["multi"] and one["includeAll"] and one["allValue"] == ".+"
        if not good or one["datasource"] != SOURCE:
            found.append(f"template-job-rule: {name} is not a query with multi, all as .+, of the chosen source")
        if one["refresh"] != 2:
            found.append(f"template-on-time-change-reload-rule: {name}")
        selector = one["query"].removeprefix("label_values(").rpartition(",")[0]
        found += [f"template-label-promql-rule: {name}: {wrong}" for wrong in _unreadable(selector)]
    return found


def _panel(panel: dict[str, Any]) -> list[str]:
    found = []
    if panel["datasource"] != SOURCE:
        found.append("panel-datasource-rule")
    if not panel.get("title") or not panel.get("description"):
        found.append("panel-title-description-rule")
    if not panel.get("targets"):
        found.append("panel-no-targets-rule")
    refs = [target["refId"] for target in panel["targets"]]
    if "" in refs or len(set(refs)) < len(refs):
        found.append(f"refIds are {refs}")
    unit = panel["fieldConfig"]["defaults"].get("unit")
    for target in panel["targets"]:
        found += _target(target["expr"], unit, panel["type"])
        if target.get("exemplar") and "_bucket{" not in target["expr"]:
            found.append("exemplars lie on buckets, and this reads none")
    return found


def _target(expression: str, unit: str | None, kind: str) -> list[str]:
    found = _unreadable(expression)
    if found:
        return found
    for node in promql_facts.walk(promql.parse(promql_facts.expand(expression))):
        if type(node).__name__ == "VectorSelector" and ("job", "Re", ".+") not in _matchers(node):
            found.append(f'target-job-rule: {node.name} is read without job=~"$job"')
    rated = re.findall(r"\b(i?rate|increase)\(([\w:]+)\{[^}]*\}\[([^]]+)\]", expression)
    found += [
        f"target-rate-interval-rule: {x}" for f, x, window in rated if f != "increase" and window != "$__rate_interval"
    ]
    counters = re.findall(r"\b(\w+_(?:total|bucket|sum|count))\{", expression)
    found += [f"target-counter-agg-rule: {x}" for x in sorted(set(counters) - {x for _, x, _ in rated})]
    # A heatmap's own unit is that of its axis, the buckets' bounds.
    try:
        fitting = "none" if kind == "heatmap" else promql_facts.grafana_unit(promql_facts.expand(expression))
    except ValueError as error:
        return [*found, f"the expression is no quantity: {error}"]
    return found if unit == fitting else [*found, f"panel-units-rule: the unit is {unit}, the value's is {fitting}"]


def _unreadable(expression: str) -> list[str]:
    try:
        return promql_facts.wrong_names(promql_facts.expand(expression))
    except ValueError as error:
        return [f"target-promql-rule: {error}"]


def _matchers(node: Any) -> list[tuple[str, str, str]]:
    return [(one.name, str(one.op).rpartition(".")[2], one.value) for one in node.matchers.matchers]


def _layout(board: dict[str, Any]) -> list[str]:
    panels = board["panels"]
    ids = [panel.get("id") for panel in panels]
    found = [] if None not in ids and len(set(ids)) == len(ids) else [f"ids are {ids}"]
    for one, other in itertools.combinations([panel["gridPos"] for panel in panels], 2):
        apart = (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        )
        if not apart:
            found.append(f"panels overlap at {one} and {other}")
    return found + [
        f"{panel['title']!r} leaves the grid" for panel in panels if panel["gridPos"]["x"] + panel["gridPos"]["w"] > 24
    ]
