"""
Run a query beside another instrumentation and print where its evaluation went; a process of its own, because
instrumentations patch for good.

    python llama_anchors.py none|openinference before|after|without

*after*: our handler is installed after the other one; *without*: it is not.
"""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from contextlib import nullcontext
from typing import Any

import llama_parts as parts
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from rageval_trace_llama_index import RagEvalHandler


def instrument(name: str) -> None:
    """
    Switch the other instrumentation on.
    """
    if name == "openinference":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

            LlamaIndexInstrumentor().instrument()


def ask(streaming: bool, asynchronous: bool) -> str:
    """
    Return what the user reads.
    """
    engine = parts.engine(streaming=streaming)
    if not asynchronous:
        response = engine.query(parts.QUESTION)
        return "".join(response.response_gen) if streaming else str(response)

    async def read() -> str:
        response = await engine.aquery(parts.QUESTION)
        if not streaming:
            return str(response)
        return "".join([text async for text in response.async_response_gen()])

    return asyncio.run(read())


def main(other: str, order: str) -> None:
    """
    Print one line of JSON for each way of calling.
    """
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    handler = RagEvalHandler()
    if order == "before":
        handler.install()
    instrument(other)
    if order == "after":
        handler.install()
    for user in (False, True):
        for asynchronous in (False, True):
            for streaming in (False, True):
                exporter.clear()
                with provider.get_tracer("app").start_as_current_span("user") if user else nullcontext():
                    text = ask(streaming, asynchronous)
                handler.flush()
                told = {"user": user, "async": asynchronous, "streaming": streaming, "text": text}
                print(json.dumps({**told, **describe(exporter.get_finished_spans())}), flush=True)  # noqa: T201 - the test reads it


def describe(spans: Any) -> dict[str, Any]:
    """
    Return the evaluation's parent and the shape of the trace, in plain values.
    """
    by_id = {span.context.span_id: span for span in spans}
    evaluations = [span for span in spans if span.name.startswith("evaluation")]
    return {
        "parents": [by_id[span.parent.span_id].name for span in evaluations],
        "links": [by_id[link.context.span_id].name for span in evaluations for link in span.links],
        "traces": len({span.context.trace_id for span in spans}),
        "roots": [span.name for span in spans if span.parent is None],
        "theirs": len([span for span in spans if "llama_index" in span.instrumentation_scope.name]),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
