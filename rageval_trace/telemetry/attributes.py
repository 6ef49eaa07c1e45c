"""
The attributes of the evaluation span: little things first, scores last.

A span keeps 128 attributes and drops the oldest, so what must survive comes last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from rageval_trace.models import MetricResult
from rageval_trace.telemetry import names
from rageval_trace.telemetry.content import known, plain
from rageval_trace.telemetry.payload import Evaluation
from rageval_trace.telemetry.results import Sorted

__all__ = ["MAX_ATTRIBUTES", "evaluation_attributes", "verdict_attributes"]

MAX_ATTRIBUTES = 60
_MAX_ITEMS = 100
_GROUNDING = ("groundedness", "hallucination_rate")
_UTILISATION = "context_utilisation"


def evaluation_attributes(evaluation: Evaluation, found: Sorted) -> dict[str, Any]:
    """
    Return the span's attributes, without any content.
    """
    attributes: dict[str, Any] = {
        names.OPERATION_NAME: names.OPERATION_EVALUATION,
        names.OI_SPAN_KIND: names.OI_EVALUATOR,
        names.PIPELINE: known(evaluation.pipeline),
        names.STATUS: evaluation.status,
        names.JUDGE: known(evaluation.judge),
        names.EVALUATOR_VERSION: evaluation.evaluator_version,
        names.SAMPLE_RATE: float(evaluation.sample_rate),
        names.SELECTION: evaluation.selection,
    }
    _add_request(attributes, evaluation)
    _add_contexts(attributes, evaluation)
    _add_claims(attributes, evaluation.results)
    if found.undefined:
        attributes[names.UNDEFINED] = _names(found.undefined)
    if found.failed:
        attributes[names.FAILED] = _names(found.failed)
    if evaluation.error_type is not None:
        attributes[names.ERROR_TYPE] = plain(evaluation.error_type)
    if evaluation.abstained is not None:
        attributes[names.ABSTAINED] = evaluation.abstained
    if evaluation.verdict is not None:
        attributes[names.BREACHED] = _names(evaluation.breached)
    attributes.update(verdict_attributes(evaluation))
    _add_scores(attributes, evaluation, found.defined)
    return attributes


def verdict_attributes(evaluation: Evaluation) -> dict[str, Any]:
    """
    Return verdict, weakest and its score; empty without thresholds.
    """
    if evaluation.verdict is None:
        return {}
    attributes: dict[str, Any] = {names.VERDICT: evaluation.verdict}
    if evaluation.weakest is not None:
        attributes[names.WEAKEST] = known(evaluation.weakest)
        if evaluation.weakest_score is not None:
            attributes[names.WEAKEST_SCORE] = float(evaluation.weakest_score)
    return attributes


def _add_request(attributes: dict[str, Any], evaluation: Evaluation) -> None:
    """
    Add what was captured of the model call; nothing is made up.
    """
    if evaluation.response_id:
        attributes[names.RESPONSE_ID] = plain(evaluation.response_id)
    if evaluation.request_model:
        attributes[names.REQUEST_MODEL] = plain(evaluation.request_model)
    if evaluation.provider_name:
        attributes[names.PROVIDER_NAME] = plain(evaluation.provider_name)
    if evaluation.conversation_id:
        attributes[names.CONVERSATION_ID] = plain(evaluation.conversation_id)


def _add_contexts(attributes: dict[str, Any], evaluation: Evaluation) -> None:
    if evaluation.context_source is not None:
        attributes[names.CONTEXT_SOURCE] = evaluation.context_source
    contexts = evaluation.record.contexts if evaluation.record is not None else None
    if contexts is not None:
        attributes[names.CONTEXT_COUNT] = len(contexts)
        attributes[names.CONTEXT_DATED] = sum([context.timestamp is not None for context in contexts])


def _add_claims(attributes: dict[str, Any], results: Mapping[str, MetricResult]) -> None:
    """
    Add how many claims there are, which of them nothing supports, and which contexts support none.

    A user's own metric may stand under these names; evidence that it keeps in another shape is left out.
    """
    found: dict[str, Any] = {}
    try:
        for name in _GROUNDING:
            details = results[name].details if name in results else None
            if details and "unsupported" in details and "counts" in details:
                unsupported, counts = details["unsupported"], details["counts"]
                found[names.CLAIMS_TOTAL] = int(counts["claims"])
                found[names.CLAIMS_UNSUPPORTED] = int(counts["unsupported"])
                found[names.CLAIMS_UNSUPPORTED_INDEX] = [int(item["index"]) for item in unsupported[:_MAX_ITEMS]]
                break
        details = results[_UTILISATION].details if _UTILISATION in results else None
        if details and "unused" in details:
            found[names.CONTEXTS_UNUSED] = [int(rank) for rank in details["unused"][:_MAX_ITEMS]]
    except (AttributeError, KeyError, TypeError, ValueError):
        return
    attributes.update(found)


def _add_scores(attributes: dict[str, Any], evaluation: Evaluation, defined: Mapping[str, float]) -> None:
    """
    Add a double a metric; when there are more than fit, those with a threshold first.
    """
    room = MAX_ATTRIBUTES - len(attributes)
    chosen: Iterable[str] = defined
    if len(defined) > room:
        chosen = sorted(defined, key=lambda name: name not in evaluation.labels)[:room]
    for name in chosen:
        attributes[_score_key(name)] = defined[name]


@lru_cache(maxsize=1024)
def _score_key(name: str) -> str:
    return names.SCORE_PREFIX + plain(name)


def _names(metrics: Iterable[str]) -> list[str]:
    return [known(name) for name in list(metrics)[:_MAX_ITEMS]]
