"""
The metrics, one idea a file, and their registry.

To add one: write a module with a function under `@register("name")` and import it. The imports below register the
built-in metrics, and their order is the order of every table.
"""

# ruff: noqa: I001  # the order is the tables' order
from rageval_trace.metrics.base import Metric, get, names, register, registered, select
from rageval_trace.metrics.lexical import answer_relevance, context_precision, context_recall, faithfulness
from rageval_trace.metrics.recency import freshness
from rageval_trace.metrics.ranking import hit_rate, mrr, ndcg, precision, recall
from rageval_trace.metrics.claims import context_utilisation, groundedness, hallucination_rate
from rageval_trace.metrics.risk import hallucination_risk
from rageval_trace.metrics.citations import citation_accuracy, citation_coverage
from rageval_trace.metrics.correctness import answer_correctness

__all__ = [
    "Metric",
    "answer_correctness",
    "answer_relevance",
    "citation_accuracy",
    "citation_coverage",
    "context_precision",
    "context_recall",
    "context_utilisation",
    "faithfulness",
    "freshness",
    "get",
    "groundedness",
    "hallucination_rate",
    "hallucination_risk",
    "hit_rate",
    "mrr",
    "names",
    "ndcg",
    "precision",
    "recall",
    "register",
    "registered",
    "select",
]
