"""
Files of lines: turned over, bounded, readable whatever happens to the disk or the process.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rageval_trace.live.captures.files import PATTERN, LineFiles
from rageval_trace.live.captures.saved import CaptureReader

LINE = b'{"run_id":"r","question":"How tall is it?"}\n'


def files(folder: Path, **given: object) -> LineFiles:
    return LineFiles(folder, **{"max_bytes": 200, "max_files": 3, "compress": False, **given})


def names(folder: Path) -> list[str]:
    return sorted([path.name for path in folder.glob(PATTERN)])


def test_files_are_turned_over_and_the_oldest_deleted(tmp_path: Path) -> None:
    """No file passes its size, and no more files are kept than asked for, by owner alone readable."""
    written = files(tmp_path / "new" / "captures")
    for _ in range(40):
        written.write(LINE)

    kept = list((tmp_path / "new" / "captures").iterdir())
    assert 3 == len(kept)
    assert {4 * len(LINE)} == {path.stat().st_size for path in kept}
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in kept}
    assert 0o700 == stat.S_IMODE((tmp_path / "new" / "captures").stat().st_mode)


def test_a_clock_that_goes_backwards_changes_no_order(tmp_path: Path) -> None:
    """Names keep sorting by age, so that the oldest file is still the first to go."""
    ticks = iter([10**18, 10**18 - 10**15, 5, 10**18])
    written = files(tmp_path, max_files=4, clock=lambda: next(ticks))
    made = []
    for _ in range(4):
        for _ in range(4):
            written.write(LINE)
        made.append(written._path.name)

    assert sorted(made) == made == names(tmp_path)


def test_a_file_that_is_deleted_is_begun_again(tmp_path: Path) -> None:
    """Another process that shares the folder may delete the file: no line goes to a file that is not there."""
    written = files(tmp_path)
    written.write(LINE)
    Path(written._path).unlink()
    written.write(LINE)

    assert 1 == len(names(tmp_path))
    assert 1 == len(list(CaptureReader(tmp_path)))


def test_full_files_are_packed(tmp_path: Path) -> None:
    """Closed files become gzip, of the same mode, and are read as before."""
    written = files(tmp_path, compress=True)
    for _ in range(6):
        written.write(LINE)
    written.close()
    written.close()

    packed = list(tmp_path.iterdir())
    assert [".gz", ".gz"] == [path.suffix for path in packed]
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in packed}
    assert 6 == len(list(CaptureReader(tmp_path)))


def test_a_plain_file_beside_its_packed_one_is_read_once(tmp_path: Path) -> None:
    """A process that is killed between packing a file and deleting it leaves both."""
    (tmp_path / "captures-1.jsonl").write_bytes(LINE)
    (tmp_path / "captures-1.jsonl.gz").write_bytes(gzip.compress(LINE))
    (tmp_path / "captures-2.jsonl.gz").write_bytes(gzip.compress(LINE * 9)[:30])

    reader = CaptureReader(tmp_path)

    assert 1 == len(list(reader))
    assert 1 == reader.skipped


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_raises_and_later_lines_are_whole(tmp_path: Path) -> None:
    """What a full disk refuses is an error; when there is room again, the next line stands on its own."""
    written = files(tmp_path)
    written.write(LINE)
    good, full = os.dup(written._fd), os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, written._fd)
    with pytest.raises(OSError, match="No space left"):
        written.write(LINE)
    os.dup2(good, written._fd)
    written.write(LINE)
    os.close(good)
    os.close(full)

    assert 2 == len(list(CaptureReader(tmp_path)))


CUT = """
import resource, sys
from pathlib import Path
from rageval_trace.live.captures.files import LineFiles

line = b'{"run_id":"r","question":"How tall is it?"}\\n'
written = LineFiles(Path(sys.argv[1]), max_bytes=10**6, max_files=3, compress=False)
written.write(line)
resource.setrlimit(resource.RLIMIT_FSIZE, (len(line) + 20, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
failed = 0
for _ in range(2):
    try:
        written.write(line)
    except OSError:
        failed += 1
resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
written.write(line)
print(failed)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs file size limits")
def test_a_line_that_the_disk_cuts_spoils_no_other(tmp_path: Path) -> None:
    """The kernel takes 20 bytes of a line, then none: the next whole one is read, the cut one counted."""
    done = subprocess.run([sys.executable, "-c", CUT, tmp_path], capture_output=True, text=True, check=True)

    reader = CaptureReader(tmp_path)
    assert ("2", 2, 1) == (done.stdout.strip(), len(list(reader)), reader.skipped)


ENDLESS = """
import sys
from pathlib import Path
from rageval_trace.live.captures.files import LineFiles

written = LineFiles(Path(sys.argv[1]), max_bytes=10**8, max_files=3, compress=False)
line = b'{"run_id":"r","question":"' + b"x" * 50_000 + b'"}\\n'
while True:
    written.write(line)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_process_leaves_readable_lines(tmp_path: Path) -> None:
    """Killed in the midst of writing, it leaves whole lines but for at most the last."""
    process = subprocess.Popen([sys.executable, "-c", ENDLESS, tmp_path])
    until = time.monotonic() + 20
    while time.monotonic() < until and not any([path.stat().st_size > 500_000 for path in tmp_path.glob(PATTERN)]):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait(10)

    (path,) = tmp_path.glob(PATTERN)
    with path.open("ab") as file:
        file.write(b'{"run_id":"r","question":"cut he')
    reader = CaptureReader(tmp_path)
    found = list(reader)
    assert len(found) >= 10
    assert {50_000} == {len(saved.record.question) for saved in found}
    assert 1 <= reader.skipped <= 2


def test_what_is_no_capture_is_skipped_and_counted(tmp_path: Path) -> None:
    """Lines that are no JSON, no object, no record or nobody's are passed over."""
    bad = [b"{", b"[1]", b'{"run_id":"r"}', b'{"question":"q"}', b"\xff", b'{"run_id":"r","question":NaN}']
    (tmp_path / "captures-1.jsonl").write_bytes(b"\n\n".join([*bad, LINE]))

    reader = CaptureReader(tmp_path / "captures-1.jsonl")

    assert ["How tall is it?"] == [saved.record.question for saved in reader]
    assert len(bad) == reader.skipped
    assert json.loads(LINE) == dict(next(iter(reader)).fields)
