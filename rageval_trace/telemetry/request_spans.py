"""
Spans of the request itself, built after it from recorded times, where nobody else drew them.

Nothing is attached while the request runs, so the application's own context stays untouched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry.trace import SpanContext, SpanKind, set_span_in_context

from rageval_trace.models import Context
from rageval_trace.telemetry import names
from rageval_trace.telemetry.attributes import verdict_attributes
from rageval_trace.telemetry.content import Content, plain
from rageval_trace.telemetry.payload import EmitOptions, Evaluation, RetrievalSpan
from rageval_trace.telemetry.providers import own_context
from rageval_trace.telemetry.results import finite

if TYPE_CHECKING:
    from opentelemetry.context import Context as TraceContext
    from opentelemetry.trace import Tracer

__all__ = ["build_request_spans"]

MAX_RETRIEVALS = 50
MAX_DOCUMENTS = 20


def build_request_spans(
    tracer: Tracer, parent: TraceContext, evaluation: Evaluation, options: EmitOptions, content: Content
) -> SpanContext | None:
    """
    Build `invoke_workflow` with its retrievals below *parent*.

    Returns:
        Its context, which is unsampled if a sampler dropped it; None when no tracer made one.
    """
    allowed = content if options.capture_spans else None
    attributes = _request_attributes(evaluation, allowed)
    if options.annotate_parent:
        attributes.update(verdict_attributes(evaluation))
    name = names.SPAN_REQUEST.format(pipeline=plain(evaluation.pipeline))
    span = tracer.start_span(name, parent, SpanKind.INTERNAL, attributes, start_time=evaluation.started_ns)
    if span.is_recording():
        inside = set_span_in_context(span, parent)
        for retrieval in evaluation.retrievals[:MAX_RETRIEVALS]:
            tracer.start_span(
                names.SPAN_RETRIEVAL,
                inside,
                SpanKind.CLIENT,
                _retrieval_attributes(retrieval, allowed),
                start_time=retrieval.started_ns,
            ).end(retrieval.ended_ns)
    context = own_context(span)
    span.end(evaluation.ended_ns or None)
    return context


def _request_attributes(evaluation: Evaluation, content: Content | None) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        names.OPERATION_NAME: names.OPERATION_WORKFLOW,
        names.OI_SPAN_KIND: names.OI_CHAIN,
        names.WORKFLOW_NAME: plain(evaluation.pipeline),
    }
    if evaluation.conversation_id:
        attributes[names.CONVERSATION_ID] = plain(evaluation.conversation_id)
    record = evaluation.record
    if content is not None and record is not None:
        _put(attributes, names.OI_INPUT, content.text(record.question) if content.inputs else None)
        _put(attributes, names.OI_OUTPUT, content.text(record.answer) if content.outputs else None)
    return attributes


def _retrieval_attributes(retrieval: RetrievalSpan, content: Content | None) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    if content is not None and content.inputs and content.outputs:
        for index, document in enumerate(retrieval.documents[:MAX_DOCUMENTS]):
            _add_document(attributes, index, document, content)
        if retrieval.documents:
            attributes[names.RETRIEVAL_DOCUMENTS] = content.documents(retrieval.documents[:MAX_DOCUMENTS])
    if content is not None and content.inputs:
        query = content.text(retrieval.query)
        _put(attributes, names.OI_INPUT, query)
        _put(attributes, names.RETRIEVAL_QUERY, query)
    attributes[names.OPERATION_NAME] = names.OPERATION_RETRIEVAL
    attributes[names.OI_SPAN_KIND] = names.OI_RETRIEVER
    _put(attributes, names.RETRIEVAL_TOP_K, retrieval.top_k)
    return attributes


def _add_document(attributes: dict[str, Any], index: int, document: Context, content: Content) -> None:
    values = {
        "id": content.text(None if document.generated_id else document.id),
        "score": finite(document.score),
        "content": content.text(document.text),
        "metadata": content.metadata(document),
    }
    for field, value in values.items():
        _put(attributes, names.OI_DOCUMENT.format(index=index, field=field), value)


def _put(attributes: dict[str, Any], name: str, value: object) -> None:
    if value is not None:
        attributes[name] = value
