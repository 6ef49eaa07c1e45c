"""
Citations in LangChain's objects: content blocks of chat models, and answers with a field for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeGuard

from rageval_trace.live.citations import Citation
from rageval_trace_langchain.convert import fields_of

__all__ = ["citations_in_content", "citations_in_output"]

_FIELDS: Final = ("citations", "cited_sources", "source_ids")
_KEYS: Final = ("id", "source_id", "document_id", "url", "source", "file_id", "filename", "title", "document_title")
_QUOTES: Final = ("cited_text", "quote", "text")
_MAX_BLOCKS: Final = 1_000


def citations_in_content(content: Any) -> list[Citation]:
    """
    Return the citations on the text blocks of a message: LangChain's own `annotations`, and providers' `citations`.
    """
    if not isinstance(content, (list, tuple)):
        return []
    found: list[Citation] = []
    for block in content[:_MAX_BLOCKS]:
        if isinstance(block, Mapping):
            for name in ("annotations", "citations"):
                found += _citations(block.get(name))
    return found


def citations_in_output(outputs: Any) -> list[Citation]:
    """
    Return the citations in an output with a field for them, or in an agent's structured response.

    Numbers are 1-based ranks; words are ids, sources or titles; a quote tells its context better than either.
    """
    fields = fields_of(outputs)
    if fields is None:
        return []
    for name in _FIELDS:
        found = _citations(fields.get(name))
        if found:
            return found
    nested = fields.get("structured_response")
    return citations_in_output(nested) if nested is not None and nested is not outputs else []


def _citations(value: Any) -> list[Citation]:
    if not isinstance(value, (list, tuple)):
        return []
    read = [_citation(one) for one in value[:_MAX_BLOCKS]]
    return [one for one in read if one is not None]


def _citation(value: Any) -> Citation | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Citation(rank=value)
    if isinstance(value, str):
        return Citation(keys=(value,)) if value else None
    fields = fields_of(value)
    return None if fields is None else _citation_of(fields)


def _citation_of(fields: Mapping[str, Any]) -> Citation | None:
    extras = fields.get("extras")
    if isinstance(extras, Mapping):
        fields = {**extras, **fields}
    index = fields.get("document_index")
    number = fields.get("source_id")
    rank = index + 1 if _is_number(index) else number if _is_number(number) else None
    found = Citation(rank, tuple(_texts(fields, _KEYS)), next(iter(_texts(fields, _QUOTES)), None))
    return None if found == Citation() else found


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _texts(fields: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    return [value for value in [fields.get(name) for name in names] if isinstance(value, str) and value]
