"""
Ranking metrics behind a reranker.
"""

from __future__ import annotations

from rageval_trace.metrics.ranking import mrr
from rageval_trace.models import RETRIEVED_IDS, Context, EvalRecord


def test_the_retrievers_own_order_counts() -> None:
    """
    A reranker that lifts the relevant chunk does not make the retriever look better than it was.
    """
    contexts = [Context("b", "text of b"), Context("a", "text of a")]

    after = EvalRecord("q", contexts, "answer", relevant_ids={"b"})
    before = EvalRecord("q", contexts, "answer", relevant_ids={"b"}, metadata={RETRIEVED_IDS: ("a", "b")})

    assert (1.0, 0.5) == (mrr(after).score, mrr(before).score)
