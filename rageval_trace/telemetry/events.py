"""
The event `gen_ai.evaluation.result`: one result in words, on the span, in the log, or both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rageval_trace.models import MetricResult
from rageval_trace.telemetry import names
from rageval_trace.telemetry.content import Content, plain
from rageval_trace.telemetry.payload import Evaluation
from rageval_trace.telemetry.results import Sorted

__all__ = ["MAX_EXPLANATION", "ResultEvent", "counted", "result_events"]

MAX_EXPLANATION = 1024
_MAX_CLAIMS = 20
# A count's words are written by a metric's author; anything longer or stranger may be text of the request.
_WORD = re.compile(r"[A-Za-z][A-Za-z _-]{0,39}")


@dataclass(frozen=True, slots=True)
class ResultEvent:
    """
    One event, ready for either channel.

    Args:
        attributes: As sent.
        failed: The metric raised or timed out: a log record of it is a warning.
    """

    attributes: dict[str, Any]
    failed: bool


def result_events(
    evaluation: Evaluation, found: Sorted, content: Content, *, everything: bool, capture: bool
) -> list[ResultEvent]:
    """
    Return the events of one channel.

    Args:
        evaluation: What to tell.
        found: Its results, sorted.
        content: Lets text out.
        everything: Every result that is defined or failed; otherwise only the notable ones.
        capture: Content may stand on this channel.
    """
    chosen = [*found.defined, *found.failed] if everything else found.notable
    return [_event(evaluation, name, found, content if capture else None) for name in chosen]


def _event(evaluation: Evaluation, name: str, found: Sorted, content: Content | None) -> ResultEvent:
    result = evaluation.results[name]
    attributes: dict[str, Any] = {names.EVALUATION_NAME: plain(name)}
    error_type = found.failed.get(name)
    if error_type is not None:
        attributes[names.ERROR_TYPE] = plain(error_type)
    else:
        attributes[names.EVALUATION_SCORE_VALUE] = found.defined[name]
        label = evaluation.labels.get(name)
        if label is not None:
            attributes[names.EVALUATION_SCORE_LABEL] = label
        words = explanation(result, content)
        if words:
            attributes[names.EVALUATION_EXPLANATION] = words
    if evaluation.response_id:
        attributes[names.RESPONSE_ID] = plain(evaluation.response_id)
    attributes[names.JUDGE] = plain(result.judge)
    attributes[names.HIGHER_IS_BETTER] = result.higher_is_better
    return ResultEvent(attributes, error_type is not None)


def explanation(result: MetricResult, content: Content | None) -> str:
    """
    Say why in at most 1024 characters.

    Args:
        result: What to explain.
        content: Lets text out; None when only integer counts may leave.

    Returns:
        Integer counts in words; under capture, also the metric's own reason and the unsupported claims. Empty when
        there is nothing to say.
    """
    parts: list[str | None] = [counted(result.details.get("counts"))]
    if content is not None and content.outputs:
        if content.inputs:
            parts.append(content.redacted(result.reason))
        parts.extend([_quoted(content.redacted(claim)) for claim in _unsupported(result.details)])
    return plain("; ".join([part for part in parts if part]), MAX_EXPLANATION)


def counted(counts: object) -> str:
    """
    Return two integer counts in words: `{"unsupported": 2, "claims": 5}` gives "2 of 5 claims unsupported".

    Returns:
        An empty string for anything but two integers under two short words.
    """
    if not isinstance(counts, Mapping) or len(counts) != 2:
        return ""
    (part_word, part), (whole_word, whole) = counts.items()
    numbers = type(part) is int and type(whole) is int
    words = isinstance(part_word, str) and isinstance(whole_word, str)
    if not numbers or not words or not _WORD.fullmatch(part_word) or not _WORD.fullmatch(whole_word):
        return ""
    return f"{part} of {whole} {whole_word} {part_word}"


def _unsupported(details: Mapping[str, Any]) -> list[str]:
    found = details.get("unsupported")
    items = found[:_MAX_CLAIMS] if isinstance(found, (list, tuple)) else ()
    return [item["text"] for item in items if isinstance(item, Mapping) and isinstance(item.get("text"), str)]


def _quoted(claim: str | None) -> str:
    return f'"{claim}"' if claim else ""
