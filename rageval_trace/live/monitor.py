"""
From a request that ended to its scores: whether, where and when it is scored, and who is told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import trace

from rageval_trace.judges.base import Judge, RecordJudge
from rageval_trace.judges.observe import JudgeEvent, ModelCall, observing
from rageval_trace.live.capture import Capture
from rageval_trace.live.late import LateFacts
from rageval_trace.live.past import Past
from rageval_trace.live.reporter import Reporter
from rageval_trace.live.result import LiveResult, ResultSink
from rageval_trace.live.rules import Selection, unscored
from rageval_trace.live.sampling import Sampler
from rageval_trace.live.scoring import Scored, Scorer
from rageval_trace.live.settings import Settings, switched_off
from rageval_trace.live.tally import Tally, say_once
from rageval_trace.live.unset import UNSET, Unset, given
from rageval_trace.live.worker import JUDGE_STAGE, SCORE_STAGE, Worker
from rageval_trace.models import EvalConfig
from rageval_trace.telemetry.anchor import Anchor
from rageval_trace.telemetry.emitter import Emitter
from rageval_trace.telemetry.faults import Faults
from rageval_trace.telemetry.payload import EmitOptions, JudgeCall

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import SpanContext, TracerProvider

__all__ = ["OUTCOMES", "Monitor"]

OUTCOMES: Final = (
    "scored",
    "not_sampled",
    "queue_full",
    "incomplete",
    "request_error",
    "scoring_error",
    "timeout",
    "evicted",
    "not_rag",
)
_NOT_RAG: Final = ("retrieval_only", "answer_only")


class Monitor(LateFacts):
    """
    Score requests that ended, and send what came out to OpenTelemetry.

    Any framework's adapter hands it captures; any thread may. Nothing raises but the constructor.

    Args:
        pipeline: Name of the pipeline in telemetry.
        metrics: Metric names; None for the default set. Metrics that need labels run where labels are there.
        judge: Asked about claims, in a worker thread unless it is a `LexicalJudge`.
        config: How to score.
        thresholds: Value by metric name: a minimum, or a maximum where lower is better; or the path of a gate file.
        sample_rate: Share of the requests that are scored, in [0, 1].
        judge_sample_rate: Share of them that the judge is asked about, in [0, 1]. It is asked about every request
            that breaches a threshold besides, whatever the rate.
        on_result: Called with each `LiveResult`, on the thread that scored; or a `JsonlSink`, which is flushed and
            closed with the monitor.
        redact: Runs on every text before it leaves the process.
        settings: Everything else; None for the environment's.
        tracer_provider: OpenTelemetry's, in place of the global one.
        meter_provider: The same.
        logger_provider: The same.

    Raises:
        UnknownMetricError: for a metric or threshold that nothing registered, naming the known ones.
        GateError: for a threshold without a usable value.
        ValueError: for a value out of its range.
        TypeError: for an argument of the wrong kind.

    Attributes:
        settings: What is in force.
        sampler: Decides which requests are scored.
        tally: Counts of what was dropped or went wrong.
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
    ) -> None:
        super().__init__()
        self.settings = _settings(
            given(settings, None), pipeline=pipeline, sample_rate=sample_rate, judge_sample_rate=judge_sample_rate
        )
        self._last: LiveResult | partial[LiveResult] | None = None
        self.tally = Tally()
        self._past = Past(self.settings.max_finished)
        self._feedback_names: set[str] = set()
        self._judge_sampler = Sampler(self.settings.judge_sample_rate)
        self._scorer = Scorer(
            metrics=given(metrics, None),
            judge=given(judge, None),
            config=given(config, None),
            thresholds=given(thresholds, None),
        )
        self._redact = _callable("redact", given(redact, None))
        self._selection = Selection(self.settings, self._scorer)
        self.sampler = self._selection.sampler
        self._on_result = _callable("on_result", given(on_result, None))
        self._sink: ResultSink | None = None
        if isinstance(self._on_result, ResultSink):
            self._sink = self._on_result
            self._on_result = self._sink.join(self._redact)
        self._sink_left = False
        self._own_tracing = given(tracer_provider, None) is not None
        self._faults = Faults()
        self._emitter = Emitter(
            _options(self.settings, self._redact),
            tracer_provider=given(tracer_provider, None),
            meter_provider=given(meter_provider, None),
            logger_provider=given(logger_provider, None),
            faults=self._faults,
        )
        self._reporter = Reporter(self.settings, self._scorer, self._redact)
        self._outcomes = Tally()
        self._worker: Worker | None = None
        # A slow judge must not hold up the formulas of large requests: it has a queue and a thread of its own.
        self._judge_worker: Worker | None = None
        self._worker_lock = RLock()
        self._greeted = False

    @property
    def enabled(self) -> bool:
        """
        Return whether anything is scored at all.
        """
        return self.settings.enabled

    @property
    def last(self) -> LiveResult | None:
        """
        Return the newest result; None before the first.
        """
        last = self._last
        if isinstance(last, partial):
            made: LiveResult = last()
            if self._last is last:
                self._last = made
            return made
        return last

    @property
    def stats(self) -> Mapping[str, int]:
        """
        Return counts: one for each outcome, together every request seen, then what was dropped or went wrong.
        """
        counts = {**dict.fromkeys(OUTCOMES, 0), **self._outcomes.snapshot(), **self.tally.snapshot()}
        if self._sink is not None:
            counts = {**counts, **self._sink.stats}
        lost = sum(self._faults.counts.values())
        return {**counts, "emission_errors": lost} if lost else counts

    def submit(self, capture: Capture) -> None:
        """
        Take a request that ended: score it now, later, or not at all, and count which.
        """
        if not self.enabled:
            return
        try:
            self._greet()
            placed = self._selection.placed(capture) if self._selection.rules else capture
            if placed is None:
                self.skip(capture.anchor, seen=capture.seen, rag=capture.status not in _NOT_RAG)
                return
            capture = placed
            outcome = unscored(capture, self.settings)
            if outcome is not None:
                self._leave(capture, outcome)
            elif self._fits_inline(capture):
                self._score(capture)
            elif not self._put(self._workers(), lambda: self._score(capture), lambda: self._leave(capture, "timeout")):
                self._leave(capture, "queue_full")
        except Exception as error:
            self.tally.fault("submit", error)
            self._count("scoring_error", capture.pipeline, capture.anchor, capture.seen)

    def skip(self, anchor: Anchor, *, seen: int = 1, rag: bool = True) -> None:
        """
        Count a request that was not sampled.

        Args:
            anchor: Where it belongs.
            seen: Requests that it stands for.
            rag: It may have been RAG, and so counts for coverage; a bare model call is not.
        """
        self._count("not_sampled" if rag else "not_rag", None, anchor, seen)

    def fault(self, place: str, error: BaseException) -> None:
        """
        Note an error of our own code.
        """
        self.tally.fault(place, error)

    def flush(self, timeout: float | None = None) -> bool:
        """
        Wait for what is being scored in the background; False when *timeout* seconds were not enough.
        """
        ends = None if timeout is None else time.monotonic() + timeout
        done = self._each_worker(Worker.flush, timeout)
        return done if self._sink is None else self._sink.flush(_left(ends)) and done

    def close(self, timeout: float | None = None) -> bool:
        """
        Drain the background work within *timeout* seconds (`shutdown_timeout_s` for None) and take no more of it.
        """
        timeout = self.settings.shutdown_timeout_s if timeout is None else timeout
        ends = time.monotonic() + timeout
        done = self._each_worker(Worker.close, timeout)
        if self._sink is None or self._sink_left:
            return done
        self._sink_left = True
        return self._sink.leave(_left(ends)) and done

    def _each_worker(self, step: Callable[[Worker, float | None], bool], timeout: float | None) -> bool:
        """
        Take *step* with the formulas' worker, which feeds the judge's, then with that one, in one time limit.
        """
        ends = None if timeout is None else time.monotonic() + timeout
        done = True
        for name in ("_worker", "_judge_worker"):
            # Looked up when its turn comes: the formulas' last job may only now have made the judge's worker.
            worker: Worker | None = getattr(self, name)
            if worker is not None:
                done &= step(worker, _left(ends))
        return done

    def _fits_inline(self, capture: Capture) -> bool:
        mode = self.settings.mode
        return mode == "inline" or (mode == "auto" and capture.chars <= self.settings.inline_chars)

    def _put(self, worker: Worker, job: Callable[[], None], give_up: Callable[[], None]) -> bool:
        def guarded() -> None:
            self._emitter.queue_changed(-1)
            try:
                job()
            except Exception as error:
                self.tally.fault("worker", error)

        def late() -> None:
            self._emitter.queue_changed(-1)
            give_up()

        if not worker.put(guarded, late):
            return False
        self._emitter.queue_changed(1)
        return True

    def _workers(self) -> Worker:
        if self._worker is None:
            with self._worker_lock:
                if self._worker is None:
                    self._worker = self._new_worker()
        return self._worker

    def _judge_workers(self) -> Worker:
        if self._judge_worker is None:
            with self._worker_lock:
                if self._judge_worker is None:
                    self._judge_worker = self._new_worker(JUDGE_STAGE)
        return self._judge_worker

    def _new_worker(self, stage: int = SCORE_STAGE) -> Worker:
        return Worker(size=self.settings.queue_size, timeout_s=self.settings.shutdown_timeout_s, stage=stage)

    def _score(self, capture: Capture) -> None:
        if self._selection.rules.metrics:
            decided = self._selection.decided(capture)
            if decided is None:
                self.skip(capture.anchor, seen=capture.seen)
                return
            capture = decided
        target = capture.anchor.target
        trace_id = None if target is None else target.trace_id
        scored = self._scorer.formulas(capture.record, self.settings.deadline_s)
        span = self._emit(capture, scored, capture.sample_rate, capture.selection)
        self._remember(capture, span, self._reporter.pipeline(capture.pipeline))
        self._count(scored.outcome, capture.pipeline, capture.anchor)
        self._count_answer(capture, scored.abstained)
        self._tell(capture, scored, span, capture.sample_rate, capture.selection)
        if self._scorer.judge is not None:
            self._consider_judge(capture, trace_id, breached=bool(scored.verdict.breached))

    def _report(self, capture: Capture, scored: Scored) -> None:
        span = self._emit(capture, scored, capture.sample_rate, capture.selection)
        self._tell(capture, scored, span, capture.sample_rate, capture.selection)

    def _consider_judge(self, capture: Capture, trace_id: int | None, *, breached: bool) -> None:
        """
        Have the judge asked when the request is in its sample, or else, by rule, when it breaches.

        A breach inside the sample counts as random, so that the sample's mean stays a fair one.
        """
        # A breach is asked about wherever it is scored, whichever of the two asks.
        rate = capture.sample_rate if breached else min(capture.sample_rate, self._judge_sampler.rate)
        if self._judge_sampler.keeps(trace_id, capture.run_id):
            selection = capture.selection
        elif breached:
            selection = "rule"
        else:
            return
        if not self._put(self._judge_workers(), lambda: self._ask_judge(capture, rate, selection), self._drop_judge):
            self._drop_judge()

    def _ask_judge(self, capture: Capture, rate: float, selection: str) -> None:
        record = self._reporter.redacted(capture.record)
        with observing(lambda event: self._judge_event(event, capture)):
            answers = self._scorer.ask_judge(record, self.settings.judge_deadline_s)
        for scored in answers:
            span = self._emit(capture, scored, rate, selection)
            self._tell(capture, scored, span, rate, selection)

    def _judge_event(self, event: JudgeEvent, capture: Capture) -> None:
        pipeline = self._reporter.pipeline(capture.pipeline)
        if isinstance(event, ModelCall):
            call = JudgeCall(event.judge, event.duration_s, event.input_tokens, event.output_tokens, event.error_type)
            self._emitter.judge_called(call, pipeline, capture.anchor)
        elif event.escalated:
            self._emitter.judge_escalated(pipeline, capture.anchor)

    def _drop_judge(self) -> None:
        self.tally.add("judge_dropped")

    def _emit(
        self, capture: Capture, scored: Scored, sample_rate: float, selection: str = "random"
    ) -> SpanContext | None:
        try:
            return self._emitter.emit(
                self._reporter.evaluation(capture, scored, sample_rate, selection), capture.anchor
            )
        except Exception as error:
            self.tally.fault("emit", error)
            return None

    def _leave(self, capture: Capture, outcome: str) -> None:
        """
        Count and report a request that is not scored.
        """
        self._count(outcome, capture.pipeline, capture.anchor, capture.seen)
        if capture.status == "ok" and outcome == "incomplete":
            self._count_answer(capture, abstained=None)
        self._tell(capture, None, None, capture.sample_rate, capture.selection)

    def _tell(
        self, capture: Capture, scored: Scored | None, span: SpanContext | None, sample_rate: float, selection: str
    ) -> None:
        """
        Keep a request as the last, and hand its result to who asked for it; nobody asked, none is made.
        """
        if self._on_result is None:
            self._last = partial(self._reporter.result, capture, scored, span, sample_rate, selection)
            return
        result = self._last = self._reporter.result(capture, scored, span, sample_rate, selection)
        try:
            self._on_result(result)
        except Exception as error:
            self.tally.fault("on_result", error)

    def _count(self, outcome: str, pipeline: str | None, anchor: Anchor, amount: int = 1) -> None:
        self._outcomes.add(outcome, amount)
        try:
            if self._emitter.counts:
                self._emitter.count_request(outcome, self._reporter.pipeline(pipeline), anchor, amount)
        except Exception as error:
            self.tally.fault("count", error)

    def _count_answer(self, capture: Capture, abstained: bool | None) -> None:
        record = capture.record
        answer = "blank" if not (record.answer or "").strip() else "abstained" if abstained else "answered"
        retrieval = "not_observed" if record.contexts is None else "found" if record.contexts else "empty"
        try:
            self._emitter.count_answer(answer, retrieval, self._reporter.pipeline(capture.pipeline), capture.anchor)
        except Exception as error:
            self.tally.fault("count", error)

    def _greet(self) -> None:
        """
        Say, with the first request, what would surprise a newcomer.
        """
        if self._greeted:
            return
        self._greeted = True
        if not self._own_tracing and isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            say_once(
                "no provider",
                "no OpenTelemetry SDK is set up, so scores go to `handler.last` and `on_result` alone; to send them: "
                'pip install "rageval-trace[otlp]" and opentelemetry.trace.set_tracer_provider(...)',
            )
        if not self._scorer.thresholds:
            say_once(
                "no thresholds",
                "no thresholds are set, so scores come without a verdict; to get one: thresholds={metric: value}",
            )


def _settings(settings: Settings | None, **arguments: Any) -> Settings:
    if settings is not None and not isinstance(settings, Settings):
        raise TypeError(f"settings is {type(settings).__name__}: expected Settings")
    named = {name: value for name, value in arguments.items() if value is not UNSET}
    found = replace(settings, **named) if settings is not None else Settings.from_env(**named)
    return replace(found, enabled=False) if switched_off() else found


def _options(settings: Settings, redact: Callable[[str], str] | None) -> EmitOptions:
    return EmitOptions(
        spans=settings.spans,
        events=settings.events,
        annotate_parent=settings.annotate_parent,
        openinference=settings.openinference,
        capture_spans=settings.capture_spans,
        capture_events=settings.capture_events,
        hide_inputs=settings.hide_inputs,
        hide_outputs=settings.hide_outputs,
        redact=redact,
    )


def _callable(name: str, value: Any) -> Any:
    if value is not None and not callable(value):
        raise TypeError(f"{name} is {type(value).__name__}: expected a function")
    return value


def _left(ends: float | None) -> float | None:
    return None if ends is None else max(0.0, ends - time.monotonic())
