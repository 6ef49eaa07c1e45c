"""
What a user sees of one request.
"""

from __future__ import annotations

from datetime import datetime, timezone

from rageval_trace.live.result import LiveResult
from rageval_trace.models import EvalRecord, MetricResult

NOW = datetime(2026, 11, 1, tzinfo=timezone.utc)


def result(question: str = "How  tall\nis it?", **given: object) -> LiveResult:
    about = {"status": "ok", "pipeline": "bot", "run_id": "run-1", "started_at": NOW, "ended_at": NOW, "results": {}}
    return LiveResult(record=EvalRecord(question), **{**about, **given})


def test_the_repr_is_a_readable_verdict_of_three_lines() -> None:
    """
    Verdict with its reason, scores, and the broken sentence.
    """
    unsupported = [{"index": 2, "text": "Giants built it.", "reason": "no context"}]
    results = {
        "faithfulness": MetricResult("faithfulness", 0.5),
        "freshness": MetricResult("freshness", None),
        "groundedness": MetricResult("groundedness", 0.25, details={"unsupported": unsupported}),
    }

    shown = repr(result(results=results, verdict="fail", breached=("groundedness",)))

    assert [
        "bot: fail (groundedness), status ok: How tall is it?",
        "  scores: faithfulness=0.50 groundedness=0.25",
        "  unsupported: Giants built it.",
    ] == shown.splitlines()


def test_the_repr_of_what_was_not_scored_has_three_lines_too() -> None:
    """
    Long questions are cut, missing things are dashes.
    """
    lines = repr(result("x" * 500, status="error")).splitlines()

    assert ["  scores: -", "  unsupported: -"] == lines[1:]
    assert lines[0].startswith("bot: not scored, status error: xxx")
    assert 160 == len(lines[0])
    assert repr(result(results={"mrr": MetricResult("mrr", 1.0)})).startswith("bot: scored, status ok")
