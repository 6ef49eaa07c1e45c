"""
Records that people have judged: a label for the answer, labels for its claims, or both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rageval_trace.errors import DatasetError
from rageval_trace.io.fields import parse_record
from rageval_trace.io.formats import read_fields
from rageval_trace.io.options import LoadOptions
from rageval_trace.io.source import check_path, open_source
from rageval_trace.models import EvalRecord

__all__ = ["Labelled", "load_labelled"]


_WORDS = {"1": True, "true": True, "0": False, "false": False}


@dataclass(frozen=True, slots=True)
class Labelled:
    """
    A record with what people say of it.

    Args:
        record: The record.
        supported: Everything in the answer is supported by the contexts; None when nobody says.
        claims: Each labelled claim with whether it is supported; empty when the claims have no labels.
    """

    record: EvalRecord
    supported: bool | None
    claims: tuple[tuple[str, bool], ...]


def load_labelled(path: str | os.PathLike[str]) -> Iterator[Labelled]:
    """
    Read records with `label` (1 supported, 0 not, or true and false) and `claims` (a list of `text` and `label`).

    Args:
        path: A JSONL, JSON or CSV file, plain or gzipped; `"-"` for standard input.

    Raises:
        DatasetError: if the file cannot be read; while iterating, at the first bad record, naming line and field.
    """
    check_path(path)
    return _labelled(path)


def _labelled(path: str | os.PathLike[str]) -> Iterator[Labelled]:
    options = LoadOptions()
    with open_source(path, options) as opened:
        for line, fields in read_fields(opened, options):
            try:
                if isinstance(fields, DatasetError):
                    raise fields
                yield _row(fields)
            except DatasetError as error:
                raise DatasetError(error.message, path=opened.name, line=line, field=error.field) from None


def _row(fields: Mapping[str, Any]) -> Labelled:
    label = fields.get("label")
    claims = fields.get("claims") or []
    if isinstance(claims, str) or not isinstance(claims, Sequence):
        raise DatasetError("expected an array of objects with 'text' and 'label'", field="claims")
    return Labelled(
        parse_record(fields),
        None if label is None or label == "" else _label(label, "label"),
        tuple([_claim(claim, f"claims[{at}]") for at, claim in enumerate(claims)]),
    )


def _claim(claim: object, field: str) -> tuple[str, bool]:
    if not isinstance(claim, Mapping) or not isinstance(claim.get("text"), str):
        raise DatasetError("expected an object with 'text' and 'label'", field=field)
    return claim["text"], _label(claim.get("label"), f"{field}.label")


def _label(value: object, field: str) -> bool:
    if isinstance(value, (bool, int, float)) and value in (0, 1):
        return bool(value)
    if isinstance(value, str) and value.strip().lower() in _WORDS:  # a cell of a CSV file
        return _WORDS[value.strip().lower()]
    raise DatasetError("expected 1 (supported) or 0", field=field)
