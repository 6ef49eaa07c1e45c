"""
`rageval compare`: pairs, changes, regressions, warnings, exit codes.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rageval_trace.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """
    Run in an empty folder.
    """
    monkeypatch.chdir(tmp_path)
    return tmp_path


def metric(score, judge="none"):
    return {"score": score, "reason": "", "judge": judge, "error_type": None, "details": {}}


def report(
    scores: dict, *, gates=("recall",), judge="none", version=1, evaluator="scoring-1+00000000", count=None
) -> dict:
    """
    Make a report of {metric: {id: score}}.
    """
    ids = list(dict.fromkeys(key for given in scores.values() for key in given))
    records = [
        {
            "index": at,
            "id": key,
            "question": "q",
            "results": {name: metric(given.get(key), judge) for name, given in scores.items()},
        }
        for at, key in enumerate(ids)
    ]
    return {
        "report_version": 1,
        "scoring_version": version,
        "evaluator_version": evaluator,
        "count": len(ids) if count is None else count,
        "metrics": {name: {"higher_is_better": name != "hallucination_rate", "judges": {judge: 1}} for name in scores},
        "gates": {"outcomes": [{"metric": name} for name in gates]} if gates else None,
        "records": records,
    }


def write(base: dict, new: dict) -> list[str]:
    for name, content in (("base.json", base), ("new.json", new)):
        Path(name).write_text(json.dumps(content))
    return ["compare", "base.json", "new.json"]


def series(start: int, *values: float) -> dict:
    return {f"q{start + at}": value for at, value in enumerate(values)}


UP = series(0, *[1.0] * 12)
DOWN = series(0, *[0.5] * 12)
BIT = series(0, *[1.0] * 11, 0.5)


@pytest.mark.parametrize(
    ("base", "new", "flags", "code"),
    [
        (report({"recall": UP}), report({"recall": DOWN}), [], 0),
        (report({"recall": UP}), report({"recall": DOWN}), ["--fail-on-regression"], 1),
        (report({"recall": UP}), report({"recall": BIT}), ["--fail-on-regression"], 0),
        (report({"recall": DOWN}), report({"recall": UP}), ["--fail-on-regression"], 0),
        (report({"hallucination_rate": DOWN}), report({"hallucination_rate": UP}), ["--fail-on-regression", "--gated", "hallucination_rate"], 1),
        (report({"hallucination_rate": UP}), report({"hallucination_rate": DOWN}), ["--fail-on-regression", "--gated", "hallucination_rate"], 0),
        (report({"recall": UP, "mrr": UP}), report({"recall": UP, "mrr": DOWN}), ["--fail-on-regression"], 0),
        (report({"recall": UP}), report({"recall": DOWN}, gates=()), ["--fail-on-regression"], 1),
        (report({"recall": UP}, gates=()), report({"recall": DOWN}, gates=()), ["--fail-on-regression"], 2),
        (report({"recall": UP}), report({"mrr": UP}), ["--fail-on-regression"], 2),
        (report({"recall": UP}), report({"recall": series(50, 1.0)}), ["--fail-on-regression"], 2),
        (report({"recall": UP}, judge="claude"), report({"recall": DOWN}, judge="claude"), ["--fail-on-regression"], 0),
        (report({"recall": UP}, judge="claude"), report({"recall": DOWN}, judge="claude"), ["--fail-on-regression", "--fail-on-judged"], 1),
    ],
    ids=[
        "not asked to fail", "worse", "within chance", "better", "lower is better, worse", "lower is better, better",
        "not gated", "gated in the base", "nothing gated", "not in both", "no pair", "judged", "judged, asked to fail",
    ],
)  # fmt: skip
def test_exit_code(base, new, flags, code):
    """
    1 only when asked to, for a gated metric that got worse by more than chance; 2 when it cannot be tested.
    """
    assert code == main([*write(base, new), *flags])


def test_many_gated_metrics_are_adjusted():
    """
    A p-value that would do alone does not among five.
    """
    drop = series(0, *[0.0] * 6, *[1.0] * 6)
    names = ["recall", "mrr", "ndcg", "precision", "hit_rate"]
    base, new = dict.fromkeys(names, UP), dict.fromkeys(names, UP) | {"recall": drop}
    alone = [*write(report(base), report(new)), "--fail-on-regression"]
    assert main(alone) == 1
    assert main([*alone, "--gated", ",".join(names)]) == 0


def test_what_is_shown(capsys):
    """
    Every shared metric has its pairs, means, change, interval and p-value; ids on one side are listed.
    """
    base = report({"recall": {**UP, "old": 1.0}, "mrr": {"q0": None, "q1": 1.0}})
    new = report({"recall": {**DOWN, "fresh": 1.0}, "mrr": {"q0": 1.0, "q1": 0.25}, "ndcg": UP})
    assert main(write(base, new)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "pairs=12  only in base=1  only in new=1"
    assert lines[2].split() == [
        "recall", "12", "1.000", "0.500", "-0.500", "-0.500", "-0.500", "0.000", "-", "REGRESSED,", "Holm", "p", "0.000",
    ]  # fmt: skip
    assert lines[3].split() == ["mrr", "1", "1.000", "0.250", "-0.750", "-", "1.000", "-"]
    assert "Records that got worse (12)" in lines
    assert "  q0  recall 1.000 -> 0.500" in lines
    assert "Only in base (1): old" in lines
    assert "Only in new (1): fresh" in lines


@pytest.mark.parametrize(
    ("base", "new", "message"),
    [
        (report({"recall": UP}), report({"recall": UP}, version=2), "the scoring versions differ (1 and 2)"),
        (report({"recall": UP}), report({"recall": UP}, evaluator="scoring-1+11111111"), "the configs differ"),
        (report({"recall": UP}, judge="lexical"), report({"recall": UP}, judge="claude"), "recall was judged by lexical, then by claude"),
        (report({"recall": UP}, judge="llm"), report({"recall": DOWN}, judge="llm"), "recall got worse (-0.500, p = 0.000), but a model judged it"),
        (report({"recall": series(0, 1.0)}), report({"recall": series(0, 0.0)}), "recall: 1 pairs are too few"),
        (report({"recall": {None: 1.0}}), report({"recall": UP}), "1 records of the base report have no id"),
        (report({"recall": UP}), report({"recall": UP}, count=40), "the new report holds 12 of its 40 records"),
    ],
)  # fmt: skip
def test_warnings(capsys, base, new, message):
    """
    What makes the numbers doubtful is said beside them.
    """
    main(write(base, new))
    assert f"warning: {message}" in capsys.readouterr().out


def test_nothing_to_warn_of(capsys):
    """
    Two reports alike give no warning.
    """
    main(write(report({"recall": UP}), report({"recall": UP})))
    assert "warning" not in capsys.readouterr().out


def test_json(capsys, folder):
    """
    --json and --out give the comparison as one JSON document.
    """
    line = write(report({"recall": UP}), report({"recall": DOWN}))
    assert main([*line, "--json", "--out", "change.json", "--fail-on-regression"]) == 1
    shown = capsys.readouterr().out
    found = json.loads(shown)
    assert shown == (folder / "change.json").read_text()
    assert (found["regressed"], found["pairs"], found["changes"][0]["test"]["mean"]) == (["recall"], 12, -0.5)
    assert found["changes"][0]["regressed"] is True


def test_reports_of_real_runs(folder, capsys):
    """
    What run writes, compare reads.
    """
    for name, answer in (("base", "Ada built the bridge."), ("new", "Elephants sing loudly.")):
        lines = [
            json.dumps({"id": at, "question": "Who?", "contexts": ["Ada built the bridge."], "answer": answer})
            for at in range(8)
        ]
        (folder / "r.jsonl").write_text("\n".join(lines))
        main(["run", "r.jsonl", "--out", f"{name}.json", "--gate", "groundedness=0.5"])
    capsys.readouterr()
    assert main(["compare", "base.json", "new.json", "--fail-on-regression"]) == 1
    out, err = capsys.readouterr()
    assert "REGRESSED" in out
    assert err == "regression: FAIL (groundedness)\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "base.json: cannot be read: No such file or directory"),
        (b"{", "base.json: is not JSON: expected a report of `rageval run --out`"),
        (b"\xff", "base.json: is not JSON: expected a report of `rageval run --out`"),
        (b"[" * 100_000, "base.json: is not JSON: expected a report of `rageval run --out`"),
        (b"[]", "base.json: is no report: expected what `rageval run --out` writes"),
        (b'{"report_version": 2}', "base.json: is a report of version 2: expected 1"),
        (b'{"report_version": 1}', "base.json: is a damaged report (KeyError: 'metrics')"),
        (json.dumps(report({"recall": {"a": "high"}})).encode(), "base.json: is a damaged report (TypeError: score 'high')"),
        (json.dumps(report({"recall": UP})).replace('"q1"', '"q0"').encode(), "base.json: holds record 'q0' twice: expected each id once"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_report(folder, capsys, content, message):
    """
    What cannot be compared is one line and exit code 2.
    """
    write(report({"recall": UP}), report({"recall": UP}))
    (folder / "base.json").unlink()
    if content is not None:
        (folder / "base.json").write_bytes(content)
    assert main(["compare", "base.json", "new.json"]) == 2
    assert capsys.readouterr().err == f"rageval: error: {message}\n"
