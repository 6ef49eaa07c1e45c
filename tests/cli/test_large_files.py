"""
A file larger than memory: scored in the same memory as a small one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

STATUS = Path("/proc/self/status")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not STATUS.exists(), reason="memory is read as Linux counts it")]

# Not `ru_maxrss`: a child inherits the peak of the process that started it, and pytest is a large one.
PROGRAM = """
import re, sys
from rageval_trace.cli import main
code = main(sys.argv[1:])
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024, file=sys.stderr)
sys.exit(code)
"""
CHUNK = "The bridge across the bay was opened in {0} and carries {1} cars a day, says guide {2}. " * 6


def write(path: Path, megabytes: int) -> None:
    """
    Write so many megabytes of records that differ.
    """
    with path.open("w") as file:
        at = 0
        while file.tell() < megabytes * 10**6:
            record = {
                "id": f"q{at}",
                "question": f"How many cars cross bridge {at} each day?",
                "contexts": [
                    {"id": f"d{at + rank}", "text": CHUNK.format(1900 + rank, at + rank, rank)} for rank in range(5)
                ],
                "answer": f"The bridge carries {at} cars a day. It was painted green in {at}.",
                "relevant_ids": [f"d{at}"],
            }
            file.write(f"{json.dumps(record)}\n")
            at += 1


def peak_megabytes(path: Path, *words: str) -> int:
    """
    Run the program on a file and return the most memory it held.
    """
    command = [sys.executable, "-c", PROGRAM, "run", str(path), "--gate", "recall=0.5", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=path.parent)
    return int(done.stderr.split()[-1])


def test_memory_does_not_grow_with_the_file(tmp_path):
    """
    Ten times the file takes the same memory, far below 300 MB, also when a JSON and an HTML report are written.
    """
    reports = ("--out", "report.json", "--html", "report.html")
    small, large = tmp_path / "small.jsonl", tmp_path / "large.jsonl"
    write(small, 3)
    write(large, 30)
    before, after = peak_megabytes(small, *reports), peak_megabytes(large, *reports)
    assert after < 200
    assert after < before + 30
