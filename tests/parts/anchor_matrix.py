"""
Run a RAG chain beside one instrumentation, in every combination, and print where each evaluation landed.

    python anchor_matrix.py none|openinference|genai|traceloop

A program of its own, because instrumentations patch the framework for the rest of the process.
"""

from __future__ import annotations

import asyncio
import importlib
import itertools
import json
import sys
from contextlib import nullcontext
from contextvars import ContextVar

from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from langchain_core.tracers.context import register_configure_hook
from opentelemetry import trace
from rageval_trace_langchain import RagEvalHandler

from rageval_trace.testing import CapturedTelemetry

INSTRUMENTORS = {
    "openinference": ("openinference.instrumentation.langchain", "LangChainInstrumentor"),
    "genai": ("opentelemetry.instrumentation.genai.langchain", "LangChainInstrumentor"),
    "traceloop": ("opentelemetry.instrumentation.langchain", "LangchainInstrumentor"),
}
HOOK: ContextVar[RagEvalHandler | None] = ContextVar("hook", default=None)


class Shelf(BaseRetriever):
    """
    Find the same document, whatever is asked.
    """

    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(page_content="Wax melts at 63 degrees.")]


async def _drain(chunks):
    return [chunk async for chunk in chunks]


CALLS = {
    "invoke": lambda chain, **config: chain.invoke("q", **config),
    "ainvoke": lambda chain, **config: asyncio.run(chain.ainvoke("q", **config)),
    "stream": lambda chain, **config: list(chain.stream("q", **config)),
    "astream": lambda chain, **config: asyncio.run(_drain(chain.astream("q", **config))),
    "batch": lambda chain, **config: chain.batch(["q"], **config),
    "abatch": lambda chain, **config: asyncio.run(chain.abatch(["q"], **config)),
}


def rag_chain():
    """
    Return retriever, prompt, model and parser in a row.
    """
    prompt = ChatPromptTemplate.from_template("{context} {question}")
    model = FakeListChatModel(responses=["Wax melts at 63 degrees."])
    return {"context": Shelf(), "question": RunnablePassthrough()} | prompt | model | StrOutputParser()


def run(captured, call, attach, user):
    """
    Run one combination and return where its evaluation landed.
    """
    captured.clear()
    handler = RagEvalHandler(pipeline="bot", **captured.providers)
    chain, config = rag_chain(), {}
    if attach == "with_config":
        chain = chain.with_config(callbacks=[handler])
    elif attach == "call":
        config = {"config": {"callbacks": [handler]}}
    else:
        HOOK.set(handler)
    tracer = captured.tracer_provider.get_tracer("app")
    with tracer.start_as_current_span("user") if user else nullcontext():
        before = trace.get_current_span()
        CALLS[call](chain, **config)
        unchanged = before is trace.get_current_span()
    HOOK.set(None)
    return {"call": call, "attach": attach, "user": user, "current_unchanged": unchanged, **landed(captured.spans)}


def landed(spans):
    """
    Return what an evaluation's place is judged by.
    """
    by_id = {span.span_id: span for span in spans}
    evaluations = [span for span in spans if span.name == "evaluation bot"]
    parent = by_id.get(evaluations[0].parent_id)
    above = by_id.get(parent.parent_id) if parent is not None else None
    return {
        "evaluations": len(evaluations),
        "traces": len({span.trace_id for span in spans}),
        "parent": parent.name if parent is not None else None,
        "parent_scope": parent.scope if parent is not None else None,
        "above": above.name if above is not None else None,
        "above_is_root": parent is not None and (parent.parent_id is None or above is not None),
        "linked_to_parent": [link[1] for link in evaluations[0].links] == [evaluations[0].parent_id],
        "workflows_of_ours": len([span for span in spans if span.name == "invoke_workflow bot"]),
    }


def main(instrumentation):
    """
    Run every combination beside one instrumentation.
    """
    captured = CapturedTelemetry()
    trace.set_tracer_provider(captured.tracer_provider)
    if instrumentation in INSTRUMENTORS:
        module, name = INSTRUMENTORS[instrumentation]
        getattr(importlib.import_module(module), name)().instrument()
    register_configure_hook(HOOK, inheritable=True)
    combinations = itertools.product(CALLS, ("with_config", "call", "hook"), (True, False))
    return [run(captured, *combination) for combination in combinations]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])))
