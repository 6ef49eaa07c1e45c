"""
Did paired scores move? The sign-flip permutation test, and the interval that belongs to it.

If nothing had changed, each difference might as well have had the other sign (Fisher, 1935). Flipping a subset's signs
lowers the total by twice the subset's sum, so that one pass over random subsets gives both the p-value and, from the
subsets' means, the confidence interval (Hartigan, 1969: the means of random subsets cut the line into intervals that
hold the true mean equally often). No normal distribution is assumed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from operator import getitem
from statistics import NormalDist, stdev

__all__ = ["PairedTest", "holm", "paired_test"]

CONFIDENCE = 0.95
POWER = 0.8
_FLIPS = 10_000
_FEWEST_FLIPS = 1_000
# Beyond 2,000 pairs fewer flips are drawn, so that no test takes longer than that many pairs do.
_FLIPPED_PAIRS = _FLIPS * 2_000
_BLOCK = 8


@dataclass(frozen=True, slots=True)
class PairedTest:
    """
    What paired differences say of a change.

    Args:
        pairs: Number of differences.
        mean: Their mean; None without any.
        low: Lower end of the 95 % interval of the mean; None for fewer than 6 pairs, which cannot give one.
        high: Its upper end.
        p_value: Two-sided; exact for up to 13 pairs, else from random flips. None without pairs.
        detectable: The smallest true difference that so many pairs, as scattered as these, show four times in five
            (5 %, two-sided, normal approximation); None for fewer than 2 pairs or without scatter.
    """

    pairs: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    detectable: float | None = None


def paired_test(differences: Sequence[float], *, flips: int | None = None, seed: int = 0) -> PairedTest:
    """
    Test whether paired differences scatter around 0.

    Args:
        differences: One a pair, new minus old.
        flips: Random subsets to draw where all would be more; at least 100. None for 10,000, down to 1,000 from
            2,000 pairs on.
        seed: Of the draw: the same differences give the same result.
    """
    count = len(differences)
    if not count:
        return PairedTest(0)
    total = math.fsum(differences)
    if flips is None:
        flips = max(_FEWEST_FLIPS, min(_FLIPS, _FLIPPED_PAIRS // count))
    exact = 2**count <= flips
    subsets = list(_all_subsets(differences) if exact else _random_subsets(differences, flips, seed))
    low, high = _interval(subsets, exact=exact)
    return PairedTest(
        count, total / count, low, high, _p_value(subsets, total, differences, exact=exact), _detectable(differences)
    )


def _all_subsets(differences: Sequence[float]) -> Iterator[tuple[float, int]]:
    """
    Yield the sum and the size of every subset.
    """
    for chosen in product((0, 1), repeat=len(differences)):
        yield math.fsum([value for value, taken in zip(differences, chosen, strict=True) if taken]), sum(chosen)


def _random_subsets(differences: Sequence[float], number: int, seed: int) -> Iterator[tuple[float, int]]:
    """
    Yield the sum and the size of random subsets, eight members to a table look-up.
    """
    # Most differences of two runs are 0: they change a subset's size alone.
    moved = [value for value in differences if value]
    still = len(differences) - len(moved)
    tables = [_subset_sums(moved[at : at + _BLOCK]) for at in range(0, len(moved), _BLOCK)]
    draw = random.Random(seed)  # noqa: S311  # statistics, not secrets
    for _ in range(number):
        bits = draw.getrandbits(len(moved)) if moved else 0
        size = bits.bit_count() + (draw.getrandbits(still).bit_count() if still else 0)
        yield sum(map(getitem, tables, bits.to_bytes(len(tables), "little"))), size


def _subset_sums(block: Sequence[float]) -> list[float]:
    sums = [0.0]
    for value in block:
        sums += [one + value for one in sums]
    return sums


def _p_value(subsets: Sequence[tuple[float, int]], total: float, differences: Sequence[float], *, exact: bool) -> float:
    # Sums of the same numbers in another order differ in the last digits; a tie must count as one.
    least = abs(total) - 1e-12 * math.fsum(map(abs, differences))
    extreme = sum([abs(total - 2 * part) >= least for part, _ in subsets])
    return extreme / len(subsets) if exact else (extreme + 1) / (len(subsets) + 1)


def _interval(subsets: Sequence[tuple[float, int]], *, exact: bool) -> tuple[float | None, float | None]:
    means = sorted([part / size for part, size in subsets if size])
    cut = int((1 - CONFIDENCE) / 2 * (len(means) + 1) + 1e-9)
    if not cut or (exact and len(means) < 2**6 - 1):
        return None, None
    return means[cut - 1], means[-cut]


def _detectable(differences: Sequence[float]) -> float | None:
    if len(differences) < 2:
        return None
    scatter = stdev(differences)
    normal = NormalDist()
    reach = normal.inv_cdf((1 + CONFIDENCE) / 2) + normal.inv_cdf(POWER)
    return reach * scatter / math.sqrt(len(differences)) if scatter > 1e-12 else None


def holm(p_values: Sequence[float]) -> list[float]:
    """
    Return the p-values of one family, adjusted so that a false alarm among all of them stays as rare (Holm, 1979).
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = highest
    return adjusted
