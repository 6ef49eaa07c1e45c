"""
The facade: what a user constructs, installs and asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from llama_index.core.callbacks.base_handler import BaseCallbackHandler
from llama_index.core.callbacks.schema import CBEventType
from llama_index.core.instrumentation.span import active_span_id
from typing_extensions import Self, override

from rageval_trace.judges.base import Judge, RecordJudge
from rageval_trace.live.documents import DocumentKeys
from rageval_trace.live.levers import Extractor, Levers
from rageval_trace.live.monitor import Monitor
from rageval_trace.live.result import LiveResult
from rageval_trace.live.settings import Settings
from rageval_trace.live.unset import UNSET, Unset, given
from rageval_trace.models import EvalConfig
from rageval_trace_llama_index import convert
from rageval_trace_llama_index.legacy import Legacy
from rageval_trace_llama_index.modern import Modern
from rageval_trace_llama_index.registration import is_installed
from rageval_trace_llama_index.scope import Scope
from rageval_trace_llama_index.tracker import Tracker

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

__all__ = ["RagEvalHandler", "handlers"]

_handlers: WeakSet[RagEvalHandler] = WeakSet()
# Of the legacy events, only these say something.
_HEARD = frozenset({CBEventType.RETRIEVE, CBEventType.QUERY, CBEventType.SYNTHESIZE, CBEventType.EXCEPTION})


def handlers() -> list[RagEvalHandler]:
    """
    Return every handler of this process.
    """
    while True:
        try:
            return list(_handlers)
        except RuntimeError:
            continue  # another thread has just made one


class RagEvalHandler(BaseCallbackHandler):
    """
    Score every RAG request of this process, or of the pipelines that carry it.

    `RagEvalHandler(...).install()` listens to LlamaIndex's instrumentation: every query engine, chat engine, agent and
    workflow of the process, streams included. As a context manager it does so for the length of the block. In
    `CallbackManager([RagEvalHandler(...)])` it hears the legacy callbacks instead, and stays silent while any handler
    is installed, so that no request counts twice. It never raises into the application, changes a text or keeps one
    of the application's objects.

    Args:
        pipeline: Name of the pipeline in telemetry; default `rag`.
        metrics: Metric names; None for the default set. Metrics that need labels run where labels are there.
        judge: Asked about claims, in a worker thread unless it is a `LexicalJudge`.
        config: How to score.
        thresholds: Value by metric name: a minimum, or a maximum where lower is better; or the path of a gate file.
        sample_rate: Share of the requests that are scored, in [0, 1].
        judge_sample_rate: Share of them that the judge is asked about, in [0, 1].
        on_result: Called with each `LiveResult`, on the thread that scored.
        redact: Runs on every text before it leaves the process.
        settings: Everything else; the environment's when not given.
        tracer_provider: OpenTelemetry's, in place of the global one.
        meter_provider: The same.
        logger_provider: The same.
        question: Called with a workflow's start event; returns the question, or None to leave it to the usual way.
        contexts: Called with what a request returned; returns nodes, or None.
        answer: Called with what a request returned; returns the answer, or None.
        retrieval_tools: Names, or patterns that match whole names, of agents' tools whose text is a context.
        document_keys: Where nodes' metadata keep sources and timestamps.
        nested: Report the queries inside a request too, as records of the pipeline `<pipeline>.nested`.

    Raises:
        UnknownMetricError: for a metric or threshold that nothing registered, naming the known ones.
        GateError: for a threshold without a usable value.
        ValueError: for a value out of its range.
        TypeError: for an argument of the wrong kind.
    """

    def __init__(
        self,
        *,
        pipeline: str | Unset = UNSET,
        metrics: Iterable[str] | Unset | None = UNSET,
        judge: Judge | RecordJudge | Unset | None = UNSET,
        config: EvalConfig | Unset | None = UNSET,
        thresholds: Mapping[str, float] | str | Unset | None = UNSET,
        sample_rate: float | Unset = UNSET,
        judge_sample_rate: float | Unset = UNSET,
        on_result: Callable[[LiveResult], object] | Unset | None = UNSET,
        redact: Callable[[str], str] | Unset | None = UNSET,
        settings: Settings | Unset | None = UNSET,
        tracer_provider: TracerProvider | Unset | None = UNSET,
        meter_provider: MeterProvider | Unset | None = UNSET,
        logger_provider: LoggerProvider | Unset | None = UNSET,
        question: Extractor | Unset | None = UNSET,
        contexts: Extractor | Unset | None = UNSET,
        answer: Extractor | Unset | None = UNSET,
        retrieval_tools: Iterable[str | re.Pattern[str]] | Unset = UNSET,
        document_keys: DocumentKeys | Unset = UNSET,
        nested: bool = False,
    ) -> None:
        super().__init__([], [])
        self._monitor = Monitor(
            pipeline=pipeline,
            metrics=metrics,
            judge=judge,
            config=config,
            thresholds=thresholds,
            sample_rate=sample_rate,
            judge_sample_rate=judge_sample_rate,
            on_result=on_result,
            redact=redact,
            settings=settings,
            tracer_provider=tracer_provider,
            meter_provider=meter_provider,
            logger_provider=logger_provider,
        )
        levers = Levers(
            question=given(question, None),
            contexts=given(contexts, None),
            answer=given(answer, None),
            retrieval_tools=given(retrieval_tools, ()),
            keys=given(document_keys, DocumentKeys()),
            read_question=convert.question_of,
            read_answer=convert.answer_of,
            tally=self._monitor.tally,
        )
        self._tracker = Tracker(self._monitor, levers, nested=nested)
        self._modern = Modern(self._monitor, self._tracker)
        self._legacy = Legacy(self._tracker)
        _handlers.add(self)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Components are deep-copied with their callbacks; a copy would see half of a request.
        return self

    def install(self) -> Self:
        """
        Listen to the whole process from now on, and return the handler; a second call changes nothing.

        Requests that are running are taken up with their next part that asks for itself.
        """
        if self._monitor.enabled:
            self._modern.install()
        return self

    def install_automatically(self) -> Self:
        """
        Listen like `install`, but leave the requests that begin while a handler is installed by hand to that one.
        """
        if self._monitor.enabled:
            self._modern.install(automatic=True)
        return self

    def uninstall(self) -> None:
        """
        Listen no more. Requests that are running are given up; streams still to be read are heard to their end.
        """
        self._modern.uninstall()

    def __enter__(self) -> Self:
        return self.install()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.uninstall()

    @property
    def last(self) -> LiveResult | None:
        """
        Return the newest result; None before the first.
        """
        self._tracker.settle()
        return self._monitor.last

    @property
    def stats(self) -> Mapping[str, int]:
        """
        Return counts: one for each outcome, together every request seen, then what was dropped or went wrong.
        """
        self._tracker.settle()
        return {**self._monitor.stats, "live_requests": len(self._tracker.runs)}

    def flush(self, timeout: float | None = 5.0) -> bool:
        """
        Wait for what is being scored in the background; False when *timeout* seconds were not enough.
        """
        self._tracker.settle()
        return self._monitor.flush(timeout)

    def close(self, timeout: float | None = None) -> bool:
        """
        Uninstall, drain the background work within *timeout* seconds (`shutdown_timeout_s` for None) and take no more.
        """
        self.uninstall()
        self._tracker.settle()
        return self._monitor.close(timeout)

    def feedback(self, request: str, name: str, value: float) -> bool:
        """
        Send what a person said of a request that was scored; see `Monitor.feedback`.
        """
        self._tracker.settle()
        return self._monitor.feedback(request, name, value)

    def ground_truth(
        self,
        request: str,
        text: str | None = None,
        *,
        relevant_ids: Iterable[str] | Mapping[str, float] | None = None,
    ) -> bool:
        """
        Score a request once more by what is known of the truth since; see `Monitor.ground_truth`.
        """
        self._tracker.settle()
        return self._monitor.ground_truth(request, text, relevant_ids=relevant_ids)

    def take_contexts(self, documents: Any) -> bool:
        """
        Take the contexts of the request that the caller is inside of; see `record_contexts`.
        """
        try:
            scope = self._current()
            if scope is not None:
                self._tracker.record_contexts(scope, documents)
            return scope is not None
        except Exception as error:
            self._monitor.fault("record_contexts", error)
            return False

    def take_answer(self, text: Any) -> bool:
        """
        Take the answer of the request that the caller is inside of; see `record_answer`.
        """
        try:
            scope = self._current()
            if scope is not None:
                self._tracker.record_answer(scope, text)
            return scope is not None
        except Exception as error:
            self._monitor.fault("record_answer", error)
            return False

    def _current(self) -> Scope | None:
        run = self._tracker.runs.live.get(active_span_id.get())
        if run is not None and isinstance(run.request, Scope):
            return run.request
        return self._legacy.scope

    @property
    def _silent(self) -> bool:
        return is_installed() or not self._monitor.enabled

    @override
    def start_trace(self, trace_id: str | None = None) -> None:
        if not self._silent:
            try:
                self._legacy.start_trace()
            except Exception as error:
                self._monitor.fault("start_trace", error)

    @override
    def end_trace(self, trace_id: str | None = None, trace_map: dict[str, list[str]] | None = None) -> None:
        try:
            self._legacy.end_trace()
        except Exception as error:
            self._monitor.fault("end_trace", error)

    @override
    def on_event_start(
        self,
        event_type: CBEventType,
        payload: dict[str, Any] | None = None,
        event_id: str = "",
        parent_id: str = "",
        **kwargs: Any,
    ) -> str:
        if event_type in _HEARD and not self._silent:
            try:
                self._legacy.started(event_type, payload or {}, event_id)
            except Exception as error:
                self._monitor.fault("on_event_start", error)
        return event_id

    @override
    def on_event_end(
        self, event_type: CBEventType, payload: dict[str, Any] | None = None, event_id: str = "", **kwargs: Any
    ) -> None:
        if event_type in _HEARD:
            try:
                self._legacy.ended(event_type, payload or {}, event_id)
            except Exception as error:
                self._monitor.fault("on_event_end", error)
