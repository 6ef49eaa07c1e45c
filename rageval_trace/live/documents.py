"""
From what a framework calls a document to a `Context`: a snapshot of plain values, made at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from rageval_trace.models import Context, parse_timestamp

__all__ = ["DocumentKeys", "DocumentReader"]

_PLAIN: Final = frozenset({str, int, float, bool, datetime, date})
_METADATA_ENTRIES: Final = 32
_METADATA_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class DocumentKeys:
    """
    Where in a document's metadata to look, in order; the first key with a value counts.

    `last_accessed_at` is not among the timestamps: time-weighted retrievers set it to the time of the retrieval, so
    every document would look fresh.

    Args:
        id: For the document's id, after the document's own.
        score: For the retriever's score.
        source: For where the document came from.
        timestamp: For when its content was last true.
    """

    id: tuple[str, ...] = ("id", "doc_id", "document_id")
    score: tuple[str, ...] = ("relevance_score", "score", "similarity_score")
    source: tuple[str, ...] = ("source", "url", "file_path", "file_name", "path")
    timestamp: tuple[str, ...] = (
        "timestamp",
        "updated_at",
        "updated_time",
        "last_updated",
        "last_edited_time",
        "last_modified",
        "last_modified_date",
        "modified",
        "moddate",
        "published_date",
        "publish_date",
        "date",
        "created_at",
        "created_time",
        "created",
        "creationdate",
        "creation_date",
    )

    def __post_init__(self) -> None:
        for name in ("id", "score", "source", "timestamp"):
            keys = getattr(self, name)
            if isinstance(keys, str) or not all(isinstance(key, str) for key in keys):
                raise TypeError(f"{name} keys are {keys!r}: expected a sequence of metadata keys")
            object.__setattr__(self, name, tuple(keys))


class DocumentReader:
    """
    Make contexts within limits, counting what had to be left out.

    Args:
        keys: Where to look in the metadata.
        max_chars: Characters kept of a text; at least 1.
        count: Called with `truncated_texts`, `unreadable_timestamps` or `coerced_documents` for each such thing.
    """

    __slots__ = ("_count", "_keys", "_max_chars", "_source_keys", "_timestamp_keys")

    def __init__(self, keys: DocumentKeys, *, max_chars: int, count: Callable[[str], None]) -> None:
        self._keys = keys
        self._source_keys, self._timestamp_keys = frozenset(keys.source), frozenset(keys.timestamp)
        self._max_chars = max_chars
        self._count = count

    def context(self, text: str, metadata: Mapping[str, Any], *, id: Any = None, score: Any = None) -> Context:
        """
        Return one chunk; without any id it stays empty, and the record gives it its rank.
        """
        keys = self._keys
        found = _first(metadata, keys.id) if id is None else id
        # Most metadata holds none of the many keys: found out in one step.
        source = None if self._source_keys.isdisjoint(metadata) else _first(metadata, keys.source)
        stamp = None if self._timestamp_keys.isdisjoint(metadata) else _first(metadata, keys.timestamp)
        return Context(
            "" if found is None else str(found),
            self.cut(text),
            _number(_first(metadata, keys.score) if score is None else score),
            None if stamp is None else self._timestamp(stamp),
            None if source is None else str(source)[:_METADATA_CHARS],
            _plain(metadata),
        )

    def cut(self, text: str) -> str:
        """
        Return *text*, cut to the limit.
        """
        if len(text) <= self._max_chars:
            return str(text)
        self._count("truncated_texts")
        return text[: self._max_chars]

    def coerced(self) -> None:
        """
        Count a document that was none.
        """
        self._count("coerced_documents")

    def _timestamp(self, value: object) -> datetime | None:
        try:
            return parse_timestamp(value)
        except (ValueError, OverflowError):
            self._count("unreadable_timestamps")
            return None


def _first(metadata: Mapping[str, Any], keys: Iterable[str]) -> Any:
    for key in keys:
        value = metadata.get(key)
        if value is None or (type(value) is str and not value.strip()):
            continue
        if type(value) in _PLAIN or not isinstance(value, (Mapping, list, tuple, set)):
            return value
    return None


def _number(value: Any) -> float | None:
    """
    Return a retriever's score; None for what is no number (a numpy scalar is one).
    """
    if value is None or isinstance(value, (bool, str)):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number - number == 0 else None


def _plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """
    Keep the plain values only, so that no live object of the host is held on to.
    """
    kept: dict[str, Any] = {}
    for key, value in metadata.items():
        if type(value) in _PLAIN and type(key) is str:
            kept[key] = value[:_METADATA_CHARS] if type(value) is str else value
            if len(kept) >= _METADATA_ENTRIES:
                break
    return kept
