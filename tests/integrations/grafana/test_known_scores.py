"""
The dashboards' and rules' expressions on a real Prometheus that holds traffic with known scores.

Both ways in are checked: the names of a scrape, and those of Prometheus's OTLP intake.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("promql_parser", reason="needs the dev extra")
pytest.importorskip("yaml", reason="needs the dev extra")

import backend_servers
import dashboard_rules
import known_answers
import known_world
import promql_facts
import yaml

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

ROOT = Path(__file__).resolve().parents[3]
BOARDS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "integrations" / "grafana" / "dashboards").glob("*.json"))
}
RULES = ROOT / "integrations" / "prometheus"
QUERIES = {
    (stem, title, target["refId"]): expression
    for stem, board in BOARDS.items()
    for title, expression, target in dashboard_rules.expressions(board)
}


def _rules(name: str) -> list[dict[str, Any]]:
    groups = yaml.safe_load((RULES / name).read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def _plain(found: dict[frozenset[tuple[str, str]], float], drop: tuple[str, ...] = ()) -> dict[tuple[str, ...], float]:
    """
    Return values by those of their labels, in the order of the labels' names; a bound written 1.0 is 1.
    """
    return {
        tuple([_bound(v) if k == "le" else v for k, v in sorted(labels) if k not in drop]): value
        for labels, value in found.items()
    }


def _bound(text: str) -> str:
    return text.removesuffix(".0")


def _close(expected: dict[tuple[str, ...], float], actual: dict[tuple[str, ...], float]) -> bool:
    same = expected.keys() == actual.keys()
    return same and all(math.isclose(actual[key], value, rel_tol=1e-6, abs_tol=1e-9) for key, value in expected.items())


def test_every_expression_has_a_known_answer() -> None:
    """
    No panel and no rule escapes the checks below.
    """
    assert set(known_answers.PANELS) == set(QUERIES)
    assert set(known_answers.RECORDED) == {rule["record"] for rule in _rules("recording.rules.yaml")}
    assert set(known_answers.ALERTS) == {rule["alert"] for rule in _rules("alerts.rules.yaml")}


@pytest.mark.parametrize("job", [known_world.SCRAPED, known_world.PUSHED])
def test_panels_show_the_known_scores(known: Any, job: str) -> None:
    """
    Each expression, sent as Grafana sends it, gives the numbers worked out by hand.
    """
    for key, expression in QUERIES.items():
        found = _plain(known.prometheus.query(promql_facts.expand(expression, job=job), known.end))
        expected = {
            tuple([job if part == "JOB" else part for part in labels]): value
            for labels, value in known_answers.PANELS[key].items()
        }
        assert _close(expected, found), (key, expected, found)


@pytest.mark.parametrize("job", [known_world.SCRAPED, known_world.PUSHED])
def test_recording_rules_give_the_known_scores(known: Any, job: str) -> None:
    """
    Each recorded expression gives the numbers worked out by hand.
    """
    for rule in _rules("recording.rules.yaml"):
        found = known.prometheus.query(rule["expr"], known.end)
        own = {labels: value for labels, value in found.items() if ("job", job) in labels}
        expected = {tuple(key): value for key, value in known_answers.RECORDED[rule["record"]].items()}
        assert _close(expected, _ordered(own)), (rule["record"], expected, own)


def _ordered(found: dict[frozenset[tuple[str, str]], float]) -> dict[tuple[str, ...], float]:
    """
    Return values by metric, judge and pipeline, those that are there.
    """
    order = ("gen_ai_evaluation_name", "rageval_judge", "rageval_pipeline")
    return {tuple([dict(labels)[k] for k in order if k in dict(labels)]): value for labels, value in found.items()}


@pytest.mark.parametrize(
    "variable",
    [one for one in BOARDS["rag-quality"]["templating"]["list"] if one["type"] == "query"],
    ids=lambda v: v["name"],
)
def test_variables_find_their_values(known: Any, variable: dict[str, Any]) -> None:
    """
    Each variable's query finds what the traffic has.
    """
    selector, _, label = variable["query"].removeprefix("label_values(").removesuffix(")").rpartition(",")
    matched = {"match[]": promql_facts.expand(selector), "start": known.end - 3600, "end": known.end}
    values = {
        "job": [known_world.GONE, known_world.PUSHED, known_world.SCRAPED],
        "pipeline": ["broken", "docs", "rag", "support"],
        "judge": ["claude", "lexical", "lexical_fallback", "none"],
        "metric": ["freshness", "groundedness", "hallucination_rate", "hallucination_risk"],
    }
    assert values[variable["name"]] == known.prometheus.get(f"label/{label.strip()}/values", **matched)


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [
        (("rag-quality", "Failing", "A"), '_label="fail"', '_label="pass"'),
        (("rag-quality", "Failing", "A"), '"pass|fail"', '".*"'),
        (("rag-quality", "Failing", "A"), 'rageval_selection="random", ', ""),
        (("rag-quality", "Coverage", "A"), 'rageval_outcome!="not_rag"', 'rageval_outcome!=""'),
        (("rag-quality", "Context age", "B"), "0.9,", "0.8,"),
        (("rag-quality", "Mean against the same hour a week ago", "A"), "offset 1w", "offset 1h"),
        (("rag-quality", "Requests", "A"), "rageval_requests_total", "rageval_requests"),
        (("rag-evaluation-health", "Sampled", "A"), '!~"not_rag|not_sampled"', '!~"not_rag"'),
    ],
)
def test_a_planted_mistake_changes_the_numbers(known: Any, key: tuple[str, str, str], old: str, new: str) -> None:
    """
    A wrong label, selection, quantile, week or name does not give the known answer.
    """
    assert old in QUERIES[key]
    wrong = promql_facts.expand(QUERIES[key].replace(old, new), job=known_world.SCRAPED)
    found = _plain(known.prometheus.query(wrong, known.end))
    assert not _close(known_answers.PANELS[key], found)


def test_alerts_reach_a_webhook(known: Any, tmp_path: Path) -> None:
    """
    Prometheus with the shipped rules fires every alert on what went wrong, and nothing else; Alertmanager delivers it.

    What was recorded yesterday and a week ago is filled in by promtool; waiting (`for`) is cut to nothing, which the
    rules' unit tests hold.
    """
    promtool = backend_servers.program("promtool")
    for ago in (known_world.DAY, 7 * known_world.DAY):
        start = known.end - ago - 60
        fill = [promtool, "tsdb", "create-blocks-from", "rules", f"--url={known.prometheus.url}", "--eval-interval=60s"]
        span = [f"--start={start}", f"--end={start + 600}", f"--output-dir={tmp_path / 'tsdb'}"]
        subprocess.run([*fill, *span, str(RULES / "recording.rules.yaml")], check=True, capture_output=True)
    for block in known.tsdb.iterdir():
        if (block / "meta.json").exists():
            shutil.copytree(block, tmp_path / "tsdb" / block.name)
    alerts = yaml.safe_load((RULES / "alerts.rules.yaml").read_text(encoding="utf-8"))
    recorded = yaml.safe_load((RULES / "recording.rules.yaml").read_text(encoding="utf-8"))
    recorded["groups"][0]["interval"] = "1s"
    for rule in alerts["groups"][0]["rules"]:
        rule["for"] = "0s"
    for name, rules in (("recording", recorded), ("alerts", alerts)):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(rules), encoding="utf-8")
    with backend_servers.webhook() as hook, backend_servers.alertmanager(tmp_path / "am", hook.url) as manager:
        config = {
            "global": {"evaluation_interval": "1s"},
            "rule_files": [str(tmp_path / "recording.yaml"), str(tmp_path / "alerts.yaml")],
            "alerting": {"alertmanagers": [{"static_configs": [{"targets": [manager]}]}]},
        }
        with backend_servers.prometheus(tmp_path / "prometheus", tsdb=tmp_path / "tsdb", config=config) as server:
            expected = {
                (alert, job, *key)
                for alert, found in known_answers.ALERTS.items()
                for key in found
                for job in ([known_world.GONE] if not key else [known_world.SCRAPED, known_world.PUSHED])
            }
            backend_servers.until(lambda: expected <= {_fired(alert) for alert in hook.alerts}, 40)
            assert expected == {_fired(alert) for alert in hook.alerts}, server.get("alerts")
            texts = {alert["labels"]["alertname"]: alert["annotations"] for alert in hook.alerts}
    assert "support: 80% of the answers rest on stale contexts" == texts["RagevalStaleCorpus"]["summary"]
    assert all(notes["runbook"].rstrip().endswith("rageval show TRACE_ID captures/") for notes in texts.values())


def _fired(alert: dict[str, Any]) -> tuple[str, ...]:
    labels = alert["labels"]
    keys = ("gen_ai_evaluation_name", "rageval_pipeline")
    return (labels["alertname"], labels["job"], *[labels[key] for key in keys if key in labels])
