"""
An evaluation to send, and a place to catch what is sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk")

from rageval_trace.models import Context, EvalRecord, MetricResult
from rageval_trace.telemetry.emitter import EmitOptions, Emitter, Evaluation, RetrievalSpan
from rageval_trace.testing import CapturedTelemetry, capture_telemetry

SIXTEEN = (
    *("faithfulness", "context_precision", "context_recall", "answer_relevance", "freshness"),
    *("hit_rate", "precision", "recall", "mrr", "ndcg"),
    *("groundedness", "hallucination_rate", "citation_accuracy", "citation_coverage"),
    *("context_utilisation", "answer_correctness"),
)
NOW = 1_800_000_003_000_000_000
LOWER = {"hallucination_rate"}


def all_results(score: float = 0.5) -> dict[str, MetricResult]:
    """
    Return a result for every built-in metric, with the details that live code gives.
    """
    details: dict[str, dict[str, Any]] = {
        "groundedness": {
            "counts": {"unsupported": 2, "claims": 5},
            "unsupported": [
                {"index": 2, "text": "Bees sleep in May.", "reason": "no context"},
                {"index": 4, "text": "Wax melts at 10 C.", "reason": "no context"},
            ],
        },
        "freshness": {"ages_hours": {1: 2.0, 2: 100.0}},
        "context_utilisation": {"unused": [3, 5], "counts": {"used": 3, "contexts": 5}},
    }
    return {
        name: MetricResult(name, score, "words of a metric", name not in LOWER, "lexical", details.get(name, {}))
        for name in SIXTEEN
    }


def an_evaluation(**changes: Any) -> Evaluation:
    """
    Return an ordinary evaluation of a request that broke a threshold, with *changes*.
    """
    contexts = [Context(f"doc-{n}", f"text {n}", 0.5, 1_700_000_000 if n < 3 else None) for n in range(1, 6)]
    base = Evaluation(
        pipeline="support-bot",
        results=all_results(),
        judge="lexical",
        verdict="fail",
        breached=("groundedness",),
        labels={"groundedness": "fail", "faithfulness": "pass"},
        weakest="groundedness",
        weakest_score=0.5,
        abstained=False,
        evaluator_version="scoring-1+0a1b2c3d",
        record=EvalRecord("When do bees sleep?", contexts, "Bees sleep in May.", id="r1"),
        context_source="retriever",
        started_ns=1_800_000_000_000_000_000,
        ended_ns=1_800_000_002_000_000_000,
        duration_s=0.0003,
    )
    return replace(base, **changes)


def a_retrieval(**changes: Any) -> RetrievalSpan:
    """
    Return a retrieval inside the request of `an_evaluation`, with *changes*.
    """
    documents = (Context("doc-1", "Bees sleep.", 0.9, 1_700_000_000), Context("", "No id.", generated_id=True))
    base = RetrievalSpan("sleep of bees", 1_800_000_000_500_000_000, 1_800_000_000_900_000_000, documents, 4)
    return replace(base, **changes)


@pytest.fixture
def make_results():
    """
    Give `all_results`.
    """
    return all_results


@pytest.fixture
def make_evaluation():
    """
    Give `an_evaluation`.
    """
    return an_evaluation


@pytest.fixture
def make_retrieval():
    """
    Give `a_retrieval`.
    """
    return a_retrieval


@pytest.fixture
def captured() -> Iterator[CapturedTelemetry]:
    """
    Catch telemetry in memory.
    """
    with capture_telemetry() as telemetry:
        yield telemetry


@pytest.fixture
def emitter(captured: CapturedTelemetry):
    """
    Give a function that makes an emitter with options, wired to the capture.
    """

    def make(**options: Any) -> Emitter:
        made = Emitter(EmitOptions(**options), **captured.providers, clock=lambda: NOW)
        emitters.append(made)
        return made

    emitters: list[Emitter] = []
    yield make
    assert [{} for _ in emitters] == [made.faults.counts for made in emitters], "an error was swallowed"
