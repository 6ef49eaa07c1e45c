"""
`rageval judge-agreement`: figures of known judges on known labels, and when it exits with 2.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from rageval_trace.cli import main
from rageval_trace.models import Context, MetricResult, Verdict

ROWS = [
    {
        "question": "Where does the Tarn rise?",
        "contexts": ["The Tarn rises on Mont Lozère.", "It is 380 kilometres long."],
        "answer": "The Tarn rises on Mont Lozère. It flows to Spain.",
        "label": 0,
        "claims": [{"text": "The Tarn rises on Mont Lozère.", "label": 1}, {"text": "It flows to Spain.", "label": 0}],
    },
    {
        "question": "How long is it?",
        "contexts": ["It is 380 kilometres long."],
        "answer": "Its length: three hundred and eighty kilometres.",
        "label": 1,
        "claims": [{"text": "Its length: three hundred and eighty kilometres.", "label": 1}],
    },
    {"question": "No contexts?", "answer": "None.", "label": 1, "claims": [{"text": "None.", "label": 1}]},
    {"question": "No label?", "contexts": ["c"], "answer": "None."},
]


@pytest.fixture
def labels(tmp_path: Path) -> str:
    path = tmp_path / "labels.jsonl"
    path.write_text("".join([json.dumps(row) + "\n" for row in ROWS]), encoding="utf-8")
    return str(path)


@pytest.fixture(autouse=True)
def own_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Offer a judge that supports all, one that fails, one of whole records.
    """

    class Yes:
        verdict = Verdict(supported=True)

        def judge_claims(self, claims: Sequence[str], contexts: Sequence[Context]) -> list[Verdict]:
            return [self.verdict for _ in claims]

        def judge_relevance(self, question: str, answer: str) -> None:
            return None

    class Failing(Yes):
        verdict = Verdict(supported=False, error_type="ValueError")

    class Fallback(Yes):
        verdict = Verdict(supported=True, judge="lexical_fallback")

    class Whole:
        def judge(self, record: Any) -> dict[str, MetricResult]:
            score = None if "long" in record.question else 0.4
            return {"faithfulness": MetricResult("faithfulness", score, judge="whole")}

    module = ModuleType("own_judges")
    for judge in (Yes, Failing, Fallback, Whole):
        setattr(module, judge.__name__, judge)
    monkeypatch.setitem(sys.modules, "own_judges", module)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any, str]:
    code = main(["judge-agreement", *words, "--json"])
    shown = capsys.readouterr()
    return code, json.loads(shown.out), shown.err


def test_claims_against_labels_and_each_other(capsys: pytest.CaptureFixture[str], labels: str) -> None:
    """
    Three claims in two judged records, with the figures worked out by hand.
    """
    code, report, _ = run(capsys, labels, "--judge", "lexical", "--judge=own_judges:Yes")
    lexical, yes = report["judges"]
    assert (0, "claim") == (code, report["unit"])
    assert lexical == {
        "judge": "lexical",
        "items": 3,
        "kappa": pytest.approx(0.4),
        "accuracy": pytest.approx(2 / 3),
        "confusion": {"both": 1, "missed": 1, "false": 0, "neither": 1},
        "auroc": 1.0,
        "fallbacks": 0,
        "failed": 0,
    }
    assert (0.0, 2 / 3, 0.5) == (yes["kappa"], yes["accuracy"], yes["auroc"])
    [pair] = report["pairs"]
    assert (["lexical", "own_judges:Yes"], 3, 1 / 3) == (pair["judges"], pair["items"], pair["accuracy"])


def test_answers_against_labels(capsys: pytest.CaptureFixture[str], labels: str) -> None:
    """
    An answer is supported when every claim of it is, and scored by the mean of its claims.
    """
    code, report, _ = run(capsys, labels, "--unit", "answer", "--judge=own_judges:Yes")
    assert (0, 2, 0.5) == (code, report["judges"][0]["items"], report["judges"][0]["accuracy"])


def test_a_judge_of_whole_records(capsys: pytest.CaptureFixture[str], labels: str) -> None:
    """
    Its faithfulness is compared by answer; by claim there is nothing to compare.
    """
    code, report, told = run(capsys, labels, "--unit", "answer", "--judge=own_judges:Whole")
    assert (2, 1, 1) == (code, report["judges"][0]["items"], report["judges"][0]["failed"])
    assert "1 of 2 items could not be judged" in told
    assert main(["judge-agreement", labels, "--judge=own_judges:Whole"]) == 2
    assert "compare it with --unit answer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--judge=own_judges:Failing"], 2, "3 of 3 items could not be judged"),
        (["--judge=own_judges:Fallback"], 2, "its fallback judged 3 of 3 items"),
        (["--judge=own_judges:Fallback", "--allow-fallback"], 0, "its fallback judged 3 of 3 items"),
        (["--judge=own_judges:Failing", "--judge", "lexical", "--unit", "answer"], 2, "could not be judged"),
    ],
)
def test_what_was_not_judged_by_the_judge_is_said(
    capsys: pytest.CaptureFixture[str], labels: str, words: list[str], code: int, told: str
) -> None:
    """
    Figures that are not all the judge's own end in 2, unless that is accepted.
    """
    found, _, shown = run(capsys, labels, *words)
    assert code == found
    assert told in shown


def test_the_table(capsys: pytest.CaptureFixture[str], labels: str) -> None:
    """
    Without `--json` the figures come as a table; undefined ones as a dash.
    """
    assert main(["judge-agreement", labels, "--judge", "lexical", "--judge=own_judges:Yes", "--limit", "1"]) == 0
    assert capsys.readouterr().out == (
        "claims against human labels (supported is yes)\n"
        "judge                     items   kappa  accuracy   AUROC  yes/yes  yes/no  no/yes  no/no   (label/judge)\n"
        "lexical                       2   1.000     1.000   1.000        1       0       0      1\n"
        "own_judges:Yes                2   0.000     0.500   0.500        1       0       1      0\n"
        "\n"
        "judges against each other\n"
        "lexical / own_judges:Yes      2   0.000     0.500                1       0       1      0\n"
    )


def test_undefined_figures_are_null(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """
    Labels of one kind have no AUROC, and JSON says null.
    """
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps({"question": "q", "contexts": ["a b"], "answer": "A b.", "label": 1}), encoding="utf-8")
    _, report, _ = run(capsys, str(path))
    assert ("answer", None, None) == (report["unit"], report["judges"][0]["auroc"], report["judges"][0]["kappa"])
    assert main(["judge-agreement", str(path)]) == 0
    assert "     -" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--unit", "claim", "--limit", "0"], "at least 1"),
        (["--judge=nobody"], "unknown judge 'nobody'"),
        ([], "has a label"),
    ],
)
def test_bad_usage(capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str], told: str) -> None:
    """
    What cannot be measured is said in one line, with exit code 2.
    """
    path = tmp_path / "plain.jsonl"
    path.write_text('{"question": "q", "contexts": ["c"], "answer": "A."}', encoding="utf-8")
    try:
        code = main(["judge-agreement", str(path), *words])
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    assert code == 2
    assert told in capsys.readouterr().err


DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "groundedness"


@pytest.mark.skipif(not DATA.exists(), reason="the development data is absent")
def test_it_runs_on_labelled_answers(capsys: pytest.CaptureFixture[str]) -> None:
    """
    Real labels, by claim and by answer: the lexical judge is better than chance.
    """
    for name, unit in (("ragtruth_qa", "claim"), ("begin", "answer")):
        code, report, _ = run(capsys, str(DATA / f"{name}.jsonl.gz"), "--limit", "60")
        [judge] = report["judges"]
        assert (0, unit) == (code, report["unit"])
        assert judge["items"] >= 60
        assert judge["auroc"] > 0.6
