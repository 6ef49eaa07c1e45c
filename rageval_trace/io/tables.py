"""
Cut CSV text into the fields of records.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from rageval_trace.errors import DatasetError
from rageval_trace.io.lines import not_utf8, read_lines
from rageval_trace.io.options import Fields, LoadOptions

__all__ = ["CHUNK_SEPARATOR", "read_csv"]

CHUNK_SEPARATOR = "|||"
_LISTS = ("retrieved_contexts", "contexts", "timestamps", "context_ids", "relevant_ids", "citations")


def read_csv(stream: io.BufferedReader, options: LoadOptions) -> Iterator[Fields]:
    """
    Read a table with a header; list columns hold their values separated by `|||`.
    """
    # The csv module knows one limit for the whole process; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), options.max_record_bytes))
    text = _Text(read_lines(stream, options.max_record_bytes))
    rows = csv.reader(text, strict=True)
    columns: list[str] | None = None
    while True:
        number = text.count + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield number, DatasetError(f"not CSV: {error}; expected {CHUNK_SEPARATOR} between chunks")
        except DatasetError as error:
            yield number, error
        else:
            if not any(row):
                continue
            if columns is None:
                columns = _columns(row)
            else:
                yield number, _cells(columns, row)


def _columns(row: list[str]) -> list[str]:
    columns = [cell.strip().lower() for cell in row]
    if "question" not in columns:
        raise DatasetError("the header has no column 'question': expected comma-separated column names", line=1)
    twice = next((name for name in columns if name and columns.count(name) > 1), None)
    if twice:
        raise DatasetError(f"the header names column {twice!r} twice: expected each once", line=1)
    return columns


def _cells(columns: list[str], row: list[str]) -> Mapping[str, Any] | DatasetError:
    if len(row) > len(columns):
        return DatasetError(f"{len(row)} cells: expected at most {len(columns)}, as in the header")
    cells: dict[str, Any] = dict(zip(columns, row, strict=False))
    for name in _LISTS:
        if name in cells:
            cells[name] = [piece.strip() for piece in cells[name].split(CHUNK_SEPARATOR)] if cells[name].strip() else []
    return _with_chunks(cells)


def _with_chunks(cells: dict[str, Any]) -> Mapping[str, Any] | DatasetError:
    """
    Join the parallel columns of chunks, ids and timestamps; an empty chunk is dropped with its date.

    An empty cell is an observed emptiness for the answer and the chunks, and nothing observed elsewhere.
    """
    column = "contexts" if "contexts" in cells else "retrieved_contexts"
    texts = cells.get(column)
    dates, ids = cells.pop("timestamps", []), cells.pop("context_ids", [])
    for name, values in (("timestamps", dates), ("context_ids", ids)):
        if len(values) > len(texts or ()):
            return DatasetError(f"{len(values)} values: expected one a chunk, of {len(texts or ())}", field=name)
    if texts is not None:
        cells[column] = [
            {"text": text, "timestamp": date or None, "id": name or None}
            for text, date, name in zip(texts, _padded(dates, texts), _padded(ids, texts), strict=True)
            if text
        ]
    return {key: value for key, value in cells.items() if value or key in {"answer", column}}


def _padded(values: list[str], texts: list[str]) -> list[str]:
    return values + [""] * (len(texts) - len(values))


class _Text:
    """
    Lines as text, counted; a bad one raises without ending the iteration.
    """

    def __init__(self, lines: Iterator[bytes | DatasetError]) -> None:
        self._lines = lines
        self.count = 0

    def __iter__(self) -> _Text:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.count += 1
        if isinstance(line, DatasetError):
            raise line
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise not_utf8(error) from None
