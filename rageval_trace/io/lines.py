"""
Lines of bounded length, and what is said of bytes that are no text.
"""

from __future__ import annotations

import io
from collections.abc import Iterator

from rageval_trace.errors import DatasetError

__all__ = ["not_utf8", "read_lines"]

_BLOCK = 64 * 1024


def read_lines(stream: io.BufferedReader, limit: int) -> Iterator[bytes | DatasetError]:
    """
    Yield each line of at most *limit* bytes with its end, and an error in the place of a longer one.
    """
    while line := stream.readline(limit + 1):
        if len(line) <= limit:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(_BLOCK)
        yield DatasetError(f"longer than {limit} bytes: expected at most that (max_record_bytes)")


def not_utf8(error: UnicodeDecodeError) -> DatasetError:
    """
    Say where a line stops being UTF-8.
    """
    return DatasetError(f"not UTF-8: {error.reason} at byte {error.start + 1}; expected text in UTF-8")
