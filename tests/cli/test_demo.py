from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import pytest

from rageval_trace import EvalConfig, evaluate
from rageval_trace.cli import main
from rageval_trace.cli.samples import SAMPLES
from rageval_trace.io import load_records

FILE = Path(__file__).resolve().parents[2] / "examples" / "sample.jsonl"


def test_the_file_and_the_demo_hold_the_same_records():
    """
    `rageval demo` and `rageval run examples/sample.jsonl` score one set of seven.
    """
    assert SAMPLES == tuple(load_records(FILE))
    assert len(SAMPLES) == 7


@pytest.mark.parametrize(
    ("record_id", "lowest"),
    [
        ("nile-hallucination", "faithfulness"),
        ("photosynthesis-unrelated", "context_precision"),
        ("mars-recall-miss", "context_recall"),
        ("library-stale", "freshness"),
        ("mars-off-topic", "answer_relevance"),
    ],
)
def test_each_bad_sample_is_worst_at_what_it_shows(record_id, lowest):
    """
    The metric that names the fault is the lowest of the five, alone or beside one that the fault drags along.
    """
    (record,) = [one for one in SAMPLES if one.id == record_id]
    card = evaluate([record])
    assert lowest == card.weakest


@pytest.mark.parametrize("record_id", ["paris-grounded", "library-fresh"])
def test_the_good_samples_are_grounded_relevant_and_fresh(record_id):
    """
    The two good records have no broken sentence, take up the question, and rest on chunks of this week.
    """
    (record,) = [one for one in SAMPLES if one.id == record_id]
    means = evaluate([record]).means
    assert [1.0, 1.0] == [means["groundedness"], means["answer_relevance"]]
    assert means["freshness"] > 0.8


def test_the_demo_prints_the_scorecard_of_its_records(capsys):
    """
    The human output is the scorecard's own, and nothing goes to standard error.
    """
    assert main(["demo"]) == 0
    out, err = capsys.readouterr()
    assert evaluate(SAMPLES).format_text() + "\n" == out
    assert err == ""


def test_json_prints_the_report_alone(capsys):
    """
    With --json, standard output is one JSON document with seven records.
    """
    assert main(["--json", "demo"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [record.id for record in SAMPLES] == [record["id"] for record in report["records"]]


def test_now_moves_freshness_and_out_writes_the_report(capsys, tmp_path):
    """
    `--now` before the command is the now of every record, and `--out` writes the JSON that `--json` prints.
    """
    path = tmp_path / "report.json"
    assert main(["--now", "2026-08-28T12:00:00Z", "--json", "--out", str(path), "demo"]) == 0
    out, err = capsys.readouterr()
    assert out == path.read_text(encoding="utf-8")
    assert err == f"wrote {path}\n"
    later = EvalConfig(now=datetime(2026, 8, 28, 12, tzinfo=timezone.utc))
    assert evaluate(SAMPLES, config=later).to_json() == out


def test_metrics_are_the_ones_named(capsys):
    """
    `--metrics` limits the scorecard, and an unknown name ends with code 2 and the known ones.
    """
    assert main(["demo", "--json", "--metrics", "faithfulness,freshness"]) == 0
    assert list(json.loads(capsys.readouterr().out)["metrics"]) == ["faithfulness", "freshness"]
    assert main(["demo", "--metrics", "fidelity"]) == 2
    assert "known: faithfulness" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_is_an_error(capsys, tmp_path):
    """
    The path and the reason are named, and the exit code is 2.
    """
    assert main(["demo", "--out", str(tmp_path)]) == 2
    assert f"cannot write {tmp_path}" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--otlp", "http://localhost:4318"], ["--framework", "langchain"]])
def test_options_of_the_live_demo_need_it(capsys, option):
    """
    An option that would do nothing is an error.
    """
    assert main(["demo", *option]) == 2
    assert "go with --live" in capsys.readouterr().err


LOADS = """
import sys
from rageval_trace.cli import main
main(["demo"])
print(sorted({name.split(".")[0] for name in sys.modules} & {"opentelemetry", "anthropic", "langchain_core", "rich"}))
"""


def test_the_demo_needs_the_core_alone():
    """
    It loads no framework, no telemetry and no terminal library.
    """
    shown = subprocess.run([sys.executable, "-c", LOADS], check=True, capture_output=True, text=True, timeout=60)
    assert shown.stdout.splitlines()[-1] == "[]"
