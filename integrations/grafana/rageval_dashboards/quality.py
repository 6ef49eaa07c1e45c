"""
The dashboard "RAG quality": are we grounded right now, where not, and since when.
"""

from __future__ import annotations

from typing import Any

from rageval_dashboards import queries as q
from rageval_dashboards.frame import frame
from rageval_dashboards.panels import Query, bars, heat, lines, number
from rageval_trace.telemetry import names

__all__ = ["quality"]

_ANSWER, _RETRIEVAL = q.label(names.ANSWER), q.label(names.RETRIEVAL)
_ABSTAINED = q.answers(f'{_ANSWER}="abstained"'), q.answers()
_EMPTY = q.answers(f'{_RETRIEVAL}="empty"'), q.answers(f'{_RETRIEVAL}=~"found|empty"')
_BY_METRIC = f"{{{{{q.NAME}}}}} ({{{{{q.JUDGE}}}}})"
_SCORED = q.requests(f'{q.OUTCOME}="scored"'), q.requests()


def quality() -> Any:
    """
    Return the dashboard's builder.
    """
    return frame(
        "rageval-quality",
        "RAG quality",
        "Scores of live RAG answers. Means and shares are of the randomly sampled requests.",
        [*_numbers(), *_over_time()],
    )


def _numbers() -> list[tuple[Any, int, int]]:
    failing = q.share(*q.fail_share())
    panels = [
        number(
            "Failing",
            "Share of the results with a threshold that do not meet it, over the metrics chosen. None: no thresholds.",
            "percentunit",
            failing,
            (0.05, 0.1),
        ),
        number(
            "Hallucination risk",
            "Mean probability that an answer holds something its contexts do not support. Lower is better.",
            "none",
            q.mean("hallucination_risk"),
        ),
        number(
            "Hallucination rate",
            "Mean share of an answer's claims that no context supports. Lower is better.",
            "none",
            q.mean("hallucination_rate"),
        ),
        number(
            "Freshness",
            "Mean freshness of the dated contexts: 1 for today's, halving with the configured half-life.",
            "none",
            q.mean("freshness"),
        ),
        number("Abstentions", "Share of the answers that only decline.", "percentunit", q.share(*_ABSTAINED)),
        number(
            "Empty retrievals",
            "Share of the answers whose retrieval was watched and found nothing.",
            "percentunit",
            q.share(*_EMPTY),
        ),
        number(
            "Coverage",
            "Share of the requests that were scored: sampling, drops and errors lower it. How far to trust the rest.",
            "percentunit",
            q.share(*_SCORED),
        ),
        number("Requests", "RAG requests seen, scored or not.", "short", q.total(q.requests())),
    ]
    return [(panel, 3, 4) for panel in panels]


def _over_time() -> list[tuple[Any, int, int]]:
    ages = [Query(q.age_quantile(share), f"p{share * 100:.0f}", exemplars=True) for share in (0.5, 0.9)]
    ill = [
        Query(q.grouped_share(*_ABSTAINED, q.PIPELINE), f"{{{{{q.PIPELINE}}}}}: abstained"),
        Query(q.grouped_share(*_EMPTY, q.PIPELINE), f"{{{{{q.PIPELINE}}}}}: nothing retrieved"),
    ]
    panels = [
        lines(
            "Mean score by metric",
            "Mean of each metric. Where lower is better (hallucination_rate, hallucination_risk) a rise is bad.",
            "none",
            Query(q.mean_by_metric(), _BY_METRIC),
            ratio=True,
        ),
        lines(
            "Failing share by metric",
            "Of the results with a threshold, the share that does not meet it.",
            "percentunit",
            Query(q.grouped_share(*q.fail_share(), q.METRIC), _BY_METRIC),
            ratio=True,
        ),
        heat(
            "Scores",
            "How many results fell in each band of the score. Dots are exemplars: each opens its trace.",
            "none",
            Query(q.total(q.scores("_bucket"), q.RATE, "le"), "{{le}}", exemplars=True),
        ),
        bars(
            "Breaches by metric and pipeline",
            "Results that did not meet their threshold, in the time range.",
            "short",
            Query(q.total(q.fail_share()[0], by=f"{q.NAME}, {q.PIPELINE}"), f"{{{{{q.PIPELINE}}}}}: {{{{{q.NAME}}}}}"),
        ),
        lines("Context age", "Age of the dated contexts when the question was asked.", "h", *ages),
        lines(
            "Abstentions and empty retrievals",
            "Shares of the answers that only decline, and of those whose retrieval found nothing.",
            "percentunit",
            *ill,
            ratio=True,
        ),
        lines(
            "Mean against the same hour a week ago",
            "The last hour's mean less that of the same hour last week: 0 is no change.",
            "none",
            Query(q.mean_change(), _BY_METRIC),
        ),
        lines(
            "Requests by pipeline",
            "RAG requests seen.",
            "reqps",
            Query(q.per_second(q.requests(), q.PIPELINE), f"{{{{{q.PIPELINE}}}}}"),
            stacked=True,
        ),
    ]
    return [(panel, 12, 8) for panel in panels]
