"""
Tell a file's format.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import PurePath

from rageval_trace.errors import DatasetError
from rageval_trace.io.jsons import read_json, read_jsonl
from rageval_trace.io.options import Fields, LoadOptions
from rageval_trace.io.source import Opened
from rageval_trace.io.tables import read_csv

__all__ = ["read_fields"]

_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv"}
_READERS: dict[str, Callable[[io.BufferedReader, LoadOptions], Iterator[Fields]]] = {
    "jsonl": read_jsonl,
    "json": read_json,
    "csv": read_csv,
}
_HEAD_BYTES = 64 * 1024


def read_fields(opened: Opened, options: LoadOptions) -> Iterator[Fields]:
    """
    Cut an opened source into records' fields.

    Raises:
        DatasetError: if the format cannot be told, or damage hides where the next record begins.
    """
    chosen = _format(opened) if options.format == "auto" else options.format
    return _READERS[chosen](opened.stream, options)


def _format(opened: Opened) -> str:
    path = PurePath(opened.name)
    suffix = (PurePath(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()
    by_name = _SUFFIXES.get(suffix)
    head = opened.stream.peek(_HEAD_BYTES).lstrip()
    if by_name == "csv":
        return "csv"
    if head.startswith(b"[") or (by_name == "json" and head):
        return "json"
    if by_name == "jsonl" or head.startswith(b"{") or not head:
        return "jsonl"
    if b"question" in head.partition(b"\n")[0].lower():
        return "csv"
    raise DatasetError("is none of JSONL, JSON and CSV with a header: expected one of them")
