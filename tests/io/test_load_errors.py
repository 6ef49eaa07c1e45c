"""
What cannot be read is named by file, line and field, with what was expected.
"""

from __future__ import annotations

import gzip
import io
import json

import pytest

from rageval_trace.errors import DatasetError
from rageval_trace.io import LoadOptions, load_records

GOOD = '{"question": "q"}\n'
DEEP = json.dumps({"question": "q", "metadata": {}}).replace("{}", '{"a":' * 40 + "1" + "}" * 40)


def failure(content: bytes, **options: object) -> DatasetError:
    with pytest.raises(DatasetError) as caught:
        list(load_records(io.BytesIO(content), LoadOptions(**options)))
    return caught.value


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({}, "question", "missing: expected a string"),
        ({"question": None}, "question", "missing: expected a string"),
        ({"question": 3}, "question", "expected a string, not a number"),
        ({"question": ["q"]}, "question", "expected a string, not an array"),
        ({"answer": True}, "answer", "expected a string, not a boolean"),
        ({"ground_truth": {}}, "ground_truth", "expected a string, not an object"),
        ({"id": 1.5}, "id", "expected a string or a whole number, not a number"),
        ({"contexts": "text"}, "contexts", "expected an array of chunks in rank order, not a string"),
        ({"retrieved_contexts": 4}, "retrieved_contexts", "expected an array of chunks in rank order, not a number"),
        ({"contexts": ["a", 4]}, "contexts[1]", "expected a string or an object with 'text', not a number"),
        ({"contexts": [{"id": "a"}]}, "contexts[0].text", "expected a string, not null"),
        ({"contexts": [{"content": 3}]}, "contexts[0].content", "expected a string, not a number"),
        ({"contexts": [{"text": "a", "score": "0.5"}]}, "contexts[0].score", "expected a finite number, not a string"),
        ({"contexts": [{"text": "a", "source": 1}]}, "contexts[0].source", "expected a string, not a number"),
        ({"contexts": [{"text": "a", "id": []}]}, "contexts[0].id", "expected a string or a whole number, not an array"),
        ({"contexts": [{"text": "a", "metadata": 1}]}, "contexts[0].metadata", "expected an object, not a number"),
        ({"contexts": ["a"], "retrieved_contexts": ["b"]}, "retrieved_contexts", "differs from 'contexts': expected one of the two"),
        ({"relevant_ids": "a"}, "relevant_ids", "expected an array of ids, or an object from id to grade, not a string"),
        ({"contexts": [{"text": "a", "score": float("inf")}]}, "contexts[0].score", "expected a finite number, not inf"),
        ({"relevant_ids": [None]}, "relevant_ids[0]", "expected a string or a whole number, not null"),
        ({"relevant_ids": {"a": -1}}, "relevant_ids.a", "expected a grade of at least 0, not -1"),
        ({"citations": {"a": 1}}, "citations", "expected an array of context ids, not an object"),
        ({"asked_at": "soon"}, "asked_at", "unreadable timestamp 'soon': expected ISO-8601 text, unix seconds or milliseconds, a datetime or a date"),
        ({"metadata": {"a": {"b": [[1]] * 2}}, "asked_at": {}}, "asked_at", "unreadable timestamp of type dict: expected ISO-8601 text, unix seconds or milliseconds, a datetime or a date"),
        ({"metadata": []}, "metadata", "expected an object, not an array"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named(fields, field, message):
    """
    The error holds line and field, and says what was found and expected.
    """
    question = {} if "question" in fields or not fields else {"question": "q"}
    content = json.dumps(question | fields).replace("Infinity", "1e999")
    error = failure(f"{GOOD}{content}".encode())
    assert (error.path, error.line, error.field, error.message) == ("-", 2, field, message)


def test_the_message_leads_with_the_place(tmp_path):
    """
    A person sees path, line and field at the head of the line.
    """
    path = tmp_path / "r.jsonl"
    path.write_text(GOOD + '{"question": "q", "contexts": [{"text": "a", "timestamp": "x"}]}')
    with pytest.raises(DatasetError) as caught:
        list(load_records(path))
    assert str(caught.value).startswith(f"{path}:2: field 'contexts[0].timestamp': unreadable timestamp 'x'")


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"", None, "no records: expected at least one"),
        (b" \n\n", None, "no records: expected at least one"),
        (b"[]", None, "no records: expected at least one"),
        (b"question,answer\n", None, "no records: expected at least one"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", None, "is a binary file: expected JSONL, JSON or CSV text in UTF-8"),
        ("é".encode("utf-16"), None, "is UTF-16: expected text in UTF-8"),
        (b"hello\nworld\n", None, "is none of JSONL, JSON and CSV with a header: expected one of them"),
        (b'{"question": "\xff"}', 1, "not UTF-8: invalid start byte at byte 15; expected text in UTF-8"),
        (b'{"question": "q"', 1, "not JSON: Expecting ',' delimiter at column 17; expected one object a line"),
        (b'{"question": NaN}', 1, "not JSON: NaN is not a value of JSON; expected one object a line"),
        (b'{"question": "q", "x": -Infinity}', 1, "not JSON: -Infinity is not a value of JSON; expected one object a line"),
        (b'{"question": "q", "asked_at": 1e999}', 1, "unreadable timestamp inf: expected ISO-8601 text, unix seconds or milliseconds, a datetime or a date"),
        (b'{"x": ' + b"[" * 200_000, 1, "nested too deeply; expected one object a line"),
        (DEEP.replace("1}", "[1]}").encode(), 1, "nested deeper than 32 levels: expected at most that (max_depth)"),
        (b'{"question": "q"}\n3\n', 2, "expected an object with the record's fields, not a number"),
        (b"[1]", 1, "expected an object with the record's fields, not a number"),
        (b'[{"question": "q"}, "s"]', 2, "expected an object with the record's fields, not a string"),
        (b'[{"question": "q"} {"question": "q"}]', 1, "array not closed: expected ',' or ']' after the item"),
        (b'[{"question": "q"}', 1, "array not closed: expected ',' or ']' after the item"),
        (b'[{"question": "q"},', 1, "array not closed: expected ']' at the end"),
        (b'[{"question": "q"}] x', 1, "text after the array: expected nothing"),
        (b'[{"question" "q"}]', 1, "not JSON: Expecting ':' delimiter at character 14 of the item; expected an object"),
        (b'[{"question": "q"}, {"question": NaN}]', 2, "not JSON: NaN is not a value of JSON; expected an object"),
        (b'[{"question": "\xff"}]', None, "not UTF-8: invalid start byte; expected text in UTF-8"),
        (b"[" + b'{"x":' * 200_000, 1, "nested too deeply; expected an object"),
        (b'question,answer\na,"open\n', 2, "not CSV: unexpected end of data; expected ||| between chunks"),
        (b"question,answer\na,b,c\n", 2, "3 cells: expected at most 2, as in the header"),
        (b"question,question\na,b\n", 1, "the header names column 'question' twice: expected each once"),
        (b"question,timestamps\na,2026-01-01\n", 2, "1 values: expected one a chunk, of 0"),
        (b"question,answer\n,b\n", 2, "missing: expected a string"),
        (b"question\n\xff\n", 2, "not UTF-8: invalid start byte at byte 1; expected text in UTF-8"),
    ],
)  # fmt: skip
def test_a_wrong_file(content, line, message):
    """
    Whatever is handed in, the error says what it is and what was expected.
    """
    error = failure(content)
    assert (error.line, error.message) == (line, message)


def test_a_header_without_question():
    """
    A table that is named one must have a header with the question.
    """
    assert failure(b"id;question\n", format="csv").message.startswith("the header has no column 'question'")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"question": "' + b"x" * 200 + b'"}\n', "longer than 100 bytes: expected at most that (max_record_bytes)"),
        (b'[{"question": "' + b"x" * 200, "not JSON: Unterminated string starting at at character 14 of the item; expected an object of at most 100 bytes (max_record_bytes)"),
        (b"question\n" + b"x" * 200, "longer than 100 bytes: expected at most that (max_record_bytes)"),
    ],
)  # fmt: skip
def test_a_record_past_the_limit(content, message):
    """
    One record cannot fill the memory, in any format.
    """
    assert message == failure(content, max_record_bytes=100).message


def test_a_long_line_is_one_bad_record():
    """
    The line after one that is too long is read as usual.
    """
    bad: list[DatasetError] = []
    content = b'{"question": "' + b"x" * 200_000 + b'"}\n' + GOOD.encode()
    options = LoadOptions(max_record_bytes=100, on_bad=bad.append)
    assert [one.question for one in load_records(io.BytesIO(content), options)] == ["q"]
    assert [one.line for one in bad] == [1]


def test_nothing_but_bad_records():
    """
    When every record is skipped, the file is an error and says how many were.
    """
    error = failure(b"x{\n{\n", format="jsonl", on_bad=lambda _: None)
    assert error.message == "no readable record (2 skipped): expected at least one"


PACKED = gzip.compress(GOOD.encode() * 100)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (PACKED[:-30], "damaged gzip: "),
        (PACKED[:40] + b"\0" * 20 + PACKED[60:], "damaged gzip: "),
        (b"\x1f\x8bnot gzip at all", "damaged gzip: "),
        (gzip.compress(b" " * 2**25), "decompresses to more than 200 times its size"),
    ],
    ids=["cut", "overwritten", "not gzip", "bomb"],
)
def test_a_gzip_that_is_damaged_or_a_bomb(content, message):
    """
    A broken gzip, and one that grows out of proportion, end the reading with one line.
    """
    assert failure(content, on_bad=lambda _: None).message.startswith(message)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.jsonl", "cannot be read: no such file or directory"),
        ("", "is a directory: expected a JSONL, JSON or CSV file"),
        ("a\0b", "cannot be read: embedded null byte"),
        ("x" * 300, "cannot be read: file name too long"),
    ],
)
def test_a_path_that_is_no_file_raises_at_once(tmp_path, name, message):
    """
    A path that cannot be read raises when the function is called, before anything is iterated.
    """
    with pytest.raises(DatasetError) as caught:
        load_records(f"{tmp_path}/{name}")
    assert caught.value.message == message


def test_a_failing_disk(tmp_path):
    """
    An error of the operating system while reading names the file.
    """

    class Failing(io.BytesIO):
        name = "disk.jsonl"

        def read1(self, size: int | None = -1, /) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(DatasetError, match=r"^disk\.jsonl: cannot be read: input/output error$"):
        list(load_records(Failing()))
