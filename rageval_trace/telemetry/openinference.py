"""
The same results in OpenInference's form: attributes of the span in place of its events.
"""

from __future__ import annotations

from typing import Any

from rageval_trace.telemetry import names
from rageval_trace.telemetry.events import ResultEvent

__all__ = ["openinference_attributes"]

# With at most 60 others this stays below the 128 attributes that a span keeps.
MAX_ATTRIBUTES = 66

_FIELDS = (
    (names.EVALUATION_NAME, "name"),
    (names.EVALUATION_SCORE_VALUE, "score"),
    (names.EVALUATION_SCORE_LABEL, "label"),
    (names.EVALUATION_EXPLANATION, "explanation"),
)


def openinference_attributes(events: list[ResultEvent], identifier: str) -> dict[str, Any]:
    """
    Return `evaluations.N.evaluation.*` of as many results as fit beside the span's other attributes.

    Args:
        events: The results to write; failed ones have no form here and are left out.
        identifier: Which evaluator this is: its version.
    """
    attributes: dict[str, Any] = {}
    index = 0
    for event in events:
        if event.failed:
            continue
        entry = _entry(event, identifier)
        if len(attributes) + len(entry) > MAX_ATTRIBUTES:
            break
        for field, value in entry.items():
            attributes[names.OI_EVALUATION.format(index=index, field=field)] = value
        index += 1
    return attributes


def _entry(event: ResultEvent, identifier: str) -> dict[str, Any]:
    given = event.attributes
    entry = {field: given[name] for name, field in _FIELDS if name in given}
    entry["annotator_kind"] = "CODE" if given[names.JUDGE] in names.DETERMINISTIC_JUDGES else "LLM"
    if identifier:
        entry["identifier"] = identifier
    return entry
