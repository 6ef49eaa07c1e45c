"""
A captured request on a terminal, and as JSON.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import Any, Final

from rageval_trace.live.captures.replay import Chunk, Replay, Sentence
from rageval_trace.metrics import registered
from rageval_trace.reports.clean import plain

__all__ = ["replay_json", "replay_text"]

_TEXT: Final = 2000
_CHUNK: Final = 160
_MARKS: Final = {"broken": "BROKEN", "doubtful": "doubtful", "ok": "ok", "": ""}
_ABOUT: Final = ("trace_id", "span_id", "run_id", "asked_at", "pipeline", "judge", "verdict", "breached", "thresholds")


def replay_text(one: Replay, captures: str | os.PathLike[str], *, asked: str) -> str:
    """
    Return the request for a person to read, free of control characters.

    Args:
        one: What to show.
        captures: Where it is kept, for the command that adds it to a dataset.
        asked: The name it was asked for by.
    """
    return "\n".join(_lines(one, captures, asked))


def replay_json(one: Replay) -> dict[str, Any]:
    """
    Return the request as plain data.
    """
    fields = one.saved.fields
    return {
        **{name: fields.get(name) for name in _ABOUT},
        "question": one.saved.record.question,
        "sentences": [{"text": part.text, "mark": part.mark, "cause": part.cause} for part in one.sentences],
        "contexts": [
            {"rank": chunk.rank, "id": chunk.context.id, "age_hours": chunk.age_hours, "used": chunk.used}
            for chunk in one.chunks
        ],
        "scores": dict(fields.get("scores") or {}),
        "equal": one.equal,
        "different": {name: {"then": then, "now": now} for name, (then, now) in one.different.items()},
        "not_computed": list(one.missing),
        "why": one.why if one.different else None,
    }


def _lines(one: Replay, captures: str | os.PathLike[str], asked: str) -> Iterator[str]:
    fields, record = one.saved.fields, one.saved.record
    if asked != one.saved.name:
        yield f"{asked} is nearly the same as this request, which was kept in its place"
    yield f"{_heading(one)}"
    yield f"  asked {str(fields.get('asked_at'))[:19].replace('T', ' ')} UTC, run {plain(one.saved.run_id, 80)}"
    marks = [word for word in ("redacted", "truncated") if fields.get(word)]
    if marks:
        yield f"  {' and '.join(marks)}"
    yield "question"
    yield f"  {plain(record.question, _TEXT)}"
    yield "answer"
    for part in one.sentences:
        yield from _sentence(part)
    if not one.sentences:
        yield f"  {plain(record.answer or '(none)', _TEXT)}"
    yield f"contexts{'' if one.chunks else ': none'}"
    yield from _contexts(one.chunks)
    yield f"scores {_recomputed(one)}"
    yield from _scores(one)
    yield "to add it to a dataset"
    yield f"  rageval golden {shlex.quote(os.fspath(captures))} --trace {one.saved.name} --append --out golden.jsonl"


def _heading(one: Replay) -> str:
    fields = one.saved.fields
    verdict = str(fields.get("verdict") or "no verdict")
    word = {"fail": "FAIL", "pass": "PASS"}.get(verdict, verdict)
    past = ", ".join([plain(str(name), 60) for name in fields.get("breached") or ()])
    by = f" by {plain(str(fields.get('judge')), 40)}" if fields.get("judge") not in (None, "none") else ""
    return f"{word}{f' ({past})' if past else ''}{by}: {plain(str(fields.get('pipeline')), 60)}, {one.saved.name}"


def _sentence(part: Sentence) -> Iterator[str]:
    yield f"  {_MARKS[part.mark]:<9} {plain(part.text, _TEXT)}"
    if part.cause:
        yield f"  {'':<9} ^ {plain(part.cause, _TEXT)}"


def _contexts(chunks: tuple[Chunk, ...]) -> Iterator[str]:
    width = max([len(plain(chunk.context.id, 40)) for chunk in chunks], default=0)
    for chunk in chunks:
        context = chunk.context
        unused = "  [supports nothing]" if chunk.used is False else ""
        score = "" if context.score is None else f"  score {context.score:.3g}"
        name = "" if context.generated_id else plain(context.id, 40)
        yield f"  {chunk.rank:>3}  {name:<{width}}  {_age(chunk.age_hours):<13}{score}{unused}"
        yield f"       {plain(context.text, _CHUNK)}"


def _age(hours: float | None) -> str:
    if hours is None:
        return "undated"
    if hours < 48:
        return f"{hours:.0f} h old"
    days = hours / 24
    return f"{days:.0f} days old" if days < 730 else f"{days / 365.25:.1f} years old"


def _recomputed(one: Replay) -> str:
    total = len(one.saved.fields.get("scores") or {})
    parts = []
    if one.equal or not total:
        parts.append(f"computed again: {one.equal} of {total} the same to the last digit")
    if one.different:
        parts.append(f"{len(one.different)} differ: {one.why or 'nothing explains it'}")
    if one.missing:
        parts.append(f"{len(one.missing)} not computed again: a judge's, or a metric that is not installed here")
    return f"({'; '.join(parts)})"


def _scores(one: Replay) -> Iterator[str]:
    fields = one.saved.fields
    scores, thresholds = fields.get("scores") or {}, fields.get("thresholds") or {}
    width = max([len(name) for name in scores], default=0)
    for name, score in scores.items():
        bound, past = "", ""
        if name in thresholds:
            metric = registered().get(name)
            word = "min" if metric is None or metric.higher_is_better else "max"
            bound = f"  {word} {thresholds[name]:g}"
            past = "  BREACHED" if name in (fields.get("breached") or ()) else "  held"
        now = f"  now {one.different[name][1]!r}" if name in one.different else ""
        yield f"  {plain(name, 60):<{width}}  {score!r:<20}{bound}{past}{now}".rstrip()
