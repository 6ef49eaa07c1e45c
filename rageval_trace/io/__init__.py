"""
Read records from files: bytes -> fields -> records, one record at a time.

`source` opens the file (gzip, byte-order mark, limits), `formats` cuts it into fields, `fields` makes records of them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from rageval_trace.errors import DatasetError, closest
from rageval_trace.io.fields import FIELDS, parse_record
from rageval_trace.io.formats import read_fields
from rageval_trace.io.ids import SeenIds
from rageval_trace.io.options import Format, LoadOptions
from rageval_trace.io.source import check_path, open_source
from rageval_trace.models import EvalRecord

__all__ = ["Format", "LoadOptions", "load_records", "parse_record"]

KNOWN_FIELDS = frozenset(FIELDS)

_log = logging.getLogger("rageval_trace")


def load_records(source: str | os.PathLike[str] | BinaryIO, options: LoadOptions | None = None) -> Iterator[EvalRecord]:
    """
    Read the records of a JSONL, JSON or CSV file, plain or gzipped, in either naming style.

    The file is read as the iterator is, so that a file larger than memory can be scored; only the hashes of
    ids are kept, to find duplicates.

    Args:
        source: A path; `"-"` for standard input; or a binary file, which is left open.
        options: Format, limits, and what to do with bad records.

    Returns:
        An iterator over the records in the file's order.

    Raises:
        DatasetError: at once if the path is not a readable file; while iterating if a record is bad, an id comes
            twice, or the file holds no record.
    """
    chosen = options or LoadOptions()
    if isinstance(source, (str, os.PathLike)):
        check_path(source)
    return _records(source, chosen)


def _records(source: str | os.PathLike[str] | BinaryIO, options: LoadOptions) -> Iterator[EvalRecord]:
    seen = SeenIds()
    unknown: set[str] = set()
    good = bad = 0
    with open_source(source, options) as opened:
        for line, fields in read_fields(opened, options):
            try:
                if isinstance(fields, DatasetError):
                    raise fields
                record = _record(fields, line, seen, options)
            except DatasetError as error:
                placed = DatasetError(error.message, path=opened.name, line=line, field=error.field)
                if options.on_bad is None:
                    raise placed from None
                options.on_bad(placed)
                bad += 1
                continue
            _warn_of_typos(fields, unknown, f"{opened.name}:{line}")
            good += 1
            yield record
        if not good:
            found = f"no readable record ({bad} skipped)" if bad else "no records"
            raise DatasetError(f"{found}: expected at least one", path=opened.name)


def _record(fields: Mapping[str, Any], line: int, seen: SeenIds, options: LoadOptions) -> EvalRecord:
    record = parse_record(fields, max_depth=options.max_depth)
    first = None if record.id is None else seen.add(record.id, line)
    if first is not None:
        raise DatasetError(f"{record.id!r} was used before, at {first}: expected a different one", field="id")
    return record


def _warn_of_typos(fields: Mapping[str, Any], unknown: set[str], place: str) -> None:
    """
    Warn once of each unknown field that looks like a known one, for what it holds would be lost unsaid.
    """
    for name in fields.keys() - KNOWN_FIELDS - unknown:
        unknown.add(name)
        hint = closest(name, FIELDS)
        if hint:
            _log.warning("%s: unknown field %r is left out%s", place, name[:80], hint)
