"""
The documents of the two toolkits that this one unites, executed: every snippet, command, file shape and flag.

The documents are read where the development data lies; the promises themselves stand in `test_promises.py`, in our
words, and are always tested.
"""

from __future__ import annotations

import ast
import contextlib
import io
import itertools
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from rageval_trace.cli import main
from rageval_trace.io import load_records
from rageval_trace.metrics import base

REPOSITORY = Path(__file__).resolve().parents[2]
DOCUMENTS = REPOSITORY.parent / "shared" / "seeds"
pytestmark = pytest.mark.skipif(
    not DOCUMENTS.is_dir(), reason="the two toolkits' documents are not beside the checkout"
)

# Lines that speak of the other packages' own installation, checkout, suite and key: nothing here could run them.
EXEMPT = (
    r"pip install -e .*",
    r"git clone .*",
    r"cd rageval",
    r"python3 -m venv .*",
    r"pytest( -q)?",
    r"export ANTHROPIC_API_KEY=.*",
)
COMMAND = re.compile(r"^\s*((?:pip install|git clone|cd |python3 |pytest|export |rageval |rag-eval run).*)$")
NAMES = ("rageval.txt", "rag-eval-harness.txt")


def document(name: str) -> str:
    return (DOCUMENTS / name).read_text(encoding="utf-8") if DOCUMENTS.is_dir() else ""


def snippets(text: str) -> list[str]:
    """
    Cut the Python out of a document without fences: from an import, as far as it parses.
    """
    lines = text.splitlines()
    found, at = [], 0
    while at < len(lines):
        if re.match(r"from [\w.]+ import ", lines[at]):
            end = next(end for end in range(min(len(lines), at + 40), at, -1) if is_python("\n".join(lines[at:end])))
            found.append("\n".join(lines[at:end]))
            at = end
        at += 1
    return found


def is_python(text: str) -> bool:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return False
    # A heading of one word reads as a name.
    return not any(isinstance(part, ast.Expr) and isinstance(part.value, ast.Name) for part in tree.body)


def commands(text: str) -> list[str]:
    joined = re.sub(r"\\\n\s*", " ", text)
    return [match[1].strip() for line in joined.splitlines() if (match := COMMAND.match(line))]


def shapes(text: str) -> list[str]:
    return re.findall(r"(?ms)^\{$.*?^\}$", text)


def ours(text: str) -> str:
    return re.sub(r"\b(from|import) rageval\b", r"\1 rageval_trace", text)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """
    Make the folder that the documents speak of: example files, a data set, a golden set; no key.
    """
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    bot = (REPOSITORY / "examples" / "support_bot.jsonl").read_text()
    (tmp_path / "eval").mkdir()
    for name in ("records.jsonl", "dataset.jsonl", "eval/golden.jsonl"):
        (tmp_path / name).write_text(bot)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.setattr(base, "_registry", dict(base._registry))
    return tmp_path


@pytest.mark.parametrize(("name", "count"), [("rageval.txt", 4), ("rag-eval-harness.txt", 1)])
def test_snippets(folder, name, count):
    """
    Every Python snippet of a document runs, in order, in one namespace.
    """
    found = snippets(document(name))
    assert len(found) == count
    namespace: dict[str, object] = {"__name__": "snippet"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for text in found:
            exec(compile(ours(text), name, "exec"), namespace)
    if name == "rag-eval-harness.txt":
        assert printed.getvalue() == "1.0\n"
        return
    card = namespace["card"]
    assert set(card.means) >= {"faithfulness", "context_precision", "context_recall", "answer_relevance", "freshness"}
    assert f"Weakest: {card.weakest}" in printed.getvalue()
    assert card.diagnosis in printed.getvalue()
    assert {one.judge for one in namespace["results"].values()} == {"lexical_fallback"}
    assert base.get("my_metric").compute(namespace["rec"]).score == 1.0


EXPECTED = {
    "rageval demo": 0,
    "rageval --now 2026-08-21T12:00:00Z --out report.json demo": 0,
    "rageval --json --metrics faithfulness,freshness run examples/sample.jsonl": 0,
    "rag-eval run examples/support_bot.jsonl --gate groundedness=0.85 --gate hallucination_rate=0.10 --markdown report.md": 1,
    "rag-eval run dataset.jsonl --judge claude": 0,
    "rag-eval run eval/golden.jsonl --gate groundedness=0.85 --gate citation_accuracy=0.90 --gate hallucination_rate=0.10 --markdown report.md": 1,
}


@pytest.mark.parametrize("line", EXPECTED)
def test_commands(folder, capsys, line):
    """
    Every command line of the documents does what it says there, with its exit code and its files.
    """
    words = shlex.split(line)
    assert main(words[1:]) == EXPECTED[line]
    out = capsys.readouterr().out
    for flag, name in itertools.pairwise(words):
        if flag in {"--out", "--markdown"}:
            assert (folder / name).stat().st_size > 500
    if "--json" in words:
        assert set(json.loads(out)["means"]) == {"faithfulness", "freshness"}


def test_no_line_of_the_documents_is_left_out():
    """
    Each line that looks like a command is run above, or is in the list of exempt ones.
    """
    found = {re.sub(r"\s+#.*", "", line) for name in NAMES for line in commands(document(name))}
    parts = {part.strip() for line in found for part in line.split("&&")} - {"source .venv/bin/activate"}
    left = {line for line in parts if not any(re.fullmatch(pattern, line) for pattern in EXEMPT)}
    assert {re.sub(r"\s+", " ", line) for line in left} == set(EXPECTED)


@pytest.mark.parametrize("name", NAMES)
def test_file_shapes(folder, name):
    """
    The record that a document shows is read as it stands there, and as one line.
    """
    (shape,) = shapes(document(name))
    (folder / "shown.json").write_text(shape)
    (folder / "line.jsonl").write_text(json.dumps(json.loads(shape)))
    (shown,) = load_records("shown.json")
    assert [shown] == list(load_records("line.jsonl"))
    assert shown.ground_truth
    assert main(["run", "line.jsonl"]) == 0


@pytest.mark.parametrize("name", NAMES)
def test_flags(folder, capsys, name):
    """
    Every option that a document names is one of ours.
    """
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", document(name)))
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    assert named <= set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out))
    assert named


def test_csv_columns(folder):
    """
    The columns and the separator of chunks that one document names are read.
    """
    columns = re.search(r"CSV columns: (\S+)\.\s", document("rageval.txt"))[1]
    separator = re.search(r"chunks with (\S+?)\.", document("rageval.txt"))[1]
    row = f"a,Who?,Ada.,Ada.,Ada built it.{separator}So it was.,2026-01-01{separator}2026-01-02"
    (folder / "r.csv").write_text(f"{columns}\n{row}\n")
    (record,) = load_records("r.csv")
    assert [chunk.timestamp.day for chunk in record.contexts] == [1, 2]
