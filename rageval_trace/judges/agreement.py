"""
How far verdicts agree: with people's labels, and with each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

__all__ = ["Confusion", "auroc", "confusion"]


@dataclass(frozen=True, slots=True)
class Confusion:
    """
    Count pairs of yes-or-no judgments, the reference's first.

    Args:
        both: Supported by both.
        missed: Supported by the reference alone.
        false: Supported by the other alone.
        neither: Supported by neither.
    """

    both: int
    missed: int
    false: int
    neither: int

    @property
    def total(self) -> int:
        """
        Return the number of pairs.
        """
        return self.both + self.missed + self.false + self.neither

    @property
    def accuracy(self) -> float | None:
        """
        Return the share of equal judgments, in [0, 1]; None for no pairs.
        """
        return (self.both + self.neither) / self.total if self.total else None

    @property
    def kappa(self) -> float | None:
        """
        Return Cohen's kappa: agreement beyond chance, in [-1, 1]; None when chance alone would always agree.
        """
        if not self.total:
            return None
        yes_reference = (self.both + self.missed) / self.total
        yes_other = (self.both + self.false) / self.total
        chance = yes_reference * yes_other + (1 - yes_reference) * (1 - yes_other)
        observed = (self.both + self.neither) / self.total
        return None if chance >= 1 else (observed - chance) / (1 - chance)


def confusion(reference: Sequence[bool], other: Sequence[bool]) -> Confusion:
    """
    Count the pairs of two equally long sequences of judgments.
    """
    pairs = list(zip(reference, other, strict=True))
    return Confusion(
        pairs.count((True, True)), pairs.count((True, False)), pairs.count((False, True)), pairs.count((False, False))
    )


def auroc(labels: Sequence[bool], scores: Sequence[float]) -> float | None:
    """
    Return the chance that a supported item is scored above an unsupported one, a tie counting half.

    This is the area under the ROC curve, by the rank sum of Mann and Whitney.

    Returns:
        A value in [0, 1]; None when all labels are equal.
    """
    positives = sum(labels)
    negatives = len(labels) - positives
    if not positives or not negatives:
        return None
    ranked = sorted(zip(scores, labels, strict=True), key=lambda pair: pair[0])
    rank_sum, below = 0.0, 0
    for _, group in groupby(ranked, key=lambda pair: pair[0]):
        tied = [label for _, label in group]
        rank_sum += sum(tied) * (below + (len(tied) + 1) / 2)
        below += len(tied)
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives)
