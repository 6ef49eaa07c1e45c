"""
Text on its way out: redacted whole, then cut, and always encodable.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Any

from rageval_trace.models import Context
from rageval_trace.telemetry.faults import Faults
from rageval_trace.telemetry.payload import EmitOptions
from rageval_trace.telemetry.results import finite

__all__ = ["MAX_BYTES", "Content", "known", "plain"]

# Tempo cuts every value at 2048 bytes, which makes half a JSON document of a whole one.
MAX_BYTES = 2000
_MAX_DEPTH = 5


def plain(text: object, limit: int = 256) -> str:
    """
    Return *text* as a string that every exporter can encode, of at most *limit* characters.

    Half a surrogate pair, which Python strings may hold, would otherwise cost the whole exported batch.
    """
    short = str(text)[:limit]
    return short if short.isascii() else short.encode("utf-8", "replace").decode()


known = lru_cache(maxsize=1024)(plain)
known.__doc__ = "Return `plain(text)` of a name that comes again and again: a metric, a pipeline, a judge."


class Content:
    """
    Let text out as far as the options allow.
    """

    def __init__(self, options: EmitOptions, faults: Faults) -> None:
        self._redact = options.redact
        self._faults = faults
        self.inputs = not options.hide_inputs
        self.outputs = not options.hide_outputs

    def text(self, whole: str | None, max_bytes: int = MAX_BYTES) -> str | None:
        """
        Return *whole* redacted and cut to *max_bytes* of UTF-8.

        Returns:
            None when there is no text, or when redacting raised or gave no string: then it does not leave.
        """
        kept = self.redacted(whole)
        if kept is None:
            return None
        return kept[:max_bytes].encode("utf-8", "replace")[:max_bytes].decode("utf-8", "ignore")

    def redacted(self, whole: str | None) -> str | None:
        """
        Return *whole* redacted and uncut; None as in `text`.
        """
        if whole is None or self._redact is None:
            return whole
        try:
            kept: object = self._redact(whole)
        except Exception as error:
            self._faults.note("redact() raised, so the text does not leave", error)
            return None
        return kept if isinstance(kept, str) else None

    def metadata(self, context: Context) -> str | None:
        """
        Return a context's metadata, source and timestamp as a JSON object; None when there are none or too long.
        """
        whole = dict(context.metadata)
        if context.source is not None:
            whole.setdefault("source", context.source)
        if context.timestamp is not None:
            whole.setdefault("timestamp", context.timestamp)
        if not whole:
            return None
        text = json.dumps(self._leaves(whole, _MAX_DEPTH), ensure_ascii=False)
        return plain(text, MAX_BYTES) if len(text.encode("utf-8", "replace")) <= MAX_BYTES else None

    def documents(self, contexts: tuple[Context, ...]) -> str:
        """
        Return id, score and timestamp of each context as a JSON array: as many, from the first, as fit a value.
        """
        rows: list[str] = []
        size = 2
        for context in contexts:
            row = json.dumps(self._row(context))  # ASCII, so that characters count as bytes
            size += len(row) + 2
            if size > MAX_BYTES:
                break
            rows.append(row)
        return f"[{', '.join(rows)}]"

    def _row(self, context: Context) -> dict[str, Any]:
        row: dict[str, Any] = {}
        known_id = self.text(None if context.generated_id else context.id, 256)
        if known_id is not None:
            row["id"] = known_id
        score = finite(context.score)
        if score is not None:
            row["score"] = score
        if context.timestamp is not None:
            row["timestamp"] = context.timestamp.isoformat()
        return row

    def _leaves(self, value: Any, depth: int) -> Any:
        """
        Return plain JSON data with every text in it redacted on its own.
        """
        if isinstance(value, Mapping) and depth:
            pairs = [(self.redacted(str(key)), item) for key, item in list(value.items())[:50]]
            return {key: self._leaves(item, depth - 1) for key, item in pairs if key is not None}
        if isinstance(value, (list, tuple)) and depth:
            return [self._leaves(item, depth - 1) for item in value[:50]]
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, float):
            return finite(value)
        if isinstance(value, date):
            return value.isoformat()
        return self.redacted(value if isinstance(value, str) else type(value).__name__)
