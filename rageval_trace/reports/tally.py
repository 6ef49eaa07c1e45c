"""
Running totals of one metric, in bounded memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from rageval_trace.models import MetricResult

__all__ = ["MetricSummary", "Tally"]

# Up to this many different scores, percentiles are exact; past it, scores are counted to four decimals.
_DISTINCT_SCORES = 10_000
_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """
    One metric over all records.

    Args:
        name: The metric.
        higher_is_better: Its direction.
        mean: Unweighted mean over the records where it is defined; None where it never is.
        observed: Records with a value.
        undefined: Records without one.
        failed: Records on which the metric or its judge raised or timed out.
        p10: 10th percentile, linearly interpolated; None without a value. `p50` and `p90` likewise.
        judges: Observed records by who decided (see `MetricResult.judge`).
    """

    name: str
    higher_is_better: bool
    mean: float | None
    observed: int
    undefined: int
    failed: int
    p10: float | None
    p50: float | None
    p90: float | None
    judges: dict[str, int]


class Tally:
    """
    Add up the results of one metric.

    Args:
        name: The metric.
        higher_is_better: Its direction.
    """

    def __init__(self, name: str, *, higher_is_better: bool) -> None:
        self.name = name
        self.higher_is_better = higher_is_better
        self.undefined = 0
        self.failed = 0
        self.judges: Counter[str] = Counter()
        self._scores: Counter[float] = Counter()
        self._rounded = False
        self._sum = 0.0
        self._lost = 0.0

    def add(self, result: MetricResult) -> None:
        """
        Count one result.
        """
        if result.error_type is not None:
            self.failed += 1
        elif result.score is None:
            self.undefined += 1
        else:
            self.judges[result.judge] += 1
            self._add_to_sum(result.score)
            self._scores[round(result.score, _DECIMALS) if self._rounded else result.score] += 1
            if len(self._scores) > _DISTINCT_SCORES and not self._rounded:
                self._round()

    def _add_to_sum(self, score: float) -> None:
        """
        Add with Neumaier's compensation, so that the mean does not drift with the number of records.
        """
        total = self._sum + score
        self._lost += (self._sum - total) + score if abs(self._sum) >= abs(score) else (score - total) + self._sum
        self._sum = total

    def _round(self) -> None:
        self._rounded = True
        rounded: Counter[float] = Counter()
        for score, count in self._scores.items():
            rounded[round(score, _DECIMALS)] += count
        self._scores = rounded

    def summary(self) -> MetricSummary:
        """
        Return the totals so far.
        """
        observed = sum(self.judges.values())
        mean = (self._sum + self._lost) / observed if observed else None
        p10, p50, p90 = self._percentiles(observed, (0.1, 0.5, 0.9))
        judges = dict(sorted(self.judges.items()))
        return MetricSummary(
            self.name, self.higher_is_better, mean, observed, self.undefined, self.failed, p10, p50, p90, judges
        )

    def _percentiles(self, observed: int, shares: tuple[float, ...]) -> list[float | None]:
        if not observed:
            return [None for _ in shares]
        ordered = sorted(self._scores.items())
        return [_percentile(ordered, (observed - 1) * share) for share in shares]


def _percentile(ordered: list[tuple[float, int]], position: float) -> float:
    """
    Interpolate linearly at a 0-based fractional position among scores given with their counts (numpy's default).
    """
    below = int(position)
    fraction = position - below
    seen = 0
    for index, (score, count) in enumerate(ordered):
        seen += count
        if below < seen:
            crosses = below + 1 >= seen and index + 1 < len(ordered)
            following = ordered[index + 1][0] if crosses else score
            return score + (following - score) * fraction
    return ordered[-1][0]
