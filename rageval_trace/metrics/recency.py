"""
Freshness: how old the retrieved chunks were when the question was asked.
"""

from __future__ import annotations

import math

from rageval_trace.metrics.base import register, undefined
from rageval_trace.metrics.workspace import workspace
from rageval_trace.models import EvalConfig, EvalRecord, MetricResult

__all__ = ["freshness"]

_SECONDS_PER_HOUR = 3600.0


@register(
    "freshness",
    step="freshness",
    needs=("contexts",),
    meaning="exponential decay of the dated chunks' ages",
    undefined_when="no chunk is dated",
    default=True,
)
def freshness(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score the mean over dated chunks of exp(-age_hours / half_life_hours); a future timestamp counts as age 0 (RAGEval).

    The decay constant keeps RAGEval's name: after `half_life_hours` a chunk scores 1/e, about 0.37. *Now* is the
    config's, else the record's `asked_at`, else the wall clock. Details: `ages_hours` by 1-based rank.
    """
    dated = [(rank, chunk.timestamp) for rank, chunk in enumerate(record.contexts or (), 1) if chunk.timestamp]
    if not dated:
        return undefined("freshness", "contexts not observed" if record.contexts is None else "no dated chunk")
    work = workspace(record, config)
    now, scale = work.now, work.config.half_life_hours
    hours = {rank: (now - stamp).total_seconds() / _SECONDS_PER_HOUR for rank, stamp in dated}
    ages = {rank: max(0.0, age) for rank, age in hours.items()}
    score = math.fsum([math.exp(-age / scale) for age in ages.values()]) / len(ages)
    total = len(record.contexts or ())
    details = {"counts": {"dated": len(ages), "chunks": total}, "ages_hours": ages}
    oldest = max(ages.values())
    return MetricResult(
        "freshness", score, f"{len(ages)} of {total} chunks dated, oldest {oldest:.0f} h", details=details
    )
