"""
Fit the weights: a logistic loss on answers and marked claims, weights not below 0, every set worth the same.

Each set has its own intercept while fitting, so that a weight is earned inside the sets and never by telling one set
from another. The curve from doubt to probability is fitted last, without intercepts, at even odds in each set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from rageval_trace.metrics.risk_model import FEATURES
from tools.risk_lab.data import Table

GREATEST = 0.4
CLAIM_LOSS = 4.0
RIDGE = 0.002
_KINDS = len(FEATURES)


@dataclass
class Weights:
    """
    What the coefficients file holds, but for the curves.
    """

    claim: np.ndarray
    all_conflicts: float
    length: float

    def claim_doubt(self, table: Table) -> np.ndarray:
        """
        Return the doubt of each claim.
        """
        return table.claims @ self.claim

    def claim_rank(self, table: Table) -> np.ndarray:
        """
        Return what the claims of one answer are compared by.
        """
        return self.claim_doubt(table) + self.length * table.length

    def doubt(self, table: Table) -> np.ndarray:
        """
        Return the doubt of each answer.
        """
        doubts = self.claim_doubt(table)
        mean = np.add.reduceat(doubts, table.starts) / table.sizes
        greatest = np.maximum.reduceat(doubts, table.starts)
        return (1 - GREATEST) * mean + GREATEST * greatest + self.all_conflicts * table.conflicts


def balance(bad: np.ndarray, of_set: np.ndarray, chosen: np.ndarray, sets: Sequence[int]) -> np.ndarray:
    """
    Return weights under which every set, and in it either label, counts the same; they sum to 1.
    """
    weights = np.zeros(len(bad))
    for number in sets:
        for label in (0, 1):
            rows = chosen & (of_set == number) & (bad == label)
            if rows.any():
                weights[rows] = 0.5 / rows.sum() / len(sets)
    return weights


def fit(table: Table, sets: Sequence[int]) -> Weights:
    """
    Fit the weights on some of the sets.
    """
    inside = np.isin(table.of_set, sets)
    answers = balance(table.bad, table.of_set, inside, sets)
    of_claim = table.of_set[table.answer_of]
    looked = inside[table.answer_of] & ~np.isnan(table.claim_bad)
    marked_sets = [number for number in sets if (looked & (of_claim == number)).any()]
    claim_bad = np.nan_to_num(table.claim_bad)
    claims = balance(claim_bad, of_claim, looked, marked_sets)
    count = len(table.sets)

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        weights, own, own_claim = point[: _KINDS + 1], point[_KINDS + 1 :][:count], point[_KINDS + 1 + count :]
        doubts = table.claims @ weights[:_KINDS]
        greatest = np.maximum.reduceat(doubts, table.starts)
        mean = np.add.reduceat(doubts, table.starts) / table.sizes
        logit = (1 - GREATEST) * mean + GREATEST * greatest + weights[_KINDS] * table.conflicts + own[table.of_set]
        value, pull = _logistic(logit, table.bad, answers)
        is_greatest = doubts == greatest[table.answer_of]
        ties = np.add.reduceat(is_greatest, table.starts, dtype=float)
        on_claims = pull[table.answer_of] * (
            (1 - GREATEST) / table.sizes[table.answer_of] + GREATEST * is_greatest / ties[table.answer_of]
        )
        claim_value, claim_pull = _logistic(doubts + own_claim[of_claim], claim_bad, CLAIM_LOSS * claims)
        slope = np.append((on_claims + claim_pull) @ table.claims, pull @ table.conflicts)
        gradient = np.concatenate(
            [
                slope + RIDGE * weights,
                np.bincount(table.of_set, pull, count) + 1e-6 * own,
                np.bincount(of_claim, claim_pull, count) + 1e-6 * own_claim,
            ]
        )
        return value + claim_value + RIDGE * (weights @ weights) / 2, gradient

    start = np.concatenate([np.full(_KINDS + 1, 0.5), np.zeros(2 * count)])
    bounds = [(0, None)] * (_KINDS + 1) + [(None, None)] * (2 * count)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 1000}).x
    length = _fit_length(table.claims @ found[:_KINDS], table, claims) if marked_sets else 0.0
    return Weights(found[:_KINDS], float(found[_KINDS]), length)


def _fit_length(doubts: np.ndarray, table: Table, weights: np.ndarray) -> float:
    """
    Return the weight of a claim's length beside its doubt, by the logistic loss on marked claims alone.
    """
    of_claim = table.of_set[table.answer_of]
    bad = np.nan_to_num(table.claim_bad)
    both = np.stack([doubts, table.length], 1)
    count = len(table.sets)

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        value, pull = _logistic(both @ point[:2] + point[2:][of_claim], bad, weights)
        gradient = np.append(pull @ both, np.bincount(of_claim, pull, count))
        return value + 1e-6 * (point @ point), gradient + 2e-6 * point

    bounds = [(0, None)] * 2 + [(None, None)] * count
    slope, length = minimize(loss, np.zeros(2 + count), jac=True, method="L-BFGS-B", bounds=bounds).x[:2]
    return float(length / slope)


def _logistic(logit: np.ndarray, bad: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    value = float((weights * (np.logaddexp(0, logit) - bad * logit)).sum())
    return value, weights * (1 / (1 + np.exp(-logit)) - bad)


def curve(doubt: np.ndarray, bad: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """
    Fit slope and offset of the logistic curve from doubt to probability.
    """

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        value, pull = _logistic(point[0] * doubt + point[1], bad, weights)
        return value, np.array([pull @ doubt, pull.sum()])

    slope, offset = minimize(loss, np.array([1.0, -3.0]), jac=True, method="L-BFGS-B").x
    return float(slope), float(offset)
