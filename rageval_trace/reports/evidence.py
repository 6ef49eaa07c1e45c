"""
What broke in one record, picked out of its results for a person to read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rageval_trace.models import MetricResult
from rageval_trace.reports.scorecard import RecordResult, Scorecard

__all__ = ["Evidence", "evidence", "goodness", "weakest_examples"]

_HEADLINES = ("groundedness", "faithfulness")
_SHOWN = 5
_DOUBTFUL = 0.5


@dataclass(frozen=True, slots=True)
class Evidence:
    """
    One record's broken parts.

    Args:
        label: The record's id; its question when it has none.
        metric: The metric that tells most of it; None when nothing was defined.
        score: That metric's score.
        unsupported: The claims without support, as written.
        causes: For each of these, what `hallucination_risk` found against it; empty for nothing.
        doubtful: Other claims that are more likely wrong than right, with the cause.
        missing: Ids of relevant documents that were not retrieved.
        unused: Ids (ranks, where an id was made up) of contexts that support nothing.
        wrong_citations: Cited ids that support nothing.
        failed: Metrics that raised, with the type of the error.
    """

    label: str
    metric: str | None
    score: float | None
    unsupported: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    doubtful: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    wrong_citations: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = field(default=())

    @property
    def named(self) -> tuple[tuple[str, str], ...]:
        """
        The unsupported claims, each with its cause; empty text for none.
        """
        causes = self.causes or ("",) * len(self.unsupported)
        return tuple(zip(self.unsupported, causes, strict=True))


def goodness(result: MetricResult) -> float | None:
    """
    Return a score turned so that higher is better; None without one.
    """
    if result.score is None:
        return None
    return result.score if result.higher_is_better else 1.0 - result.score


def evidence(entry: RecordResult) -> Evidence:
    """
    Pick out what broke in a record.
    """
    headline = _headline(entry)
    ids = [chunk.id for chunk in entry.record.contexts or ()]
    ranks = _listed(entry, "context_utilisation", "unused")
    unsupported = {claim["index"]: str(claim["text"]) for claim in _listed(entry, "groundedness", "unsupported")}
    read = {claim["index"]: claim for claim in _listed(entry, "hallucination_risk", "claims")}
    return Evidence(
        label=entry.record.id or entry.record.question,
        metric=headline.name if headline else None,
        score=headline.score if headline else None,
        unsupported=tuple(unsupported.values()),
        causes=tuple([str(read[index]["cause"]) if index in read else "" for index in unsupported]),
        doubtful=tuple(
            [
                (str(claim["text"]), str(claim["cause"]))
                for index, claim in read.items()
                if index not in unsupported and claim["risk"] >= _DOUBTFUL and claim["cause"]
            ]
        ),
        missing=tuple([str(key) for key in _listed(entry, "recall", "missing")]),
        unused=tuple([ids[rank - 1] for rank in ranks if 0 < rank <= len(ids)]),
        wrong_citations=tuple([str(key) for key in _listed(entry, "citation_accuracy", "wrong")]),
        failed=tuple([(result.name, result.error_type) for result in entry.results.values() if result.error_type]),
    )


def _listed(entry: RecordResult, metric: str, key: str) -> list:  # type: ignore[type-arg]  # details are free-form
    result = entry.results.get(metric)
    if result is None and metric == "groundedness":
        result = entry.results.get("hallucination_rate")
    return list(result.details.get(key) or ()) if result else []


def _headline(entry: RecordResult) -> MetricResult | None:
    for name in _HEADLINES:
        result = entry.results.get(name)
        if result is not None and result.score is not None:
            return result
    scored = [(value, result) for result in entry.results.values() if (value := goodness(result)) is not None]
    return min(scored, key=lambda pair: pair[0])[1] if scored else None


def weakest_examples(card: Scorecard, shown: int = _SHOWN) -> Iterator[tuple[RecordResult, Evidence]]:
    """
    Yield the worst records in which something broke, worst first, at most *shown*.
    """
    for entry in card.worst:
        found = evidence(entry)
        perfect = found.score is None or found.score >= 1.0
        if perfect and not (found.missing or found.wrong_citations or found.failed or found.doubtful):
            continue
        if not shown:
            return
        shown -= 1
        yield entry, found
