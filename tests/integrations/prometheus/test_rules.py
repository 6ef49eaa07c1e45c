"""
The recording rules and alerts: by name, by form, and by promtool's word on when they fire.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("promql_parser", reason="needs the dev extra")
pytest.importorskip("yaml", reason="needs the dev extra")

import promql_facts
import yaml

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "integrations" / "prometheus"
HERE = Path(__file__).parent

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is missing: apt-get install prometheus"
)


def _rules(name: str) -> list[dict[str, Any]]:
    groups = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


RECORDED, ALERTS = _rules("recording.rules.yaml"), _rules("alerts.rules.yaml")
RECORDS = frozenset(rule["record"] for rule in RECORDED)


@pytest.mark.parametrize("rule", [*RECORDED, *ALERTS], ids=lambda rule: rule.get("record") or rule["alert"])
def test_rules_read_declared_names(rule: dict[str, Any]) -> None:
    """
    Every series is one of an instrument or recorded here, every label one that it has.
    """
    assert [] == promql_facts.wrong_names(rule["expr"], RECORDS)


def test_a_planted_name_is_found() -> None:
    """
    A misspelt series, recorded name or label is named.
    """
    expression = ALERTS[0]["expr"]
    for old, new in (("rageval:fail_share", "rageval:failing_share"), ("gen_ai_evaluation_name", "metric_name")):
        assert promql_facts.wrong_names(expression.replace(old, new), RECORDS), new


def test_every_recorded_series_is_read_by_an_alert() -> None:
    """
    Nothing is computed every minute for nobody.
    """
    assert [] == sorted(name for name in RECORDS if not any(name in rule["expr"] for rule in ALERTS))


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_alerts_say_what_to_do(rule: dict[str, Any]) -> None:
    """
    Each waits, has a severity, and its runbook ends in the command that shows a request.
    """
    notes = rule["annotations"]
    assert {"description", "runbook", "summary"} == set(notes)
    assert rule["for"]
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert "rageval show TRACE_ID captures/" == notes["runbook"].strip().splitlines()[-1].strip()


def test_alerts_read_the_label_that_thresholds_gave() -> None:
    """
    No rule compares a score with a literal, and no bucket's bound stands for a threshold.
    """
    text = "\n".join(rule["expr"] for rule in [*RECORDED, *ALERTS])
    assert 'gen_ai_evaluation_score_label="fail"' in text
    assert [] == re.findall(r"score_bucket|\ble\s*=|rageval:score_mean:\w+\s*[<>]", text)


@needs_promtool
@pytest.mark.slow
@pytest.mark.timeout(120)
def test_alerts_fire_when_they_should_and_only_then() -> None:
    """
    promtool's unit tests pass: for each alert what makes it fire, and what must not.
    """
    _run("check", "rules", *map(str, sorted(FOLDER.glob("*.rules.yaml"))))
    _run("test", "rules", *map(str, sorted(HERE.glob("*.test.yaml"))))
    tested = "".join(path.read_text(encoding="utf-8") for path in HERE.glob("*.test.yaml"))
    assert [] == [rule["alert"] for rule in ALERTS if f'alertname="{rule["alert"]}"' not in tested]


@needs_promtool
@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("file", "old", "new", "tests"),
    [
        ("alerts.rules.yaml", "rageval:coverage:rate1h < 0.7", "rageval:coverage:rate1h > 0.7", "yesterday"),
        ("alerts.rules.yaml", "> 0.1 + rageval:abstention_share", "> 0.6 + rageval:abstention_share", "yesterday"),
        ("alerts.rules.yaml", ">= 100)", ">= 1)", "drift"),
        ("recording.rules.yaml", 'rageval_retrieval="empty"', 'rageval_retrieval="found"', "yesterday"),
    ],
)
def test_a_planted_mistake_in_an_alert_fails_its_test(
    tmp_path: Path, file: str, old: str, new: str, tests: str
) -> None:
    """
    A turned comparison, a wrong bound, a lost minimum or a wrong label makes promtool's tests fail.
    """
    shutil.copytree(FOLDER, tmp_path / "integrations" / "prometheus")
    shutil.copytree(HERE, tmp_path / "tests" / "integrations" / "prometheus")
    path = tmp_path / "integrations" / "prometheus" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    test = tmp_path / "tests" / "integrations" / "prometheus" / f"{tests}.test.yaml"
    done = subprocess.run(["promtool", "test", "rules", test], capture_output=True, text=True, check=False)
    assert 1 == done.returncode, done.stdout + done.stderr
    assert "FAILED" in done.stdout + done.stderr


def _run(*arguments: str) -> None:
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr
