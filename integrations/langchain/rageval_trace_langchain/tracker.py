"""
What LangChain's events say about a request, and when it has ended.

Every method is called on the application's own thread or task; what it raises, the handler above catches.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from langchain_core.runnables.config import var_child_runnable_config
from opentelemetry.trace import Span

from rageval_trace.live.capture import OVERRIDES, Limits, build
from rageval_trace.live.documents import DocumentReader
from rageval_trace.live.levers import Levers
from rageval_trace.live.monitor import Monitor
from rageval_trace.live.runs import CHAIN, RETRIEVER, TOOL, Request, Retrieval, Run, Runs
from rageval_trace.telemetry.anchor import Anchor, SpanLookup
from rageval_trace_langchain import convert
from rageval_trace_langchain.citations import citations_in_content, citations_in_output
from rageval_trace_langchain.claims import CLAIMS

__all__ = ["UNIT_TAG", "Tracker"]

UNIT_TAG: Final = "rageval:unit"
_CONVERSATION_KEYS: Final = ("thread_id", "session_id", "conversation_id")
_OPENINFERENCE: Final = "openinference.instrumentation.langchain"
# Where nothing is scored, no score asks which span it belongs to.
_NOWHERE: Final = Anchor()
# BaseExceptions by which an application stops its own work.
_CANCELLED: Final = (asyncio.CancelledError, KeyboardInterrupt, SystemExit)


class Tracker:
    """
    Follow runs to their end, and hand each request that ended to the monitor.

    Args:
        monitor: Takes what ended.
        levers: What the user told of the application.
    """

    def __init__(self, monitor: Monitor, levers: Levers) -> None:
        settings = monitor.settings
        count = monitor.tally.add
        self._monitor = monitor
        self._levers = levers
        self._sampler = monitor.sampler
        self._reader = DocumentReader(levers.keys, max_chars=settings.max_chars, count=count)
        self._limits = Limits(settings.max_contexts, settings.max_chars, count)
        self._automatic = False
        self.runs = Runs(max_requests=settings.max_runs, ttl_s=settings.run_ttl_s, give_up=self._give_up, count=count)

    def yield_to_others(self) -> None:
        """
        Leave every request that another tracker follows to it.
        """
        self._automatic = True
        CLAIMS.watch(self._yield)

    def start(
        self,
        kind: int,
        run_id: UUID,
        parent_id: UUID | None,
        tags: Sequence[str] | None,
        metadata: Mapping[str, Any] | None,
    ) -> Run | None:
        """
        Take up a run.

        The root of a request is a run whose parent is unknown, not one without a parent: a handler may sit on a part
        of a chain, and LangSmith gives parents that no handler ever sees.

        Returns:
            The run; None when nothing of it is wanted.
        """
        live = self.runs.live
        key = getattr(run_id, "int", run_id)
        parent = None if parent_id is None else live.get(getattr(parent_id, "int", parent_id))
        tagged = tags is not None and UNIT_TAG in tags
        if parent is not None and parent.request.sampled is False and not (tagged and _is_unit(kind, parent)):
            # What is in no sample ought to cost next to nothing.
            if kind == RETRIEVER:
                parent.request.searched = True
            self.runs.alias(key, parent.request.root)
            return None
        known = live.get(key)
        if known is not None:
            self._started_again(known, tags)
            return None
        if parent is None:
            if parent_id is not None and self.runs.is_late(key, _key(parent_id)):
                return None
            surrounding = _surrounding_run()
            parent = None if surrounding is None else live.get(_key(surrounding))
            if parent is None and CLAIMS.watched and not self._automatic:
                CLAIMS.claim(run_id, parent_id or surrounding)
        if parent is None or (tagged and _is_unit(kind, parent)):
            request = self._new(kind, run_id, tags, unit=tagged)
            return None if request.sampled is False else self._begun(request, tags, metadata)
        if kind == RETRIEVER:
            parent.request.searched = True
        run = self.runs.child(key, parent, kind)
        if run is not None and run.request.seeking and _may_find(run.request):
            self._seek(run.request, child=True)
            return None if run.request.sampled is False else run
        return run

    def end(self, run_id: UUID) -> Run | None:
        """
        Take note that a run has ended.

        Returns:
            The run; None when nothing of its end is wanted.
        """
        key = getattr(run_id, "int", run_id)
        run = self.runs.live.get(key)
        if run is None:
            return None
        request = run.request
        if request.sampled is False:
            # Every run of such a request is known as its root.
            if key == request.key:
                self._finish(request)
            return None
        run.end()
        if request.seeking and _may_find(request):
            self._seek(request, child=run is not request.root)
        return run

    def chain_started(self, run: Run, inputs: Any, run_type: str | None) -> None:
        """
        Note the question, or the variables of a prompt: the only place where some chains show their context.
        """
        request = run.request
        if run is request.root:
            request.question = self._levers.question(inputs)
        elif run_type == "prompt" and not run.inside & RETRIEVER and not request.retrieved:
            contexts = convert.prompt_contexts(inputs, self._reader)
            if contexts and request.settle(self._sampler):
                request.add(Retrieval("prompt", run, contexts=contexts), alone=True)

    def retriever_started(self, run: Run, query: Any, metadata: Mapping[str, Any] | None) -> None:
        """
        Note the query of an outermost retriever; the retrievers below it are its parts.
        """
        if run.inside & RETRIEVER:
            return
        node, step = (None, None) if run.inside & TOOL else convert.graph_place(metadata)
        text = query if isinstance(query, str) else None
        run.data = Retrieval("retriever", run, text, node=node, step=step)
        if run is run.request.root:
            run.request.question = text

    def tool_started(self, run: Run, name: Any, text: Any) -> None:
        """
        Note what a tool was asked.
        """
        if not run.inside & RETRIEVER:
            source = "tool_text" if self._levers.is_retrieval_tool(name) else "tool"
            run.data = Retrieval(source, run, text if isinstance(text, str) else None)

    def chain_ended(self, run: Run, outputs: Any, inputs: Any) -> None:
        """
        End the request, or look for documents in what a step of it returned.
        """
        request = run.request
        if run is request.root:
            self._finish(request, outputs=outputs, inputs=inputs)
        elif not (outputs is None or isinstance(outputs, str) or run.inside & RETRIEVER):
            self._see_output(request, run, outputs)

    def retriever_ended(self, run: Run, documents: Any) -> None:
        """
        Keep what an outermost retriever found.
        """
        request = run.request
        retrieval = run.data
        if retrieval is not None and request.settle(self._sampler):
            retrieval.end(convert.contexts_of(documents, self._reader))
            request.add(retrieval)
        if run is request.root:
            self._finish(request)

    def tool_ended(self, run: Run, output: Any) -> None:
        """
        Keep the documents that a tool returned: as artifact, as they are, or as the text of a retrieval tool.
        """
        request = run.request
        if run.data is not None and request.sampled is not False:
            self._see_tool(request, run.data, output)
        if run is request.root:
            self._finish(request)

    def llm_ended(self, run: Run, response: Any) -> None:
        """
        Keep what a model answered, for requests whose own output tells no answer.
        """
        request = run.request
        if request.sampled is not False and not run.inside & RETRIEVER:
            said = convert.model_answer(response)
            if said is not None:
                request.answer = said.text
                request.citations = citations_in_content(said.content)
                request.response.update(said.facts)
        if run is request.root:
            self._finish(request, outputs=request.answer)

    def failed(self, run: Run, error: BaseException, inputs: Any) -> None:
        """
        Note a run that failed, or a graph that turns its flow by raising.
        """
        request = run.request
        flow = convert.control_flow(error)
        if flow is None:
            run.failed = True
        elif flow == "interrupt":
            request.interrupted = True
        if run is request.root:
            self._finish(request, inputs=inputs, error=error)

    def record_contexts(self, run_id: UUID, documents: Any) -> bool:
        """
        Take documents that the application itself names; False when the run is not known.
        """
        run = self.runs.live.get(_key(run_id))
        if run is None:
            return False
        request = run.request
        if request.settle(self._sampler):
            contexts = convert.contexts_of(documents, self._reader)
            request.add(Retrieval("explicit", None, contexts=contexts))
        return True

    def record_answer(self, run_id: UUID, text: Any) -> bool:
        """
        Take the answer that the application itself names; False when the run is not known.
        """
        run = self.runs.live.get(_key(run_id))
        if run is None:
            return False
        if run.request.sampled is not False:
            run.request.explicit_answer = convert.answer_of(text)
        return True

    def _new(self, kind: int, run_id: UUID, tags: Sequence[str] | None, *, unit: bool) -> Request:
        anchor = _NOWHERE if self._sampler.never else Anchor.begin()
        request = Request(run_id, kind, anchor, self._sampler, tags, key=_key(run_id))
        request.unit = unit
        if self._automatic and CLAIMS.holds(run_id):
            request.leave()
        self.runs.begin(request)
        return request

    def _begun(self, request: Request, tags: Sequence[str] | None, metadata: Mapping[str, Any] | None) -> Run | None:
        """
        Keep what the root of a request tells of it, and look for its span.
        """
        request.tags = tuple(tags or ())
        if metadata:
            request.overrides = {name: metadata[name] for name in OVERRIDES if name in metadata}
            for key in _CONVERSATION_KEYS:
                if isinstance(metadata.get(key), str):
                    request.response["conversation_id"] = metadata[key]
                    break
        if request.seeking:
            self._seek(request, child=False)
        return None if request.sampled is False else request.root

    def _started_again(self, known: Run, tags: Sequence[str] | None) -> None:
        """
        Tell a handler that is attached twice, and so hears everything twice, from two requests under one id.
        """
        request = known.request
        if known is request.root and tags is not request.token:
            request.starts += 1

    def _seek(self, request: Request, *, child: bool) -> None:
        anchor = request.anchor
        anchor.observe(_openinference_span(request.id), child=child)
        if anchor.found is not None:
            request.seeking = not anchor.settled
            request.settle(self._sampler)

    def _see_output(self, request: Request, run: Run, outputs: Any) -> None:
        if request.retrieved:
            return
        documents = convert.documents_in(outputs)
        if documents is not None and request.settle(self._sampler):
            contexts = convert.contexts_of(documents, self._reader)
            request.add(Retrieval("chain_output", run, contexts=contexts), alone=True)

    def _see_tool(self, request: Request, retrieval: Retrieval, output: Any) -> None:
        documents = convert.documents_in(getattr(output, "artifact", None)) or convert.documents_in(output)
        if documents is not None:
            retrieval.source = "tool"
        elif retrieval.source == "tool_text":
            text = convert.answer_of(output)
            documents = [text] if text else []
        if documents is not None and request.settle(self._sampler):
            retrieval.end(convert.contexts_of(documents, self._reader))
            request.add(retrieval)

    def _finish(
        self, request: Request, *, outputs: Any = None, inputs: Any = None, error: BaseException | None = None
    ) -> None:
        if not self.runs.end(request):
            return
        if CLAIMS.watched and not self._automatic:
            CLAIMS.release(request.id)
        if request.left:
            return
        if not request.settle(self._sampler):
            self._skip(request)
            return
        status = _status(request, error, streamed=inputs is not None)
        self._complete(request, outputs, inputs, failed=status in ("error", "cancelled"))
        self._monitor.submit(build(request, status, self._limits, sample_rate=self._sampler.rate))

    def _skip(self, request: Request) -> None:
        # Attached to every run, a handler sees much that never was RAG.
        rag = request.kind == CHAIN and (request.searched or not self._automatic)
        self._monitor.skip(request.anchor, seen=request.starts, rag=rag)

    def _complete(self, request: Request, outputs: Any, inputs: Any, *, failed: bool) -> None:
        """
        Fill in what only the end tells: a stream's input, the answer, the state that a resumed graph returns.
        """
        levers = self._levers
        if inputs is not None:
            request.question = levers.question(inputs) or request.question
        if request.question is None and isinstance(outputs, Mapping):
            request.question = convert.question_of(outputs)
        if request.kind in (RETRIEVER, TOOL) or failed:
            request.answer = None
        elif outputs is not None:
            request.answer = levers.answer(outputs, request.answer)
            request.citations = citations_in_output(outputs) or request.citations
        documents = levers.contexts(outputs)
        if documents is not None:
            request.add(Retrieval("explicit", None, contexts=convert.contexts_of(documents, self._reader)))
        elif not request.retrievals and request.kind == CHAIN:
            documents = convert.documents_in(outputs)
            if documents is not None:
                request.add(Retrieval("output", None, contexts=convert.contexts_of(documents, self._reader)))

    def _yield(self, run_id: Any) -> None:
        run = self.runs.live.get(_key(run_id))
        if run is not None:
            run.request.leave()

    def _give_up(self, request: Request) -> None:
        if not self._automatic:
            CLAIMS.release(request.id)
        if request.left:
            return
        if not request.settle(self._sampler):
            self._skip(request)
        else:
            self._monitor.submit(build(request, "evicted", self._limits, sample_rate=self._sampler.rate))


def _is_unit(kind: int, parent: Run) -> bool:
    """
    Return whether a run that bears `UNIT_TAG` is a request of its own, though it runs below another.

    Tags are inherited, so inside a unit all runs bear its tag.
    """
    return kind == CHAIN and not parent.request.unit and not parent.request.left


def _may_find(request: Request) -> bool:
    """
    Return whether looking for the request's span could tell anything new; asked at every event.
    """
    return request.anchor.moved or _OPENINFERENCE in sys.modules


def _key(run_id: Any) -> Hashable:
    """
    Return a run id's number, by which it is looked up: a UUID's hash is computed in Python each time.
    """
    key: Hashable = getattr(run_id, "int", run_id)
    return key


def _status(request: Request, error: BaseException | None, *, streamed: bool) -> str:
    if request.ambiguous:
        return "ambiguous"
    if request.interrupted or (error is not None and convert.control_flow(error) is not None):
        return "interrupted"
    if error is None:
        # A synchronous stream that is closed early ends well, but before the steps that it reads from.
        return "partial" if streamed and request.open_runs > 0 else "ok"
    if isinstance(error, GeneratorExit):
        return "partial"
    return "cancelled" if isinstance(error, _CANCELLED) else "error"


def _surrounding_run() -> Any:
    """
    Return the run that the caller is inside of; None outside of any.

    A fallback, and a step that writes its config by hand, begin runs without a parent in the midst of a request.
    """
    config = var_child_runnable_config.get()
    return getattr(config.get("callbacks"), "parent_run_id", None) if config else None


def _openinference_span(run_id: Any) -> SpanLookup | None:
    """
    Return how to ask OpenInference for its span of a run; None where it is not at work. It is never imported here.
    """
    module = sys.modules.get(_OPENINFERENCE)
    if module is None:
        return None
    instrumentor = module.LangChainInstrumentor()
    if getattr(instrumentor, "_tracer", None) is None:
        return None

    def look_up() -> Span | None:
        span: Span | None = instrumentor.get_span(run_id)
        return span

    return look_up
