"""
Panels in the shapes that both dashboards use: a stat, lines over time, bars, a heatmap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from grafana_foundation_sdk.builders import bargauge, common, heatmap, prometheus, stat, timeseries
from grafana_foundation_sdk.builders.dashboard import ThresholdsConfig
from grafana_foundation_sdk.models import common as kinds
from grafana_foundation_sdk.models.dashboard import (
    DataSourceRef,
    GridPos,
    Threshold,
    ThresholdsMode,
)
from grafana_foundation_sdk.models.heatmap import HeatmapColorMode
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

__all__ = ["SOURCE", "Query", "bars", "heat", "lines", "number"]

SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")


@dataclass(frozen=True)
class Query:
    """
    One expression of a panel, and what its lines are called.
    """

    expr: str
    legend: str = ""
    exemplars: bool = False


def number(title: str, about: str, unit: str, expr: str, worse: tuple[float, float] | None = None) -> Any:
    """
    Return a stat: one number over the dashboard's time range.

    Args:
        title: Of the panel.
        about: Its description.
        unit: Grafana's id of the unit.
        expr: Asked once, at the end of the range.
        worse: From where it turns orange, then red; None for no colour. For shares alone: what a good score is depends
            on the pipeline, and stands in its thresholds.
    """
    panel = stat.Panel().color_mode(kinds.BigValueColorMode.VALUE).graph_mode(kinds.BigValueGraphMode.NONE)
    panel = panel.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
    panel = panel.with_target(_target(Query(expr), 0).instant())
    return _common(panel, title, about, unit).thresholds(_steps(worse)).no_value("none")


def lines(title: str, about: str, unit: str, *queries: Query, ratio: bool = False, stacked: bool = False) -> Any:
    """
    Return a time series.

    Args:
        title: Of the panel.
        about: Its description.
        unit: Grafana's id of the unit.
        *queries: Its expressions.
        ratio: The axis goes from 0 to 1.
        stacked: Lines add up.
    """
    panel = timeseries.Panel().fill_opacity(30 if stacked else 8).show_points(kinds.VisibilityMode.AUTO)
    panel = panel.legend(common.VizLegendOptions().show_legend(True).display_mode(kinds.LegendDisplayMode.LIST))
    if stacked:
        panel = panel.stacking(common.StackingConfig().mode(kinds.StackingMode.NORMAL))
    if ratio:
        panel = panel.min(0).max(1)
    for place, query in enumerate(queries):
        panel = panel.with_target(_target(query, place).range())
    return _common(panel, title, about, unit)


def bars(title: str, about: str, unit: str, query: Query) -> Any:
    """
    Return horizontal bars, one for each group, over the dashboard's time range.
    """
    panel = bargauge.Panel().orientation(kinds.VizOrientation.HORIZONTAL)
    panel = panel.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
    panel = panel.with_target(_target(query, 0).instant())
    return _common(panel, title, about, unit).thresholds(_steps(None)).min(0).no_value("none")


def heat(title: str, about: str, unit: str, query: Query) -> Any:
    """
    Return a heatmap of histogram buckets over time.
    """
    color = heatmap.HeatmapColorOptions().mode(HeatmapColorMode.SCHEME).scheme("Oranges").steps(32)
    panel = heatmap.Panel().calculate(False).color(color).y_axis(heatmap.YAxisConfig().unit(unit))
    panel = panel.with_target(_target(query, 0).range().format(PromQueryFormat.HEATMAP))
    return _common(panel, title, about, unit)


def place(panels: list[tuple[Any, int, int]]) -> list[Any]:
    """
    Lay panels out in reading order on the grid of 24 columns, and number them.

    Args:
        panels: Each with its width and height; a line of panels has one height.
    """
    column = line = 0
    for number_, (panel, width, height) in enumerate(panels, start=1):
        if column + width > 24:
            column, line = 0, line + panels[number_ - 2][2]
        panel.id(number_).grid_pos(GridPos(h=height, w=width, x=column, y=line))
        column += width
    return [panel for panel, _, _ in panels]


def _target(query: Query, place_: int) -> prometheus.Dataquery:
    target = prometheus.Dataquery().expr(query.expr).ref_id("ABCDEFGH"[place_]).datasource(SOURCE)
    target = target.legend_format(query.legend or "__auto")
    return target.exemplar(True) if query.exemplars else target


def _common(panel: Any, title: str, about: str, unit: str) -> Any:
    return panel.title(title).description(about).unit(unit).datasource(SOURCE)


def _steps(worse: tuple[float, float] | None) -> ThresholdsConfig:
    steps = [Threshold(value=None, color="green" if worse else "blue")]
    if worse is not None:
        steps += [Threshold(value=worse[0], color="orange"), Threshold(value=worse[1], color="red")]
    return ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps)
