"""
The metric instruments, and what one evaluation puts on them.

A point's attributes repeat from request to request, so their dictionaries are made once and kept, in bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rageval_trace.telemetry import names
from rageval_trace.telemetry.content import plain
from rageval_trace.telemetry.payload import Evaluation, JudgeCall
from rageval_trace.telemetry.results import Sorted

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import Meter

__all__ = ["Instruments"]

_MAX_SETS = 4096


class Instruments:
    """
    Record what is counted and measured; every observation carries the context of the span it belongs to.
    """

    def __init__(self, meter: Meter) -> None:
        made = {spec.name: _create(meter, spec) for spec in names.INSTRUMENTS}
        self._score = made[names.METRIC_SCORE]
        self._duration = made[names.METRIC_DURATION]
        self._requests = made[names.METRIC_REQUESTS]
        self._undefined = made[names.METRIC_UNDEFINED]
        self._failures = made[names.METRIC_FAILURES]
        self._answers = made[names.METRIC_ANSWERS]
        self._age = made[names.METRIC_CONTEXT_AGE]
        self._queue = made[names.METRIC_QUEUE_SIZE]
        self._judge_duration = made[names.METRIC_JUDGE_DURATION]
        self._judge_tokens = made[names.METRIC_JUDGE_TOKENS]
        self._judge_escalations = made[names.METRIC_JUDGE_ESCALATIONS]
        self._feedback = made[names.METRIC_FEEDBACK]
        self._sets: dict[tuple[Any, ...], dict[str, str]] = {}

    def record(self, evaluation: Evaluation, found: Sorted, context: Context) -> None:
        """
        Record one evaluation: a score a defined metric, counts of the others, the duration, the contexts' ages.
        """
        pipeline = evaluation.pipeline
        for name, score in found.defined.items():
            if score >= 0:
                self._score.record(score, self._score_set(evaluation, name), context)
        for name in found.undefined:
            self._undefined.add(1, self._set(names.EVALUATION_NAME, name, names.PIPELINE, pipeline), context)
        for name, error_type in found.failed.items():
            about = (names.EVALUATION_NAME, name, names.ERROR_TYPE, error_type, names.PIPELINE, pipeline)
            self._failures.add(1, self._set(*about), context)
        self._record_duration(evaluation, context)
        for age in _ages(evaluation):
            self._age.record(age, self._set(names.PIPELINE, pipeline), context)

    def count_request(self, outcome: str, pipeline: str, context: Context, amount: int = 1) -> None:
        """
        Count requests by their outcome.
        """
        self._requests.add(amount, self._set(names.OUTCOME, outcome, names.PIPELINE, pipeline), context)

    def count_answer(self, answer: str, retrieval: str, pipeline: str, context: Context) -> None:
        """
        Count one answer by what it and its retrieval came to.
        """
        about = (names.ANSWER, answer, names.RETRIEVAL, retrieval, names.PIPELINE, pipeline)
        self._answers.add(1, self._set(*about), context)

    def queue_changed(self, delta: int) -> None:
        """
        Add *delta* to the queue's size.
        """
        self._queue.add(delta)

    def judge_called(self, call: JudgeCall, pipeline: str, context: Context) -> None:
        """
        Record what one call of an LLM judge took and used.
        """
        about = (names.JUDGE, call.judge, names.PIPELINE, pipeline)
        failed = () if call.error_type is None else (names.ERROR_TYPE, call.error_type)
        if 0 <= call.duration_s < math.inf:
            self._judge_duration.record(call.duration_s, self._set(*about, *failed), context)
        for kind, tokens in (("input", call.input_tokens), ("output", call.output_tokens)):
            if tokens > 0:
                self._judge_tokens.add(tokens, self._set(*about, names.TOKEN_TYPE, kind), context)

    def judge_escalated(self, pipeline: str, context: Context) -> None:
        """
        Count one request that a cascade handed on.
        """
        self._judge_escalations.add(1, self._set(names.PIPELINE, pipeline), context)

    def feedback_given(self, evaluation: Evaluation, context: Context) -> None:
        """
        Count what a person said of one request, by name and, for a yes or no, by which.
        """
        for name in evaluation.results:
            label = evaluation.labels.get(name)
            about = () if label is None else (names.EVALUATION_SCORE_LABEL, label)
            pairs = (names.EVALUATION_NAME, name, *about, names.PIPELINE, evaluation.pipeline)
            self._feedback.add(1, self._set(*pairs), context)

    def _score_set(self, evaluation: Evaluation, name: str) -> dict[str, str]:
        judge, label = evaluation.results[name].judge, evaluation.labels.get(name)
        about = (names.EVALUATION_NAME, name, names.JUDGE, judge, names.SELECTION, evaluation.selection)
        where = (names.PIPELINE, evaluation.pipeline)
        if label is None:
            return self._set(*about, *where)
        return self._set(*about, *where, names.EVALUATION_SCORE_LABEL, label)

    def _record_duration(self, evaluation: Evaluation, context: Context) -> None:
        seconds = evaluation.duration_s
        if not 0 <= seconds < math.inf:
            return
        about = (names.JUDGE, evaluation.judge, names.PIPELINE, evaluation.pipeline)
        failed = () if evaluation.error_type is None else (names.ERROR_TYPE, evaluation.error_type)
        self._duration.record(seconds, self._set(*about, *failed), context)

    def _set(self, *pairs: str) -> dict[str, str]:
        """
        Return the attributes named by *pairs* (name, value, name, value, ...), the same object for the same pairs.
        """
        known = self._sets.get(pairs)
        if known is None:
            known = {name: plain(value) for name, value in zip(pairs[::2], pairs[1::2], strict=True)}
            if len(self._sets) < _MAX_SETS:
                self._sets[pairs] = known
        return known


def _create(meter: Meter, spec: names.Instrument) -> Any:
    if spec.kind == "histogram":
        return meter.create_histogram(
            spec.name, spec.unit, spec.description, explicit_bucket_boundaries_advisory=spec.buckets
        )
    create: Callable[..., Any] = meter.create_counter if spec.kind == "counter" else meter.create_up_down_counter
    return create(spec.name, spec.unit, spec.description)


def _ages(evaluation: Evaluation) -> list[float]:
    """
    Return the ages of dated contexts in hours, as freshness saw them.
    """
    freshness = evaluation.results.get("freshness")
    ages = freshness.details.get("ages_hours") if freshness is not None else None
    if not isinstance(ages, Mapping):
        return []
    return [float(age) for age in ages.values() if 0 <= age < math.inf]
