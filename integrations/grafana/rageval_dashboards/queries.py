"""
PromQL over the declared instruments: series names and label names come from `names.py`, never from a literal.

Every function returns one expression. Shares count results or requests in both halves, so they lie in [0, 1]; a share
whose numerator has no series yet is 0 where its denominator is there.
"""

from __future__ import annotations

from typing import Final

from rageval_trace.telemetry import names

__all__ = [
    "age_quantile",
    "answers",
    "duration_quantile",
    "fail_share",
    "grouped_share",
    "label",
    "mean",
    "mean_change",
    "per_second",
    "requests",
    "scores",
    "series",
    "share",
    "total",
]

RANGE: Final = "$__range"
RATE: Final = "$__rate_interval"
HOUR: Final = "1h"

_BY_NAME: Final = {one.name: one for one in names.INSTRUMENTS}


def series(metric: str, part: str = "") -> str:
    """
    Return the name of a metric's series in Prometheus.

    Args:
        metric: Its OpenTelemetry name.
        part: `_bucket`, `_sum` or `_count` of a histogram.
    """
    return _BY_NAME[metric].prometheus + part


def label(attribute: str) -> str:
    """
    Return the name of the label that an attribute becomes.
    """
    return attribute.replace(".", "_")


NAME: Final = label(names.EVALUATION_NAME)
LABEL: Final = label(names.EVALUATION_SCORE_LABEL)
JUDGE: Final = label(names.JUDGE)
PIPELINE: Final = label(names.PIPELINE)
OUTCOME: Final = label(names.OUTCOME)
ERROR: Final = label(names.ERROR_TYPE)
# Scores of different judges are different things: lines over time keep them apart.
METRIC: Final = f"{NAME}, {JUDGE}"

_PLACE: Final = f'job=~"$job", {PIPELINE}=~"$pipeline"'
_RANDOM: Final = f'{label(names.SELECTION)}="random"'
_OF_JUDGE: Final = f'{JUDGE}=~"$judge"'


def select(metric: str, part: str = "", *matchers: str) -> str:
    """
    Return a selector of a metric's series in the chosen jobs and pipelines.
    """
    return f"{series(metric, part)}{{{', '.join([_PLACE, *matchers])}}}"


def scores(part: str, *matchers: str, metric: str | None = None) -> str:
    """
    Return a selector of randomly selected scores: a rule's picks would bend a mean.

    Args:
        part: `_bucket`, `_sum` or `_count`.
        *matchers: More label matchers.
        metric: One evaluation metric; None for those chosen in the dashboard.
    """
    which = f'{NAME}=~"$metric"' if metric is None else f'{NAME}="{metric}"'
    return select(names.METRIC_SCORE, part, _RANDOM, _OF_JUDGE, which, *matchers)


def requests(*matchers: str) -> str:
    """
    Return a selector of requests that may have been RAG.
    """
    return select(names.METRIC_REQUESTS, "", *(matchers or (f'{OUTCOME}!="not_rag"',)))


def answers(*matchers: str) -> str:
    """
    Return a selector of answers.
    """
    return select(names.METRIC_ANSWERS, "", *matchers)


def total(selector: str, window: str = RANGE, by: str = "") -> str:
    """
    Return how much a counter grew in the window, summed.
    """
    return f"sum{_by(by)} (increase({selector}[{window}]))"


def per_second(selector: str, by: str = "") -> str:
    """
    Return how fast a counter grows, a second.
    """
    return f"sum{_by(by)} (rate({selector}[{RATE}]))"


def share(part: str, whole: str) -> str:
    """
    Return one number for the time range of the dashboard: the share of *part* in *whole*.
    """
    return f"({total(part)} or vector(0)) / {total(whole)}"


def grouped_share(part: str, whole: str, by: str) -> str:
    """
    Return the share of *part* in *whole* over time, for each value of the labels *by*.
    """
    return f"({per_second(part, by)} or 0 * {per_second(whole, by)}) / {per_second(whole, by)}"


def mean(metric: str) -> str:
    """
    Return the mean score of one evaluation metric in the time range.
    """
    return f"{total(scores('_sum', metric=metric))} / {total(scores('_count', metric=metric))}"


def mean_by_metric() -> str:
    """
    Return the mean score over time, a line for each evaluation metric and judge.
    """
    return f"{per_second(scores('_sum'), METRIC)} / {per_second(scores('_count'), METRIC)}"


def mean_change() -> str:
    """
    Return the hour's mean less the mean of the same hour a week ago, for each evaluation metric and judge.
    """
    now = f"{total(scores('_sum'), HOUR, METRIC)} / {total(scores('_count'), HOUR, METRIC)}"
    week = f"{HOUR}] offset 1w"
    before = f"{_shifted(scores('_sum'), week)} / {_shifted(scores('_count'), week)}"
    return f"{now} - {before}"


def fail_share(metric: str | None = None) -> tuple[str, str]:
    """
    Return selectors of the results that failed their threshold, and of those that have one.
    """
    failed = scores("_count", f'{LABEL}="fail"', metric=metric)
    return failed, scores("_count", f'{LABEL}=~"pass|fail"', metric=metric)


def duration_quantile(quantile: float, metric: str, by: str = "") -> str:
    """
    Return a quantile of a duration over time, in seconds.
    """
    selector = select(metric, "_bucket", _OF_JUDGE)
    return f"histogram_quantile({quantile}, {per_second(selector, ', '.join(['le', *filter(None, [by])]))})"


def age_quantile(quantile: float) -> str:
    """
    Return a quantile of the contexts' age over time, in hours.
    """
    return f"histogram_quantile({quantile}, {per_second(select(names.METRIC_CONTEXT_AGE, '_bucket'), 'le')})"


def _shifted(selector: str, window: str) -> str:
    return f"sum by ({METRIC}) (increase({selector}[{window}))"


def _by(labels: str) -> str:
    return f" by ({labels})" if labels else ""
