"""
From documents of any kind to contexts.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from rageval_trace.live.documents import DocumentKeys, DocumentReader
from rageval_trace.models import Context

NOON = datetime(2026, 11, 1, 12, tzinfo=timezone.utc)


@pytest.fixture
def counts() -> list[str]:
    """
    Collect what was counted.
    """
    return []


@pytest.fixture
def reader(counts: list[str]) -> DocumentReader:
    """
    Read documents with short texts.
    """
    return DocumentReader(DocumentKeys(), max_chars=10, count=counts.append)


def test_everything_known_is_read(reader: DocumentReader) -> None:
    """
    Id, score, source and time come from the first metadata key that has a value.
    """
    metadata = {
        "doc_id": 7,
        "relevance_score": 0.5,
        "source": "a.md",
        "updated_at": "2026-11-01T12:00:00Z",
        "created_at": 0,
    }

    assert Context("7", "text", 0.5, NOON, "a.md", metadata) == reader.context("text", metadata)


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"id": "a", "doc_id": "b"}, "a"),
        ({"id": "", "doc_id": "b"}, "b"),
        ({"id": ["no"], "document_id": "c"}, "c"),
        ({}, ""),
    ],
)
def test_ids_are_looked_for_in_order(reader: DocumentReader, metadata: dict[str, Any], expected: str) -> None:
    """
    A document's own id wins, then the metadata keys in order; without any, the record gives the rank.
    """
    assert expected == reader.context("text", metadata).id
    assert "own" == reader.context("text", metadata, id="own").id


@pytest.mark.parametrize(
    ("score", "expected"),
    [(1, 1.0), (0.25, 0.25), ("0.9", None), (True, None), (float("nan"), None), (float("inf"), None), (object(), None)],
)
def test_scores_are_numbers_or_none(reader: DocumentReader, score: Any, expected: float | None) -> None:
    """
    What is no finite number is no score.
    """
    assert expected == reader.context("text", {"score": score}).score
    assert expected == reader.context("text", {}, score=score).score


@pytest.mark.parametrize("bad", ["yesterday", "2026-13-40", float("inf"), -1e300, object()])
def test_an_unreadable_time_is_counted(reader: DocumentReader, counts: list[str], bad: Any) -> None:
    """
    The document is undated, and nothing is raised.
    """
    assert reader.context("text", {"timestamp": bad}).timestamp is None
    assert ["unreadable_timestamps"] == counts


def test_the_time_of_last_access_is_never_a_documents_time(reader: DocumentReader) -> None:
    """
    Time-weighted retrievers set it at every retrieval, so that everything would look fresh.
    """
    assert reader.context("text", {"last_accessed_at": NOON}).timestamp is None
    assert NOON == reader.context("text", {"last_accessed_at": 0, "created_at": NOON}).timestamp


def test_long_texts_are_cut_and_counted(reader: DocumentReader, counts: list[str]) -> None:
    """
    A text is kept up to the limit.
    """
    assert "0123456789" == reader.context("0123456789abc", {}).text
    assert ["truncated_texts"] == counts


def test_only_plain_metadata_is_kept(reader: DocumentReader) -> None:
    """
    Live objects of the host are not held on to, long strings are cut, and no more than 32 entries are kept.
    """
    metadata = {"live": object(), "list": [1], 3: "x", "long": "x" * 900, **{f"key{n}": n for n in range(40)}}

    kept = reader.context("text", metadata).metadata

    assert 32 == len(kept)
    assert {"long": "x" * 500, "key0": 0} == {name: kept[name] for name in ("long", "key0")}
    assert not {"live", "list", 3} & set(kept)


def test_keys_can_be_chosen() -> None:
    """
    The lists are the user's to change; one string is refused.
    """
    keys = DocumentKeys(id=("number",), timestamp=("seen",))
    reader = DocumentReader(keys, max_chars=100, count=lambda name: None)

    found = reader.context("text", {"id": "x", "number": "n", "seen": NOON})

    assert ("n", NOON) == (found.id, found.timestamp)
    with pytest.raises(TypeError, match="id keys are 'number': expected a sequence of metadata keys"):
        DocumentKeys(id="number")
