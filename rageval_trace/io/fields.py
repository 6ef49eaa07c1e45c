"""
Make a record of the fields that a file or a program holds, naming the field that is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rageval_trace.errors import DatasetError
from rageval_trace.models import Context, EvalRecord, RelevantIds, parse_timestamp

__all__ = ["FIELDS", "parse_record"]

FIELDS = (
    "id",
    "question",
    "contexts",
    "retrieved_contexts",
    "answer",
    "ground_truth",
    "relevant_ids",
    "citations",
    "asked_at",
    "metadata",
)
_TEXT_KEYS = ("text", "page_content", "content")


def parse_record(fields: Mapping[str, Any], *, max_depth: int = 32) -> EvalRecord:
    """
    Make a record of a mapping with either toolkit's field names; fields it does not know are left out.

    Args:
        fields: As an object of a JSONL file. A missing field and a null are *not observed*.
        max_depth: Nesting that metadata may have.

    Raises:
        DatasetError: naming the field, what is wrong with it and what was expected.
    """
    question = _text(fields, "question")
    if question is None:
        raise DatasetError("missing: expected a string", field="question")
    return EvalRecord(
        question,
        _contexts(fields, max_depth),
        _text(fields, "answer"),
        _text(fields, "ground_truth"),
        _relevant_ids(fields.get("relevant_ids")),
        _citations(fields.get("citations")),
        _id(fields.get("id"), "id"),
        _time(fields.get("asked_at"), "asked_at"),
        _metadata(fields.get("metadata"), "metadata", max_depth),
    )


def _wrong(field: str, expected: str, value: object) -> DatasetError:
    return DatasetError(f"expected {expected}, not {_kind(value)}", field=field)


def _kind(value: object) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    kinds: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "a boolean"),
        ((int, float), "a number"),
        (str, "a string"),
        (Mapping, "an object"),
        (Sequence, "an array"),
    )
    return (
        "null" if value is None else next((word for kind, word in kinds if isinstance(value, kind)), "something else")
    )


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value
    raise _wrong(name, "a string", value)


def _id(value: object, field: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise _wrong(field, "a string or a whole number", value)


def _number(value: object, field: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return value
    raise _wrong(field, "a finite number", value)


def _time(value: object, field: str) -> Any:
    if value is None:
        return None
    try:
        return parse_timestamp(value)
    except ValueError as error:
        raise DatasetError(str(error), field=field) from None


def _list(value: object, field: str, expected: str) -> Sequence[Any]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return value
    raise _wrong(field, expected, value)


def _contexts(fields: Mapping[str, Any], max_depth: int) -> list[Context] | None:
    name = "contexts" if fields.get("contexts") is not None else "retrieved_contexts"
    given = fields.get(name)
    if given is None:
        return None
    other = fields.get("retrieved_contexts")
    if other is not None and other != given:
        raise DatasetError("differs from 'contexts': expected one of the two", field="retrieved_contexts")
    chunks = _list(given, name, "an array of chunks in rank order")
    return [_context(chunk, f"{name}[{at}]", max_depth) for at, chunk in enumerate(chunks)]


def _context(value: object, field: str, max_depth: int) -> Context:
    # An empty id is filled in by the record, which knows the rank.
    if isinstance(value, str):
        return Context("", value)
    if not isinstance(value, Mapping):
        raise _wrong(field, "a string or an object with 'text'", value)
    key = next((key for key in _TEXT_KEYS if value.get(key) is not None), "text")
    text = value.get(key)
    if not isinstance(text, str):
        raise _wrong(f"{field}.{key}", "a string", text)
    source = value.get("source")
    if source is not None and not isinstance(source, str):
        raise _wrong(f"{field}.source", "a string", source)
    return Context(
        _id(value.get("id"), f"{field}.id") or "",
        text,
        _number(value.get("score"), f"{field}.score"),
        _time(value.get("timestamp"), f"{field}.timestamp"),
        source,
        _metadata(value.get("metadata"), f"{field}.metadata", max_depth) or {},
    )


def _relevant_ids(value: object) -> RelevantIds | None:
    name, expected = "relevant_ids", "an array of ids, or an object from id to grade"
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {str(key): _grade(grade, f"{name}.{key}") for key, grade in value.items()}
    return frozenset(_each_id(_list(value, name, expected), name))


def _grade(value: object, field: str) -> float:
    grade = _number(value, field)
    if grade is None or grade < 0:
        raise DatasetError(f"expected a grade of at least 0, not {value!r}", field=field)
    return float(grade)


def _citations(value: object) -> list[str] | None:
    return None if value is None else _each_id(_list(value, "citations", "an array of context ids"), "citations")


def _each_id(values: Sequence[Any], name: str) -> list[str]:
    found = []
    for at, value in enumerate(values):
        one = _id(value, f"{name}[{at}]")
        if one is None:
            raise _wrong(f"{name}[{at}]", "a string or a whole number", value)
        found.append(one)
    return found


def _metadata(value: object, field: str, max_depth: int) -> Mapping[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise _wrong(field, "an object", value)
    if _deeper_than(value, max_depth):
        raise DatasetError(f"nested deeper than {max_depth} levels: expected at most that (max_depth)", field=field)
    return value


def _deeper_than(value: object, levels: int) -> bool:
    if isinstance(value, Mapping):
        inner: Sequence[object] = list(value.values())
    elif isinstance(value, list):
        inner = value
    else:
        return False
    return levels == 0 or any(_deeper_than(one, levels - 1) for one in inner)
