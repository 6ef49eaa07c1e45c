"""
A progress bar for long files, for a person who watches.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["watch"]

# Shorter files are done before a bar could be read.
_LONG_BYTES = 2 * 2**20


@contextlib.contextmanager
def watch(source: str) -> Iterator[Callable[[int], None] | None]:
    """
    Show how far a file has been read, while the context lasts.

    Args:
        source: The file's path.

    Yields:
        What is to be called with the bytes read so far; None when nothing is shown: the file is short or no regular
        file, standard error is no terminal, or rich is not installed.
    """
    size = _size(source)
    if size < _LONG_BYTES or not sys.stderr.isatty() or importlib.util.find_spec("rich") is None:
        yield None
        return
    from rich.console import Console  # noqa: PLC0415  # an optional extra
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("scoring"), BarColumn(), DownloadColumn(binary_units=True), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("scoring", total=size)

        def read(done: int) -> None:
            bar.update(task, completed=done)

        yield read


def _size(source: str) -> int:
    try:
        return Path(source).stat().st_size if os.path.isfile(source) else 0  # noqa: PTH113  # `Path("-")` is no file
    except (OSError, ValueError):
        return 0
