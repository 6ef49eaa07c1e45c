"""
The dashboards' files: made by the code beside them, and by the rules.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("promql_parser", reason="needs the dev extra")

import dashboard_rules
import promql_facts

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "integrations" / "grafana"
FILES = sorted((FOLDER / "dashboards").glob("*.json"))
QUALITY = json.loads((FOLDER / "dashboards" / "rag-quality.json").read_text(encoding="utf-8"))


def test_the_committed_dashboards_are_what_the_code_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Regenerating gives the committed files, byte by byte.
    """
    pytest.importorskip("grafana_foundation_sdk", reason="needs the dev extra on Python 3.11 or newer")
    monkeypatch.syspath_prepend(str(FOLDER))
    import generate

    assert generate.dashboards() == {path.name: path.read_text(encoding="utf-8") for path in FILES}
    monkeypatch.delitem(sys.modules, "generate")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_dashboards_keep_the_rules(path: Path) -> None:
    """
    Grafana's linter, our names, units and the grid have nothing to say.
    """
    assert [] == dashboard_rules.problems(json.loads(path.read_text(encoding="utf-8")))


def test_means_and_shares_are_of_the_random_sample() -> None:
    """
    Every expression over scores reads what was selected at random, not what a rule picked.
    """
    read = [
        matchers
        for path in FILES
        for _, expression, _ in dashboard_rules.expressions(json.loads(path.read_text(encoding="utf-8")))
        for series, matchers in promql_facts.selectors(promql_facts.expand(expression))
        if series.startswith("rageval_evaluation_score")
    ]
    assert ["random"] * len(read) == [matchers.get("rageval_selection") for matchers in read]
    assert len(read) > 10


def _in(title: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda board: next(panel for panel in board["panels"] if panel["title"] == title)


def _replace(title: str, old: str, new: str) -> Callable[[dict[str, Any]], None]:
    def plant(board: dict[str, Any]) -> None:
        target = _in(title)(board)["targets"][0]
        assert old in target["expr"]
        target["expr"] = target["expr"].replace(old, new)

    return plant


def _unit(title: str, unit: str) -> Callable[[dict[str, Any]], None]:
    return lambda board: _in(title)(board)["fieldConfig"]["defaults"].update(unit=unit)


@pytest.mark.parametrize(
    ("plant", "complaint"),
    [
        (_replace("Requests", "rageval_requests_total", "rageval_request_total"), "no instrument has a series"),
        (_replace("Requests", "rageval_outcome", "outcome"), "has no label 'outcome'"),
        (_replace("Breaches by metric and pipeline", "rageval_pipeline)", "pipeline)"), "nothing read has the label"),
        (_replace("Requests by pipeline", "[$__rate_interval]", "[5m]"), "target-rate-interval-rule"),
        (_replace("Requests", 'job=~"$job", ', ""), "target-job-rule"),
        (_replace("Requests", "sum (", "sum ("[:-1]), "target-promql-rule"),
        (_replace("Hallucination risk", "_sum{", "_count{"), "panel-units-rule"),
        (_replace("Coverage", "rageval_requests_total{", "rageval_answers_total{"), "has no label"),
        (_unit("Failing", "percent"), "panel-units-rule"),
        (_unit("Context age", "s"), "panel-units-rule"),
        (_unit("Requests by pipeline", "short"), "panel-units-rule"),
        (lambda board: _in("Freshness")(board).pop("description"), "panel-title-description-rule"),
        (lambda board: _in("Freshness")(board)["gridPos"].update(x=8), "overlap"),
        (lambda board: _in("Freshness")(board).update(id=1), "ids are"),
        (lambda board: board["templating"]["list"][1].update(refresh=1), "template-on-time-change-reload-rule"),
    ],
)
def test_a_planted_mistake_is_found(plant: Callable[[dict[str, Any]], None], complaint: str) -> None:
    """
    A wrong name, label, window, unit, place or lost selector is named.
    """
    board = copy.deepcopy(QUALITY)
    plant(board)
    assert [problem for problem in dashboard_rules.problems(board) if complaint in problem]
