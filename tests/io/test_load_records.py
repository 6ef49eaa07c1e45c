"""
Records come out of every format alike, in either toolkit's field names.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
from datetime import datetime, timezone

import pytest

from rageval_trace.errors import DatasetError
from rageval_trace.io import LoadOptions, load_records, parse_record
from rageval_trace.io.ids import SeenIds
from rageval_trace.models import Context, EvalRecord

ASKED = {
    "id": "a",
    "question": "How high is the tower?",
    "retrieved_contexts": ["It is 30 m high.", {"text": "Built in 1890.", "timestamp": "2026-01-02"}],
    "answer": "30 m.",
    "ground_truth": "30 metres.",
}
NAMED = {
    "id": 7,
    "question": "Who built it?",
    "contexts": [{"id": "who", "text": "Ada Berg built it.", "score": 0.9, "source": "guide", "metadata": {"page": 3}}],
    "answer": "Ada Berg.",
    "relevant_ids": {"who": 2, "when": 0},
    "citations": ["who"],
    "asked_at": 1767312000,
    "metadata": {"tenant": "north"},
}
EXPECTED = [
    EvalRecord(
        "How high is the tower?",
        ["It is 30 m high.", Context("", "Built in 1890.", timestamp=datetime(2026, 1, 2, tzinfo=timezone.utc))],
        "30 m.",
        "30 metres.",
        id="a",
    ),
    EvalRecord(
        "Who built it?",
        [Context("who", "Ada Berg built it.", 0.9, source="guide", metadata={"page": 3})],
        "Ada Berg.",
        relevant_ids={"who": 2.0, "when": 0.0},
        citations=["who"],
        id="7",
        asked_at=datetime(2026, 1, 2, tzinfo=timezone.utc),
        metadata={"tenant": "north"},
    ),
]
LINES = "\n".join(json.dumps(one) for one in (ASKED, NAMED)) + "\n"
ARRAY = json.dumps([ASKED, NAMED], indent=1)
CSV = (
    "id,question,answer,ground_truth,retrieved_contexts,timestamps\n"
    'a,How high is the tower?,30 m.,30 metres.,It is 30 m high. ||| Built in 1890.,"|||2026-01-02"\n'
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.jsonl", LINES.encode()),
        ("r.ndjson", LINES.encode()),
        ("no_suffix", LINES.encode()),
        ("r.json", ARRAY.encode()),
        ("r.jsonl", ARRAY.encode()),
        ("r.json", LINES.encode()),
        ("r.json", json.dumps(ASKED, indent=2).encode() + json.dumps(NAMED, indent=2).encode()),
        ("r.jsonl.gz", gzip.compress(LINES.encode())),
        ("r.json.gz", gzip.compress(ARRAY.encode())),
        ("compressed", gzip.compress(LINES.encode())),
        ("r.jsonl", b"\xef\xbb\xbf" + LINES.encode()),
        ("r.jsonl", LINES.replace("\n", "\r\n").encode()),
        ("r.jsonl", LINES.replace("\n", "\n \n\n").encode().rstrip()),
        ("r.jsonl.gz", gzip.compress(b"\xef\xbb\xbf" + LINES.encode())),
    ],
    ids=[
        "jsonl", "ndjson", "by content", "array", "array named jsonl", "jsonl named json", "objects one after another",
        "gzip", "array in gzip", "gzip without its name", "bom", "crlf", "blank lines", "bom in gzip",
    ],
)  # fmt: skip
def test_every_shape_gives_the_same_records(tmp_path, name, content):
    """
    Format, compression, byte-order mark, line ends and naming style leave no trace in the records.
    """
    path = tmp_path / name
    path.write_bytes(content)
    assert list(load_records(path)) == EXPECTED
    assert (
        list(
            load_records(
                io.BytesIO(content), LoadOptions(format="json" if name[2:6] == "json" and name[6:7] != "l" else "auto")
            )
        )
        == EXPECTED
    )


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["r.csv", "r.csv.gz", "no_suffix"])
def test_csv(tmp_path, mark, end, name):
    """
    A CSV row holds its chunks and their dates separated by three bars.
    """
    content = (mark + CSV.replace("\n", end)).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert list(load_records(tmp_path / name)) == EXPECTED[:1]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("q,,,,,,", parse_record({"question": "q", "answer": "", "contexts": []})),
        ("q", parse_record({"question": "q"})),
        ("q,,one ||| ||| two,,x|||y|||z,,", parse_record({"question": "q", "answer": "", "contexts": [{"id": "x", "text": "one"}, {"id": "z", "text": "two"}]})),
        (",,,,,,\nq", parse_record({"question": "q"})),
        ("q,,one,,,one|||two,one", parse_record({"question": "q", "answer": "", "contexts": ["one"], "relevant_ids": ["one", "two"], "citations": ["one"]})),
        ('q,"two\nlines, quoted",,,,,', parse_record({"question": "q", "answer": "two\nlines, quoted", "contexts": []})),
    ],
    ids=["empty cells", "short row", "empty chunk", "empty row", "labels", "quoted line break"],
)  # fmt: skip
def test_csv_cells(row, expected):
    """
    An empty cell is an empty answer or retrieval and no label; a missing cell is not observed.
    """
    table = f"Question, answer,contexts,timestamps,context_ids,relevant_ids,citations\n{row}\n"
    assert [expected] == list(load_records(io.BytesIO(table.encode()), LoadOptions(format="csv")))


def test_standard_input(monkeypatch):
    """
    A single hyphen is standard input.
    """
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINES.encode())))
    assert list(load_records("-")) == EXPECTED


def test_a_file_given_open_stays_open(tmp_path):
    """
    Whoever opened a file closes it.
    """
    (tmp_path / "r.jsonl").write_text(LINES)
    with (tmp_path / "r.jsonl").open("rb") as file:
        list(load_records(file))
        assert not file.closed


def test_records_come_while_the_file_is_read(tmp_path):
    """
    The first record of an array is there before the rest was read, and the progress callback counts bytes.
    """
    path = tmp_path / "big.json"
    item = json.dumps({"question": "q", "answer": "word " * 1000})
    path.write_text("[" + ",".join([item] * 200) + "]")
    read: list[int] = []
    records = load_records(path, LoadOptions(on_read=read.append))
    next(records)
    assert read[-1] < path.stat().st_size / 2
    assert sum(1 for _ in records) == 199
    assert read[-1] == path.stat().st_size


@pytest.mark.parametrize("size", [1, 65_530, 65_536, 70_000, 300_000])
@pytest.mark.parametrize("filler", ["x", "é", "\U0001f600"])
def test_an_item_may_cross_the_blocks_that_are_read(size, filler):
    """
    An array's items are whole wherever the blocks end, also in the middle of a character.
    """
    item = json.dumps({"question": filler * size, "answer": '}"]{'}, ensure_ascii=False)
    found = list(load_records(io.BytesIO(f" [ {item} ,\n{item} ]\n".encode())))
    assert [len(one.question) for one in found] == [size, size]


def test_skipping_bad_records_counts_them(tmp_path):
    """
    With a callback, bad records go there with their place, and the good ones are read.
    """
    path = tmp_path / "r.jsonl"
    path.write_text(
        '{"question": "a", "id": 1}\nnot json\n{"answer": "b"}\n{"question": "c", "id": "1"}\n{"question": "d"}\n'
    )
    bad: list[DatasetError] = []
    assert [one.question for one in load_records(path, LoadOptions(on_bad=bad.append))] == ["a", "d"]
    assert [(one.line, one.field) for one in bad] == [(2, None), (3, "question"), (4, "id")]


def test_csv_goes_on_after_a_bad_row():
    """
    A bad row of a table spoils no other.
    """
    table = b'question,answer\na,1\nb,"x"y\nc,1,2\n\xff,1\nd,1\n' + b"e" * 200_000 + b"\nf,1\n"
    bad: list[DatasetError] = []
    options = LoadOptions(format="csv", on_bad=bad.append, max_record_bytes=150_000)
    assert [one.question for one in load_records(io.BytesIO(table), options)] == ["a", "d", "f"]
    assert [one.line for one in bad] == [3, 4, 5, 7]


def test_a_field_that_is_nearly_known_is_warned_of_once(caplog):
    """
    A misspelt field is left out, and said to be, once.
    """
    line = b'{"question": "q", "anwser": "lost", "unrelated": 1}\n'
    list(load_records(io.BytesIO(line * 2)))
    assert [one.getMessage() for one in caplog.records] == [
        "-:1: unknown field 'anwser' is left out (did you mean 'answer'?)"
    ]


def test_duplicates_are_found_far_apart():
    """
    An id is remembered over more records than the newest run holds.
    """
    seen = SeenIds()
    assert {seen.add(str(number), number) for number in range(1, 250_001)} == {None}
    assert [seen.add(name, 300_000) for name in ("1", "99999", "100001", "250000", "new", "new")] == [
        1, 99999, 100001, 250000, None, 300_000,
    ]  # fmt: skip


def test_an_id_that_comes_twice_names_where():
    """
    The second use of an id is the error, and names the first.
    """
    with pytest.raises(DatasetError, match=r"^-:3: field 'id': '1' was used before, at 1: expected a different one$"):
        list(load_records(io.BytesIO(b'{"question":"q","id":1}\n{"question":"q"}\n{"question":"q","id":"1"}\n')))


@pytest.mark.parametrize(
    ("option", "value"), [("format", "xml"), ("max_record_bytes", 0), ("max_depth", 0), ("max_gzip_ratio", 0.5)]
)
def test_options_out_of_range_are_refused(option, value):
    """
    An option that makes no sense names itself.
    """
    with pytest.raises(ValueError, match=option):
        LoadOptions(**{option: value})
