"""
`rageval show` and `rageval golden`: from a captured request to the broken sentence, and to a dataset.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from rageval_trace import Context, EvalConfig, EvalRecord, JsonlSink, LexicalJudge, Monitor, Verdict
from rageval_trace.cli import main
from rageval_trace.io import load_records
from rageval_trace.live.capture import Capture
from rageval_trace.telemetry.anchor import Anchor

ASKED = datetime(2026, 11, 20, 8, 30, tzinfo=timezone.utc)
CONTEXTS = [
    Context("faq-7", "Refunds take five working days after the parcel has come back.", 0.834, "2026-11-18"),
    Context("faq-9", "Gift cards cannot be returned. \x1b[31m\u202e", 0.41, "2022-01-01"),
    "Shipping is free above 40 euros.",
]
GOOD, BAD = "Refunds take five working days.", "Refunds take five working days. They are paid in cash by Mr Zorro."
Captured = Callable[..., Path]


@pytest.fixture
def captured(tmp_path: Path) -> Captured:
    """
    Send requests through a monitor with a sink; each is a run id and an answer.
    """

    def make(*requests: tuple[str, str], trace_id: int | None = None, **given: Any) -> Path:
        sink = JsonlSink(tmp_path / "captures", sample_rate=1.0, **given.pop("sink", {}))
        about = {"pipeline": "support-bot", "thresholds": {"groundedness": 0.8, "hallucination_risk": 0.5}, **given}
        monitor = Monitor(on_result=sink, **about)
        for run_id, answer in requests:
            record = EvalRecord("How long do refunds take?", CONTEXTS, answer, id=run_id, asked_at=ASKED)
            now = time.time_ns()
            monitor.submit(Capture(record, "ok", run_id, Anchor(), now, now))
        assert monitor.close(10)
        return tmp_path / "captures"

    return make


def test_show_leads_to_the_broken_sentence(captured: Captured, capsys: pytest.CaptureFixture[str]) -> None:
    """One command prints question, marked sentences with their cause, contexts with age, and the scores again."""
    folder = captured(("run-1", BAD), ("run-2", GOOD))

    assert 0 == main(["show", "run-1", str(folder)])

    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert "FAIL (groundedness, hallucination_risk) by lexical: support-bot, run-1" == lines[0]
    assert "  asked 2026-11-20 08:30:00 UTC, run run-1" == lines[1]
    assert "  ok        Refunds take five working days." in lines
    assert "  BROKEN    They are paid in cash by Mr Zorro." in lines
    assert lines[lines.index("  BROKEN    They are paid in cash by Mr Zorro.") + 1].startswith(
        "            ^ no context "
    )
    assert "    1  faq-7  2 days old     score 0.834" in lines
    assert "    2  faq-9  4.9 years old  score 0.41  [supports nothing]" in lines
    assert "    3         undated        [supports nothing]" in lines
    assert "scores (computed again: 8 of 8 the same to the last digit)" in lines
    assert any([line.startswith("  groundedness         0.5 ") and "min 0.8  BREACHED" in line for line in lines])
    assert f"  rageval golden {folder} --trace run-1 --append --out golden.jsonl" == lines[-1]
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_a_passing_request_reads_so(captured: Captured, capsys: pytest.CaptureFixture[str]) -> None:
    """The beginning of an id is enough, and a verdict is a word."""
    folder = captured(("run-good", GOOD), config=EvalConfig(judge=LexicalJudge(0.5), half_life_hours=12.5))

    assert 0 == main(["show", "run-g", str(folder)])

    shown = capsys.readouterr().out
    assert shown.startswith("PASS by lexical: support-bot, run-good")
    assert "8 of 8 the same to the last digit" in shown
    assert "held" in shown


@pytest.mark.parametrize(
    ("change", "why", "code"),
    [
        ({}, "nothing explains it", 1),
        ({"redacted": True}, "texts were redacted after they were scored", 0),
        ({"truncated": True}, "texts were cut to the size of a line after they were scored", 0),
        ({"evaluator_version": "scoring-0+00000000"}, "scored by scoring-0+00000000, computed again by scoring-", 0),
        ({"line": 99}, "the capture has another shape (99)", 0),
        ({"config": None}, "the capture does not tell how it was scored", 0),
        ({"config": {"k": "x"}}, "the capture does not tell how it was scored", 0),
    ],
)
def test_scores_that_differ_are_explained(
    change: dict[str, Any], why: str, code: int, captured: Captured, capsys: pytest.CaptureFixture[str]
) -> None:
    """A score that is not the same number is shown beside the new one, with what explains it, or exit code 1."""
    folder = captured(("run-1", BAD))
    (path,) = folder.iterdir()
    fields = json.loads(path.read_text())
    fields.update(change)
    fields["scores"]["faithfulness"] += 1e-9
    path.write_text(json.dumps(fields) + "\n")

    assert code == main(["show", "run-1", str(folder)])

    shown = capsys.readouterr().out
    assert f"7 of 8 the same to the last digit; 1 differ: {why}" in shown
    assert "  now " in shown


def test_redacted_and_cut_captures_say_so(captured: Captured, capsys: pytest.CaptureFixture[str]) -> None:
    """The marks stand under the heading."""
    folder = captured(("run-1", BAD), redact=lambda text: text.replace("Zorro", "N."), sink={"max_line_bytes": 1400})

    assert 0 == main(["show", "run-1", str(folder)])
    assert "  redacted and truncated\n" in capsys.readouterr().out


class Lenient:
    """
    A model that supports everything.
    """

    name = "lenient"

    def judge_claims(self, claims: list[str], contexts: list[Context]) -> list[Verdict]:
        return [Verdict(supported=True, supporting=(0,)) for _ in claims]

    def judge_relevance(self, question: str, answer: str) -> float | None:
        return None


def test_what_a_judge_said_is_not_computed_again(captured: Captured, capsys: pytest.CaptureFixture[str]) -> None:
    """Formulas and judge leave a capture each; the judge's says that its scores stand as they were."""
    folder = captured(("run-1", BAD), judge=Lenient())

    assert 0 == main(["show", "run-1", str(folder)])

    formulas, judged = capsys.readouterr().out.split("\n\n")
    assert "the same to the last digit" in formulas
    assert judged.startswith("PASS by lenient: support-bot, run-1")
    assert "scores (3 not computed again: a judge's, or a metric that is not installed here)" in judged


def test_a_near_duplicate_leads_to_what_was_kept(captured: Captured, capsys: pytest.CaptureFixture[str]) -> None:
    """Asked for by its own id, it shows the request kept in its place, and adds that one to a dataset."""
    folder = captured(("run-1", BAD), ("other", BAD.upper()))

    assert 0 == main(["show", "other", str(folder)])

    shown = capsys.readouterr().out
    assert shown.startswith("other is nearly the same as this request, which was kept in its place\nFAIL")
    assert 0 == main(["golden", str(folder), "--trace", "other", "--out", str(folder.parent / "golden.jsonl")])
    assert ["run-1"] == [record.id for record in load_records(folder.parent / "golden.jsonl")]
    (path,) = folder.iterdir()
    path.write_text(path.read_text().splitlines()[1] + "\n")
    assert 2 == main(["show", "other", str(folder)])
    assert "other is nearly the same as run-1, which is not kept any more" in capsys.readouterr().err


def test_show_as_json(captured: Captured, capsys: pytest.CaptureFixture[str]) -> None:
    """A program gets the same facts."""
    folder = captured(("run-1", BAD))

    assert 0 == main(["show", "run-1", str(folder), "--json"])

    (shown,) = json.loads(capsys.readouterr().out)
    assert (8, {}, [], None) == (shown["equal"], shown["different"], shown["not_computed"], shown["why"])
    assert ["ok", "broken"] == [part["mark"] for part in shown["sentences"]]
    assert [True, False, False] == [chunk["used"] for chunk in shown["contexts"]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "none", "{captures}"], "holds no none: a request is kept when it breaches, or is in the sample"),
        (["show", "run", "{captures}"], "run is the beginning of several ids: run-1, run-2"),
        (["show", "run-1", "{captures}/nowhere"], "cannot be read"),
        (["show", "run-1", "{captures}/.."], r"holds no captures: expected files named captures-*.jsonl*"),
        (["golden", "{captures}", "--out", "{captures}/../g", "--trace", "none"], "no captured request is asked for"),
        (["golden", "{captures}", "--out", "{captures}"], "it is a directory"),
    ],
)
def test_what_cannot_be_done_is_said(
    words: list[str], message: str, captured: Captured, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line on standard error, exit code 2."""
    folder = captured(("run-1", BAD), ("run-2", GOOD))

    assert 2 == main([word.replace("{captures}", str(folder)) for word in words])
    assert message in capsys.readouterr().err


def test_a_dataset_that_gates_and_calibration_accept(captured: Captured, capsys: pytest.CaptureFixture[str]) -> None:
    """The records score as they did live, freshness too, and near duplicates of other processes come once."""
    folder = captured(("run-1", BAD), ("run-2", GOOD))
    captured(("run-3", GOOD.lower()))
    golden = str(folder.parent / "golden.jsonl")

    assert 0 == main(["golden", str(folder), "--out", golden])
    assert "golden.jsonl: 2 records written\n" in capsys.readouterr().err
    assert 0 == main(["run", golden, "--gate", "groundedness=0.7", "--json"])
    report = json.loads(capsys.readouterr().out)
    live = [json.loads(line)["scores"] for path in sorted(folder.iterdir()) for line in path.read_text().splitlines()]
    for scores, record in zip(live[:2], report["records"], strict=True):
        assert scores == {name: one["score"] for name, one in record["results"].items() if name in scores}
    assert 1 == main(["run", golden, "--gate", "groundedness=0.9", "--json"])
    assert 0 == main(["calibrate", golden])
    first, _ = load_records(golden)
    assert {"verdict": "fail", "stratum": "breach"}.items() <= first.metadata["capture"].items()


def test_a_dataset_grows(captured: Captured, capsys: pytest.CaptureFixture[str]) -> None:
    """`--append` adds what is not in it, by id; `--breached` takes what broke."""
    folder = captured(("run-1", BAD), ("run-2", GOOD))
    golden = folder.parent / "golden.jsonl"
    golden.write_text('{"id": "mine", "question": "q"}')

    assert 0 == main(["golden", str(folder), "--out", str(golden), "--append", "--breached"])
    assert ["mine", "run-1"] == [record.id for record in load_records(golden)]
    assert 0 == main(["golden", str(folder), "--out", str(golden), "--append"])
    assert 0 == main(["golden", str(folder), "--out", str(golden), "--append"])
    assert ["mine", "run-1", "run-2"] == [record.id for record in load_records(golden)]
    assert [1, 1, 0] == [int(line.split(": ")[1][0]) for line in capsys.readouterr().err.splitlines()]
