"""
Evaluations of live requests, as a sink is given them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import pytest

from rageval_trace.evaluation import evaluate_record, evaluator_version, live_metrics
from rageval_trace.live.result import LiveResult
from rageval_trace.metrics import select
from rageval_trace.models import Context, EvalConfig, EvalRecord

NOW = datetime(2026, 11, 20, 8, 30, 15, 123456, tzinfo=timezone.utc)
RECORD = {
    "question": "How tall is the tower?",
    "contexts": [
        Context("doc-1", "The tower is 82 metres tall.", 1 / 3, "2026-11-01T00:00:00.000001Z", "tower.md", {"page": 3}),
        "It was painted in 1931.",
    ],
    "answer": "The tower is 82 metres tall [1]. Giants built it.",
    "asked_at": NOW,
}


@pytest.fixture
def scored() -> Callable[..., LiveResult]:
    """
    Score a record and return what a monitor would report; fields of the record and of the result may be given.
    """
    names = {"question", "contexts", "answer", "ground_truth", "relevant_ids", "citations", "asked_at", "metadata"}

    def make(**given: Any) -> LiveResult:
        fields = {**RECORD, **{name: value for name, value in given.items() if name in names}}
        run_id = given.get("run_id", "run-1")
        record = EvalRecord(**fields, id=run_id)
        config = given.get("config", EvalConfig())
        results = evaluate_record(record, config, metrics=live_metrics(record, select(None))).results
        about = {
            "results": results,
            "status": "ok",
            "pipeline": "bot",
            "run_id": run_id,
            "started_at": NOW,
            "ended_at": NOW,
            "judge": "lexical",
            "config": config,
            "evaluator_version": evaluator_version(config),
        }
        about.update({name: value for name, value in given.items() if name not in names})
        return LiveResult(record=record, **about)

    return make
