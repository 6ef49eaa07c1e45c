"""
Spans of the request itself, built from recorded times where nobody else drew them.
"""

from __future__ import annotations

import json
import math

import pytest

from rageval_trace.models import Context, EvalRecord
from rageval_trace.telemetry.anchor import Anchor


@pytest.fixture
def tracer(captured):
    return captured.tracer_provider.get_tracer("app")


@pytest.fixture
def spans(captured):
    """
    Give a function that returns the caught spans by name.
    """
    return lambda: {span.name: span for span in captured.spans}


def test_the_tree_below_the_users_span(emitter, captured, make_evaluation, make_retrieval, tracer, spans):
    """
    Workflow below the outer span, retrieval and evaluation below the workflow, which the Link names.
    """
    with tracer.start_as_current_span("user"):
        anchor = Anchor.begin()
    emitter().emit(make_evaluation(retrievals=(make_retrieval(),)), anchor)
    user, workflow, retrieval, evaluation = [
        spans()[name] for name in ("user", "invoke_workflow support-bot", "retrieval", "evaluation support-bot")
    ]
    assert user.span_id == workflow.parent_id
    assert {workflow.span_id} == {retrieval.parent_id, evaluation.parent_id}
    assert {user.trace_id} == {workflow.trace_id, retrieval.trace_id, evaluation.trace_id}
    assert ((workflow.trace_id, workflow.span_id, {"rageval.link": "evaluated"}),) == evaluation.links
    assert ("INTERNAL", "CLIENT") == (workflow.kind, retrieval.kind)
    assert {(workflow.trace_id, workflow.span_id)} == {(log.trace_id, log.span_id) for log in captured.logs}


def test_times_are_those_of_the_request(emitter, make_evaluation, make_retrieval, spans):
    """
    Spans carry the recorded times, not those of their making.
    """
    evaluation, retrieval = make_evaluation(retrievals=(make_retrieval(),)), make_retrieval()
    emitter().emit(evaluation, Anchor())
    workflow, inner = spans()["invoke_workflow support-bot"], spans()["retrieval"]
    assert (evaluation.started_ns, evaluation.ended_ns) == (workflow.started_ns, workflow.ended_ns)
    assert (retrieval.started_ns, retrieval.ended_ns) == (inner.started_ns, inner.ended_ns)
    assert workflow.parent_id is None


def test_attributes_without_capture(emitter, make_evaluation, make_retrieval, spans):
    """
    By default only kinds, names and numbers.
    """
    emitter().emit(make_evaluation(retrievals=(make_retrieval(),)), Anchor())
    workflow = {
        "gen_ai.operation.name": "invoke_workflow",
        "openinference.span.kind": "CHAIN",
        "gen_ai.workflow.name": "support-bot",
    }
    retrieval = {
        "gen_ai.operation.name": "retrieval",
        "openinference.span.kind": "RETRIEVER",
        "gen_ai.retrieval.top_k": 4,
    }
    assert workflow == spans()["invoke_workflow support-bot"].attributes
    assert retrieval == spans()["retrieval"].attributes


def test_top_k_and_conversation_only_if_known(emitter, make_evaluation, make_retrieval, spans):
    """
    An unknown top_k is left out; a known conversation is named.
    """
    evaluation = make_evaluation(retrievals=(make_retrieval(top_k=None),), conversation_id="c1")
    emitter().emit(evaluation, Anchor())
    assert "gen_ai.retrieval.top_k" not in spans()["retrieval"].attributes
    assert "c1" == spans()["invoke_workflow support-bot"].attributes["gen_ai.conversation.id"]


def test_attributes_under_span_capture(emitter, make_evaluation, make_retrieval, spans):
    """
    Question, answer, query and documents, in the form of both conventions.
    """
    emitter(capture_spans=True).emit(make_evaluation(retrievals=(make_retrieval(),)), Anchor())
    workflow, retrieval = spans()["invoke_workflow support-bot"], spans()["retrieval"]
    assert ("When do bees sleep?", "Bees sleep in May.") == (
        workflow.attributes["input.value"],
        workflow.attributes["output.value"],
    )
    documents = json.loads(retrieval.attributes["gen_ai.retrieval.documents"])
    assert [{"id": "doc-1", "score": 0.9, "timestamp": "2023-11-14T22:13:20+00:00"}, {}] == documents
    shown = {key: value for key, value in retrieval.attributes.items() if not key.startswith("gen_ai.retrieval.doc")}
    assert {
        "retrieval.documents.0.document.id": "doc-1",
        "retrieval.documents.0.document.score": 0.9,
        "retrieval.documents.0.document.content": "Bees sleep.",
        "retrieval.documents.0.document.metadata": '{"timestamp": "2023-11-14T22:13:20+00:00"}',
        "retrieval.documents.1.document.content": "No id.",
        "input.value": "sleep of bees",
        "gen_ai.retrieval.query.text": "sleep of bees",
        "gen_ai.operation.name": "retrieval",
        "openinference.span.kind": "RETRIEVER",
        "gen_ai.retrieval.top_k": 4,
    } == shown


@pytest.mark.parametrize(
    ("hidden", "kept"),
    [
        ({"hide_inputs": True}, {"output.value"}),
        ({"hide_outputs": True}, {"input.value", "gen_ai.retrieval.query.text"}),
        ({"hide_inputs": True, "hide_outputs": True}, set()),
    ],
)
def test_hidden_inputs_and_outputs_stay(emitter, captured, make_evaluation, make_retrieval, hidden, kept):
    """
    Documents are an output of the retriever and an input of the model: either flag keeps them here.
    """
    emitter(capture_spans=True, **hidden).emit(make_evaluation(retrievals=(make_retrieval(),)), Anchor())
    content = ("input.value", "output.value", "gen_ai.retrieval.query", "gen_ai.retrieval.doc", "retrieval.documents")
    found = {key for span in captured.spans for key in span.attributes if key.startswith(content)}
    assert kept == found


def test_event_capture_alone_puts_nothing_on_spans(emitter, captured, make_evaluation, make_retrieval):
    """
    EVENT_ONLY is about log events.
    """
    emitter(capture_events=True).emit(make_evaluation(retrievals=(make_retrieval(),)), Anchor())
    keys = {key for span in captured.spans for key in span.attributes}
    assert not [key for key in keys if key.endswith(".value") or "document" in key or "query" in key]


def test_documents_and_values_are_bounded(emitter, make_evaluation, make_retrieval, spans):
    """
    At most 20 documents, 2000 bytes a value, and JSON that is never cut in the middle.
    """
    documents = tuple([Context(f"id-{n}-{'x' * 150}", "ü" * 5000, 0.5, metadata={"a": "b" * 3000}) for n in range(30)])
    record = EvalRecord("q" * 5000, documents, "a" * 5000)
    evaluation = make_evaluation(record=record, retrievals=(make_retrieval(query="ü" * 5000, documents=documents),))
    emitter(capture_spans=True).emit(evaluation, Anchor())
    retrieval, workflow = spans()["retrieval"], spans()["invoke_workflow support-bot"]
    assert len(retrieval.attributes) <= 128
    for span in (retrieval, workflow):
        sizes = [len(value.encode()) for value in span.attributes.values() if isinstance(value, str)]
        assert 2000 == max(sizes)
    assert 20 == len([key for key in retrieval.attributes if key.endswith("document.content")])
    assert not [key for key in retrieval.attributes if key.endswith("document.metadata")]
    assert 1 < len(json.loads(retrieval.attributes["gen_ai.retrieval.documents"])) < 20


@pytest.mark.parametrize("score", [math.nan, math.inf, "high", object()])
def test_a_retrievers_score_that_is_no_number_is_left_out(emitter, make_evaluation, make_retrieval, spans, score):
    """
    Whatever a retriever calls a score, the JSON stays valid and the span is sent.
    """
    documents = (Context("doc-1", "text", score),)
    emitter(capture_spans=True).emit(make_evaluation(retrievals=(make_retrieval(documents=documents),)), Anchor())
    attributes = spans()["retrieval"].attributes
    assert [{"id": "doc-1"}] == json.loads(attributes["gen_ai.retrieval.documents"])
    assert "retrieval.documents.0.document.score" not in attributes


def test_at_most_fifty_retrievals(emitter, captured, make_evaluation, make_retrieval):
    """
    A corrective loop without end does not fill the trace.
    """
    emitter().emit(make_evaluation(retrievals=(make_retrieval(),) * 60), Anchor())
    assert 50 == len([span for span in captured.spans if span.name == "retrieval"])


@pytest.mark.parametrize(
    ("mode", "instrumented", "built"),
    [
        ("auto", False, True),
        ("auto", True, False),
        ("always", True, True),
        ("never", False, False),
    ],
)
def test_when_they_are_built(emitter, make_evaluation, tracer, spans, mode, instrumented, built):
    """
    `auto` draws only where nobody else does.
    """
    anchor = Anchor.begin()
    if instrumented:
        with tracer.start_as_current_span("theirs"):
            anchor.observe(child=True)
    emitter(spans=mode).emit(make_evaluation(), anchor)
    assert built == ("invoke_workflow support-bot" in spans())


def test_a_request_whose_time_is_not_known_has_no_span(emitter, captured, make_evaluation):
    """
    Times are never made up.
    """
    emitter(spans="always").emit(make_evaluation(started_ns=0), Anchor())
    assert ["evaluation support-bot"] == [span.name for span in captured.spans]


def test_a_later_evaluation_joins_the_same_request_span(emitter, captured, make_evaluation):
    """
    A judge's evaluation of the same request draws no second workflow.
    """
    anchor, made = Anchor(), emitter(spans="always")
    first = made.emit(make_evaluation(), anchor)
    second = made.emit(make_evaluation(judge="claude"), anchor)
    workflow = [span for span in captured.spans if span.name == "invoke_workflow support-bot"]
    evaluations = [span for span in captured.spans if span.name == "evaluation support-bot"]
    assert [workflow[0].span_id] * 2 == [span.parent_id for span in evaluations]
    assert [first.span_id, second.span_id] == [int(span.span_id, 16) for span in evaluations]
    assert 1 == len(workflow)


def test_annotate_parent_marks_our_own_request_span(emitter, make_evaluation, spans):
    """
    The span that we build is given the verdict as it is built.
    """
    emitter(annotate_parent=True).emit(make_evaluation(), Anchor())
    attributes = spans()["invoke_workflow support-bot"].attributes
    assert ("fail", "groundedness", 0.5) == (
        attributes["rageval.verdict"],
        attributes["rageval.weakest"],
        attributes["rageval.weakest_score"],
    )
