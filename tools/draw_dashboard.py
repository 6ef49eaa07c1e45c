"""
Draw a dashboard as SVG from what a real Prometheus answers to its panels' own queries: a picture, not Grafana.

    python tools/draw_dashboard.py        (needs promtool, prometheus and the dev extra)

The traffic is the tests' made-up one (tests/parts/known_world.py): good for days, and bad in one pipeline since one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "parts"))

import backend_servers  # noqa: E402 - beside the tests
import known_world  # noqa: E402
import promql_facts  # noqa: E402

COLUMN, LINE, HEAD = 50, 30, 46
SPAN, STEP = 3 * known_world.DAY, 3600
COLOURS = ("#73bf69", "#f2cc0c", "#5794f2", "#ff780a", "#b877d9", "#e02f44", "#37872d")
TITLE = "RAG quality: drawn from the answers of a real Prometheus to the panels' queries, three days of made-up traffic"


def main() -> None:
    """
    Backfill, ask and draw.
    """
    with tempfile.TemporaryDirectory() as temp:
        folder, end = Path(temp), int(time.time())
        (folder / "traffic.txt").write_text(known_world.openmetrics(end), encoding="utf-8")
        backfill = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=720h"]
        subprocess.run([*backfill, folder / "traffic.txt", folder / "tsdb"], check=True, capture_output=True)  # noqa: S603
        with backend_servers.prometheus(folder / "server", tsdb=folder / "tsdb") as server:
            path = ROOT / "integrations" / "grafana" / "dashboards" / "rag-quality.json"
            board = json.loads(path.read_text(encoding="utf-8"))
            drawn = "".join([_panel(panel, _ask(server, panel, end)) for panel in board["panels"]])
    height = HEAD + LINE * max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in board["panels"])
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {24 * COLUMN} {height}" font-family="sans-serif">'
        f'<rect width="100%" height="100%" fill="#111217"/>{_text(10, 28, TITLE, 16)}{drawn}</svg>\n'
    )
    (ROOT / "integrations" / "grafana" / "rag-quality.svg").write_text(svg, encoding="utf-8")


def _ask(server: Any, panel: dict[str, Any], end: int) -> list[tuple[str, list[tuple[float, float]]]]:
    """
    Return the panel's series: a name, and points (seconds since the beginning, value).
    """
    found = []
    for target in panel["targets"]:
        query = target["expr"].replace("$__rate_interval", "4h").replace("$__range", "3d")
        query = promql_facts.expand(query, job=known_world.SCRAPED)
        if target.get("instant"):
            answer = server.get("query", query=query, time=end)["result"]
            values = [(one["metric"], [one["value"]]) for one in answer]
        else:
            answer = server.get("query_range", query=query, start=end - SPAN, end=end, step=STEP)["result"]
            values = [(one["metric"], one["values"]) for one in answer]
        for metric, points in values:
            name = target["legendFormat"]
            for key, value in metric.items():
                name = name.replace(f"{{{{{key}}}}}", value)
            plain = [(float(at) - end + SPAN, float(value)) for at, value in points if value != "NaN"]
            found.append((name, plain))
    return found


def _panel(panel: dict[str, Any], series: list[tuple[str, list[tuple[float, float]]]]) -> str:
    grid, unit = panel["gridPos"], panel["fieldConfig"]["defaults"]["unit"]
    x, y = grid["x"] * COLUMN + 4, HEAD + grid["y"] * LINE + 4
    width, height = grid["w"] * COLUMN - 8, grid["h"] * LINE - 8
    frame = f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="#181b1f" stroke="#2c3235"/>'
    draw = {"stat": _stat, "timeseries": _lines, "bargauge": _bars, "heatmap": _heat}[panel["type"]]
    return frame + _text(x + 8, y + 18, panel["title"], 13) + draw(series, unit, (x, y + 26, width, height - 34))


def _stat(series: list[Any], unit: str, box: tuple[int, int, int, int]) -> str:
    x, y, width, height = box
    value = _number(series[0][1][-1][1], unit) if series else "none"
    return _text(x + width / 2, y + height / 2 + 12, value, 30, anchor="middle", colour=COLOURS[0])


def _lines(series: list[Any], unit: str, box: tuple[int, int, int, int]) -> str:
    x, y, width, height = box
    values = [value for _, points in series for _, value in points] or [0.0]
    low, high = min(0.0, *values), max(0.0, *values) or 1.0
    plot = height - 32
    out = _text(x + 6, y + 12, _number(high, unit), 10) + _text(x + 6, y + plot, _number(low, unit), 10)
    for place, (name, points) in enumerate(series):
        colour = COLOURS[place % len(COLOURS)]
        at = [
            f"{x + 52 + seconds / SPAN * (width - 62):.0f},{y + plot - (value - low) / (high - low) * (plot - 8):.1f}"
            for seconds, value in points
        ]
        out += f'<polyline points="{" ".join(at)}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        column, row = place % 3, place // 3
        out += _text(x + 8 + column * width / 3, y + plot + 16 + 13 * row, name, 10, colour=colour)
    return out


def _bars(series: list[Any], unit: str, box: tuple[int, int, int, int]) -> str:
    x, y, width, _ = box
    most = max([points[-1][1] for _, points in series] or [1.0])
    out = ""
    for place, (name, points) in enumerate(sorted(series)):
        top, length = y + 8 + place * 42, points[-1][1] / most * (width - 110)
        out += _text(x + 8, top + 10, name, 11)
        out += f'<rect x="{x + 8}" y="{top + 15}" width="{length:.0f}" height="14" fill="{COLOURS[2]}"/>'
        out += _text(x + 16 + length, top + 27, _number(points[-1][1], unit), 11)
    return out


def _heat(series: list[Any], unit: str, box: tuple[int, int, int, int]) -> str:  # noqa: ARG001 - as its siblings
    x, y, width, height = box
    rows = sorted([(float(name.replace("+Inf", "inf")), dict(points)) for name, points in series])
    cells = [
        (row, at, value - (rows[row - 1][1].get(at, 0.0) if row else 0.0))
        for row, (_, points) in enumerate(rows)
        for at, value in points.items()
    ]
    most, wide, tall = max(count for *_, count in cells), (width - 60) / (SPAN / STEP + 1), (height - 8) / len(rows)
    out = "".join([_text(x + 6, y + height - tall * (row + 0.2), f"{rows[row][0]:g}", 9) for row in range(len(rows))])
    return out + "".join(
        [
            f'<rect x="{x + 50 + at / STEP * wide:.1f}" y="{y + height - tall * (row + 1):.1f}" width="{wide:.1f}" '
            f'height="{tall:.1f}" fill="#ff780a" opacity="{count / most:.2f}"/>'
            for row, at, count in cells
            if count > 0.01
        ]
    )


def _number(value: float, unit: str) -> str:
    if unit == "percentunit":
        return f"{value:.1%}"
    if unit == "h":
        return f"{value / 24:.0f} d" if value > 48 else f"{value:.0f} h"
    return f"{value:,.0f}" if unit == "short" else f"{value:.2f}"


def _text(x: float, y: float, text: str, size: int, *, anchor: str = "start", colour: str = "#ccccdc") -> str:
    place = f'x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}"'
    return f"<text {place}>{escape(text)}</text>"


if __name__ == "__main__":
    main()
