"""
Requests that are scored whatever the sample says, by facts that cost little to know.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from rageval_trace.live.capture import Capture
from rageval_trace.live.sampling import Sampler
from rageval_trace.live.scoring import Scorer
from rageval_trace.live.settings import RULE, SIMPLE_RULES, Settings
from rageval_trace.metrics import select
from rageval_trace.models import MetricResult

__all__ = ["Rules", "Selection", "unscored"]

_RULE: Final = re.compile(RULE)
_UNSCORED: Final = {
    "error": "request_error",
    "evicted": "evicted",
    "retrieval_only": "not_rag",
    "answer_only": "not_rag",
}


@dataclass(frozen=True, slots=True)
class _Limit:
    metric: str
    below: bool
    value: float

    def passed(self, score: float) -> bool:
        return score < self.value if self.below else score > self.value


class Rules:
    """
    Match requests that ended.

    A request that a rule matches is taken with probability 1, so that its weight in a mean is 1, and that of any other
    request 1 / the sample's rate.

    Args:
        texts: `error`, `empty_retrieval`, `tag:NAME`, `METRIC<VALUE` or `METRIC>VALUE`, as `Settings` has checked them.

    Attributes:
        metrics: Names of the metrics that must be known.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        found = [match for text in texts if (match := _RULE.fullmatch(text.strip()))]
        words = {match["word"] for match in found if match["word"] in SIMPLE_RULES}
        self._error = "error" in words
        self._empty = "empty_retrieval" in words
        self._tags = frozenset([match["tag"] for match in found if match["tag"]])
        limits = [match for match in found if match["metric"]]
        self._limits = tuple([_Limit(one["metric"], one["sign"] == "<", float(one["value"])) for one in limits])
        self.metrics = tuple(dict.fromkeys([one.metric for one in self._limits]))
        self._any = bool(found)

    def __bool__(self) -> bool:
        return self._any

    def match(self, capture: Capture) -> bool:
        """
        Return whether a fact that needs no score makes the request one to take.
        """
        if self._error and capture.status == "error":
            return True
        if self._empty and capture.record.contexts == ():
            return True
        return not self._tags.isdisjoint(capture.tags)

    def low(self, results: Mapping[str, MetricResult]) -> bool:
        """
        Return whether one of these results is past its limit.
        """
        scores = [(one, results[one.metric].score) for one in self._limits if one.metric in results]
        return any([score is not None and one.passed(score) for one, score in scores])


class Selection:
    """
    Decide which requests are scored, and by what probability.

    Args:
        settings: The rate, the rules, and whether only sampled traces count.
        scorer: Computes the scores that rules ask for.

    Raises:
        UnknownMetricError: if a rule names a metric that nothing registered.

    Attributes:
        sampler: Decides what is captured.
        rules: What is taken besides.
    """

    def __init__(self, settings: Settings, scorer: Scorer) -> None:
        self._settings = settings
        self._scorer = scorer
        self._random = Sampler(settings.sample_rate, only_sampled=settings.only_sampled)
        self.rules = Rules(settings.always)
        select(self.rules.metrics)
        # Only the end of a request tells whether a rule takes it, so that with rules every request is captured.
        self.sampler = Sampler(1.0, only_sampled=settings.only_sampled) if self.rules else self._random

    def placed(self, capture: Capture) -> Capture | None:
        """
        Say by what probability a captured request is taken; None when neither the sample nor a rule takes it.

        A request that a rule takes has the probability 1 even where the sample took it too; it still counts as
        random there, so that the mean over the random ones stays a fair one.
        """
        random = self._random.takes(capture.anchor.target, capture.run_id)
        if self.rules.match(capture):
            return replace(capture, sample_rate=1.0, selection="random" if random else "rule")
        if random:
            return replace(capture, sample_rate=self._random.rate)
        undecided = self.rules.metrics and unscored(capture, self._settings) is None
        return replace(capture, sample_rate=1.0, selection="undecided") if undecided else None

    def decided(self, capture: Capture) -> Capture | None:
        """
        Apply the rules on scores, which only scoring can tell; None when none takes the request.
        """
        if capture.selection == "rule" or capture.sample_rate == 1.0 == self._random.rate:
            return capture
        low = self.rules.low(self._scorer.cheap(capture.record, self.rules.metrics, self._settings.deadline_s))
        if capture.selection == "undecided":
            return replace(capture, selection="rule") if low else None
        return replace(capture, sample_rate=1.0) if low else capture


def unscored(capture: Capture, settings: Settings) -> str | None:
    """
    Return the outcome of a request that is not to be scored; None for one that is.
    """
    status = capture.status
    if status == "ok" or (status == "partial" and settings.score_partial):
        answer = capture.record.answer
        return None if answer is not None and answer.strip() else "incomplete"
    return _UNSCORED.get(status, "incomplete")
