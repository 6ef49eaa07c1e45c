"""
LlamaIndex's instrumentation: spans enter, exit or drop, each with its call's arguments, object and result.

Spans tell more than events: chat engines, workflows and most postprocessors have no event of their own. What a span
is follows from the object it was called on, for a workflow's step may be called `retrieve`, too.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from inspect import BoundArguments
from typing import Any, Final

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.chat_engine.types import BaseChatEngine, StreamingAgentChatResponse
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.chat_engine import StreamChatDeltaReceivedEvent
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent, LLMCompletionEndEvent
from llama_index.core.response_synthesizers.base import BaseSynthesizer
from llama_index.core.workflow import Workflow
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.dispatcher import active_instrument_tags
from opentelemetry.trace import Span

from rageval_trace.live.monitor import Monitor
from rageval_trace.live.runs import LLM, RETRIEVER, Retrieval, Run
from rageval_trace.telemetry.anchor import SpanLookup
from rageval_trace_llama_index import convert
from rageval_trace_llama_index.registration import Registration
from rageval_trace_llama_index.scope import (
    CHAT,
    CITES,
    GROUP,
    QUERY,
    SCOPES,
    SYNTHESIS,
    WORKFLOW,
    WRITER,
    Scope,
    Step,
    Written,
)
from rageval_trace_llama_index.tracker import Tracker

__all__ = ["Modern"]

_OPENINFERENCE: Final = "openinference.instrumentation.llama_index._handler"
_UUID_CHARS: Final = 37
_MAX_KINDS: Final = 2_000
_CALLS: Final[Mapping[str, tuple[int, type]]] = {
    **dict.fromkeys(("chat", "achat", "stream_chat", "astream_chat"), (CHAT, BaseChatEngine)),
    **dict.fromkeys(("query", "aquery"), (QUERY, BaseQueryEngine)),
    **dict.fromkeys(("synthesize", "asynthesize"), (SYNTHESIS, BaseSynthesizer)),
    **dict.fromkeys(("retrieve", "aretrieve"), (RETRIEVER, BaseRetriever)),
    **dict.fromkeys(("write_response_to_history", "awrite_response_to_history"), (WRITER, StreamingAgentChatResponse)),
    "run": (WORKFLOW, Workflow),
}
_CLASSES: Final = tuple({base for _, base in _CALLS.values()})
# One look-up tells what to pass over: there is an event for each token.
_TELLING: Final[Mapping[type, int]] = {
    LLMCompletionEndEvent: LLM,
    LLMChatEndEvent: LLM,
    StreamChatDeltaReceivedEvent: WRITER,
}
_TAKES_PART: Final = SCOPES | RETRIEVER | WRITER


class Modern:
    """
    Listen to the root dispatcher.

    Args:
        monitor: Takes note of our own errors.
        tracker: Is told what happened.
    """

    def __init__(self, monitor: Monitor, tracker: Tracker) -> None:
        self._fault = monitor.fault
        self._tracker = tracker
        self._runs = tracker.runs
        # By class, where all methods are alike, for most spans are such a class's; else by class and method.
        self._kinds: dict[type, int] = {}
        self._methods: dict[tuple[type, str], int] = {}
        self._place = Registration(self.enter, self.exit, self.drop, self.hear)

    def install(self, *, automatic: bool = False) -> None:
        """
        Begin to listen; nothing when that was done before.

        Args:
            automatic: Begin no request while another handler is installed that is not.
        """
        self._place.add(automatic=automatic)

    def uninstall(self) -> None:
        """
        Listen no more, give up what is running, and let streams that wait to be read tell their end.
        """
        if self._place.remove():
            self._tracker.give_up_running()

    def enter(
        self,
        id_: str,
        bound_args: BoundArguments,
        instance: Any = None,
        parent_id: str | None = None,
        tags: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """
        Take up a call.
        """
        try:
            kind = 0 if instance is None else self._kinds.get(type(instance))
            if kind is None:
                kind = self._kind(type(instance), id_[:-_UUID_CHARS])
            parent = self._runs.live.get(parent_id)
            if parent is None:
                self._enter_first(id_, kind, bound_args, parent_id, tags)
                return
            scope: Scope = parent.request  # type: ignore[assignment]
            if scope.seeking:
                self._seek(scope)
            # Whatever happens inside a retriever is a part of it: a query engine that an index node stands for, too.
            if kind & _TAKES_PART and not (parent.kind | parent.inside) & RETRIEVER:
                self._enter_below(parent, scope, id_, kind, bound_args, tags)
            else:
                self._runs.alias(id_, parent)
        except Exception as error:
            self._fault("span_enter", error)

    def exit(self, id_: str, bound_args: BoundArguments, instance: Any = None, result: Any = None, **_: Any) -> None:
        """
        Read what a call returned.
        """
        try:
            run = self._runs.live.get(id_)
            if run is not None and _is_own(run, id_):
                self._ended(run, id_, bound_args, instance, result, None)
        except Exception as error:
            self._fault("span_exit", error)
            self._tracker.lose(id_)

    def drop(
        self, id_: str, bound_args: BoundArguments, instance: Any = None, err: BaseException | None = None, **_: Any
    ) -> None:
        """
        Note a call that raised.
        """
        try:
            run = self._runs.live.get(id_)
            if run is not None and _is_own(run, id_):
                self._ended(run, id_, bound_args, instance, None, err or RuntimeError())
        except Exception as error:
            self._fault("span_drop", error)
            self._tracker.lose(id_)

    def hear(self, event: BaseEvent) -> None:
        """
        Keep what a model said inside a call of the user's own, the only place where nothing else tells the answer; and
        what a chat's writer has written, which older versions of LlamaIndex tell nowhere else.
        """
        kind = _TELLING.get(type(event))
        if kind is None:
            return
        try:
            run = self._runs.live.get(event.span_id)
            if run is None:
                return
            if kind == WRITER:
                if run.kind & WRITER:
                    run.data.data.add(event.delta)  # type: ignore[attr-defined]
            elif run.request.kind == GROUP and not (run.kind | run.inside) & RETRIEVER:
                run.request.answer = convert.answer_of(event.response) or run.request.answer  # type: ignore[attr-defined]
        except Exception as error:
            self._fault("event", error)

    def _enter_first(
        self, id_: str, kind: int, bound: BoundArguments, parent_id: str | None, tags: Mapping[str, Any] | None
    ) -> None:
        """
        Begin a request with a call whose surroundings are not known, unless it is a model's or a late part.

        A call that asks is a request even below one that has ended: work that a span of the user's own has started
        may outlive it.
        """
        if kind & LLM:
            return
        if not kind & SCOPES and parent_id is not None and self._runs.is_late(id_, parent_id):
            return
        if not kind & WRITER:
            self._begin(id_, kind or GROUP, bound, tags)

    def _begin(self, id_: str, kind: int, bound: BoundArguments, tags: Mapping[str, Any] | None) -> None:
        if self._place.gives_way:
            return
        self._place.stay_last()
        scope = self._tracker.begin(id_, kind, tags or active_instrument_tags.get(), self._look_up(id_))
        if scope.sampled is False or kind == GROUP:
            return
        scope.question = self._question(kind, bound)
        if kind & RETRIEVER:
            scope.root.data = Step(id_, Retrieval("retriever", scope.root, scope.question))

    def _enter_below(
        self, parent: Run, scope: Scope, id_: str, kind: int, bound: BoundArguments, tags: Mapping[str, Any] | None
    ) -> None:
        """
        Take up a call that asks or retrieves inside a request; inside a span of the user's own, it is the request.
        """
        if scope.kind == GROUP and kind & SCOPES:
            scope.split = True
            self._begin(id_, kind, bound, tags)
            return
        run = self._runs.child(id_, parent, kind)
        if run is None:
            return
        if kind & WRITER:
            run.data = Step(id_, Written(self._tracker.max_chars + 1))
            return
        question = self._question(kind, bound)
        run.data = Step(id_, Retrieval("retriever", run, question) if kind & RETRIEVER else question)
        scope.cites = scope.cites or bool(kind & CITES)
        if scope.question is None and kind & (CHAT | QUERY | SYNTHESIS):
            scope.question = question

    def _ended(
        self,
        run: Run,
        id_: str,
        bound: BoundArguments,
        instance: Any,
        result: Any,
        error: BaseException | None,
    ) -> None:
        scope: Scope = run.request  # type: ignore[assignment]
        root = scope.id == id_
        step = run.data
        if scope.seeking:
            lookup = self._look_up(scope.id)
            if lookup is not None:
                self._tracker.seek(scope, lookup, child=False)
        kind = run.kind
        if kind & WRITER:
            text = None if error is not None else instance.response or step.data.text
            self._tracker.chat_written(scope, id(instance), text)
        elif kind & RETRIEVER and error is None and step is not None:
            self._tracker.retrieved(scope, step.data, result)
        elif kind & SYNTHESIS:
            nodes = bound.arguments.get("nodes")
            if not root or error is not None or not nodes:
                self._tracker.synthesis_ended(run, nodes, result, failed=error is not None)
        elif kind & WORKFLOW and error is None:
            self._tracker.agent_ended(run, result)
        if root:
            self._tracker.end(scope, None if kind & RETRIEVER else result, error)
        elif error is not None:
            run.failed = bool(kind & (QUERY | CHAT | WORKFLOW | RETRIEVER))
        elif kind & (QUERY | CHAT):
            self._tracker.engine_ended(run, result)

    def _question(self, kind: int, bound: BoundArguments) -> str | None:
        if kind & WORKFLOW:
            return self._tracker.start_question(bound.arguments.get("start_event"))
        return convert.query_text(convert.first_argument(bound))

    def _kind(self, cls: type, name: str) -> int:
        """
        Return what a span is, by the object's class and the method that was called; 0 for a part of something.
        """
        kind = self._methods.get((cls, name))
        if kind is not None:
            return kind
        if len(self._kinds) + len(self._methods) >= _MAX_KINDS:
            self._kinds.clear()
            self._methods.clear()
        if issubclass(cls, (BaseLLM, BaseEmbedding)):
            self._kinds[cls] = LLM
            return LLM
        if not issubclass(cls, _CLASSES):
            self._kinds[cls] = 0
            return 0
        kind = self._methods[cls, name] = _classify(cls, name.rpartition(".")[2])
        return kind

    def _seek(self, scope: Scope) -> None:
        """
        Look for the span that stands for a request, unless nothing has changed since the last look.
        """
        lookup = self._look_up(scope.id)
        if lookup is not None or scope.anchor.moved:
            self._tracker.seek(scope, lookup, child=True)

    def _look_up(self, id_: object) -> SpanLookup | None:
        """
        Return how to ask OpenInference for its span of a call; None where it is not at work. It is never imported.
        """
        if _OPENINFERENCE not in sys.modules:
            return None
        for handler in get_dispatcher().span_handlers:
            if type(handler).__module__ == _OPENINFERENCE:
                return _span_of(handler, id_)
        return None


def _is_own(run: Run, id_: str) -> bool:
    """
    Return whether a span is a run itself, and not a part of one that is known by the run.
    """
    step = run.data
    return (step is not None and step.id == id_) or run.request.id == id_


def _classify(cls: type, method: str) -> int:
    kind, base = _CALLS.get(method, (0, object))
    if not kind or not issubclass(cls, base):
        return 0
    cites = kind == QUERY and any(one.__name__ == "CitationQueryEngine" for one in cls.__mro__)
    return kind | CITES if cites else kind


def _span_of(handler: Any, id_: object) -> SpanLookup:
    def look_up() -> Span | None:
        return getattr(handler.open_spans.get(id_), "_otel_span", None)

    return look_up
