"""
Write reports whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from rageval_trace.errors import RagEvalError

__all__ = ["check_outputs", "write_whole"]


def check_outputs(paths: Iterable[str | None], source: str | None = None) -> None:
    """
    Find out before the work begins whether its reports can be written.

    Args:
        paths: The files asked for; None for those that were not.
        source: The input, which none of them may be.

    Raises:
        RagEvalError: naming a path that is a directory, lies in no folder, is the input, or was named twice.
    """
    taken = {} if source in {None, "-"} else {Path(str(source)).resolve(): "the input"}
    for path in paths:
        if path is None:
            continue
        where = Path(path)
        if where.is_dir():
            raise RagEvalError(f"cannot write {path}: it is a directory")
        if not where.parent.is_dir():
            raise RagEvalError(f"cannot write {path}: no such folder")
        if where.resolve() in taken:
            raise RagEvalError(f"cannot write {path}: it is {taken[where.resolve()]} as well")
        taken[where.resolve()] = "another report"


def write_whole(path: str, pieces: Iterable[str]) -> None:
    """
    Write *pieces* to a new file beside *path*, then put it in its place; on any failure *path* stays as it was.

    Raises:
        RagEvalError: naming the path and the reason.
    """
    try:
        with _aside(Path(path)) as file:
            file.writelines(pieces)
    except OSError as error:
        raise RagEvalError(f"cannot write {path}: {error.strerror or error}") from None


@contextlib.contextmanager
def _aside(path: Path) -> Iterator[TextIO]:
    if path.exists() and not path.is_file():
        # A pipe or a device (/dev/stdout) is written as it is: nothing can be renamed onto it.
        with path.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        return
    target = path.resolve()
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}")
    try:
        with beside.open("x", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
