"""
The JSON report: its schema, its values, its bytes.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from rageval_trace import Context, EvalRecord, MetricResult, evaluate
from rageval_trace.gates import Threshold, check_gates
from rageval_trace.io import load_records
from rageval_trace.reports.json_report import json_chunks, json_ready, record_line, schema, to_json
from rageval_trace.reports.scorecard import RecordResult

jsonschema = pytest.importorskip("jsonschema", reason="the schema's validator comes with the extra dev")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def validate(report: str) -> dict:
    loaded = json.loads(report)
    jsonschema.Draft202012Validator(schema()).validate(loaded)
    return loaded


def test_the_schema_is_one():
    """
    The published schema is itself valid.
    """
    jsonschema.Draft202012Validator.check_schema(schema())


def test_a_report_keeps_to_the_schema(bike_card, bike_gates):
    """
    A report with gates, and one without, and one without records, are what the schema says.
    """
    validate(to_json(bike_card, bike_gates))
    validate(to_json(bike_card))
    assert validate(to_json(evaluate([])))["records"] == []


def test_examples_keep_to_the_schema():
    """
    What the harness itself computes fits as well.
    """
    card = evaluate(load_records(EXAMPLES / "support_bot.jsonl"))
    report = validate(to_json(card, check_gates(card, [Threshold("groundedness", 0.85)])))
    assert report["means"] == card.means
    assert [one["id"] for one in report["records"]] == [one.record.id for one in card.results]
    assert report["gates"]["result"] == "FAIL"


def test_the_schema_refuses_what_is_not_said():
    """
    A field too many, or too few, is no report.
    """
    report = json.loads(to_json(evaluate([EvalRecord("q")])))
    for wrong in ({**report, "extra": 1}, {key: value for key, value in report.items() if key != "means"}):
        with pytest.raises(jsonschema.ValidationError):
            validate(json.dumps(wrong))


def test_undefined_is_null():
    """
    A metric without a value is null in the mean, in the summary and in the record.
    """
    report = validate(to_json(evaluate([EvalRecord("q")], metrics=["recall"])))
    assert report["means"] == {"recall": None}
    assert report["metrics"]["recall"]["mean"] is None
    assert report["records"][0]["results"]["recall"]["score"] is None


def test_records_that_were_not_kept():
    """
    Without kept results, the report holds the worst ones.
    """
    card = evaluate([EvalRecord("q", ["a"], "b", id=str(at)) for at in range(30)], keep_results=False)
    assert len(validate(to_json(card))["records"]) == len(card.worst)


def test_a_stream_of_lines_gives_the_same_report(bike_card, bike_gates):
    """
    Records written as they come make the same bytes as records held.
    """
    lines = (record_line(entry, at) for at, entry in enumerate(bike_card.results))
    assert "".join(json_chunks(bike_card, bike_gates, lines)) == to_json(bike_card, bike_gates)


class Odd:
    """
    A type that JSON does not know.
    """


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.nan, None),
        (-math.inf, None),
        (1, 1),
        (True, True),
        ("\ud800", "\ud800"),
        ({1: (2.5, None)}, {"1": [2.5, None]}),
        ({"b", "a"}, ["a", "b"]),
        (frozenset({3, 1}), [1, 3]),
        (Odd(), "<Odd>"),
        ([[[1]]], [["<list>"]]),
    ],
)
def test_details_become_json(value, expected):
    """
    Whatever a metric puts into its details, the report can hold it.
    """
    assert expected == json_ready(value, depth=2)


def test_a_record_line_is_one_line():
    """
    A record takes one line, whatever it holds.
    """
    entry = RecordResult(EvalRecord("a\nb\u2028", id="i"), {"m": MetricResult("m", math.nan, details={"x": {1}})})
    line = record_line(entry, 3)
    assert "\n" not in line
    assert json.loads(line)["results"]["m"] == {
        "score": None, "reason": "", "judge": "none", "error_type": None, "details": {"x": [1]},
    }  # fmt: skip


PROGRAM = """
import sys
from rageval_trace import evaluate
from rageval_trace.io import load_records
sys.stdout.write(evaluate(load_records(sys.argv[1])).to_json())
"""


def test_the_bytes_do_not_depend_on_the_hash_seed(tmp_path):
    """
    Three interpreters with three hash seeds write the same report.
    """
    path = tmp_path / "r.jsonl"
    text = (EXAMPLES / "support_bot.jsonl").read_text()
    path.write_text(
        text + '{"question": "q", "relevant_ids": ["a", "b", "c", "d"], "contexts": ["x y z"], "answer": "p q r."}\n'
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(path)], check=True, capture_output=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in "012"
    }
    assert len(seen) == 1
    validate(seen.pop().decode())


def test_a_context_may_be_anything_hashable_by_id():
    """
    A record with graded ids and dated chunks reports their numbers.
    """
    record = EvalRecord(
        "q", [Context("a", "q", timestamp="2026-01-01")], "q", relevant_ids={"a": 2}, asked_at="2026-01-02"
    )
    report = validate(to_json(evaluate([record])))
    assert report["now_source"] == "asked_at"
    assert report["records"][0]["results"]["freshness"]["details"]["ages_hours"] == {"1": 24.0}
