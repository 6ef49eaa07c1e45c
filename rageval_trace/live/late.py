"""
What becomes known of a request after it has ended: feedback, and the truth.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from opentelemetry.trace import SpanContext

from rageval_trace.live.blocks import Blocks
from rageval_trace.live.capture import Capture
from rageval_trace.live.past import Ended, Past
from rageval_trace.live.scoring import Scored, Scorer
from rageval_trace.models import MetricResult
from rageval_trace.telemetry.emitter import Emitter
from rageval_trace.telemetry.payload import Evaluation

__all__ = ["LateFacts", "bounded"]

_MAX_NAMES: Final = 50


class LateFacts(Blocks):
    """
    Send what is learnt of requests that were scored and have ended; a side of `Monitor`.
    """

    _past: Past
    _scorer: Scorer
    _emitter: Emitter
    _feedback_names: set[str]

    @abstractmethod
    def _report(self, capture: Capture, scored: Scored) -> None:
        """
        Send and tell what was computed of a request.
        """

    def feedback(self, request: str, name: str, value: float) -> bool:
        """
        Send what a person said of a request that was scored.

        Args:
            request: Its run id or trace id.
            name: What was rated, `helpful` for one.
            value: True or False, or a finite number.

        Returns:
            False when the request is not remembered (any more) or the value is no number; counted in `stats`.
        """
        try:
            return self._feedback(request, name, value)
        except Exception as error:
            self.tally.fault("feedback", error)
            return False

    def _feedback(self, request: str, name: str, value: float) -> bool:
        ended = self._past.find(request)
        if ended is None or not isinstance(value, (bool, int, float)) or not math.isfinite(value):
            self.tally.add("feedback_rejected")
            return False
        name = bounded(str(name), self._feedback_names)
        capture = ended.capture
        evaluation = Evaluation(
            pipeline=ended.pipeline,
            results={name: MetricResult(name, float(value), judge="human")},
            judge="human",
            status=capture.status,
            labels={name: "pass" if value else "fail"} if isinstance(value, bool) else {},
            sample_rate=capture.sample_rate,
            selection=capture.selection,
        )
        self._emitter.feedback(evaluation, ended.anchor())
        return True

    def ground_truth(
        self,
        request: str,
        text: str | None = None,
        *,
        relevant_ids: Iterable[str] | Mapping[str, float] | None = None,
    ) -> bool:
        """
        Score a request once more by what is known of the truth since, and send what that tells.

        Args:
            request: The run id or trace id of a request that was scored.
            text: A reference answer.
            relevant_ids: Ids of the documents that should have been found.

        Returns:
            False when the request is not remembered (any more), or no chosen metric needs what is known now.
        """
        try:
            return self._late_truth(request, {"ground_truth": text, "relevant_ids": relevant_ids})
        except Exception as error:
            self.tally.fault("ground_truth", error)
            return False

    def _late_truth(self, request: str, labels: Mapping[str, Any]) -> bool:
        ended = self._past.find(request)
        known = {name: value for name, value in labels.items() if value is not None}
        if ended is None or not known:
            self.tally.add("late_facts_rejected")
            return False
        record = replace(ended.capture.record, **known)
        scored = self._scorer.late(record, known, self.settings.deadline_s)
        if scored is None:
            self.tally.add("late_facts_rejected")
            return False
        capture = replace(ended.capture, record=record, anchor=ended.anchor(), timed=False)
        self._report(capture, scored)
        return True

    def _remember(self, capture: Capture, span: SpanContext | None, pipeline: str) -> None:
        shown = span or capture.anchor.target
        self._past.add(Ended(capture, pipeline, None if shown is None else shown.trace_id))


def bounded(name: str, known: set[str]) -> str:
    """
    Return *name*, or `other` past the number of names that metrics can bear.
    """
    if name not in known:
        if len(known) >= _MAX_NAMES:
            return "other"
        known.add(name)
    return name
