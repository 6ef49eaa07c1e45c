"""
Read what a sink wrote: folders or single files, plain or gzipped, of processes that are alive or were killed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rageval_trace.errors import DatasetError
from rageval_trace.io import LoadOptions, parse_record
from rageval_trace.io.jsons import read_jsonl
from rageval_trace.io.source import check_path, open_source
from rageval_trace.live.captures.files import PATTERN
from rageval_trace.models import EvalRecord

__all__ = ["CaptureReader", "Saved"]


@dataclass(frozen=True, slots=True)
class Saved:
    """
    One line of a capture file.

    Args:
        fields: As written; see `line_of`.
        record: The record in it; of a pointer, the question alone.
    """

    fields: Mapping[str, Any]
    record: EvalRecord

    @property
    def trace_id(self) -> str | None:
        """
        Return the trace's id in lower-case hex; None when there was no trace.
        """
        found = self.fields.get("trace_id")
        return found if isinstance(found, str) else None

    @property
    def run_id(self) -> str:
        """
        Return the run's id; empty when the line has none.
        """
        return str(self.fields.get("run_id") or "")

    @property
    def name(self) -> str:
        """
        Return what to call it by: the trace's id, else the run's.
        """
        return self.trace_id or self.run_id

    @property
    def duplicate_of(self) -> str | None:
        """
        Return the name of the evaluation that was kept in place of this one; None for one that was kept.
        """
        found = self.fields.get("duplicate_of")
        return found if isinstance(found, str) else None

    def goes_by(self, name: str) -> bool:
        """
        Return whether *name* is the beginning of its trace's or run's id.
        """
        return bool(name) and (self.run_id.startswith(name) or (self.trace_id or "").startswith(name.lower()))


class CaptureReader:
    """
    Iterate over captures, oldest file first.

    Args:
        path: A folder that a sink wrote to, or one of its files.

    Attributes:
        skipped: Lines so far that could not be read: the last one of a process that was killed, for one.

    Raises:
        DatasetError: if there is no such folder or file, or no capture in it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.skipped = 0
        folder = Path(path)
        self._files = _files(folder) if folder.is_dir() else [folder]
        if not self._files:
            raise DatasetError(f"holds no captures: expected files named {PATTERN}", path=os.fspath(path))
        for file in self._files:
            check_path(file)

    def __iter__(self) -> Iterator[Saved]:
        """
        Yield every line that can be read.
        """
        for file in self._files:
            yield from self._lines(file)

    def _lines(self, file: Path) -> Iterator[Saved]:
        options = LoadOptions()
        try:
            with open_source(file, options) as opened:
                for _, fields in read_jsonl(opened.stream, options):
                    found = _saved(fields)
                    if found is None:
                        self.skipped += 1
                    else:
                        yield found
        except DatasetError:
            # A damaged gzip, or a file that was deleted for a newer one meanwhile.
            self.skipped += 1


def _files(folder: Path) -> list[Path]:
    found = sorted(folder.glob(PATTERN))
    packed = {path.name for path in found}
    # A process that was killed between packing a file and deleting it leaves both.
    return [path for path in found if f"{path.name}.gz" not in packed]


def _saved(fields: Mapping[str, Any] | DatasetError) -> Saved | None:
    if isinstance(fields, DatasetError) or "run_id" not in fields:
        return None
    try:
        return Saved(fields, parse_record(fields))
    except DatasetError:
        return None
