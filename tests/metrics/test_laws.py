"""
Laws that hold for any record.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rageval_trace import Context, EvalConfig, EvalRecord, evaluate_record
from rageval_trace.metrics import get, registered
from rageval_trace.metrics.workspace import open_workspace
from rageval_trace.overlap import count_found, count_pairs_found, coverage, f1, mixed_precision
from rageval_trace.text import tokenize

WORDS = ["lake", "deep", "the", "is", "mill", "rye", "40", "caf\u00e9", "\u6e56", "isn't", "I", "know", "[1]", "a.m."]
texts = st.one_of(
    st.text(max_size=40),
    st.builds(" ".join, st.lists(st.sampled_from([*WORDS, "lake.", "Deep.", "\n- rye", "don't"]), max_size=14)),
)
stamps = st.one_of(st.none(), st.floats(1e9, 2e9))
chunks = st.builds(Context, st.sampled_from(["", "a", "b", "c"]), texts, timestamp=stamps)
records = st.builds(
    EvalRecord,
    question=texts,
    contexts=st.one_of(st.none(), st.lists(chunks, max_size=5)),
    answer=st.one_of(st.none(), texts),
    ground_truth=st.one_of(st.none(), texts),
    relevant_ids=st.one_of(
        st.none(),
        st.sets(st.sampled_from("abcz")),
        st.dictionaries(st.sampled_from("abcz"), st.floats(-3, 100)),
    ),
    citations=st.one_of(st.none(), st.lists(st.sampled_from("abc19"), max_size=3)),
)
CONFIG = EvalConfig(now=1_900_000_000, k=3)
BUILT_IN = tuple(name for name, metric in registered().items() if metric.default)


def scores(record: EvalRecord, names: tuple[str, ...] = BUILT_IN) -> dict[str, float | None]:
    results = evaluate_record(record, CONFIG, metrics=names).results
    assert dict.fromkeys(names) == {name: results[name].error_type for name in names}
    return {name: result.score for name, result in results.items()}


@settings(max_examples=300)
@given(records)
def test_every_score_is_in_range_or_undefined(record: EvalRecord) -> None:
    """No record makes a metric fail, or leave [0, 1]; what is undefined says why."""
    for name, result in evaluate_record(record, CONFIG).results.items():
        assert result.error_type is None, (name, result)
        assert result.score is None or 0.0 <= result.score <= 1.0, (name, result)
        assert result.score is not None or result.reason


@given(records)
def test_shared_and_lone_workspaces_agree(record: EvalRecord) -> None:
    """A metric called alone gives what it gives among the others."""
    together = evaluate_record(record, CONFIG).results
    assert together == {name: get(name).compute(record, CONFIG) for name in together}


ORDER_FREE = (
    "faithfulness",
    "context_precision",
    "context_recall",
    "answer_relevance",
    "freshness",
    "groundedness",
    "hallucination_rate",
    "context_utilisation",
    "answer_correctness",
)


@given(records, st.randoms(use_true_random=False))
def test_order_free_metrics_ignore_the_order_of_contexts(record: EvalRecord, rng: Any) -> None:
    """What does not rank gives the same value in any order."""
    if record.contexts is None:
        return
    # Ids are given, so that a bracket means the same citation mark in both orders.
    fixed = [Context(f"id{rank}", chunk.text, timestamp=chunk.timestamp) for rank, chunk in enumerate(record.contexts)]
    shuffled = list(fixed)
    rng.shuffle(shuffled)
    fields = {"question": record.question, "answer": record.answer, "ground_truth": record.ground_truth}
    before = scores(EvalRecord(contexts=fixed, **fields), ORDER_FREE)
    after = scores(EvalRecord(contexts=shuffled, **fields), ORDER_FREE)
    for name in ORDER_FREE:
        assert after[name] == pytest.approx(before[name], abs=1e-12), name


NEVER_LOWER = ("faithfulness", "recall", "context_recall", "groundedness", "hit_rate", "mrr", "ndcg", "precision")


@given(records, chunks)
def test_adding_a_context_never_lowers(record: EvalRecord, extra: Context) -> None:
    """Another chunk at the end can only support more."""
    if record.contexts is None:
        return
    more = EvalRecord(
        record.question, (*record.contexts, extra), record.answer, record.ground_truth, record.relevant_ids
    )
    same = EvalRecord(record.question, record.contexts, record.answer, record.ground_truth, record.relevant_ids)
    before, after = scores(same, NEVER_LOWER), scores(more, NEVER_LOWER)
    for name in NEVER_LOWER:
        if before[name] is not None and after[name] is not None:
            assert after[name] >= before[name] - 1e-12, name  # type: ignore[operator]


@given(records)
def test_rates_complement_each_other(record: EvalRecord) -> None:
    """`hallucination_rate` is 1 - `groundedness`, and undefined with it."""
    found = scores(record, ("groundedness", "hallucination_rate"))
    if found["groundedness"] is None:
        assert found["hallucination_rate"] is None
    else:
        assert found["hallucination_rate"] == pytest.approx(1 - found["groundedness"], abs=1e-12)


def plain_scores(record: EvalRecord) -> dict[str, float]:
    """Score by the plain functions of `overlap` alone, on token lists made here."""
    held = [tokenize(chunk.text) for chunk in record.contexts or ()]
    answer, truth = tokenize(record.answer or ""), tokenize(record.ground_truth or "")
    everything = {token for tokens in held for token in tokens}
    keywords = set(tokenize(record.question)) - CONFIG.stopwords
    found: dict[str, float] = {}
    if record.answer is not None and record.contexts is not None:
        pairs = count_pairs_found(answer, held)
        found["faithfulness"] = mixed_precision(count_found(answer, everything), pairs, len(answer))
    if record.contexts is not None and truth:
        found["context_recall"] = count_found(truth, everything) / len(truth)
    if record.contexts and keywords:
        found["context_precision"] = sum(coverage(keywords, set(tokens)) for tokens in held) / len(held)
    if record.answer is not None and keywords:
        found["answer_relevance"] = coverage(keywords, set(answer))
    if record.answer is not None and truth:
        found["answer_correctness"] = f1(answer, truth)[0]
    return found


OVERLAP = ("faithfulness", "context_precision", "context_recall", "answer_relevance", "answer_correctness")


@settings(max_examples=500, deadline=None)
@given(records)
def test_the_workspace_counts_as_the_plain_functions(record: EvalRecord) -> None:
    """The shared, faster counting gives the plain definitions' values, non-ASCII text included."""
    found = {name: value for name, value in scores(record, OVERLAP).items() if value is not None}
    assert found == pytest.approx(plain_scores(record), abs=1e-12)


def test_a_workspace_serves_its_own_record_alone() -> None:
    """Inside another record's workspace, a metric makes its own."""
    one, other = EvalRecord("q", ["lake"], "lake"), EvalRecord("q", ["lake"], "sea")
    with open_workspace(one, CONFIG):
        assert get("faithfulness").compute(other, CONFIG).score == 0.0
        assert get("faithfulness").compute(one, CONFIG).score == 1.0
