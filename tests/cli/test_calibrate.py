"""
`rageval calibrate`: from labelled, unlabelled and already scored answers to thresholds and a gate file.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from rageval_trace import EvalRecord, evaluate
from rageval_trace.cli import main
from rageval_trace.gates import Threshold, parse_thresholds, read_gate_file

CONTEXT = "The Loire rises on Mont Gerbier and is 1,006 km long."


def rows(labels: bool = True) -> list[dict[str, Any]]:
    """Make twelve true answers and twelve invented ones."""
    made = []
    for at in range(12):
        good = {"question": "Where?", "contexts": [CONTEXT], "answer": "The Loire rises on Mont Gerbier."}
        bad = {"question": "Where?", "contexts": [CONTEXT], "answer": f"It springs near Lyon, {at + 20} miles away."}
        made += [good | ({"label": 1} if labels else {}), bad | ({"label": 0} if labels else {})]
    return made


def write(path: Path, content: list[dict[str, Any]]) -> str:
    """Write rows as JSONL."""
    path.write_text("".join([json.dumps(row) + "\n" for row in content]), encoding="utf-8")
    return str(path)


def test_labelled_answers_give_thresholds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Proposals, curve and choice are printed, and the gate file holds what was chosen."""
    gates = tmp_path / "gates.toml"
    assert 0 == main(["calibrate", write(tmp_path / "l.jsonl", rows()), "--write", str(gates)])
    printed = capsys.readouterr()
    assert "24 have a label: 12 unsupported, 12 supported" in printed.out
    assert "1.00 [0.76, 1.00]" in printed.out
    assert f"wrote {gates}" in printed.err
    chosen = read_gate_file(gates).thresholds
    assert ["hallucination_risk"] == [one.metric for one in chosen]
    assert f"Chosen by balanced: hallucination_risk = {chosen[0].value:g}" in printed.out
    assert chosen == parse_thresholds(str(gates))
    assert 0 == main(["run", write(tmp_path / "good.jsonl", rows()[::2]), "--gate-file", str(gates)])
    assert 1 == main(["run", write(tmp_path / "bad.jsonl", rows()[1::2]), "--gate-file", str(gates)])


def test_json_holds_the_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has every figure for every metric asked for, and nothing else is printed."""
    path = write(tmp_path / "l.jsonl", rows())
    words = ["calibrate", path, "--metric", "hallucination_risk", "--metric", "groundedness", "--json"]
    assert 0 == main([*words, "--rule", "few-alarms"])
    report = json.loads(capsys.readouterr().out)
    first, second = report["metrics"]
    assert (24, 12, False, True) == (
        first["labelled"], first["bad"], first["higher_is_better"], second["higher_is_better"],
    )  # fmt: skip
    assert ["balanced", "few-alarms", "catch-most"] == [one["rule"] for one in first["proposals"]]
    assert "few-alarms" == first["chosen"]["by"]
    assert 1.0 == first["proposals"][0]["expected"]["recall"]["value"]
    assert 9 == len(first["curve"])


@pytest.mark.parametrize("form", ["metadata", "csv"])
def test_labels_may_lie_in_the_metadata_or_in_a_column(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A label in a record's metadata counts as one in its row, and so does a cell of a table."""
    path = tmp_path / f"l.{'csv' if form == 'csv' else 'jsonl'}"
    if form == "csv":
        lines = [f'{row["question"]},"{row["answer"]}","{CONTEXT}",{row["label"]}' for row in rows()]
        lines.append(f'Where?,"The Loire rises.","{CONTEXT}",')
        path.write_text("question,answer,retrieved_contexts,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    else:
        write(path, [{**row, "label": None, "metadata": {"label": row["label"]}} for row in rows()])
    assert 0 == main(["calibrate", str(path)])
    assert "24 have a label" in capsys.readouterr().out


def test_unlabelled_answers_give_breaches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without labels the breaches in 1,000 are told, and the budget's threshold is written."""
    gates = tmp_path / "gates.toml"
    path = write(tmp_path / "u.jsonl", rows(labels=False))
    assert 0 == main(["calibrate", path, "--budget", "500", "--write", str(gates)])
    printed = capsys.readouterr().out
    assert "No labels" in printed
    assert "500 [314.3, 685.7]" in printed
    threshold = read_gate_file(gates).thresholds[0]
    scores = [evaluate([EvalRecord(**row)]).means["hallucination_risk"] for row in rows(labels=False)]
    assert 12 == sum(score is not None and score > threshold.value for score in scores)


@pytest.mark.parametrize("zipped", [False, True])
def test_a_report_is_taken_as_it_is(zipped: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The scores of a JSON report are used without scoring again."""
    path = write(tmp_path / "u.jsonl", rows(labels=False))
    report = tmp_path / "report.json"
    assert 0 == main(["run", path, "--out", str(report)])
    capsys.readouterr()
    if zipped:
        packed = tmp_path / "report.json.gz"
        packed.write_bytes(gzip.compress(report.read_bytes()))
        report = packed
    assert 0 == main(["calibrate", str(report), "--json"])
    from_report = json.loads(capsys.readouterr().out)["metrics"]
    assert 0 == main(["calibrate", path, "--json"])
    assert json.loads(capsys.readouterr().out)["metrics"] == from_report


def test_few_labels_are_called_few(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With fewer than ten answers of one kind the figures are called guesses."""
    assert 0 == main(["calibrate", write(tmp_path / "l.jsonl", rows()[:6])])
    assert "little more than guesses" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([row | {"label": 1} for row in rows()], "needs both kinds"),
        ([{"question": "q", "answer": "a b c"}], "hallucination_risk is defined for none"),
        ([{"question": "q", "metadata": {"label": "maybe"}}], "expected 1 (supported) or 0, not 'maybe'"),
        ([{"question": "q", "label": 7}], "expected 1 (supported) or 0"),
    ],
)
def test_what_cannot_be_calibrated(
    content: list[dict[str, Any]], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that gives no threshold is refused with the reason and exit code 2."""
    assert 2 == main(["calibrate", write(tmp_path / "l.jsonl", content)])
    assert message in capsys.readouterr().err


def test_json_that_is_no_report_is_read_as_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A JSON array is a file of records, an object without a report's shape is refused, and so is broken JSON."""
    array = tmp_path / "rows.json"
    array.write_text(json.dumps(rows()), encoding="utf-8")
    assert 0 == main(["calibrate", str(array)])
    assert "24 have a label" in capsys.readouterr().out
    for content in ('{"report_version": 1}', '{"broken'):
        array.write_text(content, encoding="utf-8")
        assert 2 == main(["calibrate", str(array)])
        assert "rows.json" in capsys.readouterr().err


def test_a_gate_file_is_not_replaced_by_accident(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An existing file stays, unless replacing it was asked for."""
    gates = tmp_path / "gates.toml"
    gates.write_text("[gates]\nmrr = 0.5\n", encoding="utf-8")
    words = ["calibrate", write(tmp_path / "l.jsonl", rows()), "--write", str(gates)]
    assert 2 == main(words)
    assert "--force replaces it" in capsys.readouterr().err
    assert (Threshold("mrr", 0.5),) == read_gate_file(gates).thresholds
    assert 0 == main([*words, "--force"])
    assert "hallucination_risk" == read_gate_file(gates).thresholds[0].metric


@pytest.mark.parametrize("budget", ["-1", "1000", "many"])
def test_bad_budgets(budget: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A budget is a number of breaches in 1,000."""
    with pytest.raises(SystemExit):
        main(["calibrate", "x", "--budget", budget])
    assert "from 0 to below 1000" in capsys.readouterr().err
