"""
Text on its way out is redacted whole, then cut, and always encodable.
"""

from __future__ import annotations

import json
import math
from datetime import datetime, timezone

import pytest

from rageval_trace.models import Context
from rageval_trace.telemetry.anchor import Anchor
from rageval_trace.telemetry.content import Content, plain
from rageval_trace.telemetry.faults import Faults
from rageval_trace.telemetry.payload import EmitOptions

SECRET = "sk-4711-wax"  # noqa: S105 - an invented one


def _content(**options):
    return Content(EmitOptions(**options), Faults())


def test_text_is_redacted_whole_before_it_is_cut():
    """
    The redactor sees the whole text, so a secret across the cut is found.
    """
    seen = []
    whole = "x" * 1995 + SECRET

    def redact(text):
        seen.append(text)
        return text.replace(SECRET, "[gone]")

    assert "x" * 1995 + "[gone" == _content(redact=redact).text(whole)
    assert [whole] == seen


@pytest.mark.parametrize("bad", [lambda text: None, lambda text: 7, lambda text: text[10**9]])
def test_text_whose_redaction_fails_does_not_leave(bad):
    """
    A redactor that raises or gives no string lets nothing out.
    """
    assert _content(redact=bad).text("hello") is None


def test_a_failing_redactor_is_counted_and_named_without_the_text(caplog):
    """
    The error is counted once a text, logged once, and its message (which may quote the text) is not.
    """

    def redact(text):
        raise ValueError(text)

    faults = Faults()
    content = Content(EmitOptions(redact=redact), faults)
    assert [None, None] == [content.text(SECRET), content.text(SECRET)]
    assert [2] == list(faults.counts.values())
    assert (1, False) == (len(caplog.records), SECRET in caplog.text)


@pytest.mark.parametrize(
    ("whole", "kept"),
    [
        (None, None),
        ("", ""),
        ("short", "short"),
        ("ü" * 1500, "ü" * 1000),
        ("x" + "ü" * 1500, "x" + "ü" * 999),
        ("a\ud800b", "a?b"),
    ],
)
def test_a_cut_never_halves_a_character(whole, kept):
    """
    2000 bytes of UTF-8 at most, whole characters only, half surrogates replaced.
    """
    assert kept == _content().text(whole)


def test_plain_gives_any_object_a_short_encodable_name():
    """
    Names are cut to their limit and mended.
    """
    assert ["5", "xxx", "?"] == [plain(5), plain("x" * 9, 3), plain("\ud800")]


def test_metadata_is_json_with_every_text_redacted():
    """
    Keys and values at every depth pass the redactor; what is no JSON is named by its type.
    """
    context = Context(
        "1",
        "text",
        timestamp="2026-01-02",
        source=f"https://{SECRET}",
        metadata={
            SECRET: [SECRET, {"deep": (SECRET, 1, 0.5, True, None)}],
            "when": datetime(2026, 1, 2, tzinfo=timezone.utc),
            "odd": [math.nan, math.inf, object()],
        },
    )
    text = _content(redact=lambda text: text.replace(SECRET, "*")).metadata(context)
    assert {
        "*": ["*", {"deep": ["*", 1, 0.5, True, None]}],
        "when": "2026-01-02T00:00:00+00:00",
        "odd": [None, None, "object"],
        "source": "https://*",
        "timestamp": "2026-01-02T00:00:00+00:00",
    } == json.loads(text)


def test_metadata_without_end_is_left_out_or_bounded():
    """
    Depth is bounded; an object too long for one value is left out rather than cut.
    """
    endless = {}
    endless["again"] = endless
    shown = json.loads(_content().metadata(Context("1", "text", metadata=endless)))
    assert {"again": {"again": {"again": {"again": {"again": "dict"}}}}} == shown
    assert _content().metadata(Context("1", "text", metadata={"long": "x" * 3000})) is None
    assert _content().metadata(Context("1", "text")) is None


def test_metadata_that_the_redactor_fails_on_keeps_only_the_rest():
    """
    A key that must not leave takes its value with it; a value that must not is null.
    """

    def redact(text):
        return text if text != SECRET else 1 / 0

    context = Context("1", "text", metadata={SECRET: 1, "value": SECRET, "fine": "yes"})
    assert {"value": None, "fine": "yes"} == json.loads(_content(redact=redact).metadata(context))


@pytest.mark.parametrize("options", [{}, {"annotate_parent": True}, {"openinference": True}])
def test_nothing_of_the_request_leaves_by_default(
    emitter, captured, make_evaluation, make_retrieval, make_results, options, caplog
):
    """
    A string unique to question, contexts, ids, answer, reasons, claims and metadata appears nowhere.
    """
    from dataclasses import replace

    from rageval_trace.models import EvalRecord

    canary = "CANARY-7f3a"
    contexts = (Context(f"id {canary}", f"text {canary}", 0.5, "2026-01-01", f"src {canary}", {canary: canary}),)
    details = {
        "counts": {"unsupported": 1, canary + "?": 5},
        "unsupported": [{"index": 1, "text": f"claim {canary}", "reason": canary}],
        "missing": [canary],
        "unused": [1],
    }
    claims = {"counts": {"unsupported": 1, "claims": 5}, "unsupported": details["unsupported"]}
    results = {
        name: replace(result, reason=canary, details=claims if name == "groundedness" else details)
        for name, result in make_results().items()
    }
    evaluation = make_evaluation(
        results=results,
        breached=tuple(results),
        record=EvalRecord(canary, contexts, f"answer {canary}", canary, [canary], [canary], canary),
        search_queries=(canary,),
        retrievals=(make_retrieval(query=canary, documents=contexts),),
    )
    with captured.tracer_provider.get_tracer("app").start_as_current_span("user"):
        anchor = Anchor.begin()
        made = emitter(events=frozenset({"log-all", "span-all"}), spans="always", **options)
        made.emit(evaluation, anchor)
    sent = repr((captured.spans, captured.logs, captured.metrics())) + caplog.text
    assert (False, True) == (canary in sent, "1 of 5 claims unsupported" in sent)
