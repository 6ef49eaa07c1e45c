"""
The claim metrics: the answer's sentences, each judged against the contexts.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from rageval_trace.metrics.base import register, undefined
from rageval_trace.metrics.workspace import Workspace, workspace
from rageval_trace.models import EvalConfig, EvalRecord, MetricResult

__all__ = ["context_utilisation", "groundedness", "hallucination_rate"]

_UNDEFINED_WHEN = "the answer makes no claim (blank, or only declines), or contexts were not observed"


def why_not_observed(record: EvalRecord) -> str | None:
    """
    Return which of the fields that claims need was not observed; None when both were.
    """
    if record.contexts is None:
        return "contexts not observed"
    return "answer not observed" if record.answer is None else None


def why_no_claims(work: Workspace) -> str | None:
    """
    Return why the record has no claims to judge; None when it has.
    """
    missing = why_not_observed(work.record)
    if missing is not None or work.claims:
        return missing
    return "the answer only declines" if work.abstained else "the answer makes no claim"


def verdict_judge(work: Workspace) -> tuple[str, str | None]:
    """
    Return who gave the verdicts, and the error type of the first claim that could not be judged.

    A judge that fell back on some claims is named by its fallback: the value is no longer its own.
    """
    return work.once("verdict judge", _verdict_judge)


def _verdict_judge(work: Workspace) -> tuple[str, str | None]:
    verdicts = work.verdicts
    if not any([verdict.error_type or verdict.judge for verdict in verdicts]):
        return work.judge_name, None
    error = next((verdict.error_type for verdict in verdicts if verdict.error_type and verdict.judge is None), None)
    stand_in = next((verdict.judge for verdict in verdicts if verdict.judge), None)
    return stand_in or work.judge_name, error


def _evidence(work: Workspace) -> dict[str, Any]:
    claims, verdicts = work.claims, work.verdicts
    unsupported = [
        {"index": index, "text": claim.text, "reason": verdict.reason}
        for index, (claim, verdict) in enumerate(zip(claims, verdicts, strict=True), 1)
        if not verdict.supported
    ]
    details: dict[str, Any] = {
        "counts": {"unsupported": len(unsupported), "claims": len(claims)},
        "unsupported": unsupported,
        "supporting": [
            [position + 1 for position in verdict.supporting] if verdict.supported else [] for verdict in verdicts
        ],
        "scores": [verdict.score for verdict in verdicts],
        "abstained": False,
    }
    contradicted = [index for index, verdict in enumerate(verdicts, 1) if verdict.contradicted]
    if contradicted:
        details["contradicted"] = contradicted
    return details


def _claim_metric(name: str, record: EvalRecord, config: EvalConfig | None) -> MetricResult:
    work = workspace(record, config)
    why = why_no_claims(work)
    if why is not None:
        known = {} if work.abstained is None else {"abstained": work.abstained}
        return undefined(name, why, judge=work.judge_name, details=known)
    judge, error = verdict_judge(work)
    lower = name == "hallucination_rate"
    if error is not None:
        kinds = Counter([verdict.error_type for verdict in work.verdicts if verdict.error_type])
        reason = f"{sum(kinds.values())} of {len(work.claims)} claims could not be judged"
        return MetricResult(name, None, reason, not lower, judge, error_type=error)
    details = work.once("claim evidence", _evidence)
    broken, total = len(details["unsupported"]), len(work.claims)
    score = broken / total if lower else (total - broken) / total
    return MetricResult(name, score, f"{broken} of {total} claims unsupported", not lower, judge, details)


@register(
    "groundedness",
    step="grounding",
    needs=("answer", "contexts"),
    meaning="share of the answer's claims that the contexts support",
    undefined_when=_UNDEFINED_WHEN,
    default=True,
)
def groundedness(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score the claims that the judge finds supported, divided by all claims (rag-eval-harness).

    Details: `unsupported` (each with 1-based `index`, `text`, `reason`), `supporting` (per claim, the 1-based ranks of
    the contexts that support it), `scores` (per claim), `contradicted` (1-based, if any), `abstained`.
    """
    return _claim_metric("groundedness", record, config)


@register(
    "hallucination_rate",
    step="grounding",
    higher_is_better=False,
    needs=("answer", "contexts"),
    meaning="share of the answer's claims that no context supports",
    undefined_when=_UNDEFINED_WHEN,
    default=True,
)
def hallucination_rate(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score 1 - groundedness; lower is better. Details as there.
    """
    return _claim_metric("hallucination_rate", record, config)


@register(
    "context_utilisation",
    step="retrieval",
    needs=("answer", "contexts"),
    meaning="share of the contexts that support at least one claim",
    undefined_when="there is no context, or the answer makes no claim",
    default=True,
)
def context_utilisation(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score the contexts that support at least one claim, divided by all contexts, counted by position.

    Details: `unused`, the 1-based ranks of the contexts that support nothing.
    """
    work = workspace(record, config)
    why = "no context" if record.contexts == () else why_no_claims(work)
    if why is not None:
        return undefined("context_utilisation", why, judge=work.judge_name)
    judge, error = verdict_judge(work)
    if error is not None:
        return MetricResult("context_utilisation", None, "claims could not be judged", judge=judge, error_type=error)
    used, total = work.supporting, len(work.contexts)
    unused = [position + 1 for position in range(total) if position not in used]
    details = {"counts": {"used": len(used), "contexts": total}, "unused": unused}
    reason = f"{len(used)} of {total} contexts support a claim"
    return MetricResult("context_utilisation", len(used) / total, reason, judge=judge, details=details)
