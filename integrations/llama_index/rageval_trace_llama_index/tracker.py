"""
What the calls of a pipeline say about a request, and when it has ended; the same for both of LlamaIndex's surfaces.

Every method is called on the application's own thread or task; what it raises, its caller catches.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from queue import Empty, SimpleQueue
from typing import Any, Final

from rageval_trace.live.capture import OVERRIDES, Limits, build
from rageval_trace.live.documents import DocumentReader
from rageval_trace.live.levers import Levers
from rageval_trace.live.monitor import Monitor
from rageval_trace.live.runs import REPLACED, RETRIEVER, Retrieval, Run, Runs
from rageval_trace.live.sampling import Sampler
from rageval_trace.live.worker import settle_at_exit
from rageval_trace.telemetry.anchor import Anchor, SpanLookup
from rageval_trace_llama_index import convert, streams
from rageval_trace_llama_index.nodes import contexts_of
from rageval_trace_llama_index.scope import CHAT, GROUP, QUERY, TRACE, WORKFLOW, Scope, Step

__all__ = ["LABELS", "Tracker"]

LABELS: Final = "rageval.tags"
"""The instrumentation tag that holds a request's labels, for rules such as `tag:vip`."""

_CONVERSATION_KEYS: Final = ("session_id", "thread_id", "conversation_id")
_EVERY: Final = Sampler(1.0)
# Rankings are looked at this far down; contexts, less far.
_MAX_NODES: Final = 1_000
# A retriever's own list, and what stands for it further on.
_LATER_FORMS: Final = frozenset({"response", "synthesizer", "tool", "tool_text"})


class Tracker:
    """
    Follow requests to their end, and hand each that ended to the monitor.

    Args:
        monitor: Takes what ended.
        levers: What the user told of the application.
        nested: Report the queries inside a request as records of a pipeline of their own, too.
    """

    def __init__(self, monitor: Monitor, levers: Levers, *, nested: bool) -> None:
        settings = monitor.settings
        count = monitor.tally.add
        self._monitor = monitor
        self._levers = levers
        self._nested = nested
        self._sampler = monitor.sampler
        self._reader = DocumentReader(levers.keys, max_chars=settings.max_chars, count=count)
        self._limits = Limits(settings.max_contexts, settings.max_chars, count)
        self.max_chars = settings.max_chars
        self._endings: streams.Endings = SimpleQueue()
        self.runs = Runs(max_requests=settings.max_runs, ttl_s=settings.run_ttl_s, give_up=self._give_up, count=count)
        settle_at_exit(self)

    def begin(self, id: Hashable, kind: int, tags: Mapping[str, Any] | None, lookup: SpanLookup | None) -> Scope:
        """
        Take up a request.

        Args:
            id: The outermost call's.
            kind: What that is.
            tags: The user's own words about it; see `live.capture.OVERRIDES`.
            lookup: Asks an instrumentation for its span of this call.
        """
        self.settle()
        scope = Scope(id, kind, _anchor(lookup), self._sampler)
        if tags and scope.sampled is not False:
            scope.overrides = {name: tags[name] for name in OVERRIDES if name in tags}
            scope.tags = _labels(tags.get(LABELS))
            for key in _CONVERSATION_KEYS:
                if isinstance(tags.get(key), str):
                    scope.response["conversation_id"] = tags[key]
                    break
        self.runs.begin(scope)
        if scope.anchor.found is not None:
            scope.seeking = False
        return scope

    def seek(self, scope: Scope, lookup: SpanLookup | None, *, child: bool) -> None:
        """
        Look for the span that stands for the request.
        """
        anchor = scope.anchor
        anchor.observe(lookup, child=child)
        if anchor.found is not None:
            scope.seeking = False
            scope.settle(self._sampler)

    def start_question(self, event: Any) -> str | None:
        """
        Return the question in a workflow's start event, as the user reads it or as usual.
        """
        return self._levers.question(event)

    def retrieved(self, scope: Scope, retrieval: Retrieval, nodes: Any) -> None:
        """
        Keep what a retriever found, as it found it.
        """
        if scope.settle(self._sampler):
            retrieval.end(contexts_of(self._first(nodes), self._reader))
            scope.add(retrieval)

    def synthesis_ended(self, run: Run, nodes: Any, result: Any, *, failed: bool) -> None:
        """
        Keep what an answer was written from, where its response will not tell: it failed, or there was nothing.
        """
        scope: Scope = run.request  # type: ignore[assignment]
        if scope.sampled is False or not isinstance(nodes, (list, tuple)):
            return
        around = _scope_around(run)
        if failed or not nodes:
            self._stands_for(scope, around, "synthesizer", nodes)
        elif not run.inside & (QUERY | CHAT):
            self._stands_for(scope, around, "response", convert.sources_of(result) or nodes)
            if scope.kind & WORKFLOW:
                self.listen(scope, result)

    def engine_ended(self, run: Run, result: Any) -> None:
        """
        Keep what a query or chat engine inside a request answered from; its streamed answer too, where nothing around
        it does.
        """
        scope: Scope = run.request  # type: ignore[assignment]
        if not scope.settle(self._sampler):
            return
        nodes = convert.sources_of(result)
        if self._nested and run.kind & QUERY:
            self._report_nested(scope, run, result, nodes)
        if nodes:
            self._stands_for(scope, run, "response", nodes)
        if scope.kind & WORKFLOW and not run.inside & (QUERY | CHAT):
            self.listen(scope, result)

    def agent_ended(self, run: Run, result: Any) -> None:
        """
        Keep what an agent's tools returned: the union of it is what the agent answered from.
        """
        scope: Scope = run.request  # type: ignore[assignment]
        outputs = convert.tool_outputs(result)
        if not outputs or not scope.settle(self._sampler):
            return
        nodes = [node for _, found, _ in outputs for node in found]
        texts = [text for name, found, text in outputs if not found and self._levers.is_retrieval_tool(name)]
        if nodes:
            self._stands_for(scope, run, "tool", nodes)
        if texts:
            self._add(scope, run, "tool" if nodes else "tool_text", texts)

    def responded(self, scope: Scope, response: Any) -> None:
        """
        Keep what a response inside a legacy trace says; the outermost one ends last and so has the last word.
        """
        if not scope.settle(self._sampler):
            return
        streamed = convert.stream_of(response) is not None
        scope.answer = None if streamed else self._levers.answer(response, scope.answer)
        nodes = convert.sources_of(response)
        if nodes:
            self._stands_for(scope, scope.root, "response", nodes)
        self.listen(scope, response)

    def listen(self, scope: Scope, result: Any) -> None:
        """
        Hear the answer that a response will stream.
        """
        response = convert.stream_of(result)
        if response is None or scope.sampled is False:
            return
        self.settle()
        # A workflow may hand on the very stream that a query engine inside it returned.
        if id(streams.generator_of(response)) in scope.streams or streams.is_spent(response):
            return
        listener = streams.Listener(scope, self.max_chars + 1, self._stream_ended, self._endings)
        if streams.wrap(response, listener):
            scope.streams.add(listener.key)

    def chat_written(self, scope: Scope, key: int, text: str | None) -> None:
        """
        Take a chat answer that was written to its end, or failed to be.
        """
        scope.written[key] = text
        if scope.chat == key:
            self._complete(scope)

    def end(self, scope: Scope, result: Any = None, error: BaseException | None = None) -> None:
        """
        End a request's outermost call; what it streams may still be to come.
        """
        if scope.sampled is False or not self._wanted(scope):
            self._drop(scope)
            return
        if error is not None:
            scope.status = "cancelled" if isinstance(error, streams.CANCELLED) else "error"
        elif result is None and scope.kind & WORKFLOW:
            scope.status = "cancelled"  # the user cancelled it, which is a normal exit to LlamaIndex
        elif result is not None:
            self._read(scope, result)
        scope.returned = True
        if scope.answer is not None:
            scope.streams.clear()
        self._complete(scope)

    def record_contexts(self, scope: Scope, documents: Any) -> None:
        """
        Take documents that the application itself names.
        """
        if scope.settle(self._sampler):
            self._add(scope, None, "explicit", list(documents))

    def record_answer(self, scope: Scope, text: Any) -> None:
        """
        Take the answer that the application itself names.
        """
        if scope.sampled is not False:
            scope.explicit_answer = convert.answer_of(text)

    def settle(self) -> None:
        """
        Take note of the streams that nobody read to their end; they could only leave a message.
        """
        endings = self._endings
        while not endings.empty():
            try:
                scope, key, text, status = endings.get_nowait()
            except Empty:
                return
            self._stream_ended(scope, key, text, status)

    def give_up_running(self) -> None:
        """
        Give up the requests whose outermost call has not returned; no more will be heard of them.
        """
        running = {id(run.request): run.request for run in list(self.runs.live.values())}
        for scope in running.values():
            # What is still written by LlamaIndex's own thread is told by a span, which is not heard any more.
            lost = isinstance(scope, Scope) and (not scope.returned or (scope.chat is not None and not scope.streams))
            if lost and self.runs.end(scope):
                self._give_up(scope)

    def lose(self, id: Hashable) -> None:
        """
        Give up the request whose outermost call an error of our own has kept from being read.
        """
        try:
            run = self.runs.live.get(id)
            if run is not None and run.request.id == id and self.runs.end(run.request):
                self._give_up(run.request)
        except Exception as error:
            self._monitor.fault("lose", error)

    def _read(self, scope: Scope, result: Any) -> None:
        """
        Read what the outermost call returned.
        """
        if not scope.settle(self._sampler):
            return
        scope.answer = self._levers.answer(result, scope.answer)
        stream = convert.stream_of(result)
        if scope.answer is None and stream is not None:
            scope.answer = streams.told(stream)
        documents = self._levers.contexts(result)
        nodes = convert.sources_of(result)
        if documents is not None:
            self._add(scope, None, "explicit", list(documents))
        elif nodes:
            self._stands_for(scope, scope.root, "response", nodes)
        self.listen(scope, result)
        chat = convert.written_chat_of(result)
        if chat is not None:
            scope.chat = id(chat)

    def _wanted(self, scope: Scope) -> bool:
        """
        Return whether a call of the user's own, or a trace, is a request at all: it retrieved, and nothing in it is.
        """
        return not scope.kind & (GROUP | TRACE) or (bool(scope.retrievals) and not scope.split)

    def _drop(self, scope: Scope) -> None:
        if self.runs.end(scope) and not scope.kind & (GROUP | TRACE):
            self._monitor.skip(scope.anchor, rag=scope.kind != RETRIEVER)

    def _complete(self, scope: Scope) -> None:
        """
        Hand a request over once nothing of it is to come.
        """
        if scope.waits or not self.runs.end(scope):
            return
        if not scope.settle(self._sampler):
            self._monitor.skip(scope.anchor, rag=scope.kind != RETRIEVER)
            return
        self._hear_out(scope)
        self._unite(scope)
        self._monitor.submit(build(scope, scope.status, self._limits, sample_rate=self._sampler.rate))

    def _hear_out(self, scope: Scope) -> None:
        """
        Take what was streamed for the answer, where no call returned one.
        """
        if scope.chat is not None:
            scope.answer = scope.written[scope.chat]
            if scope.answer is None:
                scope.status = "error"
        elif scope.status != "ok":
            scope.answer = None if scope.said is None else scope.said[0]
        elif scope.answer is None and scope.said is not None:
            scope.answer, scope.status = scope.said

    def _stream_ended(self, scope: Scope, key: int, text: str, status: str) -> None:
        try:
            if key in scope.streams:
                scope.said = (text if text or status == "ok" else None), status
                scope.streams.discard(key)
                self._complete(scope)
        except Exception as error:
            self._monitor.fault("stream", error)

    def _stands_for(self, scope: Scope, around: Run, source: str, nodes: Any) -> None:
        """
        Keep nodes that take the place of what was retrieved inside *around*.
        """
        kept = []
        for one in scope.retrievals:
            if _is_inside(one.run, around):
                if one.source in _LATER_FORMS:
                    continue
                if one.source == "retriever" and (nodes or one.contexts):
                    one.source = REPLACED
            kept.append(one)
        scope.retrievals = kept
        self._add(scope, around, source, nodes)

    def _add(self, scope: Scope, run: Run | None, source: str, nodes: Any) -> None:
        earlier = [context for one in scope.retrievals for context in one.contexts or ()]
        contexts = contexts_of(self._first(nodes), self._reader, cites=scope.cites, earlier=earlier)
        scope.add(Retrieval(source, run, contexts=contexts))

    def _first(self, nodes: Any) -> Any:
        """
        Return as many nodes as anything is computed from; reading all of a corpus would hold up the application.
        """
        more = len(nodes) - _MAX_NODES if isinstance(nodes, (list, tuple)) else 0
        if more <= 0:
            return nodes
        self._limits.count("dropped_contexts", more)
        return nodes[:_MAX_NODES]

    def _unite(self, scope: Scope) -> None:
        """
        Bring under one source what reached the answer in several forms, so that a record holds all of it.
        """
        found = [one for one in scope.retrievals if one.contexts and one.source not in ("explicit", REPLACED)]
        words = {one.source for one in found if not one.failed}
        if len(words) > 1:
            contexts = [context for one in found if not one.failed for context in one.contexts or ()]
            for one in found:
                if one.source == "retriever":
                    one.source = REPLACED
            scope.retrievals = [one for one in scope.retrievals if one.source not in _LATER_FORMS]
            source = "tool" if "tool" in words else "response"
            scope.add(Retrieval(source, None, contexts=tuple(contexts)))

    def _report_nested(self, scope: Scope, run: Run, result: Any, nodes: Any) -> None:
        answer = convert.answer_of(result)
        step = run.data
        if answer is None or not isinstance(step, Step):
            return
        anchor = Anchor()
        anchor.outer, anchor.found, anchor.span = scope.anchor.outer, scope.anchor.found, scope.anchor.span
        inner = Scope(step.id, QUERY, anchor, _EVERY)
        inner.started_ns = step.started_ns
        inner.question, inner.answer, inner.cites = step.data, answer, scope.cites
        name = scope.overrides.get("rageval.pipeline") or self._monitor.settings.pipeline
        inner.overrides = {"rageval.pipeline": f"{name}.nested"}
        inner.retrievals = [one for one in scope.retrievals if _is_inside(one.run, run)]
        if nodes:
            self._add(inner, None, "response", nodes)
        self._monitor.submit(build(inner, "ok", self._limits, sample_rate=self._sampler.rate))

    def _give_up(self, request: Any) -> None:
        if not self._wanted(request):
            return
        if not request.settle(self._sampler):
            self._monitor.skip(request.anchor, rag=request.kind != RETRIEVER)
        else:
            self._monitor.submit(build(request, "evicted", self._limits, sample_rate=self._sampler.rate))


def _anchor(lookup: SpanLookup | None) -> Anchor:
    """
    Return where a request that starts now belongs.

    An instrumentation that is told of a call before us has its own span of it current already.
    """
    anchor = Anchor.begin()
    span = None if lookup is None else lookup()
    if span is not None and span.get_span_context().is_valid:
        anchor.found = span.get_span_context()
        anchor.span = span
    return anchor


def _labels(said: Any) -> tuple[str, ...]:
    """
    Return a request's labels, given as one or as several.
    """
    if isinstance(said, str):
        return (said,)
    return (
        tuple([one for one in said if isinstance(one, str)]) if isinstance(said, (list, tuple, set, frozenset)) else ()
    )


def _scope_around(run: Run) -> Run:
    """
    Return the nearest engine or workflow around a run; the outermost run without one.
    """
    around = run.parent or run
    while around.parent is not None and not around.kind & (QUERY | CHAT | WORKFLOW):
        around = around.parent
    return around


def _is_inside(run: Run | None, around: Run) -> bool:
    while run is not None:
        if run is around:
            return True
        run = run.parent
    return False
