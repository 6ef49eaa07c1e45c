"""
Labelled records, and what is said of files that are none.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from rageval_trace.errors import DatasetError
from rageval_trace.io.labels import load_labelled


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join([json.dumps(row) + "\n" for row in rows]), encoding="utf-8")
    return path


def test_labels_come_with_their_records(tmp_path: Path) -> None:
    """
    Answer and claim labels are read as booleans; a missing one is None or empty.
    """
    claims = [{"text": "A.", "label": 1}, {"text": "B.", "label": False}]
    rows = [{"question": "q", "contexts": ["c"], "answer": "A. B.", "label": 0, "claims": claims}, {"question": "q"}]
    read = list(load_labelled(write(tmp_path / "labels.jsonl", *rows)))
    assert [False, None] == [row.supported for row in read]
    assert [(("A.", True), ("B.", False)), ()] == [row.claims for row in read]
    assert [["c"], None] == [row.record.contexts and [c.text for c in row.record.contexts] for row in read]


def test_gzip_is_read(tmp_path: Path) -> None:
    """
    A gzipped file is read like a plain one.
    """
    path = tmp_path / "labels.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"question": "q", "label": true}\n'))
    assert [True] == [row.supported for row in load_labelled(path)]


@pytest.mark.parametrize(
    ("row", "place"),
    [
        ({"question": "q", "label": 2}, "field 'label': expected 1"),
        ({"question": "q", "label": "yes"}, "field 'label': expected 1"),
        ({"question": "q", "claims": "A."}, "field 'claims': expected an array"),
        ({"question": "q", "claims": [{"label": 1}]}, r"field 'claims\[0\]': expected an object"),
        ({"question": "q", "claims": [{"text": "A."}]}, r"field 'claims\[0\].label': expected 1"),
        ({"label": 1}, "field 'question': missing"),
        ([1], "expected"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, row: Any, place: str) -> None:
    """
    The error names file, line and field.
    """
    path = write(tmp_path / "labels.jsonl", {"question": "fine"}, row)
    with pytest.raises(DatasetError, match=f"labels.jsonl:2: {place}"):
        list(load_labelled(path))


def test_a_missing_file_is_an_error_at_once(tmp_path: Path) -> None:
    """
    The path is checked before the first row is asked for.
    """
    with pytest.raises(DatasetError, match="cannot be read"):
        load_labelled(tmp_path / "absent.jsonl")
