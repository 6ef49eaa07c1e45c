"""
The callback handler: which event is which, and a wall between our errors and the application.
"""

# The base class has properties where plain attributes cost less on every event.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from langchain_core.callbacks.base import BaseCallbackHandler
from typing_extensions import override

from rageval_trace.live.documents import DocumentKeys
from rageval_trace.live.runs import CHAIN, LLM, RETRIEVER, TOOL
from rageval_trace.live.unset import UNSET, Unset, given

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from rageval_trace.judges.base import Judge, RecordJudge
    from rageval_trace.live.levers import Extractor
    from rageval_trace.live.result import LiveResult
    from rageval_trace.live.settings import Settings
    from rageval_trace.models import EvalConfig

__all__ = ["RagEvalHandler"]


class RagEvalHandler(BaseCallbackHandler):
    """
    Score every RAG request that runs with this handler.

    Pass it as `config={"callbacks": [handler]}` or `chain.with_config(callbacks=[handler])`. One handler may serve
    the whole process, any number of threads and event loops; it never raises into the application, changes an output
    or keeps one of its objects.

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
        question: Called with a request's input; returns the question, or None to leave it to the usual way.
        contexts: Called with a request's output; returns documents, or None.
        answer: Called with a request's output; returns the answer, or None.
        retrieval_tools: Names, or patterns that match whole names, of tools whose text is a context.
        document_keys: Where documents keep their ids, scores, sources and timestamps.

    Raises:
        UnknownMetricError: for a metric or threshold that nothing registered, naming the known ones.
        GateError: for a threshold without a usable value.
        ValueError: for a value out of its range.
        TypeError: for an argument of the wrong kind.
    """

    # Run on the event loop itself: a hop to the executor costs fifteen times the callback.
    run_inline = True
    raise_error = False
    if not TYPE_CHECKING:
        # Plain attributes where the base has properties, which cost more to read, at every event and token, than an
        # event costs to pass over. Tools are asked for under `ignore_agent`.
        ignore_retry = ignore_custom_event = True
        ignore_chain = ignore_retriever = ignore_agent = ignore_llm = ignore_chat_model = False

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
    ) -> None:
        # The harness and its telemetry are loaded by the first handler, so that importing the adapter costs little.
        from rageval_trace.live.levers import Levers  # noqa: PLC0415
        from rageval_trace.live.monitor import Monitor  # noqa: PLC0415
        from rageval_trace_langchain import convert  # noqa: PLC0415
        from rageval_trace_langchain.tracker import Tracker  # noqa: PLC0415

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
        self._tracker = Tracker(self._monitor, levers)
        if not self._monitor.enabled:
            self.pause()

    def pause(self) -> None:
        """
        Follow no request from now on; LangChain then passes this handler over.
        """
        names = ("ignore_chain", "ignore_retriever", "ignore_agent", "ignore_llm", "ignore_chat_model")
        self.__dict__.update(dict.fromkeys(names, True))

    def attach_automatically(self) -> None:
        """
        Step aside wherever a handler is attached by hand: this one is attached to every run.
        """
        self._tracker.yield_to_others()

    def __copy__(self) -> RagEvalHandler:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> RagEvalHandler:
        # LangChain deep-copies models with their callbacks; a copy would see half of a request.
        return self

    @property
    def last(self) -> LiveResult | None:
        """
        Return the newest result; None before the first.
        """
        return self._monitor.last

    @property
    def stats(self) -> Mapping[str, int]:
        """
        Return counts: one for each outcome, together every request seen, then what was dropped or went wrong.
        """
        return {**self._monitor.stats, "live_requests": len(self._tracker.runs)}

    def flush(self, timeout: float | None = 5.0) -> bool:
        """
        Wait for what is being scored in the background; False when *timeout* seconds were not enough.
        """
        return self._monitor.flush(timeout)

    def close(self, timeout: float | None = None) -> bool:
        """
        Drain the background work within *timeout* seconds (`shutdown_timeout_s` for None) and take no more of it.
        """
        return self._monitor.close(timeout)

    def feedback(self, request: str, name: str, value: float) -> bool:
        """
        Send what a person said of a request that was scored; see `Monitor.feedback`.
        """
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
        return self._monitor.ground_truth(request, text, relevant_ids=relevant_ids)

    def take_contexts(self, run_id: UUID, documents: Any) -> bool:
        """
        Take the contexts of the request that a run belongs to; see `record_contexts`.
        """
        try:
            return self._tracker.record_contexts(run_id, documents)
        except Exception as error:
            self._monitor.fault("record_contexts", error)
            return False

    def take_answer(self, run_id: UUID, text: Any) -> bool:
        """
        Take the answer of the request that a run belongs to; see `record_answer`.
        """
        try:
            return self._tracker.record_answer(run_id, text)
        except Exception as error:
            self._monitor.fault("record_answer", error)
            return False

    @override
    def on_chain_start(
        self,
        serialized: dict[str, Any],
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        try:
            run = self._tracker.start(CHAIN, run_id, parent_run_id, tags, metadata)
            if run is not None:
                self._tracker.chain_started(run, inputs, kwargs.get("run_type"))
        except Exception as error:
            self._monitor.fault("on_chain_start", error)

    @override
    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        try:
            run = self._tracker.end(run_id)
            if run is not None:
                self._tracker.chain_ended(run, outputs, kwargs.get("inputs"))
        except Exception as error:
            self._monitor.fault("on_chain_end", error)

    @override
    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        try:
            run = self._tracker.end(run_id)
            if run is not None:
                self._tracker.failed(run, error, kwargs.get("inputs"))
        except Exception as fault:
            self._monitor.fault("on_chain_error", fault)

    @override
    def on_retriever_start(
        self,
        serialized: dict[str, Any],
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        try:
            run = self._tracker.start(RETRIEVER, run_id, parent_run_id, tags, metadata)
            if run is not None:
                self._tracker.retriever_started(run, query, metadata)
        except Exception as error:
            self._monitor.fault("on_retriever_start", error)

    @override
    def on_retriever_end(self, documents: Any, *, run_id: UUID, **kwargs: Any) -> None:
        try:
            run = self._tracker.end(run_id)
            if run is not None:
                self._tracker.retriever_ended(run, documents)
        except Exception as error:
            self._monitor.fault("on_retriever_end", error)

    @override
    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        try:
            run = self._tracker.end(run_id)
            if run is not None:
                self._tracker.failed(run, error, None)
        except Exception as fault:
            self._monitor.fault("on_retriever_error", fault)

    @override
    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        try:
            run = self._tracker.start(TOOL, run_id, parent_run_id, tags, metadata)
            if run is not None:
                self._tracker.tool_started(run, (serialized or {}).get("name"), input_str)
        except Exception as error:
            self._monitor.fault("on_tool_start", error)

    @override
    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        try:
            run = self._tracker.end(run_id)
            if run is not None:
                self._tracker.tool_ended(run, output)
        except Exception as error:
            self._monitor.fault("on_tool_end", error)

    @override
    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        try:
            run = self._tracker.end(run_id)
            if run is not None:
                self._tracker.failed(run, error, None)
        except Exception as fault:
            self._monitor.fault("on_tool_error", fault)

    @override
    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        try:
            self._tracker.start(LLM, run_id, parent_run_id, tags, metadata)
        except Exception as error:
            self._monitor.fault("on_chat_model_start", error)

    @override
    def on_llm_start(
        self,
        serialized: dict[str, Any],
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        try:
            self._tracker.start(LLM, run_id, parent_run_id, tags, metadata)
        except Exception as error:
            self._monitor.fault("on_llm_start", error)

    @override
    def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        try:
            run = self._tracker.end(run_id)
            if run is not None:
                self._tracker.llm_ended(run, response)
        except Exception as error:
            self._monitor.fault("on_llm_end", error)

    @override
    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        try:
            run = self._tracker.end(run_id)
            if run is not None:
                self._tracker.failed(run, error, None)
        except Exception as fault:
            self._monitor.fault("on_llm_error", fault)
