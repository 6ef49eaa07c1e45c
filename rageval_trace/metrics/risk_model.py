"""
The weights of `hallucination_risk`: read once from the coefficients file beside this module.

`tools/fit_risk.py` fits and writes the file; METHODS.md says on what, and how well it does.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from rageval_trace.signals.claim import ClaimSignals, damped

__all__ = ["FEATURES", "RiskModel", "default_model"]

FEATURES = ("new_neighbours", "apart", "new_run", "conflicts", "names")
"""The signals that are weighed, by their names in `ClaimSignals`; no weight is below 0."""

_FILE = "risk.coefficients.json"


@dataclass(frozen=True, slots=True)
class RiskModel:
    """
    Weigh signals into probabilities.

    A claim's doubt is the weighted sum of its signals. An answer's doubt is a mix of the mean and the greatest doubt
    among its claims, plus a weight for the conflicts in all of them. A logistic curve, fitted to even odds, turns
    either into a probability.

    Args:
        version: Of the coefficients.
        weights: In the order of `FEATURES`; none below 0.
        all_conflicts: Weight of the conflicts of all claims together.
        greatest: Share of the greatest doubt in the mix, in [0, 1].
        slope: Of the answer's curve; above 0.
        offset: Of the answer's curve.
        claim_slope: Of the claim's curve; above 0.
        claim_offset: Of the claim's curve.
        claim_length: Weight of `length`, by which only claims are compared.
    """

    version: int
    weights: tuple[float, ...]
    all_conflicts: float
    greatest: float
    slope: float
    offset: float
    claim_slope: float
    claim_offset: float
    claim_length: float

    def doubt(self, signals: ClaimSignals) -> float:
        """
        Return a claim's doubt; 0.0 for none, without an upper end.
        """
        new, apart, run, conflicts, names = self.weights
        return (
            new * signals.new_neighbours
            + apart * signals.apart
            + run * signals.new_run
            + conflicts * signals.conflicts
            + names * signals.names
        )

    def claim_risk(self, signals: ClaimSignals) -> float:
        """
        Return the probability that a claim is not supported, in (0, 1).
        """
        return logistic(
            self.claim_slope * (self.doubt(signals) + self.claim_length * signals.length) + self.claim_offset
        )

    def answer_doubt(self, claims: Sequence[ClaimSignals]) -> float:
        """
        Return an answer's doubt from its claims, at least one.
        """
        doubts = [self.doubt(signals) for signals in claims]
        mixed = (1 - self.greatest) * math.fsum(doubts) / len(doubts) + self.greatest * max(doubts)
        return mixed + self.all_conflicts * damped(sum([signals.found for signals in claims]))

    def answer_risk(self, claims: Sequence[ClaimSignals]) -> float:
        """
        Return the probability that an answer holds something unsupported, in (0, 1).
        """
        return logistic(self.slope * self.answer_doubt(claims) + self.offset)


def logistic(value: float) -> float:
    """
    Return 1 / (1 + e^-value).
    """
    return 1.0 / (1.0 + math.exp(-value)) if value >= 0 else 1.0 - 1.0 / (1.0 + math.exp(value))


@cache
def default_model() -> RiskModel:
    """
    Return the model of the coefficients file.
    """
    content = json.loads(files("rageval_trace.metrics").joinpath(_FILE).read_text(encoding="utf-8"))
    return RiskModel(
        version=content["version"],
        weights=tuple([content["weights"][name] for name in FEATURES]),
        **{key: content[key] for key in RiskModel.__dataclass_fields__ if key not in ("version", "weights")},
    )
