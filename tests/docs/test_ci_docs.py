"""
The documents on files, gates and moving say nothing that is not so.
"""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from rageval_trace.cli import main
from rageval_trace.gates import read_gate_file
from rageval_trace.io.fields import FIELDS

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documents are not beside the tests")


def blocks(name: str, language: str) -> list[str]:
    text = (DOCS / name).read_text(encoding="utf-8") if DOCS.is_dir() else ""
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", text)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """
    Make a folder with a golden set.
    """
    (tmp_path / "eval").mkdir()
    shutil.copy(REPOSITORY / "examples" / "support_bot.jsonl", tmp_path / "eval" / "golden.jsonl")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    return tmp_path


def test_the_gate_file(folder):
    """
    The gate file that the document shows is read, and its workflow's gates are breached by the example.
    """
    (shown,) = blocks("gates.md", "toml")
    (folder / "gates.toml").write_text(shown)
    assert [one.metric for one in read_gate_file(folder / "gates.toml").thresholds] == [
        "groundedness", "hallucination_rate", "citation_accuracy",
    ]  # fmt: skip
    assert main(["run", "eval/golden.jsonl", "--gate-file", "gates.toml"]) == 1


def test_the_workflow(folder):
    """
    The workflow is YAML, and its command runs and writes what the later steps take.
    """
    yaml = pytest.importorskip("yaml", reason="the reader of YAML comes with the extra dev")
    pytest.importorskip("jinja2", reason="the workflow installs the extra cli")
    (shown,) = blocks("gates.md", "yaml")
    steps = yaml.safe_load(shown)["jobs"]["gate"]["steps"]
    (line,) = [step["run"] for step in steps if step.get("run", "").startswith("rageval ")]
    assert main(shlex.split(line.replace("\\\n", " "))[1:]) == 1
    uploaded = steps[-1]["with"]["path"].split()
    assert sorted(path.name for path in folder.iterdir()) == sorted(["eval", "report.md", *uploaded])


def test_the_console_lines(folder):
    """
    The commands of the text run; comparing a report with itself finds no regression.
    """
    shown = "\n".join(blocks("gates.md", "console"))
    lines = re.findall(r"^\$ (rageval (?:run|compare) .*)$", shown, re.MULTILINE)
    assert len(lines) == 2
    assert main([*shlex.split(lines[0])[1:], "--out", "base.json"]) == 1
    shutil.copy("base.json", "report.json")
    assert main(shlex.split(lines[1])[1:]) == 0


def test_the_options_are_ours(capsys):
    """
    Every option that a document names is one of the program's.
    """
    ours = {"--edit-last", "--create-if-none", "--body-file"}  # of GitHub's own program
    for command in ("run", "compare", "calibrate"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        ours |= set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out))
    for name in ("gates.md", "files.md", "migrating.md"):
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", (DOCS / name).read_text())) <= ours, name


def test_the_fields_are_ours():
    """
    The table of fields names every field that a file may have.
    """
    rows = re.findall(r"^\| (`\w+`(?: or `\w+`)?) \|", (DOCS / "files.md").read_text(), re.MULTILINE)
    assert sorted(re.findall(r"\w+", " ".join(rows).replace(" or ", " "))) == sorted(FIELDS)


def test_the_snippet(folder, capsys):
    """
    The Python of the document on files runs.
    """
    (shown,) = blocks("files.md", "python")
    shutil.copy("eval/golden.jsonl", "records.jsonl.gz")
    exec(shown, {})
    assert capsys.readouterr().out.endswith("} 0\n")


def test_links_lead_somewhere():
    """
    Links between files of the checkout point at files that are there.
    """
    for name in ("gates.md", "files.md", "migrating.md"):
        for target in re.findall(r"\]\(([^)#]+)", (DOCS / name).read_text()):
            # The suite also runs where the package is installed and its sources are out of reach.
            sources_there = "rageval_trace" not in target or (REPOSITORY / "rageval_trace").is_dir()
            assert (DOCS / target).exists() or not sources_there, (name, target)
