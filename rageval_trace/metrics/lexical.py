"""
The overlap metrics: formulas over tokens that need no judge.
"""

from __future__ import annotations

import math

from rageval_trace.judges.base import Rating
from rageval_trace.metrics.base import register, undefined
from rageval_trace.metrics.workspace import Workspace, workspace
from rageval_trace.models import EvalConfig, EvalRecord, MetricResult
from rageval_trace.overlap import count_found, mixed_precision

__all__ = ["answer_relevance", "context_precision", "context_recall", "faithfulness"]


@register(
    "faithfulness",
    step="grounding",
    needs=("answer", "contexts"),
    meaning="share of the answer's words and word pairs found in the contexts",
    undefined_when="the answer or the contexts were not observed",
    default=True,
)
def faithfulness(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score 0.6 * unigram + 0.4 * bigram precision of the answer against all contexts together (RAGEval).

    An empty answer scores 1.0; an answer on an empty retrieval 0.0.
    """
    if record.contexts is None or record.answer is None:
        missing = "answer" if record.answer is None else "contexts"
        return undefined("faithfulness", f"{missing} not observed")
    work = workspace(record, config)
    total = len(work.answer_tokens)
    found = count_found(work.answer_tokens, work.found(work.answer_words))
    pairs = work.count_answer_pairs()
    reason = f"{found} of {total} answer tokens are in the contexts" if total else "empty answer: nothing unsupported"
    details = {"counts": {"found": found, "tokens": total}, "pairs_found": pairs}
    return MetricResult("faithfulness", mixed_precision(found, pairs, total), reason, details=details)


@register(
    "context_precision",
    step="retrieval",
    needs=("contexts",),
    meaning="mean share of the question's keywords found in each chunk",
    undefined_when="there is no chunk, or the question has no content token",
    default=True,
)
def context_precision(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score the mean over chunks of the share of the question's distinct content tokens found in the chunk (RAGEval).

    The reason also gives the share of chunks at or above the config's `hit_threshold`.
    """
    if not record.contexts:
        return undefined("context_precision", "contexts not observed" if record.contexts is None else "no chunk")
    work = workspace(record, config)
    wanted = work.keywords
    if not wanted:
        return undefined("context_precision", "the question has no content token")
    shares = [held / len(wanted) for held in work.held(wanted)]
    threshold = work.config.hit_threshold
    hits = sum([share >= threshold for share in shares])
    reason = f"{hits} of {len(shares)} chunks hold at least {threshold:g} of the question's keywords"
    details = {"counts": {"hit": hits, "chunks": len(shares)}, "shares": shares}
    return MetricResult("context_precision", sum(shares) / len(shares), reason, details=details)


@register(
    "context_recall",
    step="retrieval",
    needs=("contexts", "ground_truth"),
    meaning="share of the reference answer's words found in the contexts",
    undefined_when="there is no ground truth, or contexts were not observed",
    default=True,
)
def context_recall(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score the share of the ground truth's token occurrences found in the contexts (RAGEval).
    """
    if record.contexts is None:
        return undefined("context_recall", "contexts not observed")
    work = workspace(record, config)
    truth = work.truth_tokens
    if not truth:
        return undefined("context_recall", "no ground truth")
    found = count_found(truth, work.found(frozenset(truth)))
    reason = f"{found} of {len(truth)} ground-truth tokens are in the contexts"
    details = {"counts": {"found": found, "tokens": len(truth)}}
    return MetricResult("context_recall", found / len(truth), reason, details=details)


@register(
    "answer_relevance",
    step="answer",
    needs=("answer",),
    meaning="share of the question's keywords found in the answer",
    undefined_when="the question has no content token, or the answer was not observed",
    default=True,
)
def answer_relevance(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score the share of the question's distinct content tokens found in the answer, or the judge's rating in [0, 1].

    The judge is asked only when the config names one that has an opinion; LexicalJudge's is this formula.
    """
    if record.answer is None:
        return undefined("answer_relevance", "answer not observed")
    work = workspace(record, config)
    rated = _rated(work)
    if rated is not None:
        return MetricResult("answer_relevance", rated, f"rated {rated:.2f} by the judge", judge=rated.judge)
    wanted = work.keywords
    if not wanted:
        return undefined("answer_relevance", "the question has no content token")
    found = len(wanted.intersection(work.answer_tokens))
    reason = f"{found} of {len(wanted)} question keywords are in the answer"
    details = {"counts": {"found": found, "keywords": len(wanted)}}
    return MetricResult("answer_relevance", found / len(wanted), reason, details=details)


def _rated(work: Workspace) -> Rating | None:
    """
    Return the rating of a judge that the user named, held to [0, 1], and who gave it; None without one.
    """
    judge = work.config.judge
    if judge is None or work.judge_name == "lexical":
        return None
    rating = judge.judge_relevance(work.record.question, work.record.answer or "")
    if rating is None:
        return None
    value = float(rating)
    if math.isnan(value):
        raise ValueError("the judge's rating is not a number")
    return Rating(min(1.0, max(0.0, value)), getattr(rating, "judge", work.judge_name))
