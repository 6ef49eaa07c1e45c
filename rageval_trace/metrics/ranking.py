"""
Ranking metrics at k over context ids in rank order, with the definitions of trec_eval.

An id that comes back counts once, at its first rank, and a generated id never matches. Where trec_eval differs:
`mrr` looks at the top k only (its `recip_rank` at the whole list), and chunks are ranked in the order given (it sorts
by score, then by id). Where a reranker came between retriever and answer, the retriever's own order counts, which the
record's metadata then holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import accumulate
from typing import TypeAlias

from rageval_trace.metrics.base import register, undefined
from rageval_trace.metrics.workspace import Workspace, workspace
from rageval_trace.models import RETRIEVED_IDS, Context, EvalConfig, EvalRecord, MetricResult

__all__ = ["hit_rate", "mrr", "ndcg", "precision", "recall"]

_NEEDS = ("contexts", "relevant_ids")
_UNDEFINED_WHEN = "there are no relevant ids, or contexts were not observed"


def _discount(rank: int) -> float:
    """
    Return the weight of a 1-based rank: 1 / log2(rank + 1), Jarvelin and Kekalainen (2002) as in trec_eval.
    """
    return 1.0 / math.log2(rank + 1)


_TABLE_RANKS = 64
_DISCOUNTS = [_discount(rank) for rank in range(1, _TABLE_RANKS + 1)]
_IDEAL_BINARY = [0.0, *accumulate(_DISCOUNTS)]


def _ranked_ids(record: EvalRecord, k: int) -> list[str | None]:
    """
    Return the first k distinct ids in rank order; None for a generated one.
    """
    retrieved = record.metadata.get(RETRIEVED_IDS) if record.metadata else None
    if isinstance(retrieved, (tuple, list)):
        return list(dict.fromkeys(retrieved))[:k]
    contexts = record.contexts or ()
    first = [None if context.generated_id else context.id for context in contexts[:k]]
    return first if len(first) == len(set(first)) else _ranked_with_repeats(contexts, k)


def _ranked_with_repeats(contexts: Iterable[Context], k: int) -> list[str | None]:
    """
    Return the same by the definition, where some id comes back, or several were generated.
    """
    found: dict[str, None] = {}
    ranked: list[str | None] = []
    for context in contexts:
        if context.generated_id:
            ranked.append(None)
        elif context.id not in found:
            found[context.id] = None
            ranked.append(context.id)
        if len(ranked) == k:
            break
    return ranked


_Relevant: TypeAlias = "AbstractSet[str] | Mapping[str, float]"


def _relevant(record: EvalRecord) -> _Relevant:
    """
    Return the relevant ids, with their grades where there are any; ids graded 0 or less are not relevant.
    """
    relevant = record.relevant_ids
    if isinstance(relevant, Mapping):
        return {key: grade for key, grade in relevant.items() if grade > 0}
    return relevant or frozenset()


_Hits: TypeAlias = "tuple[int, _Relevant, list[tuple[int, str]]]"


def _hits(record: EvalRecord, config: EvalConfig | None) -> _Hits | None:
    """
    Return k, what is relevant, and (1-based rank, id) of each relevant chunk in the top k; None when undefined.
    """
    if record.contexts is None or not record.relevant_ids:
        return None
    return workspace(record, config).once("relevant hits", _find_hits)


def _find_hits(work: Workspace) -> _Hits | None:
    relevant = _relevant(work.record)
    if not relevant:
        return None
    k = work.config.k
    ranked = _ranked_ids(work.record, k)
    return k, relevant, [(rank, key) for rank, key in enumerate(ranked, 1) if key is not None and key in relevant]


def _why_undefined(name: str, record: EvalRecord) -> MetricResult:
    return undefined(name, "contexts not observed" if record.contexts is None else "no relevant ids")


@register(
    "hit_rate",
    step="retrieval",
    needs=_NEEDS,
    meaning="whether anything relevant made the top k",
    undefined_when=_UNDEFINED_WHEN,
    default=True,
)
def hit_rate(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score 1.0 when a relevant chunk is in the top k, else 0.0 (trec_eval: success.k).
    """
    found = _hits(record, config)
    if found is None:
        return _why_undefined("hit_rate", record)
    k, _, hits = found
    reason = f"first relevant chunk at rank {hits[0][0]}" if hits else f"nothing relevant in the top {k}"
    return MetricResult("hit_rate", 1.0 if hits else 0.0, reason)


@register(
    "precision",
    step="retrieval",
    needs=_NEEDS,
    meaning="share of the top k that is relevant",
    undefined_when=_UNDEFINED_WHEN,
    default=True,
)
def precision(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score the relevant chunks in the top k, divided by k however short the list is (trec_eval: P.k).
    """
    found = _hits(record, config)
    if found is None:
        return _why_undefined("precision", record)
    k, _, hits = found
    counts = {"relevant": len(hits), "ranks": k}
    return MetricResult(
        "precision", len(hits) / k, f"{len(hits)} of the top {k} are relevant", details={"counts": counts}
    )


@register(
    "recall",
    step="retrieval",
    needs=_NEEDS,
    meaning="share of the relevant documents found in the top k",
    undefined_when=_UNDEFINED_WHEN,
    default=True,
)
def recall(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score the relevant chunks in the top k, divided by all that are relevant (trec_eval: recall.k).

    Details: `missing`, the relevant ids not retrieved, sorted.
    """
    found = _hits(record, config)
    if found is None:
        return _why_undefined("recall", record)
    k, relevant, hits = found
    got = {key for _, key in hits}
    details = {
        "counts": {"found": len(hits), "relevant": len(relevant)},
        "missing": sorted([key for key in relevant if key not in got]),
    }
    reason = f"{len(hits)} of {len(relevant)} relevant found in the top {k}"
    return MetricResult("recall", len(hits) / len(relevant), reason, details=details)


@register(
    "mrr",
    step="retrieval",
    needs=_NEEDS,
    meaning="1 / rank of the first relevant document in the top k",
    undefined_when=_UNDEFINED_WHEN,
    default=True,
)
def mrr(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score 1 / rank of the first relevant chunk in the top k; 0.0 when none is (trec_eval's recip_rank, cut at k).
    """
    found = _hits(record, config)
    if found is None:
        return _why_undefined("mrr", record)
    k, _, hits = found
    reason = f"first relevant chunk at rank {hits[0][0]}" if hits else f"nothing relevant in the top {k}"
    return MetricResult("mrr", 1.0 / hits[0][0] if hits else 0.0, reason)


@register(
    "ndcg",
    step="retrieval",
    needs=_NEEDS,
    meaning="whether the relevant documents stand near the top",
    undefined_when=_UNDEFINED_WHEN,
    default=True,
)
def ndcg(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score the discounted gain of the top k, divided by the best possible (trec_eval: ndcg_cut.k).

    The gain is the grade, 1 when ungraded; the ideal ranks the min(k, number relevant) best grades first.
    """
    found = _hits(record, config)
    if found is None:
        return _why_undefined("ndcg", record)
    k, relevant, hits = found
    if isinstance(relevant, Mapping):
        gain = math.fsum([relevant[key] * _discount(rank) for rank, key in hits])
        best = sorted(relevant.values(), reverse=True)[:k]
        ideal = math.fsum([grade * _discount(rank) for rank, grade in enumerate(best, 1)])
    else:
        gain, ideal = _binary_gain(hits), _binary_ideal(min(k, len(relevant)))
    return MetricResult("ndcg", min(1.0, gain / ideal), f"gain {gain:.3f} of {ideal:.3f} in the top {k}")


def _binary_gain(hits: list[tuple[int, str]]) -> float:
    return math.fsum([_DISCOUNTS[rank - 1] if rank <= _TABLE_RANKS else _discount(rank) for rank, _ in hits])


def _binary_ideal(count: int) -> float:
    if count <= _TABLE_RANKS:
        return _IDEAL_BINARY[count]
    return math.fsum([_discount(rank) for rank in range(1, count + 1)])
