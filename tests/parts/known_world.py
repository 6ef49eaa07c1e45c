"""
Eight days of made-up traffic with known scores, as text that `promtool tsdb create-blocks-from openmetrics` reads.

Rates are constant before the last day and constant on it, so that every window gives an exact number. The same traffic
is written twice: with the labels of a scrape of the Prometheus exporter, and with those of Prometheus's OTLP intake.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rageval_trace.telemetry import names

MINUTE, DAY = 60, 86400
SCRAPED, PUSHED, GONE = "shop", "rag/shop", "gone"

_SPECS = {spec.name: spec for spec in names.INSTRUMENTS}


class Flow(NamedTuple):
    """
    One set of attributes: observations a minute, by value, before the last day and on it.
    """

    metric: str
    attributes: dict[str, str]
    before: dict[float, float]
    now: dict[float, float]


def _scores(
    pipeline: str,
    judge: str,
    metric: str,
    label: str | None,
    before: dict[float, float],
    now: dict[float, float],
    selection: str = "random",
) -> Flow:
    attributes = {
        names.PIPELINE: pipeline,
        names.JUDGE: judge,
        names.EVALUATION_NAME: metric,
        names.SELECTION: selection,
    }
    if label is not None:
        attributes[names.EVALUATION_SCORE_LABEL] = label
    return Flow(names.METRIC_SCORE, attributes, before, now)


def _count(metric: str, before: float, now: float, pipeline: str = "support", **attributes: str) -> Flow:
    named = {getattr(names, key.upper()): value for key, value in attributes.items()}
    return Flow(metric, {names.PIPELINE: pipeline, **named}, {1.0: before}, {1.0: now})


def _took(metric: str, judge: str, seconds: float, rate: float, pipeline: str = "support", error: str = "") -> Flow:
    attributes = {names.PIPELINE: pipeline, names.JUDGE: judge}
    if error:
        attributes[names.ERROR_TYPE] = error
    return Flow(metric, attributes, {seconds: rate}, {seconds: rate})


# `support` turns bad on the last day; `docs` stays good; `broken` scores nothing.
FLOWS = (
    _scores("support", "lexical", "groundedness", "pass", {1.0: 10}, {1.0: 6}),
    _scores("support", "lexical", "groundedness", "fail", {0.25: 0}, {0.25: 4}),
    _scores("support", "lexical", "hallucination_rate", None, {0.0: 10}, {0.0: 6, 0.75: 4}),
    _scores("support", "lexical", "hallucination_risk", "pass", {0.1: 10}, {0.1: 6}),
    _scores("support", "lexical", "hallucination_risk", "fail", {0.85: 0}, {0.85: 4}),
    _scores("support", "none", "freshness", "pass", {0.9: 10}, {0.9: 2}),
    _scores("support", "none", "freshness", "fail", {0.2: 0}, {0.2: 8}),
    _scores("support", "claude", "groundedness", "pass", {0.95: 1}, {0.95: 1}),
    _scores("support", "lexical_fallback", "groundedness", "pass", {0.5: 1}, {0.5: 1}),
    _scores("support", "claude", "groundedness", "fail", {0.0: 5}, {0.0: 5}, "rule"),
    _scores("docs", "lexical", "groundedness", "pass", {1.0: 9.8}, {1.0: 9.8}),
    _scores("docs", "lexical", "groundedness", "fail", {0.5: 0.2}, {0.5: 0.2}),
    _count(names.METRIC_REQUESTS, 10, 5, outcome="scored"),
    _count(names.METRIC_REQUESTS, 0, 4, outcome="not_sampled"),
    _count(names.METRIC_REQUESTS, 0, 0.5, outcome="queue_full"),
    _count(names.METRIC_REQUESTS, 0, 0.5, outcome="scoring_error"),
    _count(names.METRIC_REQUESTS, 3, 3, outcome="not_rag"),
    _count(names.METRIC_REQUESTS, 10, 10, "docs", outcome="scored"),
    _count(names.METRIC_REQUESTS, 1, 1, "broken", outcome="scoring_error"),
    _count(names.METRIC_ANSWERS, 10, 5, answer="answered", retrieval="found"),
    _count(names.METRIC_ANSWERS, 0, 3, answer="abstained", retrieval="found"),
    _count(names.METRIC_ANSWERS, 0, 2, answer="answered", retrieval="empty"),
    _count(names.METRIC_ANSWERS, 10, 10, "docs", answer="answered", retrieval="found"),
    Flow(names.METRIC_CONTEXT_AGE, {names.PIPELINE: "support"}, {2.0: 10}, {2.0: 5, 1000.0: 5}),
    _took(names.METRIC_DURATION, "lexical", 0.003, 10),
    _took(names.METRIC_DURATION, "claude", 2.0, 1),
    _took(names.METRIC_DURATION, "lexical_fallback", 0.02, 1),
    _took(names.METRIC_DURATION, "lexical", 0.003, 10, "docs"),
    _took(names.METRIC_JUDGE_DURATION, "claude", 2.0, 1),
    _took(names.METRIC_JUDGE_DURATION, "claude", 8.0, 1, error="APITimeoutError"),
    _count(names.METRIC_JUDGE_TOKENS, 1200, 1200, judge="claude", token_type="input"),  # noqa: S106 - a label
    _count(names.METRIC_JUDGE_TOKENS, 60, 60, judge="claude", token_type="output"),  # noqa: S106 - a label
    _count(names.METRIC_JUDGE_ESCALATIONS, 3, 3),
    _count(names.METRIC_FAILURES, 0.6, 0.6, evaluation_name="groundedness", error_type="TimeoutError"),
    _count(names.METRIC_UNDEFINED, 3, 3, "docs", evaluation_name="freshness"),
)
QUEUE = 7


def openmetrics(end: int) -> str:
    """
    Return the traffic of the eight days that end at *end* (unix seconds).
    """
    families: dict[str, list[str]] = defaultdict(list)
    for name, spec in _SPECS.items():
        kind = {"histogram": "histogram", "counter": "counter", "up_down_counter": "gauge"}[spec.kind]
        families[name].append(f"# TYPE {spec.prometheus.removesuffix('_total')} {kind}")
    for pushed in (False, True):
        for flow in FLOWS:
            families[flow.metric] += _written(flow, end, pushed=pushed)
        place = _labels({}, pushed=pushed)
        families[names.METRIC_QUEUE_SIZE] += [f"rageval_queue_size{{{place}}} {QUEUE} {at}" for at in _times(end)]
    stopped = f'rageval_requests_total{{job="{GONE}",rageval_pipeline="rag",rageval_outcome="scored"}}'
    families[names.METRIC_REQUESTS] += [
        f"{stopped} {at - end + 9 * DAY} {at}" for at in _times(end) if at < end - 40 * MINUTE
    ]
    return "\n".join([line for lines in families.values() for line in lines] + ["# EOF", ""])


def _written(flow: Flow, end: int, *, pushed: bool) -> Iterator[str]:
    spec = _SPECS[flow.metric]
    labels = _labels(flow.attributes, pushed=pushed)
    if spec.kind == "counter":
        yield from _line(spec.prometheus, labels, flow, end, lambda value: 1)
        return
    for bound in spec.buckets:
        written = f"{bound:g}" if pushed else repr(bound)
        yield from _line(f"{spec.prometheus}_bucket", f'{labels},le="{written}"', flow, end, lambda v, b=bound: v <= b)
    yield from _line(f"{spec.prometheus}_bucket", f'{labels},le="+Inf"', flow, end, lambda value: 1)
    yield from _line(f"{spec.prometheus}_count", labels, flow, end, lambda value: 1)
    yield from _line(f"{spec.prometheus}_sum", labels, flow, end, lambda value: value)


def _line(series: str, labels: str, flow: Flow, end: int, weight: object) -> Iterator[str]:
    before, now = (sum(weight(v) * rate for v, rate in era.items()) for era in (flow.before, flow.now))  # type: ignore[operator]
    turn, times = end - DAY, _times(end)
    for at in times:
        value = before * (min(at, turn) - (end - 9 * DAY)) / MINUTE + now * max(0, at - turn) / MINUTE
        yield f"{series}{{{labels}}} {value:.10g} {at}"


def _times(end: int) -> Iterable[int]:
    """
    Give the samples' times: hourly, closer together where a rule or a panel looks at an hour or less.
    """
    hours = range(end - 8 * DAY - 3600, end + 1, 3600)
    yesterday = range(end - DAY - 3600, end - DAY + 601, 300)
    last_week = range(end - 7 * DAY - 3600, end - 7 * DAY + 601, 300)
    return sorted({*hours, *yesterday, *last_week, *range(end - 2400, end + 1, MINUTE)})


def _labels(attributes: dict[str, str], *, pushed: bool) -> str:
    place = (
        {"job": PUSHED}
        if pushed
        else {
            "job": SCRAPED,
            "instance": "127.0.0.1:9464",
            "otel_scope_name": names.SCOPE,
            "otel_scope_version": "0.1.0",
            "otel_scope_schema_url": "",
        }
    )
    every = {**place, **{name.replace(".", "_"): value for name, value in attributes.items()}}
    return ",".join([f'{name}="{value}"' for name, value in every.items()])
