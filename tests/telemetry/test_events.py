"""
The event `gen_ai.evaluation.result` on both channels.
"""

from __future__ import annotations

import pytest

from rageval_trace.models import MetricResult
from rageval_trace.telemetry.anchor import Anchor
from rageval_trace.telemetry.events import counted

RESULTS = {
    "quiet": MetricResult("quiet", 0.9, "a reason", judge="lexical"),
    "broken": MetricResult(
        *("broken", 0.25, "a reason", False, "lexical"),
        {
            "counts": {"unsupported": 2, "claims": 5},
            "unsupported": [{"index": 1, "text": "Bees sleep.", "reason": "nothing says so"}],
        },
    ),
    "modelled": MetricResult("modelled", 1, "a reason", judge="claude"),
    "failed": MetricResult("failed", None, judge="claude", error_type="TimeoutError"),
    "undefined": MetricResult("undefined", None, "no label"),
}
CHANGES = {"results": RESULTS, "breached": ("broken",), "labels": {"broken": "fail", "quiet": "pass"}}

BROKEN = {
    "gen_ai.evaluation.name": "broken",
    "gen_ai.evaluation.score.value": 0.25,
    "gen_ai.evaluation.score.label": "fail",
    "gen_ai.evaluation.explanation": "2 of 5 claims unsupported",
    "rageval.judge": "lexical",
    "rageval.higher_is_better": False,
}
FAILED = {
    "gen_ai.evaluation.name": "failed",
    "error.type": "TimeoutError",
    "rageval.judge": "claude",
    "rageval.higher_is_better": True,
}
MODELLED = {
    "gen_ai.evaluation.name": "modelled",
    "gen_ai.evaluation.score.value": 1.0,
    "rageval.judge": "claude",
    "rageval.higher_is_better": True,
}
QUIET = {
    "gen_ai.evaluation.name": "quiet",
    "gen_ai.evaluation.score.value": 0.9,
    "gen_ai.evaluation.score.label": "pass",
    "rageval.judge": "lexical",
    "rageval.higher_is_better": True,
}


@pytest.fixture
def anchor(captured):
    """
    Give an anchor on an ended span.
    """
    with captured.tracer_provider.get_tracer("app").start_as_current_span("user"):
        return Anchor.begin()


def _by_name(events):
    assert {"gen_ai.evaluation.result"} == {getattr(event, "event_name", None) or event.name for event in events}
    return {event.attributes["gen_ai.evaluation.name"]: event for event in events}


@pytest.mark.parametrize(
    ("events", "logged", "on_span"),
    [
        (set(), set(), set()),
        ({"log"}, {"broken", "modelled", "failed"}, set()),
        ({"log-all"}, {"quiet", "broken", "modelled", "failed"}, set()),
        ({"span"}, set(), {"broken", "modelled", "failed"}),
        ({"span-all", "log"}, {"broken", "modelled", "failed"}, {"quiet", "broken", "modelled", "failed"}),
        ({"span", "span-all"}, set(), {"quiet", "broken", "modelled", "failed"}),
    ],
)
def test_channels_and_what_each_sends(emitter, captured, make_evaluation, anchor, events, logged, on_span):
    """
    By default a channel sends what breached, failed or came from a model; with -all, every result with a value.
    """
    emitter(events=frozenset(events)).emit(make_evaluation(**CHANGES), anchor)
    assert logged == {log.attributes["gen_ai.evaluation.name"] for log in captured.logs}
    assert on_span == {event.attributes["gen_ai.evaluation.name"] for event in captured.spans[-1].events}


def test_attributes_of_both_channels(emitter, captured, make_evaluation, anchor):
    """
    Exactly the attributes of the conventions and ours, equal on both channels, values as doubles.
    """
    emitter(events=frozenset({"log-all", "span-all"})).emit(make_evaluation(**CHANGES), anchor)
    wanted = {"broken": BROKEN, "failed": FAILED, "modelled": MODELLED, "quiet": QUIET}
    for events in (captured.logs, captured.spans[-1].events):
        assert wanted == {name: event.attributes for name, event in _by_name(events).items()}
        value = _by_name(events)["modelled"].attributes["gen_ai.evaluation.score.value"]
        assert float is type(value)


def test_logs_stand_in_the_evaluated_span_without_body(emitter, captured, make_evaluation, anchor):
    """
    A log record joins the span that was evaluated; a failed metric is a warning.
    """
    emitter(spans="never").emit(make_evaluation(**CHANGES), anchor)
    user = captured.spans[0]
    logs = _by_name(captured.logs)
    assert {(user.trace_id, user.span_id, None)} == {(log.trace_id, log.span_id, log.body) for log in logs.values()}
    assert {"broken": "INFO", "modelled": "INFO", "failed": "WARN"} == {
        name: log.severity for name, log in logs.items()
    }


def test_without_an_evaluated_span_logs_join_the_evaluation(emitter, captured, make_evaluation):
    """
    A request outside of every trace has its logs in the evaluation's own.
    """
    emitter(spans="never").emit(make_evaluation(**CHANGES), Anchor())
    (span,) = captured.spans
    assert {(span.trace_id, span.span_id)} == {(log.trace_id, log.span_id) for log in captured.logs}


def test_the_response_is_named_if_captured(emitter, captured, make_evaluation, anchor):
    """
    An event says which response it is about.
    """
    emitter().emit(make_evaluation(**CHANGES, response_id="msg_1"), anchor)
    events = [*captured.logs, *captured.spans[-1].events]
    assert {"msg_1"} == {event.attributes["gen_ai.response.id"] for event in events}


@pytest.mark.parametrize(
    ("options", "span", "log"),
    [
        ({}, "counts", "counts"),
        ({"capture_spans": True}, "all", "counts"),
        ({"capture_events": True}, "counts", "all"),
        ({"capture_spans": True, "capture_events": True, "hide_inputs": True}, "claims", "claims"),
        ({"capture_spans": True, "capture_events": True, "hide_outputs": True}, "counts", "counts"),
    ],
)
def test_words_of_the_request_follow_each_channels_capture(
    emitter, captured, make_evaluation, anchor, options, span, log
):
    """
    Without capture only integer counts explain; with it, the metric's reason and the broken claim.
    """
    texts = {
        "counts": "2 of 5 claims unsupported",
        "claims": '2 of 5 claims unsupported; "Bees sleep."',
        "all": '2 of 5 claims unsupported; a reason; "Bees sleep."',
    }
    emitter(**options).emit(make_evaluation(**CHANGES), anchor)
    key = "gen_ai.evaluation.explanation"
    assert texts[span] == _by_name(captured.spans[-1].events)["broken"].attributes[key]
    assert texts[log] == _by_name(captured.logs)["broken"].attributes[key]


def test_an_explanation_is_redacted_whole_and_then_cut(emitter, captured, make_evaluation, anchor):
    """
    A secret that the cut would halve is gone before the cut.
    """
    long = MetricResult("m", 0.1, "x" * 1020 + "SECRET-TOKEN", judge="claude")
    made = emitter(capture_spans=True, redact=lambda text: text.replace("SECRET-TOKEN", "***"))
    made.emit(make_evaluation(results={"m": long}, breached=()), anchor)
    text = captured.spans[-1].events[0].attributes["gen_ai.evaluation.explanation"]
    assert ("x" * 1020 + "***", 1023) == (text, len(text))
    longer = MetricResult("m", 0.1, "y" * 5000, judge="claude")
    made.emit(make_evaluation(results={"m": longer}, breached=()), anchor)
    assert "y" * 1024 == captured.spans[-1].events[0].attributes["gen_ai.evaluation.explanation"]


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"unsupported": 2, "claims": 5}, "2 of 5 claims unsupported"),
        ({"not_used": 0, "contexts": 1}, "0 of 1 contexts not_used"),
        ({"unsupported": 2}, ""),
        ({"unsupported": 2, "claims": 5, "more": 1}, ""),
        ({"unsupported": 2.0, "claims": 5}, ""),
        ({"unsupported": True, "claims": 5}, ""),
        ({"unsupported": 2, 5: 5}, ""),
        ({"unsupported": 2, "Bees sleep in May. They do!": 5}, ""),
        ({"unsupported": 2, "w" * 41: 5}, ""),
        (None, ""),
        ("2 of 5", ""),
    ],
)
def test_only_two_integers_under_two_words_are_counts(counts, words):
    """
    Anything else in a metric's details might be text of the request, and stays.
    """
    assert words == counted(counts)
