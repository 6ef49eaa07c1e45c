"""
From what was seen of a request to one record.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from rageval_trace.live.capture import Capture, Limits, build
from rageval_trace.live.runs import CHAIN, REPLACED, RETRIEVER, Request, Retrieval, Run
from rageval_trace.live.sampling import Sampler
from rageval_trace.models import RETRIEVED_IDS, Context
from rageval_trace.telemetry.anchor import Anchor


@pytest.fixture
def counts() -> Counter[str]:
    """
    Count what was left out.
    """
    return Counter()


@pytest.fixture
def limits(counts: Counter[str]) -> Limits:
    """
    Keep three contexts and twenty characters.
    """
    return Limits(3, 20, lambda name, amount: counts.update({name: amount}))


@pytest.fixture
def request_() -> Request:
    """
    Return a request with question and answer.
    """
    one = Request("run-1", CHAIN, Anchor(), Sampler(1.0))
    one.question, one.answer = "question", "answer"
    return one


def found(source: str, *ids: str, **about: Any) -> Retrieval:
    contexts = tuple([Context(name, f"text of {name}") for name in ids])
    return Retrieval(source, about.pop("run", None), about.pop("query", None), contexts=contexts, **about)


def ids(capture: Capture) -> list[str] | None:
    contexts = capture.record.contexts
    return None if contexts is None else [context.id for context in contexts]


@pytest.mark.parametrize(
    ("retrievals", "source", "expected"),
    [
        ([], None, None),
        ([found("retriever")], "retriever", []),
        ([found("retriever", "a"), found("retriever", "b", "a")], "retriever", ["a", "b"]),
        ([found("prompt", "p"), found("retriever", "a")], "retriever", ["a"]),
        ([found("retriever"), found("tool", "t")], "tool", ["t"]),
        ([found("retriever", "a"), found("explicit", "e")], "explicit", ["e"]),
        ([found("output", "o"), found("tool_text", "t"), found("chain_output", "c")], "chain_output", ["c"]),
        ([found("retriever", "a", "b"), found("retriever", "c", "d")], "retriever", ["a", "b", "c"]),
    ],
)
def test_the_most_direct_source_counts(
    retrievals: list[Retrieval], source: str | None, expected: list[str] | None, request_: Request, limits: Limits
) -> None:
    """
    The first source that found something wins, and its retrievals are joined in start order without repeats.
    """
    request_.retrievals = retrievals

    capture = build(request_, "ok", limits)

    assert (source, expected) == (capture.context_source, ids(capture))


def test_a_failed_attempt_counts_for_nothing(request_: Request, limits: Limits) -> None:
    """
    What a retried step had retrieved is not joined to what the retry retrieved.
    """
    attempt = Run(request_, CHAIN, request_.root)
    attempt.failed = True
    request_.retrievals = [
        found("retriever", "a", run=Run(request_, RETRIEVER, attempt)),
        found("retriever", "b", run=Run(request_, RETRIEVER, request_.root)),
    ]

    assert ["b"] == ids(build(request_, "ok", limits))
    assert ["a", "b"] == ids(build(request_, "error", limits))


def test_a_node_run_again_replaces_and_a_node_fanned_out_adds(request_: Request, limits: Limits) -> None:
    """
    A corrective loop comes back to its node in a later step; a fan-out runs one node several times in one step.
    """
    request_.retrievals = [
        found("retriever", "old", node="retrieve", step=1),
        found("retriever", "other", node="other", step=1),
        found("retriever", "new 1", node="retrieve", step=3),
        found("retriever", "new 2", node="retrieve", step=3),
    ]

    assert ["other", "new 1", "new 2"] == ids(build(request_, "ok", limits))


@pytest.mark.parametrize(
    ("status", "retrievals", "answer", "expected"),
    [
        ("ok", [found("retriever", "a")], "answer", "ok"),
        ("ok", [found("retriever", "a")], "", "ok"),
        ("ok", [found("retriever", "a")], None, "retrieval_only"),
        ("ok", [], "answer", "answer_only"),
        ("error", [], None, "error"),
        ("partial", [], "ans", "partial"),
    ],
)
def test_half_a_request_says_so(
    status: str, retrievals: list[Retrieval], answer: str | None, expected: str, request_: Request, limits: Limits
) -> None:
    """
    Without any retrieval, or without an answer, a request that ended well is no RAG request.
    """
    request_.retrievals, request_.answer = retrievals, answer

    assert expected == build(request_, status, limits).status


def test_what_the_user_says_counts(request_: Request, limits: Limits) -> None:
    """
    Per-request overrides beat what was observed, labels included.
    """
    request_.retrievals = [found("retriever", "a", query="searched")]
    request_.explicit_answer = "said"
    request_.overrides = {
        "rageval.question": "asked",
        "rageval.relevant_ids": ["a"],
        "rageval.ground_truth": "truth",
        "rageval.citations": ["a"],
        "rageval.pipeline": "special",
    }

    capture = build(request_, "ok", limits)
    record = capture.record

    assert ("asked", "said", "truth", ("a",)) == (record.question, record.answer, record.ground_truth, record.citations)
    assert frozenset({"a"}) == record.relevant_ids
    assert ("special", ("searched",)) == (capture.pipeline, capture.search_queries)


def test_unreadable_overrides_are_counted(request_: Request, limits: Limits, counts: Counter[str]) -> None:
    """
    A label of the wrong kind does not cost the record.
    """
    request_.overrides = {"rageval.relevant_ids": 7, "rageval.question": 7, "rageval.pipeline": ""}

    capture = build(request_, "ok", limits)

    assert ("question", None, None) == (capture.record.question, capture.record.relevant_ids, capture.pipeline)
    assert Counter({"unreadable_overrides": 1}) == counts


def test_the_search_stands_in_for_an_unknown_question(request_: Request, limits: Limits) -> None:
    """
    Without any question, the first search query is taken; without one, the question is empty.
    """
    request_.question = None
    assert "" == build(request_, "ok", limits).record.question

    request_.retrievals = [found("retriever", "a", query="searched")]
    assert "searched" == build(request_, "ok", limits).record.question


def test_limits_are_counted(request_: Request, limits: Limits, counts: Counter[str]) -> None:
    """
    What is cut or dropped is said.
    """
    request_.answer = "x" * 21
    request_.retrievals = [found("retriever", *"abcde")]

    capture = build(request_, "ok", limits)

    assert ("x" * 20, ["a", "b", "c"]) == (capture.record.answer, ids(capture))
    assert Counter({"truncated_texts": 1, "dropped_contexts": 2}) == counts
    assert len("question") + 20 + 3 * len("text of a") == capture.chars


def test_retrievals_become_spans(request_: Request, limits: Limits) -> None:
    """
    Retrievals that ran are told with their times and documents; other sources did not run.
    """
    retrieval = found("retriever", "a", query="searched", top_k=4)
    request_.retrievals = [retrieval, found("tool", "t")]

    (span,) = build(request_, "ok", limits).retrievals

    assert ("searched", retrieval.started_ns, retrieval.ended_ns, 4) == (
        span.query,
        span.started_ns,
        span.ended_ns,
        span.top_k,
    )
    assert ["a"] == [context.id for context in span.documents]


def test_what_was_reranked_is_drawn_and_ranked_as_the_retriever_did(request_: Request, limits: Limits) -> None:
    """
    The contexts are those after the reranker; the retriever's query, its span and its ranking are kept.
    """
    request_.retrievals = [found(REPLACED, "a", "b", query="q"), found("response", "b")]

    capture = build(request_, "ok", limits)

    assert ["b"] == ids(capture)
    assert ("q",) == capture.search_queries
    assert ["a", "b"] == [context.id for context in capture.retrievals[0].documents]
    assert {RETRIEVED_IDS: ("a", "b")} == capture.record.metadata


def test_an_unchanged_ranking_is_not_said_twice(request_: Request, limits: Limits) -> None:
    """
    Where nothing was reordered, the contexts tell the ranking.
    """
    request_.retrievals = [found(REPLACED, "a", "b"), found("response", "a", "b")]

    assert {} == build(request_, "ok", limits).record.metadata
