"""
Open a file of records as plain bytes: standard input, gzip, byte-order mark, and every error as a DatasetError.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from rageval_trace.errors import DatasetError
from rageval_trace.io.options import LoadOptions

__all__ = ["Opened", "check_path", "open_source"]

_BLOCK = 64 * 1024
_GZIP_MAGIC = b"\x1f\x8b"
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# Below this size a high ratio harms nobody, and small files of repeated text do reach it.
_RATIO_FROM_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Opened:
    """
    A source ready to be read.

    Args:
        name: The path as given; `"-"` for standard input.
        stream: Its bytes, decompressed, without a byte-order mark.
    """

    name: str
    stream: io.BufferedReader


def check_path(source: str | os.PathLike[str]) -> None:
    """
    Raise a DatasetError if *source* names no existing file; standard input always passes.
    """
    path = os.fspath(source)
    if path == "-":
        return
    try:
        is_directory = Path(path).is_dir()
        Path(path).stat()
    except (OSError, ValueError) as error:
        raise DatasetError(_cause(error), path=path) from None
    if is_directory:
        raise DatasetError("is a directory: expected a JSONL, JSON or CSV file", path=path)


@contextmanager
def open_source(source: str | os.PathLike[str] | BinaryIO, options: LoadOptions) -> Iterator[Opened]:
    """
    Open a source for reading; a file given open is left open.

    Raises:
        DatasetError: for anything that goes wrong while it is open and being read: I/O, gzip, a gzip past its ratio,
            bytes that are no text.
    """
    name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else str(getattr(source, "name", "-"))
    try:
        with _binary(source) as file:
            raw = _Counted(file, options)
            stream = _buffered(raw)
            if stream.peek(2)[:2] == _GZIP_MAGIC:
                stream = _buffered(_Gunzipped(stream, raw, options))
            yield Opened(name, _text_bytes(stream))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DatasetError(f"damaged gzip: {error}", path=name) from None
    except OSError as error:
        raise DatasetError(_cause(error), path=name) from None
    except DatasetError as error:
        if error.path is not None:
            raise
        raise DatasetError(error.message, path=name, line=error.line, field=error.field) from None


def _binary(source: str | os.PathLike[str] | BinaryIO) -> nullcontext[BinaryIO] | BinaryIO:
    if not isinstance(source, (str, os.PathLike)):
        return nullcontext(source)
    if os.fspath(source) == "-":
        return nullcontext(sys.stdin.buffer)
    return Path(source).open("rb")


def _buffered(raw: Any) -> io.BufferedReader:
    return io.BufferedReader(raw, _BLOCK)


def _text_bytes(stream: io.BufferedReader) -> io.BufferedReader:
    head = stream.peek(_BLOCK)
    if head.startswith(_UTF16_MARKS):
        raise DatasetError("is UTF-16: expected text in UTF-8")
    if b"\0" in head:
        raise DatasetError("is a binary file: expected JSONL, JSON or CSV text in UTF-8")
    if head.startswith(_UTF8_MARK):
        stream.read(len(_UTF8_MARK))
    return stream


def _cause(error: Exception) -> str:
    reason = getattr(error, "strerror", None) or str(error)
    return f"cannot be read: {reason[:1].lower()}{reason[1:]}"


class _Counted(io.RawIOBase):
    """
    A file that counts what is read from it and tells the progress callback.
    """

    def __init__(self, file: BinaryIO, options: LoadOptions) -> None:
        # read1 returns what a pipe has, instead of waiting for a whole block.
        self._read = getattr(file, "read1", file.read)
        self._on_read = options.on_read
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer))
        data: bytes = self._read(len(view))
        view[: len(data)] = data
        self.count += len(data)
        if data and self._on_read is not None:
            self._on_read(self.count)
        return len(data)


class _Gunzipped(io.RawIOBase):
    """
    The decompressed bytes of a gzip, which stop when they are too many for their compressed size.
    """

    def __init__(self, stream: io.BufferedReader, raw: _Counted, options: LoadOptions) -> None:
        self._gzip = gzip.GzipFile(fileobj=stream, mode="rb")
        self._raw = raw
        self._ratio = options.max_gzip_ratio
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer))
        data = self._gzip.read(len(view))
        view[: len(data)] = data
        self._count += len(data)
        if self._count > max(_RATIO_FROM_BYTES, self._ratio * self._raw.count):
            raise DatasetError(
                f"decompresses to more than {self._ratio:g} times its size: expected at most that (max_gzip_ratio)"
            )
        return len(data)
