"""
What every expression of the dashboards and rules gives on the known traffic, worked out by hand.

Per minute on the last day: `support` has 10 requests, `docs` 10, `broken` 1. Of a share, part and whole are written out.
"""

from __future__ import annotations

HOURS = 6 * 60  # the dashboards' range, in minutes

# Dashboard file, panel, refId -> {values of the labels, in the order of their names: value}
PANELS: dict[tuple[str, str, str], dict[tuple[str, ...], float]] = {
    ("rag-quality", "Failing", "A"): {(): (4 + 4 + 8 + 0.2) / (10 + 10 + 10 + 1 + 1 + 10)},
    ("rag-quality", "Hallucination risk", "A"): {(): 0.6 * 0.1 + 0.4 * 0.85},
    ("rag-quality", "Hallucination rate", "A"): {(): 0.4 * 0.75},
    ("rag-quality", "Freshness", "A"): {(): 0.2 * 0.9 + 0.8 * 0.2},
    ("rag-quality", "Abstentions", "A"): {(): 3 / 20},
    ("rag-quality", "Empty retrievals", "A"): {(): 2 / 20},
    ("rag-quality", "Coverage", "A"): {(): 15 / 21},
    ("rag-quality", "Requests", "A"): {(): 21 * HOURS},
    ("rag-quality", "Mean score by metric", "A"): {
        ("groundedness", "lexical"): (6 * 1.0 + 4 * 0.25 + 9.8 * 1.0 + 0.2 * 0.5) / 20,
        ("groundedness", "claude"): 0.95,
        ("groundedness", "lexical_fallback"): 0.5,
        ("hallucination_rate", "lexical"): 0.3,
        ("hallucination_risk", "lexical"): 0.4,
        ("freshness", "none"): 0.34,
    },
    ("rag-quality", "Failing share by metric", "A"): {
        ("groundedness", "lexical"): 4.2 / 20,
        ("groundedness", "claude"): 0.0,
        ("groundedness", "lexical_fallback"): 0.0,
        ("hallucination_risk", "lexical"): 0.4,
        ("freshness", "none"): 0.8,
    },
    # Scores of 0, .1, .2, .25, .5, .75, .85, .9, .95 and 1: how many lie at or under each bound, in five minutes.
    ("rag-quality", "Scores", "A"): {
        (bound,): 5.0 * count
        for bound, count in {
            "0": 6,
            "0.1": 12,
            "0.2": 20,
            "0.3": 24,
            "0.4": 24,
            "0.5": 25.2,
            "0.6": 25.2,
            "0.7": 25.2,
            "0.8": 29.2,
            "0.9": 35.2,
            "0.95": 36.2,
            "0.999": 36.2,
            "1": 52,
            "+Inf": 52,
        }.items()
    },
    ("rag-quality", "Breaches by metric and pipeline", "A"): {
        ("groundedness", "support"): 4 * HOURS,
        ("hallucination_risk", "support"): 4 * HOURS,
        ("freshness", "support"): 8 * HOURS,
        ("groundedness", "docs"): 0.2 * HOURS,
    },
    # Half at 2 h, between 1 and 6: the median is the band's end. The 90th of 100 is 4/5 into 720..2160.
    ("rag-quality", "Context age", "A"): {(): 6.0},
    ("rag-quality", "Context age", "B"): {(): 720 + 0.8 * 1440},
    ("rag-quality", "Abstentions and empty retrievals", "A"): {("support",): 0.3, ("docs",): 0.0},
    ("rag-quality", "Abstentions and empty retrievals", "B"): {("support",): 0.2, ("docs",): 0.0},
    ("rag-quality", "Mean against the same hour a week ago", "A"): {
        ("groundedness", "lexical"): 0.845 - (10 + 9.8 + 0.1) / 20,
        ("groundedness", "claude"): 0.0,
        ("groundedness", "lexical_fallback"): 0.0,
        ("hallucination_rate", "lexical"): 0.3,
        ("hallucination_risk", "lexical"): 0.3,
        ("freshness", "none"): 0.34 - 0.9,
    },
    ("rag-quality", "Requests by pipeline", "A"): {("support",): 10 / 60, ("docs",): 10 / 60, ("broken",): 1 / 60},
    # 20 of 22 a minute under 5 ms; the 95th of 100 is 0.9 into the next one's band.
    ("rag-evaluation-health", "Scoring time, p95", "A"): {(): 0.01 + 0.9 * 0.015},
    ("rag-evaluation-health", "Queue", "A"): {(): 7},
    ("rag-evaluation-health", "Dropped", "A"): {(): 0.5 / (6 + 10 + 1)},
    ("rag-evaluation-health", "Scoring errors", "A"): {(): 1.5 / (6 + 10 + 1)},
    ("rag-evaluation-health", "Sampled", "A"): {(): 17 / 21},
    ("rag-evaluation-health", "Judge fallbacks", "A"): {(): 1 / 2},
    ("rag-evaluation-health", "Scoring time by judge", "A"): {
        ("lexical",): 0.00375,
        ("claude",): 1.75,
        ("lexical_fallback",): 0.0175,
    },
    ("rag-evaluation-health", "Scoring time by judge", "B"): {
        ("lexical",): 0.0025 + 0.95 * 0.0025,
        ("claude",): 1 + 0.95 * 1.5,
        ("lexical_fallback",): 0.01 + 0.95 * 0.015,
    },
    ("rag-evaluation-health", "Requests by outcome", "A"): {
        ("scored",): 15 / 60,
        ("not_sampled",): 4 / 60,
        ("queue_full",): 0.5 / 60,
        ("scoring_error",): 1.5 / 60,
        ("not_rag",): 3 / 60,
    },
    ("rag-evaluation-health", "Queue by job", "A"): {("JOB",): 7},
    ("rag-evaluation-health", "Drops by reason", "A"): {("queue_full",): 0.5 / 60},
    ("rag-evaluation-health", "Failures by metric and error", "A"): {("TimeoutError", "groundedness"): 0.01},
    ("rag-evaluation-health", "Undefined by metric", "A"): {("freshness",): 3 / 60},
    ("rag-evaluation-health", "Sampled and scored", "A"): {("support",): 0.6, ("docs",): 1.0, ("broken",): 1.0},
    ("rag-evaluation-health", "Sampled and scored", "B"): {("support",): 0.5, ("docs",): 1.0, ("broken",): 0.0},
    ("rag-evaluation-health", "Judge call time", "A"): {("claude",): 2.5},
    ("rag-evaluation-health", "Judge call time", "B"): {("claude",): 5 + 0.9 * 5},
    ("rag-evaluation-health", "Judge tokens", "A"): {("input", "claude"): 20.0, ("output", "claude"): 1.0},
    ("rag-evaluation-health", "Judge call errors", "A"): {("claude",): 0.5},
    ("rag-evaluation-health", "Judge fallbacks by pipeline", "A"): {("support",): 0.5},
    ("rag-evaluation-health", "Escalations", "A"): {("support",): 3 / 60},
}

_FAIL_SHARES = {
    ("groundedness", "lexical", "support"): 0.4,
    ("groundedness", "claude", "support"): 0.0,
    ("groundedness", "lexical_fallback", "support"): 0.0,
    ("hallucination_risk", "lexical", "support"): 0.4,
    ("freshness", "none", "support"): 0.8,
    ("groundedness", "lexical", "docs"): 0.02,
}
_LABELLED = {key: 1 if key[1] in {"claude", "lexical_fallback"} else 10 for key in _FAIL_SHARES}
_MEANS = {
    ("groundedness", "lexical", "support"): 0.7,
    ("groundedness", "claude", "support"): 0.95,
    ("groundedness", "lexical_fallback", "support"): 0.5,
    ("hallucination_rate", "lexical", "support"): 0.3,
    ("hallucination_risk", "lexical", "support"): 0.4,
    ("freshness", "none", "support"): 0.34,
    ("groundedness", "lexical", "docs"): 0.99,
}
# Recorded series -> {values of the labels but job, in the order of their names: value}
RECORDED: dict[str, dict[tuple[str, ...], float]] = {
    **{f"rageval:fail_share:rate{window}": _FAIL_SHARES for window in ("5m", "30m", "1h", "6h")},
    "rageval:labelled_results:increase1h": {key: 60.0 * count for key, count in _LABELLED.items()},
    "rageval:labelled_results:increase6h": {key: 360.0 * count for key, count in _LABELLED.items()},
    "rageval:score_mean:rate1d": _MEANS,
    "rageval:scores:increase1d": {
        key: 1440.0 if key[1] in {"claude", "lexical_fallback"} else 14400.0 for key in _MEANS
    },
    "rageval:coverage:rate1h": {("support",): 0.5, ("docs",): 1.0, ("broken",): 0.0},
    "rageval:requests:increase1h": {("support",): 600, ("docs",): 600, ("broken",): 60},
    "rageval:abstention_share:rate1h": {("support",): 0.3, ("docs",): 0.0},
    "rageval:empty_retrieval_share:rate1h": {("support",): 0.2, ("docs",): 0.0},
    "rageval:answers:increase1h": {("support",): 600, ("docs",): 600},
    "rageval:judge_fallback_share:rate1h": {("support",): 0.5},
    "rageval:dropped_share:rate30m": {("support",): 0.5 / 6, ("docs",): 0.0, ("broken",): 0.0},
}

# Alert -> {(metric, pipeline), or (pipeline,), or () where a whole job is meant: its value}
ALERTS: dict[str, dict[tuple[str, ...], float]] = {
    "RagevalFailingShareHigh": {("groundedness", "support"): 0.4, ("hallucination_risk", "support"): 0.4},
    "RagevalFailingShareRaised": {("groundedness", "support"): 0.4, ("hallucination_risk", "support"): 0.4},
    "RagevalStaleCorpus": {("freshness", "support"): 0.8},
    "RagevalCoverageFell": {("support",): 0.5},
    "RagevalAbstentionJump": {("support",): 0.3},
    "RagevalEmptyRetrievalJump": {("support",): 0.2},
    "RagevalNothingScored": {("broken",): 30},
    "RagevalTelemetryGone": {(): 1},
    "RagevalQueueFull": {("support",): 0.5 / 6},
    "RagevalJudgeFallbacks": {("support",): 0.5},
    "RagevalScoreDrift": {
        ("groundedness", "support"): 0.3,
        ("hallucination_rate", "support"): 0.3,
        ("hallucination_risk", "support"): 0.3,
        ("freshness", "support"): 0.56,
    },
}
