"""
Correctness: the answer against a reference answer.
"""

from __future__ import annotations

from rageval_trace.metrics.base import register, undefined
from rageval_trace.metrics.workspace import workspace
from rageval_trace.models import EvalConfig, EvalRecord, MetricResult
from rageval_trace.overlap import f1

__all__ = ["answer_correctness"]


@register(
    "answer_correctness",
    step="answer",
    needs=("answer", "ground_truth"),
    meaning="unigram F1 of the answer against the reference answer",
    undefined_when="there is no ground truth, or the answer was not observed",
    default=True,
)
def answer_correctness(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score the unigram F1 over token occurrences of the answer against the ground truth (SQuAD's, on our tokens).
    """
    if record.answer is None:
        return undefined("answer_correctness", "answer not observed")
    work = workspace(record, config)
    truth = work.truth_tokens
    if not truth:
        return undefined("answer_correctness", "no ground truth")
    score, shared = f1(work.answer_tokens, truth)
    details = {"counts": {"shared": shared, "tokens": len(truth)}}
    return MetricResult("answer_correctness", score, f"{shared} tokens shared with the ground truth", details=details)
