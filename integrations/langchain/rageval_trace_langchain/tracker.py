"""
What LangChain's events say about a request, and when it has ended.

Every method is called on the application's own thread or task; what it raises, the handler above catches.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from opentelemetry.trace import Span

from rageval_trace.live.capture import OVERRIDES, Limits, build
from rageval_trace.live.documents import DocumentKeys, DocumentReader
from rageval_trace.live.monitor import Monitor
from rageval_trace.live.runs import CHAIN, LLM, RETRIEVER, Request, Retrieval, Run, Runs
from rageval_trace.telemetry.anchor import Anchor
from rageval_trace_langchain import convert

__all__ = ["UNIT_TAG", "Tracker"]

UNIT_TAG: Final = "rageval:unit"
_CONVERSATION_KEYS: Final = ("thread_id", "session_id", "conversation_id")
_OPENINFERENCE: Final = "openinference.instrumentation.langchain"


class Tracker:
    """
    Follow runs to their end, and hand each request that ended to the monitor.

    Args:
        monitor: Takes what ended.
        keys: Where documents keep their ids, scores, sources and timestamps.
    """

    def __init__(self, monitor: Monitor, keys: DocumentKeys) -> None:
        settings = monitor.settings
        count = monitor.tally.add
        self._monitor = monitor
        self._sampler = monitor.sampler
        self._reader = DocumentReader(keys, max_chars=settings.max_chars, count=count)
        self._limits = Limits(settings.max_contexts, settings.max_chars, count)
        self.runs = Runs(max_requests=settings.max_runs, ttl_s=settings.run_ttl_s, give_up=self._give_up, count=count)

    # Starts

    def chain_started(
        self,
        inputs: Any,
        run_id: UUID,
        parent_id: UUID | None,
        tags: Sequence[str] | None,
        metadata: Mapping[str, Any] | None,
        run_type: str | None,
    ) -> None:
        """
        Begin a request, or note the variables of a prompt: the only place where some chains show their context.
        """
        run = self._start(CHAIN, run_id, parent_id, tags, metadata)
        if run is None:
            return
        request = run.request
        if run is request.root:
            if not _is_placeholder(inputs):
                request.question = convert.question_of(inputs)
        elif run_type == "prompt" and not request.retrievals and not run.inside & RETRIEVER:
            self._see_prompt(request, inputs)

    def retriever_started(
        self,
        query: Any,
        run_id: UUID,
        parent_id: UUID | None,
        tags: Sequence[str] | None,
        metadata: Mapping[str, Any] | None,
    ) -> None:
        """
        Note the query of an outermost retriever; those below one are its parts.
        """
        run = self._start(RETRIEVER, run_id, parent_id, tags, metadata)
        if run is None or run.inside & RETRIEVER:
            return
        node, step = _graph_place(metadata) if not run.inside else (None, None)
        run.data = Retrieval("retriever", run, query if isinstance(query, str) else None, node=node, step=step)
        if run is run.request.root and isinstance(query, str):
            run.request.question = query

    def tool_started(
        self,
        name: str | None,
        run_id: UUID,
        parent_id: UUID | None,
        tags: Sequence[str] | None,
        metadata: Mapping[str, Any] | None,
        text: Any,
    ) -> None:
        """
        Note a tool's name and what it was asked.
        """
        run = self._start(TOOL, run_id, parent_id, tags, metadata)
        if run is not None and not run.inside & RETRIEVER:
            run.data = Retrieval("tool", run, text if isinstance(text, str) else None)

    def llm_started(
        self,
        run_id: UUID,
        parent_id: UUID | None,
        tags: Sequence[str] | None,
        metadata: Mapping[str, Any] | None,
        messages: Any,
    ) -> None:
        """
        Note that a model is at work, which tells a stream that was closed from one that ended.
        """
        run = self._start(LLM, run_id, parent_id, tags, metadata)
        if run is not None and not run.inside & RETRIEVER:
            run.data = True
            run.request.open_llms += 1

    # Ends

    def chain_ended(self, outputs: Any, run_id: UUID, inputs: Any) -> None:
        """
        End the request, or look for documents in what a step of it returned.
        """
        run = self.runs.live.get(run_id)
        if run is None:
            return
        request = run.request
        if run is request.root:
            self._finish(request, outputs=outputs, inputs=inputs)
        elif request.sampled is not False and not run.inside & RETRIEVER:
            self._see_output(request, run, outputs)
