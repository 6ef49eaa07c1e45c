"""
One evaluation as a line of JSON: the record in the shape that `load_records` reads, and beside it all that is needed
to compute its scores again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final

from rageval_trace.judges.base import judge_name
from rageval_trace.judges.lexical import LexicalJudge
from rageval_trace.live.result import LiveResult
from rageval_trace.models import Context, EvalConfig, EvalRecord
from rageval_trace.stopwords import ENGLISH

__all__ = ["LINE_VERSION", "config_from", "encode", "line_of", "pointer_of"]

LINE_VERSION: Final = 1
"""The version of a line's shape; it changes when a reader of the old one would misread the new."""

Redact = Callable[[str], str]
_MAX_DEPTH: Final = 8


def line_of(result: LiveResult, redact: Redact | None) -> dict[str, Any]:
    """
    Return an evaluation as plain data.

    Args:
        result: What was computed.
        redact: Runs on every text; None to leave them.

    Raises:
        Exception: whatever *redact* raises: the text must then not leave.
    """
    cleaner = _Cleaner(redact)
    texts = {**_record(result.record, cleaner), "search_queries": [cleaner.text(one) for one in result.search_queries]}
    # The marks come before the record, so that the start of a line tells what it is about.
    return {**_about(result), "redacted": cleaner.changed, "truncated": result.truncated, **texts}


def pointer_of(result: LiveResult, redact: Redact | None, kept: str) -> dict[str, Any]:
    """
    Return a short line for an evaluation that is nearly the same as one kept before, which *kept* names.
    """
    about = {name: value for name, value in _about(result).items() if name not in ("config", "scores", "undefined")}
    cleaner = _Cleaner(redact)
    question = cleaner.text(result.record.question)
    return {**about, "redacted": cleaner.changed, "duplicate_of": kept, "question": question}


def encode(line: Mapping[str, Any], max_bytes: int) -> bytes | None:
    """
    Return a line's bytes with its end, texts cut where there would be more than *max_bytes* of them.

    ASCII alone, so that no half of a surrogate pair can stop the writing, and no control character reaches a terminal.

    Returns:
        None when even empty texts would not fit.
    """
    data = _dump(line)
    if len(data) <= max_bytes:
        return data
    longest = max([len(text) for text in _texts(line)], default=0)
    while longest:
        longest //= 2
        data = _dump(_cut(line, longest))
        if len(data) <= max_bytes:
            return data
    return None


def config_from(saved: Mapping[str, Any]) -> EvalConfig:
    """
    Make the config that a line keeps.

    Raises:
        ValueError, TypeError, KeyError: if it was damaged.
    """
    fields = {name: saved[name] for name in _NUMBERS}
    judge = saved.get("judge") or {}
    lexical = None
    if "threshold" in judge:
        lexical = LexicalJudge(judge["threshold"], stopwords=_stopwords(judge))
    return EvalConfig(now=saved.get("now"), stopwords=_stopwords(saved), judge=lexical, **fields)


_NUMBERS: Final = ("half_life_hours", "k", "hit_threshold", "claim_threshold")


def _config(config: EvalConfig) -> dict[str, Any]:
    judge = config.judge
    found: dict[str, Any] | None = None
    if type(judge) is LexicalJudge:
        found = {"threshold": judge.threshold, "stopwords": _words(judge.stopwords)}
    elif judge is not None:
        found = {"name": judge_name(judge), "version": str(getattr(judge, "version", ""))}
    now = None if config.now is None else config.now.isoformat()
    numbers = {name: getattr(config, name) for name in _NUMBERS}
    return {"now": now, **numbers, "stopwords": _words(config.stopwords), "judge": found}


def _words(stopwords: frozenset[str]) -> list[str] | None:
    return None if stopwords == ENGLISH else sorted(stopwords)


def _stopwords(saved: Mapping[str, Any]) -> frozenset[str]:
    words = saved.get("stopwords")
    return ENGLISH if words is None else frozenset(words)


def _about(result: LiveResult) -> dict[str, Any]:
    """
    Return everything but texts. No name looks like a misspelt field of a record, which readers warn of.
    """
    results = result.results
    return {
        "line": LINE_VERSION,
        "trace_id": result.trace_id,
        "span_id": result.span_id,
        "run_id": result.run_id,
        "asked_at": (result.record.asked_at or result.started_at).isoformat(),
        "took_s": (result.ended_at - result.started_at).total_seconds(),
        "pipeline": result.pipeline,
        "status": result.status,
        "found_by": result.context_source,
        "judge": result.judge,
        "evaluator_version": result.evaluator_version,
        "config": None if result.config is None else _config(result.config),
        "sample_rate": result.sample_rate,
        "selection": result.selection,
        "verdict": result.verdict,
        "breached": list(result.breached),
        "thresholds": dict(result.thresholds),
        "scores": {name: one.score for name, one in results.items() if one.score is not None},
        "undefined": [name for name, one in results.items() if one.score is None and one.error_type is None],
        "failed": {name: one.error_type for name, one in results.items() if one.error_type is not None},
    }


class _Cleaner:
    """
    Redact texts, and remember whether that changed any.
    """

    def __init__(self, redact: Redact | None) -> None:
        self._redact = redact
        self.changed = False

    def text(self, text: str) -> str:
        """
        Return *text* as it may leave.
        """
        if self._redact is None or not text:
            return text
        clean = str(self._redact(text))
        self.changed = self.changed or clean != text
        return clean

    def maybe(self, text: str | None) -> str | None:
        """
        Return *text* as it may leave; None for none.
        """
        return None if text is None else self.text(text)

    def plain(self, value: Any, depth: int = _MAX_DEPTH) -> Any:
        """
        Return free-form metadata as JSON can hold it; what it cannot hold becomes its type's name.
        """
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else None
        if isinstance(value, date):
            return value.isoformat()
        if depth and isinstance(value, Mapping):
            return {self.text(str(key)): self.plain(inner, depth - 1) for key, inner in value.items()}
        if depth and isinstance(value, (list, tuple, set, frozenset)):
            return [self.plain(inner, depth - 1) for inner in value]
        return self.text(value) if isinstance(value, str) else f"<{type(value).__name__}>"


def _record(record: EvalRecord, cleaner: _Cleaner) -> dict[str, Any]:
    contexts, relevant = record.contexts, record.relevant_ids
    grades: Any = None
    if isinstance(relevant, Mapping):
        grades = {cleaner.text(key): grade for key, grade in relevant.items()}
    elif relevant is not None:
        grades = sorted([cleaner.text(key) for key in relevant])
    return {
        "id": record.id,
        "question": cleaner.text(record.question),
        "contexts": None if contexts is None else [_context(one, cleaner) for one in contexts],
        "answer": cleaner.maybe(record.answer),
        "ground_truth": cleaner.maybe(record.ground_truth),
        "relevant_ids": grades,
        "citations": None if record.citations is None else [cleaner.text(one) for one in record.citations],
        "metadata": cleaner.plain(record.metadata),
    }


def _context(chunk: Context, cleaner: _Cleaner) -> dict[str, Any]:
    """
    Return one chunk; an id that was made up is left out, for a reader makes the same one up again.
    """
    score = chunk.score if chunk.score is None or math.isfinite(chunk.score) else None
    found = {
        "id": None if chunk.generated_id else cleaner.text(chunk.id),
        "text": cleaner.text(chunk.text),
        "score": score,
        "timestamp": None if chunk.timestamp is None else chunk.timestamp.isoformat(),
        "source": cleaner.maybe(chunk.source),
        "metadata": cleaner.plain(chunk.metadata) or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _dump(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


_TEXTS: Final = ("question", "answer", "ground_truth")


def _texts(line: Mapping[str, Any]) -> list[str]:
    texts = [line[name] for name in _TEXTS if line.get(name)]
    return [*texts, *[chunk["text"] for chunk in line.get("contexts") or ()]]


def _cut(line: Mapping[str, Any], longest: int) -> dict[str, Any]:
    found = {**line, "truncated": True, "metadata": {}, "search_queries": []}
    for name in _TEXTS:
        if line.get(name):
            found[name] = line[name][:longest]
    if line.get("contexts"):
        kept = [{name: value for name, value in chunk.items() if name != "metadata"} for chunk in line["contexts"]]
        found["contexts"] = [{**chunk, "text": chunk["text"][:longest]} for chunk in kept]
    return found
