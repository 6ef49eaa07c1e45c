"""
The README's table of metrics and its gate are what the program prints.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rageval_trace.cli import main

README = Path(__file__).resolve().parents[2] / "README.md"
pytestmark = pytest.mark.skipif(not README.is_file(), reason="the README is not beside the tests")


def test_the_table_of_metrics_is_the_programs(capsys):
    """
    A metric that is added, or described otherwise, is in the README too.
    """
    assert main(["metrics", "--markdown"]) == 0
    shown = re.search(r"(?ms)^<!-- metrics: [^\n]*\n(.*?)^<!-- /metrics -->$", README.read_text(encoding="utf-8"))[1]
    # Metrics that other tests, or a user's packages, register are not the built-in ones.
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if line in shown.splitlines()] == shown.splitlines()
    assert {"faithfulness", "groundedness", "hallucination_rate"} <= set(
        re.findall(r"^\| `(\w+)`", shown, re.MULTILINE)
    )


def test_every_builtin_metric_is_in_the_table():
    """
    No metric that runs by default is left out.
    """
    from rageval_trace.metrics import registered

    rows = set(re.findall(r"^\| `(\w+)` \|", README.read_text(encoding="utf-8"), re.MULTILINE))
    assert {name for name, metric in registered().items() if metric.default} <= rows


def test_the_gate_that_is_shown_fails_as_shown(tmp_path, monkeypatch, capsys):
    """
    The README's console lines about gates are what a person gets.
    """
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    text = README.read_text(encoding="utf-8")
    line, result = re.search(
        r"^\$ rageval (run examples/support_bot\.jsonl .*)\n(gate: .*)$", text, re.MULTILINE
    ).groups()
    monkeypatch.chdir(README.parent)
    assert main(line.replace("report.md", str(tmp_path / "report.md")).split()) == 1
    assert result in capsys.readouterr().out.splitlines()
