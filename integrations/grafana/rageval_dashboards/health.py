"""
The dashboard "RAG evaluation health": is the scoring itself fast, complete and undisturbed.
"""

from __future__ import annotations

from typing import Any

from rageval_dashboards import queries as q
from rageval_dashboards.frame import frame
from rageval_dashboards.panels import Query, lines, number
from rageval_trace.telemetry import names

__all__ = ["health"]

_LOST = f'{q.OUTCOME}=~"queue_full|evicted|timeout"'
_DUE = f'{q.OUTCOME}!~"not_rag|not_sampled"'  # what was to be scored
_FAILED = q.requests(f'{q.OUTCOME}="scoring_error"'), q.requests(_DUE)
_DROPPED = q.requests(_LOST), q.requests(_DUE)
_SAMPLED = q.requests(f'{q.OUTCOME}!~"not_rag|not_sampled"'), q.requests()
_QUEUE = f'{q.series(names.METRIC_QUEUE_SIZE)}{{job=~"$job"}}'
_CALLS = q.select(names.METRIC_JUDGE_DURATION, "_count", f'{q.JUDGE}=~"$judge"')


def _asked(*matchers: str) -> str:
    return q.select(names.METRIC_DURATION, "_count", *matchers)


# A judge's own answers and the fallback's together are what a judge was asked for.
_FALLBACKS = _asked(f'{q.JUDGE}="lexical_fallback"'), _asked(f'{q.JUDGE}!~"none|lexical"')


def health() -> Any:
    """
    Return the dashboard's builder.
    """
    return frame(
        "rageval-health",
        "RAG evaluation health",
        "What scoring live answers costs, and what it loses on the way.",
        [*_numbers(), *_over_time()],
    )


def _numbers() -> list[tuple[Any, int, int]]:
    slow = q.total(q.select(names.METRIC_DURATION, "_bucket", f'{q.JUDGE}=~"$judge"'), by="le")
    panels = [
        number("Scoring time, p95", "95 of 100 evaluations took no longer.", "s", f"histogram_quantile(0.95, {slow})"),
        number("Queue", "Requests that wait to be scored, now.", "short", f"sum({_QUEUE})"),
        number(
            "Dropped",
            "Share of the requests due to be scored that were not: queue full, evicted, or out of time.",
            "percentunit",
            q.share(*_DROPPED),
            (0.001, 0.01),
        ),
        number(
            "Scoring errors",
            "Share of the requests due to be scored on which every metric failed.",
            "percentunit",
            q.share(*_FAILED),
            (0.001, 0.01),
        ),
        number("Sampled", "Share of the RAG requests that sampling kept.", "percentunit", q.share(*_SAMPLED)),
        number(
            "Judge fallbacks",
            "Share of what an LLM judge was asked that word overlap answered in its place. None: no such judge.",
            "percentunit",
            q.share(*_FALLBACKS),
            (0.05, 0.2),
        ),
    ]
    return [(panel, 4, 4) for panel in panels]


def _over_time() -> list[tuple[Any, int, int]]:
    return [(panel, 12, 8) for panel in [*_requests(), *_results(), *_judges()]]


def _requests() -> list[Any]:
    by_outcome = f"{{{{{q.OUTCOME}}}}}"
    every = q.requests(f'{q.OUTCOME}!=""')
    return [
        lines(
            "Scoring time by judge",
            "Seconds from the end of a request to its scores; `none` and `lexical` are the formulas.",
            "s",
            *_quantiles(names.METRIC_DURATION),
        ),
        lines(
            "Requests by outcome",
            "Every request seen, by what became of it.",
            "reqps",
            Query(q.per_second(every, q.OUTCOME), by_outcome),
            stacked=True,
        ),
        lines(
            "Queue by job",
            "Requests that wait to be scored. A queue that stays full drops requests.",
            "short",
            Query(f"sum by (job) ({_QUEUE})", "{{job}}"),
        ),
        lines(
            "Drops by reason",
            "Requests that were due to be scored and were not.",
            "reqps",
            Query(q.per_second(q.requests(_LOST), q.OUTCOME), by_outcome),
        ),
    ]


def _results() -> list[Any]:
    failures = q.select(names.METRIC_FAILURES, "", f'{q.NAME}=~"$metric"')
    undefined = q.select(names.METRIC_UNDEFINED, "", f'{q.NAME}=~"$metric"')
    return [
        lines(
            "Failures by metric and error",
            "Results that failed: the metric or its judge raised, or ran out of time.",
            "cps",
            Query(q.per_second(failures, f"{q.NAME}, {q.ERROR}"), f"{{{{{q.NAME}}}}}: {{{{{q.ERROR}}}}}"),
        ),
        lines(
            "Undefined by metric",
            "Results without a value, because what they need was not observed: no date, no citation, no context.",
            "cps",
            Query(q.per_second(undefined, q.NAME), f"{{{{{q.NAME}}}}}"),
        ),
        lines(
            "Sampled and scored",
            "Shares of the RAG requests that sampling kept, and that were scored in the end.",
            "percentunit",
            Query(q.grouped_share(*_SAMPLED, q.PIPELINE), f"{{{{{q.PIPELINE}}}}}: sampled"),
            Query(
                q.grouped_share(q.requests(f'{q.OUTCOME}="scored"'), q.requests(), q.PIPELINE),
                f"{{{{{q.PIPELINE}}}}}: scored",
            ),
            ratio=True,
        ),
    ]


def _judges() -> list[Any]:
    kind = q.label(names.TOKEN_TYPE)
    tokens = q.select(names.METRIC_JUDGE_TOKENS, "", f'{q.JUDGE}=~"$judge"')
    failed = q.select(names.METRIC_JUDGE_DURATION, "_count", f'{q.JUDGE}=~"$judge"', f'{q.ERROR}!=""')
    return [
        lines(
            "Judge call time",
            "Seconds that one call of an LLM judge took, retries included.",
            "s",
            *_quantiles(names.METRIC_JUDGE_DURATION),
        ),
        lines(
            "Judge tokens",
            "Tokens a second that LLM judges used.",
            "cps",
            Query(q.per_second(tokens, f"{q.JUDGE}, {kind}"), f"{{{{{q.JUDGE}}}}}: {{{{{kind}}}}}"),
        ),
        lines(
            "Judge call errors",
            "Share of the calls of LLM judges that failed, after retries.",
            "percentunit",
            Query(q.grouped_share(failed, _CALLS, q.JUDGE), f"{{{{{q.JUDGE}}}}}"),
            ratio=True,
        ),
        lines(
            "Judge fallbacks by pipeline",
            "Share of what an LLM judge was asked that word overlap answered in its place.",
            "percentunit",
            Query(q.grouped_share(*_FALLBACKS, q.PIPELINE), f"{{{{{q.PIPELINE}}}}}"),
            ratio=True,
        ),
        lines(
            "Escalations",
            "Requests a second that a cascade handed on to its second judge.",
            "reqps",
            Query(q.per_second(q.select(names.METRIC_JUDGE_ESCALATIONS), q.PIPELINE), f"{{{{{q.PIPELINE}}}}}"),
        ),
    ]


def _quantiles(metric: str) -> list[Query]:
    return [
        Query(q.duration_quantile(share, metric, q.JUDGE), f"{{{{{q.JUDGE}}}}}: p{share * 100:.0f}", exemplars=True)
        for share in (0.5, 0.95)
    ]
