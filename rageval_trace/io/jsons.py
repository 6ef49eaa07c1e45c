"""
Cut JSONL and JSON text into objects.
"""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from rageval_trace.errors import DatasetError
from rageval_trace.io.lines import not_utf8, read_lines
from rageval_trace.io.options import Fields, LoadOptions

__all__ = ["read_json", "read_jsonl"]

_BLOCK = 64 * 1024


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a value of JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse_constant)


def _object(value: Any) -> Mapping[str, Any] | DatasetError:
    if isinstance(value, dict):
        return value
    return DatasetError(f"expected an object with the record's fields, not {_kind(value)}")


def _kind(value: object) -> str:
    names = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def read_jsonl(stream: io.BufferedReader, options: LoadOptions) -> Iterator[Fields]:
    """
    Read an object a line; blank lines are passed over.
    """
    for number, line in enumerate(read_lines(stream, options.max_record_bytes), 1):
        if isinstance(line, DatasetError):
            yield number, line
        elif not line.isspace():
            yield number, _parsed(line)


def _parsed(line: bytes) -> Mapping[str, Any] | DatasetError:
    try:
        return _object(_decoder.decode(line.decode("utf-8").strip()))
    except UnicodeDecodeError as error:
        return not_utf8(error)
    except json.JSONDecodeError as error:
        return DatasetError(f"not JSON: {error.msg} at column {error.colno}; expected one object a line")
    except (ValueError, RecursionError) as error:
        return DatasetError(f"{_fault(error)}; expected one object a line")


def _fault(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else f"not JSON: {error}"


def read_json(stream: io.BufferedReader, options: LoadOptions) -> Iterator[Fields]:
    """
    Read the items of an array, or objects one after the other, without holding the file.
    """
    window = _Window(stream, options.max_record_bytes)
    in_array = window.take("[")
    number = 0
    while (char := window.peek()) and not (in_array and char == "]"):
        number += 1
        yield number, _object(window.value(number))
        if in_array and not window.take(",") and window.peek() != "]":
            raise DatasetError("array not closed: expected ',' or ']' after the item", line=number)
    if in_array and not window.take("]"):
        raise DatasetError("array not closed: expected ']' at the end", line=number)
    if in_array and window.peek():
        raise DatasetError("text after the array: expected nothing", line=number)


class _Window:
    """
    A moving window of text on a stream, from which whole JSON values are taken.
    """

    def __init__(self, stream: io.BufferedReader, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._text = ""
        self._at = 0
        self._ended = False

    def peek(self) -> str:
        """
        Return the next character that is not blank, without taking it; an empty string at the end.
        """
        while True:
            while self._at < len(self._text) and self._text[self._at] in " \t\r\n":
                self._at += 1
            if self._at < len(self._text) or not self._fill(_BLOCK):
                return self._text[self._at : self._at + 1]

    def take(self, char: str) -> bool:
        """
        Take the next character that is not blank if it is *char*.
        """
        found = self.peek() == char
        self._at += found
        return found

    def value(self, number: int) -> Any:
        """
        Take one JSON value, reading on while it is not whole.

        Raises:
            DatasetError: at item *number*, if the text up to the limit or the end is no JSON value.
        """
        size = _BLOCK
        while True:
            try:
                value, self._at = _decoder.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                if len(self._text) - self._at > self._limit:
                    expected = f"an object of at most {self._limit} bytes (max_record_bytes)"
                elif not isinstance(error, RecursionError) and self._fill(size):
                    # Doubling keeps the cost of parsing a long value again and again linear.
                    size *= 2
                    continue
                else:
                    expected = "an object"
                raise _item_error(error, self._at, expected, number) from None
            return value

    def _fill(self, size: int) -> bool:
        if self._ended:
            return False
        data = self._stream.read(size)
        self._ended = not data
        try:
            more = self._decode(data, not data)
        except UnicodeDecodeError as error:
            raise DatasetError(f"not UTF-8: {error.reason}; expected text in UTF-8") from None
        self._text = self._text[self._at :] + more
        self._at = 0
        return not self._ended


def _item_error(error: Exception, start: int, expected: str, number: int) -> DatasetError:
    if isinstance(error, json.JSONDecodeError):
        place = f"character {error.pos - start + 1} of the item"
        return DatasetError(f"not JSON: {error.msg} at {place}; expected {expected}", line=number)
    return DatasetError(f"{_fault(error)}; expected {expected}", line=number)
