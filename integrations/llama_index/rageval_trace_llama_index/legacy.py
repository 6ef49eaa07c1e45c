"""
LlamaIndex's legacy callbacks, for pipelines whose parts carry a `CallbackManager`.

A trace is a request. Traces and events are told apart by a context variable of our own: the manager's own map of
parents is shared by all threads, and wrong after an exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any
from uuid import uuid4

from llama_index.core.callbacks.schema import CBEventType, EventPayload
from llama_index_instrumentation.dispatcher import active_instrument_tags

from rageval_trace.live.runs import RETRIEVER, Retrieval
from rageval_trace_llama_index import convert
from rageval_trace_llama_index.scope import TRACE, Scope
from rageval_trace_llama_index.tracker import Tracker

__all__ = ["Legacy"]


class _Trace:
    """
    One trace that is open.

    Args:
        scope: Its request.
        opened_by: The event that opened it; None when a trace did.
    """

    __slots__ = ("depth", "error", "opened_by", "scope")

    def __init__(self, scope: Scope, opened_by: str | None) -> None:
        self.scope = scope
        self.opened_by = opened_by
        self.depth = 1
        self.error: BaseException | None = None


class Legacy:
    """
    Follow the callbacks of one handler.

    Args:
        tracker: Is told what happened.
    """

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._trace: ContextVar[_Trace | None] = ContextVar("rageval_trace", default=None)
        # The retrieval that is running in this context; those below it are its parts.
        self._retrieving: ContextVar[str | None] = ContextVar("rageval_retrieval", default=None)

    @property
    def scope(self) -> Scope | None:
        """
        Return the request that the caller is inside of.
        """
        trace = self._open()
        return None if trace is None else trace.scope

    def start_trace(self) -> None:
        """
        Begin a request, unless this trace is a part of one.
        """
        trace = self._open()
        if trace is not None:
            trace.depth += 1
        else:
            self._begin(None)

    def end_trace(self) -> None:
        """
        End the request with its outermost trace.
        """
        trace = self._open()
        if trace is None:
            return
        trace.depth -= 1
        if trace.depth == 0 and trace.opened_by is None:
            self._end(trace)

    def started(self, kind: CBEventType, payload: Mapping[str, Any], event_id: str) -> None:
        """
        Note a question, or what is searched for.
        """
        trace = self._open()
        if trace is None:
            if kind != CBEventType.SYNTHESIZE:
                return
            trace = self._begin(event_id)
        if kind == CBEventType.EXCEPTION:
            error = payload.get(EventPayload.EXCEPTION)
            trace.error = error if isinstance(error, BaseException) else None
        elif kind == CBEventType.RETRIEVE:
            self._retrieve(trace, payload, event_id)
        elif kind in (CBEventType.QUERY, CBEventType.SYNTHESIZE) and trace.scope.question is None:
            trace.scope.question = convert.query_text(payload.get(EventPayload.QUERY_STR))

    def ended(self, kind: CBEventType, payload: Mapping[str, Any], event_id: str) -> None:
        """
        Keep what was found or answered.
        """
        trace = self._open()
        if kind == CBEventType.RETRIEVE:
            self._retrieved(trace, payload, event_id)
        elif trace is not None and kind in (CBEventType.QUERY, CBEventType.SYNTHESIZE):
            response = payload.get(EventPayload.RESPONSE)
            if response is not None and self._retrieving.get() is None:
                trace.error = None
                self._tracker.responded(trace.scope, response)
            if trace.opened_by == event_id:
                self._end(trace)

    def _retrieve(self, trace: _Trace, payload: Mapping[str, Any], event_id: str) -> None:
        if self._retrieving.get() is not None or trace.scope.sampled is False:
            return
        self._retrieving.set(event_id)
        query = convert.query_text(payload.get(EventPayload.QUERY_STR))
        run = self._tracker.runs.child(event_id, trace.scope.root, RETRIEVER)
        if run is not None:
            run.data = Retrieval("retriever", run, query)

    def _retrieved(self, trace: _Trace | None, payload: Mapping[str, Any], event_id: str) -> None:
        if self._retrieving.get() == event_id:
            self._retrieving.set(None)
        run = self._tracker.runs.live.get(event_id)
        if trace is None or run is None or run.data is None:
            return
        if EventPayload.NODES in payload:
            self._tracker.retrieved(trace.scope, run.data, payload[EventPayload.NODES])

    def _open(self) -> _Trace | None:
        trace = self._trace.get()
        return None if trace is None or trace.scope.returned or trace.scope.closed else trace

    def _begin(self, opened_by: str | None) -> _Trace:
        scope = self._tracker.begin(f"trace-{uuid4().hex}", TRACE, active_instrument_tags.get(), None)
        trace = _Trace(scope, opened_by)
        self._trace.set(trace)
        self._retrieving.set(None)
        return trace

    def _end(self, trace: _Trace) -> None:
        self._trace.set(None)
        self._retrieving.set(None)
        self._tracker.end(trace.scope, None, trace.error)
