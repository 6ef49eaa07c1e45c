"""
A file larger than memory: scored in the same memory as a small one, in time that grows as it does.
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
import re, sys, time
from rageval_trace.cli import main
began = time.process_time()
code = main(sys.argv[1:])
print(time.process_time() - began, file=sys.stderr)
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


def costs(path: Path, *words: str) -> tuple[float, int]:
    """
    Run the program on a file and return its processor seconds and the most megabytes it held.
    """
    command = [sys.executable, "-c", PROGRAM, "run", str(path), "--gate", "recall=0.5", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=path.parent)
    taken, peak = done.stderr.split()[-2:]
    return float(taken), int(peak)


def test_memory_does_not_grow_with_the_file_and_time_does(tmp_path):
    """
    Ten times the file takes the same memory, far below 300 MB, also when a JSON and an HTML report are written; and
    about ten times the time.
    """
    reports = ("--out", "report.json", "--html", "report.html")
    small, large = tmp_path / "small.jsonl", tmp_path / "large.jsonl"
    write(small, 3)
    write(large, 30)
    (soon, before), (later, after) = costs(small, *reports), costs(large, *reports)
    assert after < 200
    assert after < before + 30
    assert later < 15 * soon
