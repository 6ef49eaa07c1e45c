"""
Every metric's value by hand, and every way in which it is undefined.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from rageval_trace import Context, EvalConfig, EvalRecord, MetricResult
from rageval_trace.metrics import get, registered

LAKE = "Lake Ommen is 40 metres deep and cold."
MILL = "The mill on the hill grinds rye."


def record(**fields: Any) -> EvalRecord:
    return EvalRecord(**{"question": "How deep is Lake Ommen?", **fields})


def score(name: str, config: EvalConfig | None = None, **fields: Any) -> MetricResult:
    return get(name).compute(record(**fields), config)


VALUES: list[tuple[str, dict[str, Any], float]] = [
    # faithfulness: .6 * unigrams + .4 * bigrams
    ("faithfulness", {"contexts": [LAKE], "answer": "Lake Ommen is deep"}, 0.6 * 1 + 0.4 * 2 / 3),
    ("faithfulness", {"contexts": [LAKE], "answer": "Lake Ommen is warm"}, 0.6 * 3 / 4 + 0.4 * 2 / 3),
    ("faithfulness", {"contexts": [LAKE], "answer": "lake lake sea"}, 0.6 * 2 / 3 + 0.4 * 0),
    ("faithfulness", {"contexts": ["alpha beta", "gamma delta"], "answer": "beta gamma"}, 0.6),
    ("faithfulness", {"contexts": [LAKE], "answer": "lake"}, 1.0),
    ("faithfulness", {"contexts": [LAKE], "answer": "sea"}, 0.0),
    ("faithfulness", {"contexts": [LAKE], "answer": ""}, 1.0),
    ("faithfulness", {"contexts": (), "answer": ""}, 1.0),
    ("faithfulness", {"contexts": (), "answer": "lake"}, 0.0),
    # context_precision: keywords deep, lake, ommen
    ("context_precision", {"contexts": [LAKE, MILL]}, 0.5),
    ("context_precision", {"contexts": ["A deep well.", "Lake Ommen", MILL]}, (1 / 3 + 2 / 3 + 0) / 3),
    ("context_precision", {"contexts": [""]}, 0.0),
    # context_recall counts occurrences
    ("context_recall", {"contexts": [LAKE], "ground_truth": "lake lake sea Ommen"}, 0.75),
    ("context_recall", {"contexts": ["alpha", "beta"], "ground_truth": "alpha beta"}, 1.0),
    ("context_recall", {"contexts": (), "ground_truth": "alpha"}, 0.0),
    # answer_relevance
    ("answer_relevance", {"answer": "The lake is deep."}, 2 / 3),
    ("answer_relevance", {"answer": ""}, 0.0),
    # answer_correctness: multiset F1
    ("answer_correctness", {"answer": "a lake is a lake", "ground_truth": "a lake"}, 2 * 2 / (5 + 2)),
    ("answer_correctness", {"answer": "sea", "ground_truth": "lake"}, 0.0),
    ("answer_correctness", {"answer": "", "ground_truth": "lake"}, 0.0),
    # claims
    ("groundedness", {"contexts": [LAKE], "answer": "Lake Ommen is deep. The fish are blue."}, 0.5),
    ("hallucination_rate", {"contexts": [LAKE], "answer": "Lake Ommen is deep. The fish are blue."}, 0.5),
    ("hallucination_rate", {"contexts": [LAKE], "answer": "Lake Ommen is deep."}, 0.0),
    ("groundedness", {"contexts": (), "answer": "Lake Ommen is deep."}, 0.0),
    ("hallucination_rate", {"contexts": (), "answer": "Lake Ommen is deep."}, 1.0),
    # support is never stitched together from several contexts
    ("groundedness", {"contexts": ["alpha beta", "gamma delta"], "answer": "Alpha beta gamma delta."}, 0.0),
    # support and utilisation count positions, not ids
    (
        "context_utilisation",
        {"contexts": [Context("x", LAKE), Context("x", MILL)], "answer": "Lake Ommen is deep."},
        0.5,
    ),
    ("context_utilisation", {"contexts": [LAKE, LAKE, MILL], "answer": "Lake Ommen is deep."}, 2 / 3),
    ("context_utilisation", {"contexts": [MILL], "answer": "Lake Ommen is deep."}, 0.0),
    # citations
    (
        "citation_accuracy",
        {
            "contexts": [Context("l", LAKE), Context("m", MILL)],
            "answer": "Lake Ommen is deep.",
            "citations": ["l", "m"],
        },
        0.5,
    ),
    ("citation_accuracy", {"contexts": [Context("l", LAKE)], "answer": "Lake Ommen is deep.", "citations": ["z"]}, 0.0),
    (
        "citation_accuracy",
        {"contexts": [Context("l", LAKE)], "answer": "Lake Ommen is deep.", "citations": ["l", "l", "z"]},
        0.5,
    ),
    ("citation_accuracy", {"contexts": [Context("l", LAKE)], "answer": "I don't know.", "citations": ["l"]}, 0.0),
    ("citation_accuracy", {"contexts": [LAKE, MILL], "answer": "Lake Ommen is deep [1]. It is 40 metres [2]."}, 0.5),
    ("citation_accuracy", {"contexts": [Context("l", LAKE)], "answer": "Lake Ommen is deep [l]."}, 1.0),
    (
        "citation_coverage",
        {"contexts": [Context("a", LAKE), Context("b", LAKE)], "answer": "Lake Ommen is deep.", "citations": ["a"]},
        0.5,
    ),
    ("citation_coverage", {"contexts": [Context("a", LAKE)], "answer": "Lake Ommen is deep.", "citations": ()}, 0.0),
    ("citation_coverage", {"contexts": [LAKE, MILL], "answer": "Lake Ommen is deep.[1]"}, 1.0),
    ("citation_coverage", {"contexts": [LAKE, MILL], "answer": "Lake Ommen is deep.\n\nSources: [2]"}, 0.0),
]


@pytest.mark.parametrize(("name", "fields", "expected"), VALUES)
def test_value_by_hand(name: str, fields: dict[str, Any], expected: float) -> None:
    """A metric gives the value worked out by hand, in its direction, without an error."""
    result = score(name, **fields)
    assert result.score == pytest.approx(expected, abs=1e-12), result.reason
    assert result.error_type is None
    assert result.higher_is_better is (name != "hallucination_rate")


R = {"relevant_ids": {"a"}}
ONE = [Context("a", LAKE)]
UNDEFINED: list[tuple[str, dict[str, Any], str]] = [
    ("faithfulness", {"answer": "x"}, "contexts not observed"),
    ("faithfulness", {"contexts": [LAKE]}, "answer not observed"),
    ("context_precision", {}, "contexts not observed"),
    ("context_precision", {"contexts": ()}, "no chunk"),
    ("context_precision", {"contexts": [LAKE], "question": "What is it?"}, "no content token"),
    ("context_recall", {"contexts": [LAKE]}, "no ground truth"),
    ("context_recall", {"contexts": [LAKE], "ground_truth": ""}, "no ground truth"),
    ("context_recall", {"ground_truth": "lake"}, "contexts not observed"),
    ("answer_relevance", {}, "answer not observed"),
    ("answer_relevance", {"answer": "x", "question": "What is it?"}, "no content token"),
    ("answer_relevance", {"answer": "x", "question": ""}, "no content token"),
    ("freshness", {}, "contexts not observed"),
    ("freshness", {"contexts": ()}, "no dated chunk"),
    ("freshness", {"contexts": [LAKE]}, "no dated chunk"),
    *[(name, {"contexts": ONE}, "no relevant ids") for name in ("hit_rate", "precision", "recall", "mrr", "ndcg")],
    *[
        (name, {"contexts": ONE, "relevant_ids": empty}, "no relevant ids")
        for name in ("hit_rate", "precision", "recall", "mrr", "ndcg")
        for empty in ((), {}, {"a": 0}, {"a": -1})
    ],
    *[(name, dict(R), "contexts not observed") for name in ("hit_rate", "precision", "recall", "mrr", "ndcg")],
    *[
        (name, fields, why)
        for name in ("groundedness", "hallucination_rate", "context_utilisation")
        for fields, why in (
            ({"answer": "Lake Ommen is deep."}, "contexts not observed"),
            ({"contexts": [LAKE]}, "answer not observed"),
            ({"contexts": [LAKE], "answer": ""}, "no claim"),
            ({"contexts": [LAKE], "answer": "It is."}, "no claim"),
            ({"contexts": [LAKE], "answer": "I don't know."}, "only declines"),
        )
    ],
    ("context_utilisation", {"contexts": (), "answer": "Lake Ommen is deep."}, "no context"),
    ("citation_accuracy", {"contexts": [LAKE], "answer": "Lake Ommen is deep."}, "no citations"),
    ("citation_accuracy", {"contexts": [LAKE], "answer": "Lake Ommen is deep.", "citations": ()}, "no citations"),
    ("citation_accuracy", {"contexts": [LAKE], "answer": "Lake Ommen is deep [7]."}, "no citations"),
    ("citation_accuracy", {"answer": "Lake Ommen is deep.", "citations": ["a"]}, "contexts not observed"),
    ("citation_accuracy", {"contexts": [LAKE], "citations": ["a"]}, "answer not observed"),
    ("citation_coverage", {"contexts": [LAKE], "answer": "Lake Ommen is deep."}, "citations not observed"),
    ("citation_coverage", {"contexts": [MILL], "answer": "Lake Ommen is deep.", "citations": ["1"]}, "supports"),
    ("citation_coverage", {"contexts": [LAKE], "answer": "I don't know.", "citations": ["1"]}, "only declines"),
    ("citation_coverage", {"answer": "Lake Ommen is deep.", "citations": ["1"]}, "contexts not observed"),
    ("answer_correctness", {"answer": "x"}, "no ground truth"),
    ("answer_correctness", {"answer": "x", "ground_truth": ""}, "no ground truth"),
    ("answer_correctness", {"ground_truth": "x"}, "answer not observed"),
]


@pytest.mark.parametrize(("name", "fields", "why"), UNDEFINED)
def test_undefined_says_why(name: str, fields: dict[str, Any], why: str) -> None:
    """An undefined metric is None with a one-line reason: never 0, never an error."""
    result = score(name, **fields)
    assert result.score is None, result
    assert why in result.reason
    assert "\n" not in result.reason
    assert result.error_type is None
    assert result.higher_is_better is (name != "hallucination_rate")


def test_the_tables_cover_every_metric() -> None:
    """Every built-in metric has a way to be undefined in the table; every one but ranking and freshness a value."""
    built_in = {name for name, metric in registered().items() if metric.default} - {"hallucination_risk"}
    assert built_in <= {name for name, _, _ in UNDEFINED}
    elsewhere = {"freshness", "hit_rate", "precision", "recall", "mrr", "ndcg"}
    assert built_in - elsewhere <= {name for name, _, _ in VALUES}


@pytest.mark.parametrize("answer", ["I don't know.", "Lake Ommen is deep."])
def test_groundedness_says_whether_the_answer_abstains(answer: str) -> None:
    """Details carry `abstained`, also when the metric is undefined."""
    result = score("groundedness", contexts=[LAKE], answer=answer)
    assert result.details["abstained"] is (answer == "I don't know.")
    assert "abstained" not in score("groundedness", contexts=[LAKE], answer=" ").details


def test_evidence_of_the_claim_metrics() -> None:
    """Unsupported claims come with text and 1-based index, support as 1-based ranks, unused contexts as ranks."""
    fields = {"contexts": [MILL, LAKE], "answer": "The fish are blue. Lake Ommen is deep."}
    details = score("groundedness", **fields).details
    assert details["counts"] == {"unsupported": 1, "claims": 2}
    assert [(1, "The fish are blue.")] == [(one["index"], one["text"]) for one in details["unsupported"]]
    assert details["supporting"] == [[], [2]]
    assert score("context_utilisation", **fields).details["unused"] == [1]


def test_hits_of_context_precision_are_in_the_reason() -> None:
    """The reason gives the share of chunks at or above `hit_threshold`."""
    fields = {"contexts": ["A deep well.", LAKE, MILL]}
    assert "2 of 3 chunks" in score("context_precision", **fields).reason
    assert "1 of 3 chunks" in score("context_precision", EvalConfig(hit_threshold=0.5), **fields).reason


def test_citation_evidence_names_wrong_and_uncited_ids() -> None:
    """Wrong citations and supporting contexts without one are named."""
    fields = {"contexts": [Context("l", LAKE), Context("m", MILL)], "answer": "Lake Ommen is deep.", "citations": ["m"]}
    assert score("citation_accuracy", **fields).details["wrong"] == ["m"]
    assert score("citation_coverage", **fields).details["uncited"] == ["l"]


@pytest.mark.parametrize(
    ("ages", "expected"),
    [
        ([0], 1.0),
        ([168], math.exp(-1)),
        ([-50], 1.0),
        ([0, 168, None], (1 + math.exp(-1)) / 2),
        ([1e6], math.exp(-1e6 / 168)),
    ],
)
def test_freshness_by_hand(ages: list[float | None], expected: float) -> None:
    """The mean over dated chunks of exp(-age / 168 h); the future is age 0, undated chunks do not count."""
    now = 1_790_000_000.0
    chunks = [Context("", LAKE, timestamp=None if age is None else now - age * 3600) for age in ages]
    result = score("freshness", EvalConfig(now=now), contexts=chunks)
    assert result.score == pytest.approx(expected, abs=1e-12)
    dated = {rank: max(0.0, age) for rank, age in enumerate(ages, 1) if age is not None}
    assert result.details["ages_hours"] == pytest.approx(dated)
    assert result.details["counts"] == {"dated": len(dated), "chunks": len(ages)}


def test_freshness_takes_now_from_the_config_then_the_record_then_the_clock() -> None:
    """`config.now` beats `asked_at`, which beats the wall clock."""
    chunk = Context("", LAKE, timestamp="2026-01-01")
    asked = record(contexts=[chunk], asked_at="2026-01-08")
    metric = get("freshness").compute
    assert metric(asked).score == pytest.approx(math.exp(-1))
    assert metric(asked, EvalConfig(now="2026-01-15")).score == pytest.approx(math.exp(-2))
    fresh = Context("", LAKE, timestamp="2999-01-01")
    assert metric(record(contexts=[fresh])).score == 1.0


def test_half_life_is_read_from_the_config() -> None:
    """A chunk as old as `half_life_hours` scores 1/e."""
    chunk = Context("", LAKE, timestamp="2026-01-01T00:00Z")
    config = EvalConfig(now="2026-01-01T10:00Z", half_life_hours=10)
    assert score("freshness", config, contexts=[chunk]).score == pytest.approx(math.exp(-1))
