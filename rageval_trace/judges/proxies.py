"""
The keyless stand-ins for what `LLMJudge` judges: the same formulas as the metrics of those names.
"""

from __future__ import annotations

from collections.abc import Mapping

from rageval_trace.judges.base import FALLBACK
from rageval_trace.models import EvalRecord, MetricResult
from rageval_trace.overlap import count_found, count_pairs_found, coverage, mixed_precision
from rageval_trace.text import tokenize

__all__ = ["JUDGED", "proxy_results"]

JUDGED = ("faithfulness", "answer_relevance")


def proxy_results(record: EvalRecord, stopwords: frozenset[str]) -> Mapping[str, MetricResult]:
    """
    Return faithfulness and answer relevance by word overlap, marked as fallback; undefined where the metrics are.
    """
    return {"faithfulness": _faithfulness(record), "answer_relevance": _relevance(record, stopwords)}


def _faithfulness(record: EvalRecord) -> MetricResult:
    if record.contexts is None or record.answer is None:
        missing = "answer" if record.answer is None else "contexts"
        return MetricResult("faithfulness", None, f"{missing} not observed")
    answer = tokenize(record.answer)
    chunks = [tokenize(context.text) for context in record.contexts]
    found = count_found(answer, {token for chunk in chunks for token in chunk})
    score = mixed_precision(found, count_pairs_found(answer, chunks), len(answer))
    reason = f"{found} of {len(answer)} answer tokens are in the contexts"
    return MetricResult("faithfulness", score, reason, judge=FALLBACK)


def _relevance(record: EvalRecord, stopwords: frozenset[str]) -> MetricResult:
    if record.answer is None:
        return MetricResult("answer_relevance", None, "answer not observed")
    wanted = frozenset(tokenize(record.question)) - stopwords
    if not wanted:
        return MetricResult("answer_relevance", None, "the question has no content token")
    score = coverage(wanted, frozenset(tokenize(record.answer)))
    reason = f"{round(score * len(wanted))} of {len(wanted)} question keywords are in the answer"
    return MetricResult("answer_relevance", score, reason, judge=FALLBACK)
