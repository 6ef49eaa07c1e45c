"""
Score RAG answers with one harness, live and in CI.

Each name is loaded when it is first asked for: `from rageval_trace import evaluate` loads the harness alone, and an
adapter that is imported, but makes no handler, loads not even that.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rageval_trace._version import __version__

if TYPE_CHECKING:
    from rageval_trace.errors import DatasetError, GateError, MissingExtraError, RagEvalError, UnknownMetricError
    from rageval_trace.evaluation import SCORING_VERSION, evaluate, evaluate_record, evaluator_version
    from rageval_trace.io import load_records
    from rageval_trace.judges import Judge, LexicalJudge
    from rageval_trace.judges.budget import TokenBudget
    from rageval_trace.judges.cache import DiskCache
    from rageval_trace.judges.cascade import CascadeJudge
    from rageval_trace.judges.claude import ClaudeJudge
    from rageval_trace.judges.llm import DEFAULT_MODEL, LLMJudge
    from rageval_trace.live.monitor import Monitor
    from rageval_trace.live.settings import Settings
    from rageval_trace.live.sinks import JsonlSink
    from rageval_trace.metrics import (
        answer_correctness,
        answer_relevance,
        citation_accuracy,
        citation_coverage,
        context_precision,
        context_recall,
        context_utilisation,
        faithfulness,
        freshness,
        groundedness,
        hallucination_rate,
        hallucination_risk,
        hit_rate,
        mrr,
        ndcg,
        precision,
        recall,
        register,
    )
    from rageval_trace.models import Context, EvalConfig, EvalRecord, Example, MetricResult, Verdict
    from rageval_trace.reports import RecordResult, Scorecard

_METRICS = """
    answer_correctness answer_relevance citation_accuracy citation_coverage context_precision context_recall
    context_utilisation faithfulness freshness groundedness hallucination_rate hallucination_risk hit_rate mrr ndcg
    precision recall register
"""
# Where each public name comes from.
_LAZY: dict[str, str] = {
    **dict.fromkeys(_METRICS.split(), "rageval_trace.metrics"),
    "Context": "rageval_trace.models",
    "DatasetError": "rageval_trace.errors",
    "EvalConfig": "rageval_trace.models",
    "EvalRecord": "rageval_trace.models",
    "Example": "rageval_trace.models",
    "GateError": "rageval_trace.errors",
    "Judge": "rageval_trace.judges",
    "LexicalJudge": "rageval_trace.judges",
    "MetricResult": "rageval_trace.models",
    "MissingExtraError": "rageval_trace.errors",
    "RagEvalError": "rageval_trace.errors",
    "RecordResult": "rageval_trace.reports",
    "SCORING_VERSION": "rageval_trace.evaluation",
    "Scorecard": "rageval_trace.reports",
    "UnknownMetricError": "rageval_trace.errors",
    "Verdict": "rageval_trace.models",
    "evaluate": "rageval_trace.evaluation",
    "evaluate_record": "rageval_trace.evaluation",
    "evaluator_version": "rageval_trace.evaluation",
    "CascadeJudge": "rageval_trace.judges.cascade",
    "ClaudeJudge": "rageval_trace.judges.claude",
    "DEFAULT_MODEL": "rageval_trace.judges.llm",
    "DiskCache": "rageval_trace.judges.cache",
    "JsonlSink": "rageval_trace.live.sinks",
    "LLMJudge": "rageval_trace.judges.llm",
    "Monitor": "rageval_trace.live.monitor",
    "RiskJudge": "rageval_trace.metrics.risk_judge",
    "Settings": "rageval_trace.live.settings",
    "TokenBudget": "rageval_trace.judges.budget",
    "Unsettled": "rageval_trace.judges.cascade",
    "load_records": "rageval_trace.io",
}
_ELSEWHERE = {"RagEvalHandler": "from rageval_trace_langchain import RagEvalHandler  (or rageval_trace_llama_index)"}

__all__ = [
    "DEFAULT_MODEL",
    "SCORING_VERSION",
    "CascadeJudge",
    "ClaudeJudge",
    "Context",
    "DatasetError",
    "DiskCache",
    "EvalConfig",
    "EvalRecord",
    "Example",
    "GateError",
    "JsonlSink",
    "Judge",
    "LLMJudge",
    "LexicalJudge",
    "MetricResult",
    "MissingExtraError",
    "Monitor",
    "RagEvalError",
    "RecordResult",
    "Scorecard",
    "Settings",
    "TokenBudget",
    "UnknownMetricError",
    "Verdict",
    "__version__",
    "answer_correctness",
    "answer_relevance",
    "citation_accuracy",
    "citation_coverage",
    "context_precision",
    "context_recall",
    "context_utilisation",
    "evaluate",
    "evaluate_record",
    "evaluator_version",
    "faithfulness",
    "freshness",
    "groundedness",
    "hallucination_rate",
    "hallucination_risk",
    "hit_rate",
    "load_records",
    "mrr",
    "ndcg",
    "precision",
    "recall",
    "register",
]


def __getattr__(name: str) -> Any:
    """
    Load a public name, or say where a name that lives elsewhere is imported from.
    """
    if name in _LAZY:
        found = getattr(importlib.import_module(_LAZY[name]), name)
        globals()[name] = found  # asked for once
        return found
    if name in _ELSEWHERE:
        raise ImportError(f"{name} lives with its framework: {_ELSEWHERE[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """
    Return the names that are there, loaded or not.
    """
    return sorted({*globals(), *__all__})
