"""
What both dashboards have around their panels: variables, links, time.
"""

from __future__ import annotations

from typing import Any, Final

from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DashboardLinkType,
    VariableOption,
    VariableRefresh,
    VariableSort,
)

from rageval_dashboards.panels import SOURCE, place
from rageval_dashboards.queries import JUDGE, NAME, PIPELINE, series
from rageval_trace.telemetry import names

__all__ = ["frame"]

_TAGS: Final = ["rag", "genai", "opentelemetry", "rageval"]


def frame(uid: str, title: str, about: str, panels: list[tuple[Any, int, int]]) -> build.Dashboard:
    """
    Return a dashboard of these panels.

    Args:
        uid: Its id in Grafana, for links.
        title: What people see.
        about: Its description.
        panels: Each with its width and height on the grid.
    """
    board = build.Dashboard(title).uid(uid).description(about).tags(_TAGS).readonly()
    board = board.time("now-6h", "now").refresh("30s").timezone("browser").tooltip(DashboardCursorSync.CROSSHAIR)
    other = build.DashboardLink("RAG dashboards").type(DashboardLinkType.DASHBOARDS).tags(["rageval"])
    board = board.link(other.as_dropdown(True).include_vars(True).keep_time(True))
    for variable in _variables():
        board = board.with_variable(variable)
    for panel in place(panels):
        board = board.with_panel(panel)
    return board


def _variables() -> list[Any]:
    requests, scores = series(names.METRIC_REQUESTS), series(names.METRIC_SCORE, "_count")
    here = f'{scores}{{job=~"$job", {PIPELINE}=~"$pipeline"}}'
    return [
        build.DatasourceVariable("datasource").label("Prometheus data source").type("prometheus"),
        _variable("job", "Job", f"label_values({requests}, job)"),
        _variable("pipeline", "Pipeline", f'label_values({requests}{{job=~"$job"}}, {PIPELINE})'),
        _variable("judge", "Judge", f"label_values({here}, {JUDGE})"),
        _variable("metric", "Metric", f"label_values({here}, {NAME})"),
    ]


def _variable(name: str, title: str, query: str) -> build.QueryVariable:
    variable = build.QueryVariable(name).label(title).query(query).datasource(SOURCE)
    variable = variable.refresh(VariableRefresh.ON_TIME_RANGE_CHANGED).sort(VariableSort.ALPHABETICAL_ASC)
    everything = VariableOption(text="All", value="$__all", selected=True)
    return variable.multi(True).include_all(True).all_value(".+").current(everything)
