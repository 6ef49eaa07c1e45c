"""
The citation metrics: what the answer cites, held against what supports it.
"""

from __future__ import annotations

from rageval_trace.metrics.base import register, undefined
from rageval_trace.metrics.claims import verdict_judge, why_no_claims, why_not_observed
from rageval_trace.metrics.workspace import Workspace, workspace
from rageval_trace.models import EvalConfig, EvalRecord, MetricResult

__all__ = ["citation_accuracy", "citation_coverage"]


def _supporting_ids(work: Workspace) -> tuple[str, ...]:
    """
    Return the distinct ids of the contexts that support at least one claim, in rank order.
    """
    return tuple(dict.fromkeys([work.contexts[position].id for position in work.supporting]))


def _failed(name: str, work: Workspace) -> MetricResult | None:
    judge, error = verdict_judge(work)
    if error is None:
        return None
    return MetricResult(name, None, "claims could not be judged", judge=judge, error_type=error)


@register(
    "citation_accuracy",
    step="answer",
    needs=("answer", "contexts", "citations"),
    meaning="share of the cited ids that support at least one claim",
    undefined_when="nothing is cited, or the answer or contexts were not observed",
    default=True,
)
def citation_accuracy(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score the distinct cited ids that support at least one claim, divided by all cited; one never retrieved is wrong.

    An answer that cites and claims nothing scores 0.0. Details: `wrong`, the cited ids that support nothing.
    """
    work = workspace(record, config)
    why = why_not_observed(record) or (None if work.citations else "no citations")
    if why is not None:
        return undefined("citation_accuracy", why, judge=work.judge_name)
    failed = _failed("citation_accuracy", work)
    if failed is not None:
        return failed
    cited, supporting = work.citations or (), _supporting_ids(work)
    wrong = [key for key in cited if key not in supporting]
    right = len(cited) - len(wrong)
    details = {"counts": {"accurate": right, "citations": len(cited)}, "wrong": wrong}
    reason = f"{right} of {len(cited)} citations support a claim"
    return MetricResult("citation_accuracy", right / len(cited), reason, judge=verdict_judge(work)[0], details=details)


@register(
    "citation_coverage",
    step="answer",
    needs=("answer", "contexts", "citations"),
    meaning="share of the supporting ids that are cited",
    undefined_when="nothing supports the answer, or citations were not observed",
    default=True,
)
def citation_coverage(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score the distinct supporting ids that are cited, divided by all supporting; observed `()` scores 0.0.

    Details: `uncited`, the ids that support a claim and are not cited.
    """
    work = workspace(record, config)
    why = why_no_claims(work) or ("citations not observed" if work.citations is None else None)
    if why is not None:
        return undefined("citation_coverage", why, judge=work.judge_name)
    failed = _failed("citation_coverage", work)
    if failed is not None:
        return failed
    cited, supporting = work.citations or (), _supporting_ids(work)
    if not supporting:
        return undefined("citation_coverage", "no context supports a claim", judge=work.judge_name)
    uncited = [key for key in supporting if key not in cited]
    covered = len(supporting) - len(uncited)
    details = {"counts": {"cited": covered, "supporting": len(supporting)}, "uncited": uncited}
    reason = f"{covered} of {len(supporting)} supporting contexts are cited"
    return MetricResult(
        "citation_coverage", covered / len(supporting), reason, judge=verdict_judge(work)[0], details=details
    )
