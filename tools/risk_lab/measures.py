"""
Rank quality, balanced accuracy, naming of the broken claim, and their intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import rankdata

from tools.risk_lab.data import FAMILIES, Table
from tools.risk_lab.fitting import Weights, fit


def auroc(bad: np.ndarray, score: np.ndarray) -> float:
    """
    Return the probability that a bad answer has a higher score than a good one; NaN without both.
    """
    positive = int(bad.sum())
    negative = len(bad) - positive
    if not positive or not negative:
        return float("nan")
    ranks = rankdata(score)
    return float((ranks[bad == 1].sum() - positive * (positive + 1) / 2) / (positive * negative))


def by_set(table: Table, score: np.ndarray) -> np.ndarray:
    """
    Return the AUROC in each set.
    """
    return np.array([auroc(table.bad[rows], score[rows]) for rows in _rows(table)])


def _rows(table: Table) -> list[np.ndarray]:
    return [np.flatnonzero(table.of_set == number) for number in range(len(table.sets))]


def left_out(table: Table, *, families: bool = False) -> tuple[np.ndarray, np.ndarray, list[Weights]]:
    """
    Return each answer's doubt by weights that never saw its set (or its family of sets), what its claims are compared
    by, and the weights by set.
    """
    names = [FAMILIES.get(name, name) if families else name for name in table.sets]
    doubt, rank = np.zeros(len(table.bad)), np.zeros(len(table.claims))
    weights: list[Weights] = []
    for number, name in enumerate(names):
        seen = [other for other, label in enumerate(names) if label != name]
        weights.append(fit(table, seen))
        rows = table.of_set == number
        doubt[rows] = weights[-1].doubt(table)[rows]
        rank[rows[table.answer_of]] = weights[-1].claim_rank(table)[rows[table.answer_of]]
    return doubt, rank, weights


def interval(
    table: Table, statistic: Callable[[list[np.ndarray]], float], rounds: int = 500, seed: int = 0
) -> tuple[float, float]:
    """
    Return the 95 % interval of a statistic of rows by set, drawing source documents inside each set.
    """
    generator = np.random.default_rng(seed)
    members = []
    for rows in _rows(table):
        _, group = np.unique(table.group[rows], return_inverse=True)
        order = np.argsort(group, kind="stable")
        members.append(np.split(rows[order], np.cumsum(np.bincount(group))[:-1]))
    values = []
    for _ in range(rounds):
        drawn = [
            np.concatenate([groups[at] for at in generator.integers(0, len(groups), len(groups))]) for groups in members
        ]
        values.append(statistic(drawn))
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return float(low), float(high)


def macro_auroc(table: Table, score: np.ndarray) -> Callable[[list[np.ndarray]], float]:
    """
    Return the statistic "mean of the sets' AUROC" for `interval`.
    """
    return lambda drawn: float(np.nanmean([auroc(table.bad[rows], score[rows]) for rows in drawn]))


def balanced_accuracy(bad: np.ndarray, alarm: np.ndarray) -> float:
    """
    Return the mean of the shares of bad answers with an alarm and of good ones without.
    """
    return float((alarm[bad == 1].mean() + (~alarm[bad == 0]).mean()) / 2)


def best_cut(table: Table, score: np.ndarray, groups: Sequence[np.ndarray]) -> float:
    """
    Return the cut with the greatest mean balanced accuracy over groups of rows.
    """
    pooled = np.unique(np.concatenate([score[rows] for rows in groups]))
    cuts = pooled[:: max(1, len(pooled) // 400)]
    means = [np.mean([balanced_accuracy(table.bad[rows], score[rows] >= cut) for rows in groups]) for cut in cuts]
    return float(cuts[int(np.argmax(means))])


def one_cut_left_out(table: Table, weights: Sequence[Weights]) -> np.ndarray:
    """
    Return each set's balanced accuracy at a cut, and by weights, made on the other sets.
    """
    rows = _rows(table)
    found = []
    for number in range(len(table.sets)):
        score = weights[number].doubt(table)
        cut = best_cut(table, score, [rows[other] for other in range(len(rows)) if other != number])
        found.append(balanced_accuracy(table.bad[rows[number]], score[rows[number]] >= cut))
    return np.array(found)


def calibrated(table: Table, score: np.ndarray, labelled: int | None = None, seed: int = 0) -> np.ndarray:
    """
    Return each set's balanced accuracy with a cut chosen on labelled answers of that set and measured on others.

    Args:
        table: The answers.
        score: Their doubt.
        labelled: How many labelled answers choose the cut, mean over 20 draws; None for five folds by source.
        seed: Of the draws.
    """
    generator = np.random.default_rng(seed)
    found = []
    for rows in _rows(table):
        _, group = np.unique(table.group[rows], return_inverse=True)
        draws = []
        if labelled is None:
            fold = generator.permutation(group.max() + 1)[group] % 5
            alarm = np.zeros(len(rows), bool)
            for part in range(5):
                chosen = rows[fold != part]
                alarm[fold == part] = score[rows[fold == part]] >= best_cut(table, score, [chosen])
            draws.append(balanced_accuracy(table.bad[rows], alarm))
        for _ in range(0 if labelled is None else 20):
            order = generator.permutation(len(rows))
            chosen, rest = rows[order[:labelled]], rows[order[labelled:]]
            if len(set(table.bad[chosen])) == 2 and len(set(table.bad[rest])) == 2:
                draws.append(balanced_accuracy(table.bad[rest], score[rest] >= best_cut(table, score, [chosen])))
        found.append(np.mean(draws))
    return np.array(found)


def naming(table: Table, rank: np.ndarray, number: int) -> tuple[float, float, int]:
    """
    Return how often the most doubtful claim of a broken answer is a marked one, how often a random one would be, and
    of how many answers.
    """
    hits, chance = [], []
    for answer in np.flatnonzero((table.of_set == number) & (table.bad == 1)):
        rows = slice(table.starts[answer], table.starts[answer] + table.sizes[answer])
        marked = table.claim_bad[rows] == 1
        if marked.any():
            hits.append(marked[np.argmax(rank[rows])])
            chance.append(marked.mean())
    return (float(np.mean(hits)), float(np.mean(chance)), len(hits)) if hits else (float("nan"), float("nan"), 0)
