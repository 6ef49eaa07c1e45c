"""
A line holds all that is needed to compute its scores again, and nothing that had to stay.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given as having
from hypothesis import strategies as st

from rageval_trace.errors import closest
from rageval_trace.evaluation import evaluate_record, evaluator_version
from rageval_trace.io import parse_record
from rageval_trace.io.fields import FIELDS
from rageval_trace.judges.lexical import LexicalJudge
from rageval_trace.live.captures.line import config_from, encode, line_of, pointer_of
from rageval_trace.live.result import LiveResult
from rageval_trace.models import Context, EvalConfig, EvalRecord

Make = Callable[..., LiveResult]


def read_back(result: LiveResult) -> tuple[dict[str, Any], EvalRecord]:
    data = encode(line_of(result, None), 10**6)
    fields = json.loads(data)
    assert (1, b"\n") == (data.count(b"\n"), data[-1:])
    return fields, parse_record(fields)


@pytest.mark.parametrize(
    "config",
    [
        EvalConfig(),
        EvalConfig(half_life_hours=24.5, k=3, hit_threshold=0.25, claim_threshold=0.5),
        EvalConfig(now=datetime(2026, 12, 1, 0, 0, 0, 7, tzinfo=timezone.utc), stopwords=frozenset({"the", "a"})),
        EvalConfig(judge=LexicalJudge(0.9, stopwords=frozenset({"is"}))),
    ],
)
def test_scores_come_out_the_same_to_the_last_digit(config: EvalConfig, scored: Make) -> None:
    """Record and config read from a line give the very same numbers under the same evaluator version."""
    result = scored(config=config, relevant_ids={"doc-1": 2.0, "doc-9": 1.0}, ground_truth="82 metres.")

    fields, record = read_back(result)
    again = evaluate_record(record, config_from(fields["config"]), metrics=list(result.results)).results

    assert dict(result.scores) == fields["scores"] == {n: r.score for n, r in again.items() if r.score is not None}
    assert evaluator_version(config_from(fields["config"])) == fields["evaluator_version"]
    assert result.record == record


texts = st.text(st.characters(exclude_categories=()), max_size=60)


@having(texts, st.lists(st.tuples(st.text(max_size=5), texts, st.none() | st.floats(allow_nan=False))), texts)
def test_any_record_survives(question: str, chunks: list[tuple[str, str, float | None]], answer: str) -> None:
    """Whatever the texts hold, half surrogate pairs and control characters included, they are read back as written."""
    chunks = [(key, text, score if score is None or abs(score) < 1e308 else 0.5) for key, text, score in chunks]
    record = EvalRecord(question, [Context(*chunk) for chunk in chunks], answer)
    now = datetime(2026, 1, 1, tzinfo=timezone.utc)
    result = LiveResult(record, {}, "ok", "bot", "run", now, now)

    _, found = read_back(result)

    assert (record.question, record.answer, record.contexts) == (found.question, found.answer, found.contexts)


def test_no_name_looks_like_a_misspelt_field(scored: Make) -> None:
    """Reading a line as a record warns of nothing."""
    names = line_of(scored(), None).keys() - set(FIELDS)

    assert {} == {name: closest(name, FIELDS) for name in names if closest(name, FIELDS)}


def test_every_text_is_redacted(scored: Make) -> None:
    """Question, answer, labels, ids, sources and metadata are cleaned, consistently, and the line says so."""
    secret = scored(
        question="Who is Zorro?",
        contexts=[Context("Zorro-1", "Zorro is here.", source="Zorro.md", metadata={"Zorro": ["Zorro", 1, 2.5, None]})],
        answer="Zorro it is.",
        ground_truth="Zorro",
        relevant_ids=["Zorro-1"],
        citations=["Zorro-1"],
        metadata={"by": {"Zorro"}, "at": datetime(2026, 1, 1, tzinfo=timezone.utc), "live": object()},
        search_queries=("Zorro?",),
    )
    clean = line_of(secret, lambda text: text.replace("Zorro", "N."))

    assert "Zorro" not in json.dumps(clean)
    assert (True, ["N.-1"], ["N.-1"], "N.-1") == (
        clean["redacted"],
        clean["relevant_ids"],
        clean["citations"],
        clean["contexts"][0]["id"],
    )
    assert {"by": ["N."], "at": "2026-01-01T00:00:00+00:00", "live": "<object>"} == clean["metadata"]
    assert "Zorro" not in json.dumps(pointer_of(secret, lambda text: text.replace("Zorro", "N."), "t"))
    assert line_of(secret, lambda text: text)["redacted"] is False


def test_a_long_line_is_cut_and_says_so(scored: Make) -> None:
    """Texts are shortened until the line fits; one that cannot fit is none."""
    line = line_of(scored(contexts=["word " * 5000, "short"], metadata={"big": "x" * 9000}), None)

    data = encode(line, 4000)

    found = json.loads(data)
    assert len(data) <= 4000
    assert (True, "short", {}) == (found["truncated"], found["contexts"][1]["text"], found["metadata"])
    assert len(found["contexts"][0]["text"]) > 500
    assert encode(line, 300) is None
