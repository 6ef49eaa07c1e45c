"""
The gates as annotations of a GitHub Actions run (workflow commands).
"""

from __future__ import annotations

from collections.abc import Iterator

from rageval_trace.reports.clean import annotation, annotation_property
from rageval_trace.reports.evidence import weakest_examples
from rageval_trace.reports.gating import GateReport
from rageval_trace.reports.scorecard import Scorecard
from rageval_trace.reports.text import number

__all__ = ["github_annotations"]

# GitHub shows ten errors and ten warnings a step.
_SHOWN = 10
_TEXT_LIMIT = 200


def github_annotations(card: Scorecard, gates: GateReport) -> Iterator[str]:
    """
    Yield one line a gate that did not hold, then, if any did not, one a record with an unsupported claim.

    Nothing that a record holds can end a line or begin another command.
    """
    for one in gates.outcomes:
        if one.outcome != "held":
            text = f"{one.metric} is {number(one.value)}, gate {one.bound}: {one.reason}"
            yield f"::error title={annotation_property(f'RAG gate {one.metric}')}::{annotation(text)}"
    for warning in gates.warnings:
        yield f"::warning title=RAG gates::{annotation(warning)}"
    if not gates.exit_code:
        return
    for _, found in weakest_examples(card, _SHOWN - len(gates.warnings)):
        for claim, cause in found.named[:1]:
            text = f"unsupported: {claim[:_TEXT_LIMIT]}{f' ({cause[:_TEXT_LIMIT]})' if cause else ''}"
            yield f"::warning title={annotation_property(found.label[:80])}::{annotation(text)}"
