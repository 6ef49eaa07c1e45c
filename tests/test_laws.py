"""
Laws that hold for every record.
"""

from __future__ import annotations

import contextlib
import json
import math
from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from rageval_trace import Context, DatasetError, EvalConfig, EvalRecord, evaluate, evaluate_record
from rageval_trace.io import LoadOptions, load_records, parse_record
from rageval_trace.metrics import registered

WORDS = st.sampled_from(
    ["bridge", "Ada", "built", "the", "not", "1,200", "3.5", "kilometres", "Dr.", "it's", "\u6a4b", "\u00e9t\u00e9", "[1]", "(source: a)", "!", "I don't know."]
)  # fmt: skip
TEXT = st.lists(WORDS, max_size=14).map(" ".join) | st.text(max_size=60)
IDS = st.sampled_from("abcdef")
CONTEXTS = st.lists(
    st.builds(
        Context,
        IDS,
        TEXT,
        timestamp=st.none() | st.dates(min_value=date(1990, 1, 1)),
    ),
    max_size=5,
)
RECORDS = st.builds(
    EvalRecord,
    TEXT,
    st.none() | CONTEXTS,
    st.none() | TEXT,
    st.none() | TEXT,
    st.none() | st.frozensets(IDS) | st.dictionaries(IDS, st.floats(0, 3)),
    st.none() | st.lists(IDS, max_size=4),
)
NOW = EvalConfig(now="2026-08-21T12:00:00Z")
# Rank order is what these measure; citation marks in an answer read ranks too.
ORDERED = {"hit_rate", "precision", "recall", "mrr", "ndcg", "citation_accuracy", "citation_coverage"}


def scores(record: EvalRecord) -> dict[str, float | None]:
    results = evaluate_record(record, NOW).results
    assert {one.error_type for one in results.values()} == {None}
    return {name: one.score for name, one in results.items()}


def with_contexts(record: EvalRecord, contexts: list[Context]) -> EvalRecord:
    return EvalRecord(
        record.question, contexts, record.answer, record.ground_truth, record.relevant_ids, record.citations
    )


@given(RECORDS)
@settings(deadline=None, max_examples=300)
def test_every_value_is_in_range_or_undefined(record):
    """
    No record makes a metric raise, or gives a value outside [0, 1].
    """
    found = scores(record)
    assert set(found) == {name for name, metric in registered().items() if metric.default}
    assert all(value is None or 0.0 <= value <= 1.0 for value in found.values())


@given(RECORDS, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=200)
def test_the_order_of_contexts_matters_to_ranking_alone(record, draw):
    """
    Metrics that do not speak of rank give the same value for the contexts in any order.
    """
    if record.contexts is None:
        return
    shuffled = list(record.contexts)
    draw.shuffle(shuffled)
    before, after = scores(record), scores(with_contexts(record, shuffled))
    for name in set(before) - ORDERED:
        assert before[name] == after[name] or math.isclose(before[name], after[name], abs_tol=1e-12), name


@given(RECORDS, st.builds(Context, IDS, TEXT))
@settings(deadline=None, max_examples=200)
def test_another_context_takes_no_support_away(record, extra):
    """
    Adding a context at the end never lowers recall, faithfulness, groundedness or context recall.
    """
    if record.contexts is None:
        return
    before, after = scores(record), scores(with_contexts(record, [*record.contexts, extra]))
    for name in ("recall", "hit_rate", "mrr", "faithfulness", "context_recall", "groundedness"):
        if before[name] is not None:
            assert after[name] >= before[name] - 1e-12, name


@given(st.lists(RECORDS, max_size=6))
@settings(deadline=None, max_examples=60)
def test_a_scorecard_adds_up(records):
    """
    Observed, undefined and failed make up the count; the mean lies within the scores; the order of records is free.
    """
    card, turned = evaluate(records, config=NOW), evaluate(reversed(records), config=NOW)
    for name, one in card.metrics.items():
        assert one.observed + one.undefined + one.failed == card.count == len(records)
        values = [entry.scores[name] for entry in card.results if name in entry.scores]
        assert (one.mean is None) is (not values)
        if values:
            assert min(values) - 1e-12 <= one.mean <= max(values) + 1e-12
            assert math.isclose(turned.means[name], one.mean, abs_tol=1e-12)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
FIELDS = st.dictionaries(
    st.sampled_from(["id", "question", "contexts", "retrieved_contexts", "answer", "ground_truth", "relevant_ids", "citations", "asked_at", "metadata", "other"]),
    JSON,
)  # fmt: skip


@given(st.lists(FIELDS | JSON, min_size=1, max_size=4))
@settings(deadline=None, max_examples=100)
def test_whatever_json_holds_it_is_read_or_named(tmp_path_factory, items):
    """
    Any JSON gives records or errors of ours that name their line, as JSONL and as an array alike.
    """
    path = tmp_path_factory.getbasetemp() / "laws.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in items))
    lines = read(path, "jsonl")
    path.write_text(json.dumps(items))
    assert lines == read(path, "json")


def read(path, kind: str) -> tuple[list[EvalRecord], list[tuple[int | None, str | None]]]:
    bad = []
    records: list[EvalRecord] = []
    with contextlib.suppress(DatasetError):  # when no record was good
        records.extend(load_records(path, LoadOptions(format=kind, on_bad=bad.append)))
    assert records or bad
    return records, [(one.line, one.field) for one in bad]


@given(st.binary(max_size=200))
@settings(deadline=None, max_examples=300)
def test_whatever_a_file_holds_it_is_read_or_named(tmp_path_factory, content):
    """
    Any bytes give records or an error of ours, in every format.
    """
    path = tmp_path_factory.getbasetemp() / "laws.bin"
    path.write_bytes(content)
    for kind in ("auto", "jsonl", "json", "csv"):
        places = {error.path for error in errors(path, kind)}
        assert places <= {str(path)}


def errors(path, kind: str) -> list[DatasetError]:
    try:
        list(load_records(path, LoadOptions(format=kind)))
    except DatasetError as error:
        return [error]
    return []


@given(st.text(max_size=50), st.lists(st.text(min_size=1, max_size=30), max_size=3), st.text(max_size=50))
def test_a_record_of_fields_is_the_record_made_by_hand(question, contexts, answer):
    """
    Reading fields and building the record agree.
    """
    assert parse_record({"question": question, "contexts": contexts, "answer": answer}) == EvalRecord(
        question, contexts, answer
    )
