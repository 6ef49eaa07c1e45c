"""
`rageval run`: what it prints, writes and returns.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rageval_trace.cli import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BOT = str(EXAMPLES / "support_bot.jsonl")
GATES = ["--gate", "groundedness=0.85", "--gate", "hallucination_rate=0.10"]
GOOD = {
    "id": "a",
    "question": "Who built the bridge?",
    "contexts": ["Ada Berg built the bridge."],
    "answer": "Ada Berg built the bridge.",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """
    Run in an empty folder, outside of GitHub.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    return tmp_path


@pytest.fixture
def records(folder):
    """
    Write records to a file and return its path.
    """

    def write(*given: object, name: str = "r.jsonl") -> str:
        (folder / name).write_text("".join(f"{json.dumps(one)}\n" for one in given or (GOOD,)))
        return name

    return write


def test_the_support_bot_fails_both_gates(capsys, folder):
    """
    The example breaches both of its gates: exit code 1, both named, the Markdown report written.
    """
    assert main(["run", BOT, *GATES, "--markdown", "report.md"]) == 1
    assert "gate: FAIL (groundedness, hallucination_rate)" in capsys.readouterr().out.splitlines()
    report = (folder / "report.md").read_text()
    assert "FAIL** (`groundedness`, `hallucination_rate`)" in report
    assert sorted(path.name for path in folder.iterdir()) == ["report.md"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ([], 0),
        (["--gate", "groundedness=1"], 0),
        (["--gate", "groundedness=1", "--gate", "hallucination_rate=0"], 0),
        (["--gate", "recall=0.5"], 1),
        (["--metrics", "faithfulness", "--gate", "groundedness=1"], 0),
        (["--gate", "groundedness=1", "--min-observed", "2"], 1),
        (["--gate", "groundedness=1", "--min-observed", "100%"], 0),
    ],
    ids=["no gate", "held", "both held", "nothing observed", "gated but not named", "too few", "enough"],
)
def test_exit_code(records, line, code):
    """
    0 when every gate held, 1 when one was breached; a metric with no observation breaches its gate.
    """
    assert code == main(["run", records(), *line])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("run missing.jsonl", "missing.jsonl: cannot be read: no such file or directory"),
        ("run .", ".: is a directory: expected a JSONL, JSON or CSV file"),
        ("run empty", "empty: no records: expected at least one"),
        ("run binary", "binary: is a binary file: expected JSONL, JSON or CSV text in UTF-8"),
        ("run nan.jsonl", "nan.jsonl:2: not JSON: NaN is not a value of JSON; expected one object a line"),
        ("run twice.jsonl", "twice.jsonl:2: field 'id': 'a' was used before, at 1: expected a different one"),
        ("run type.jsonl", "type.jsonl:1: field 'question': expected a string, not a number"),
        ("run r.jsonl --gate groundednes=1", "unknown metric 'groundednes' (did you mean 'groundedness'?); known: "),
        ("run r.jsonl --metrics groundednes", "unknown metric 'groundednes' (did you mean 'groundedness'?); known: "),
        ("run r.jsonl --gate groundedness", "gate 'groundedness': expected name=value, as in groundedness=0.85"),
        ("run r.jsonl --gate groundedness=85", "threshold of groundedness: expected a value in [0, 1], not 85"),
        ("run r.jsonl --min-observed most", "--min-observed: expected a number of records or a percentage"),
        ("run r.jsonl --gate-file gates.toml", "gates.toml: cannot be read: No such file or directory"),
        ("run r.jsonl --out nowhere/report.json", "cannot write nowhere/report.json: no such folder"),
        ("run r.jsonl --out .", "cannot write .: it is a directory"),
        ("run r.jsonl --out r.jsonl", "cannot write r.jsonl: it is the input as well"),
        ("run r.jsonl --out a --markdown a", "cannot write a: it is another report as well"),
    ],
)
def test_what_stops_a_run_is_one_line(records, folder, capsys, line, message):
    """
    Bad input gives exit code 2 and one line on standard error: no traceback, nothing printed, nothing written.
    """
    records()
    (folder / "empty").write_text("")
    (folder / "binary").write_bytes(bytes(range(256)))
    (folder / "nan.jsonl").write_text(
        '{"question": "q"}\n{"question": "q", "contexts": [{"text": "t", "score": NaN}]}\n'
    )
    records(GOOD, GOOD, name="twice.jsonl")
    records({"question": 3}, name="type.jsonl")
    before = sorted(path.name for path in folder.iterdir())
    assert main(line.split()) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"rageval: error: {message}")
    assert sorted(path.name for path in folder.iterdir()) == before


def test_an_input_that_breaks_off_leaves_the_old_report(records, folder):
    """
    A run that stops half way writes no report, and an older one stays.
    """
    (folder / "report.json").write_text("old")
    path = records(GOOD, {"question": 3})
    assert main(["run", path, "--out", "report.json", "--markdown", "report.md"]) == 2
    assert (folder / "report.json").read_text() == "old"
    assert sorted(one.name for one in folder.iterdir()) == ["r.jsonl", "report.json"]


def test_a_disk_that_fails_leaves_nothing_behind(records, folder, capsys, monkeypatch):
    """
    A report that cannot be put in its place leaves no half of itself.
    """

    def fail(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    assert main(["run", records(), "--out", "report.json"]) == 2
    assert "cannot write report.json: No space left on device" in capsys.readouterr().err
    assert sorted(one.name for one in folder.iterdir()) == ["r.jsonl"]


def test_reports_go_to_a_device_as_they_are(records, capfd):
    """
    A path that is no regular file is written, not replaced.
    """
    assert main(["run", records(), "--out", "/dev/null"]) == 0
    assert Path("/dev/null").is_char_device()


def test_json_prints_nothing_else(records, capsys):
    """
    With --json, standard output is one JSON document, the one that --out writes.
    """
    assert main(["--json", "--out", "report.json", "run", records(), "--gate", "recall=0.5"]) == 1
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert out == Path("report.json").read_text()
    assert (err, report["count"], report["gates"]["result"]) == ("", 1, "FAIL")
    assert [one["id"] for one in report["records"]] == ["a"]


def test_a_report_is_written_only_when_asked_for(records, folder):
    """
    Without --out there is no file.
    """
    main(["run", records()])
    assert [path.name for path in folder.iterdir()] == ["r.jsonl"]


def test_k_and_half_life_reach_the_metrics(records, capsys):
    """
    The options that move numbers are in the report's config.
    """
    main(["run", records(), "--json", "-k", "3", "--half-life-hours", "24", "--now", "2026-08-21"])
    config = json.loads(capsys.readouterr().out)["config"]
    assert (config["k"], config["half_life_hours"], config["now"]) == (3, 24.0, "2026-08-21T00:00:00+00:00")


@pytest.mark.parametrize(
    "line", ["-k 0", "-k -1", "-k two", "--half-life-hours 0", "--half-life-hours soon", "--half-life-hours nan"]
)
def test_options_out_of_range(records, line, capsys):
    """
    A depth or a half-life that makes no sense is bad usage: exit code 2.
    """
    with pytest.raises(SystemExit) as stop:
        main(["run", records(), *line.split()])
    assert stop.value.code == 2
    assert "expected a" in capsys.readouterr().err


def test_skipping_bad_records_counts_them(records, capsys):
    """
    --skip-bad scores the rest, names the first few and counts all.
    """
    path = records(GOOD, *[{"question": at} for at in range(7)])
    assert main(["run", path, "--skip-bad"]) == 0
    out, err = capsys.readouterr()
    assert "examples=1 " in out
    assert err.splitlines()[0] == "skipped: r.jsonl:2: field 'question': expected a string, not a number"
    assert err.splitlines()[5:] == ["skipped 7 bad records"]


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input(monkeypatch, capsys, packed):
    """
    A hyphen reads records from a pipe, compressed or not.
    """
    content = json.dumps(GOOD).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(content) if packed else content)))
    assert main(["run", "-"]) == 0
    assert "examples=1 " in capsys.readouterr().out


FILE = "scoring_version = 2\n[{0}gates]\nrecall = 0.5\n"


@pytest.mark.parametrize(
    ("file", "line", "code"),
    [
        ("gates.toml", ["--gate-file", "gates.toml"], 1),
        ("gates.toml", ["--gate-file", "gates.toml", "--gate", "groundedness=1"], 1),
        ("gates.toml", [], 0),
        ("pyproject.toml", [], 1),
        ("pyproject.toml", ["--no-gate-file"], 0),
        ("pyproject.toml", ["--gate-file", "pyproject.toml"], 1),
    ],
)
def test_gate_files(records, folder, file, line, code):
    """
    A gate file counts when it is named, the project's own file always, unless it is declined.
    """
    text = FILE.format("tool.rageval." if file == "pyproject.toml" else "")
    (folder / file).write_text(text.replace("scoring", "[tool.rageval]\nscoring") if file == "pyproject.toml" else text)
    assert code == main(["run", records(), *line])


def test_a_flag_beats_the_file(records, folder, capsys):
    """
    The command line has the last word on a metric and on a rule, and the file's other gates stand.
    """
    (folder / "gates.toml").write_text("min_observed = 5\n[gates]\ngroundedness = 1\nfaithfulness = 0.2\n")
    line = [
        "run",
        records(),
        "--gate-file",
        "gates.toml",
        "--gate",
        "groundedness=0.5",
        "--min-observed",
        "1",
        "--json",
    ]
    assert main(line) == 0
    outcomes = json.loads(capsys.readouterr().out)["gates"]["outcomes"]
    assert [(one["metric"], one["threshold"]) for one in outcomes] == [("groundedness", 0.5), ("faithfulness", 0.2)]


def test_the_projects_gates_are_named(records, folder, capsys):
    """
    Gates that no flag asked for are said to come from the project's file, and a version that moved is warned of.
    """
    (folder / "pyproject.toml").write_text(
        "[tool.rageval]\nscoring_version = 99\n[tool.rageval.gates]\ngroundedness = 1\n"
    )
    assert main(["run", records()]) == 0
    out, err = capsys.readouterr()
    assert err == f"gates of {folder / 'pyproject.toml'}\n"
    assert "warning: the gates were set for scoring version 99" in out


def test_github_gets_annotations_beside_the_report(records, capsys, monkeypatch):
    """
    In a workflow, gates that did not hold are annotated on standard error.
    """
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert main(["run", BOT, *GATES]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line[: line.index("::", 2)] for line in lines[:2]] == [
        "::error title=RAG gate groundedness", "::error title=RAG gate hallucination_rate",
    ]  # fmt: skip
    assert all(re.match(r"::warning title=bike-00\d::unsupported: ", line) for line in lines[2:])


def test_junit_holds_a_case_a_gate(records, folder):
    """
    --junit writes the gates where a CI looks for tests.
    """
    main(["run", records(), "--gate", "recall=0.5", "--gate", "groundedness=1", "--junit", "gates.xml"])
    assert re.findall(r'<testcase [^>]*name="(\w+)', (folder / "gates.xml").read_text()) == ["recall", "groundedness"]


@pytest.mark.parametrize("more", [[], ["--out", "report.json"]])
def test_html_is_one_file(records, folder, more):
    """
    --html writes the page with every record, alone or beside the JSON report.
    """
    pytest.importorskip("jinja2", reason="the HTML report comes with the extra cli")
    assert main(["run", BOT, *GATES, "--html", "report.html", *more]) == 1
    page = (folder / "report.html").read_text()
    assert [f"bike-00{at}" in page for at in range(1, 9)] == [True] * 8
    assert "Gate failed" in page


@pytest.mark.parametrize(("flags", "code"), [([], 2), (["--allow-fallback"], 0)])
def test_values_of_a_fallback_are_not_gated_unsaid(records, capsys, monkeypatch, flags, code):
    """
    Without a key the model's judge falls back; its gate cannot be judged unless that is allowed.
    """
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    assert code == main(["run", records(), "--judge", "llm", "--gate", "faithfulness=0.5", *flags])
    assert "judge=lexical_fallback" in capsys.readouterr().out.replace("lexical+", "")


def test_both_programs_and_a_pipe(folder):
    """
    Started as a program in a pipe, the report has no colour and no progress bar, also of a long file.
    """
    long = folder / "long.jsonl"
    line = json.dumps(GOOD | {"id": None, "metadata": {"filler": "x" * 5000}})
    long.write_text(f"{line}\n" * 500)
    program = [
        sys.executable,
        "-c",
        "import sys; from rageval_trace.cli import main; sys.exit(main())",
        "run",
        str(long),
    ]
    done = subprocess.run(program, capture_output=True, check=True)
    assert done.stderr == b""
    assert b"\x1b" not in done.stdout
    assert done.stdout.startswith(b"judge=lexical  k=5  examples=500 ")
