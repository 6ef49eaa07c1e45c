"""
The page on performance, and the program that prints its table.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("openinference.instrumentation.langchain", reason="needs the dev extra")
pytest.importorskip("pytrec_eval", reason="needs the dev extra")

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "performance.md"


def what(lines: list[str]) -> list[str]:
    """Return what each row of a table is about."""
    rows = [line.split(" | ")[0].removeprefix("| ") for line in lines if line.startswith("| ")]
    return rows[1:]


def test_the_page_holds_a_table() -> None:
    """The page has a run of the program between its marks: a figure for each subject."""
    table = PAGE.read_text(encoding="utf-8").partition("<!-- table: begin -->\n")[2].partition("<!-- table: end -->")[0]
    assert 15 == len(what(table.splitlines()))
    assert {3} == {line.count(" | ") + 1 for line in table.splitlines() if line.startswith("| ")}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_table_is_printed_with_the_rows_of_the_page(tmp_path: Path) -> None:
    """The documented command runs, and writes its rows between the page's marks and nothing else."""
    copy = tmp_path / "page.md"
    before = PAGE.read_text(encoding="utf-8")
    copy.write_text(before, encoding="utf-8")
    command = [sys.executable, "tests/bench/table.py", "--rounds", "1", "--runs", "50", "--write", str(copy)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    after = copy.read_text(encoding="utf-8")
    table = before.partition("<!-- table: begin -->\n")[2].partition("<!-- table: end -->")[0]
    printed = after.partition("<!-- table: begin -->\n")[2].partition("<!-- table: end -->")[0]
    assert what(table.splitlines()) == what(printed.splitlines()) == what(ran.stdout.splitlines())
    assert before.replace(table, "") == after.replace(printed, "")
