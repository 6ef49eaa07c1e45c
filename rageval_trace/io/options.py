"""
How to read a file of records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from rageval_trace.errors import DatasetError

__all__ = ["FORMATS", "Fields", "Format", "LoadOptions"]

Format: TypeAlias = Literal["auto", "jsonl", "json", "csv"]
# A 1-based line (JSONL, CSV) or item (JSON), with its fields or with what is wrong with it.
Fields: TypeAlias = "tuple[int, Mapping[str, Any] | DatasetError]"

FORMATS: tuple[str, ...] = get_args(Format)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """
    How to read a file of records.

    Args:
        format: `jsonl` (an object a line), `json` (an array of objects, or objects one after the other), `csv`;
            `auto` goes by the file's name and its first character.
        on_bad: Called with each record that cannot be read, which is then skipped; None to stop at the first.
            Damage that hides where the next record begins (broken gzip, broken array) always stops.
        on_read: Called with the number of bytes read so far, before decompression, after each block: for progress.
        max_record_bytes: Length of one line, one item of an array, or one CSV cell; at least 1.
        max_depth: Nesting of a record's metadata; at least 1.
        max_gzip_ratio: How many times larger than its gzip a file may be, once past 16 MiB; at least 1.

    Raises:
        ValueError: if the format is unknown or a limit is below 1.
    """

    format: Format = "auto"
    on_bad: Callable[[DatasetError], None] | None = None
    on_read: Callable[[int], None] | None = None
    max_record_bytes: int = 16 * 2**20
    max_depth: int = 32
    max_gzip_ratio: float = 200.0

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {self.format!r}")
        for name in ("max_record_bytes", "max_depth", "max_gzip_ratio"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
