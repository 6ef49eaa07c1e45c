"""
Lines in a folder of files that are turned over and bounded.

A file belongs to one process. A line is one `write` to a file opened for appending: a process that is killed leaves
whole lines, and at most one that is cut.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import secrets
import shutil
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Final

__all__ = ["PATTERN", "LineFiles"]

PATTERN: Final = "captures-*.jsonl*"
_FLAGS: Final = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | os.O_APPEND
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_BINARY", 0)
)


class LineFiles:
    """
    Append lines; one thread at a time.

    Args:
        folder: Made, for its owner alone, with the first line.
        max_bytes: Size from which a file is closed and another begun.
        max_files: Files kept in the folder, whoever wrote them; the oldest is deleted for a newer one.
        compress: Gzip files that are closed.
        clock: Gives unix nanoseconds; it may jump.
    """

    def __init__(
        self, folder: Path, *, max_bytes: int, max_files: int, compress: bool, clock: Callable[[], int] = time.time_ns
    ) -> None:
        self.folder = folder
        self._max_bytes = max_bytes
        self._max_files = max_files
        self._compress = compress
        self._clock = clock
        self._latest_ns = 0
        self.forget()

    def forget(self) -> None:
        """
        Leave the open file to the process that this one was forked from.
        """
        fd: int | None = getattr(self, "_fd", None)
        if fd is not None:
            with contextlib.suppress(OSError):
                os.close(fd)
        self._fd: int | None = None
        self._path: Path | None = None
        self._size = 0
        self._torn = False

    def write(self, line: bytes) -> None:
        """
        Append one whole line.

        Raises:
            OSError: when it could not be written, or not whole. The next line then begins on a line of its own.
        """
        fd = self._fd
        if fd is not None and (self._size + len(line) > self._max_bytes or _is_deleted(fd)):
            self.close()
            fd = None
        if fd is None:
            fd = self._open()
        data = b"\n" + line if self._torn else line
        self._torn = True
        written = os.write(fd, data)
        self._size += written
        if written < len(data):
            raise OSError(0, "a line was cut")
        self._torn = False

    def close(self) -> None:
        """
        Close the file and compress it; a later line begins another.

        Raises:
            OSError: when it could not be compressed; it then stays as it is.
        """
        path, size = self._path, self._size
        self.forget()
        if self._compress and path is not None and size:
            _gzip(path)

    def _open(self) -> int:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.folder / self._name()
        self._fd = os.open(path, _FLAGS, 0o600)
        self._path, self._size, self._torn = path, 0, False
        self._prune(path)
        return self._fd

    def _name(self) -> str:
        # Names sort by age even when the clock goes backwards.
        self._latest_ns = max(self._clock(), self._latest_ns + 1000)
        stamp = datetime.fromtimestamp(self._latest_ns / 1e9, timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")
        return f"captures-{stamp}-{os.getpid()}-{secrets.token_hex(2)}.jsonl"

    def _prune(self, current: Path) -> None:
        found = sorted([path for path in self.folder.glob(PATTERN) if path != current])
        for path in found[: max(0, len(found) + 1 - self._max_files)]:
            # Another process may have been quicker.
            with contextlib.suppress(OSError):
                path.unlink()


def _is_deleted(fd: int) -> bool:
    """
    Return whether another process, or a person, has deleted an open file: what is written there would be lost.
    """
    return os.fstat(fd).st_nlink == 0


def _gzip(path: Path) -> None:
    target = path.with_name(f"{path.name}.gz")
    beside = path.with_name(f".{path.name}.gz")
    try:
        with (
            path.open("rb") as plain,
            os.fdopen(os.open(beside, _FLAGS, 0o600), "wb") as raw,
            gzip.GzipFile(path.name, "wb", fileobj=raw) as packed,
        ):
            shutil.copyfileobj(plain, packed)
        beside.replace(target)
        path.unlink()
    finally:
        beside.unlink(missing_ok=True)
