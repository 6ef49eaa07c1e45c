"""
From labelled answers to a threshold, with what it would give: precision, recall, false alarms, and their intervals.

An answer that is past the threshold is an alarm; a good alarm is one on an answer that people call unsupported.
What a threshold *would* give is measured on answers that did not choose it (ten folds), since the best cut of a
sample flatters itself.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rageval_trace.errors import GateError
from rageval_trace.gates.thresholds import TOLERANCE

__all__ = ["RULES", "Alarms", "Judged", "Proposal", "Rate", "Rule", "alarms_at", "budget_threshold", "propose"]

Rule = Literal["balanced", "few-alarms", "catch-most"]
RULES: dict[Rule, str] = {
    "balanced": "the greatest balanced accuracy",
    "few-alarms": "the most found with false alarms on at most 10% of good answers",
    "catch-most": "the fewest false alarms with at least 90% of bad answers found",
}
"""How a threshold may be chosen."""

_FEW, _MOST = 0.10, 0.90
_FOLDS = 10
_Z = 1.959963984540054  # of the normal distribution, for 95 %
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Judged:
    """
    An answer's score and what people say of it.

    Args:
        score: The metric's, defined.
        supported: Everything in the answer is supported.
    """

    score: float
    supported: bool


@dataclass(frozen=True, slots=True)
class Rate:
    """
    A share with its 95 % interval (Wilson 1927).

    Args:
        part: How many did.
        whole: Of how many.
    """

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """
        The share, in [0, 1]; None of none.
        """
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> tuple[float, float]:
        """
        The lower and the upper end, in [0, 1]; all of it for a share of none.
        """
        if not self.whole:
            return 0.0, 1.0
        share, weight = self.part / self.whole, _Z * _Z / self.whole
        middle = (share + weight / 2) / (1 + weight)
        reach = _Z / (1 + weight) * math.sqrt(share * (1 - share) / self.whole + weight / (4 * self.whole))
        return max(0.0, middle - reach), min(1.0, middle + reach)


@dataclass(frozen=True, slots=True)
class Alarms:
    """
    What a threshold gives on labelled answers.

    Args:
        found: Alarms on unsupported answers.
        false: Alarms on supported answers.
        bad: Unsupported answers.
        good: Supported answers.
    """

    found: int
    false: int
    bad: int
    good: int

    @property
    def precision(self) -> Rate:
        """
        The share of alarms that are right.
        """
        return Rate(self.found, self.found + self.false)

    @property
    def recall(self) -> Rate:
        """
        The share of unsupported answers with an alarm.
        """
        return Rate(self.found, self.bad)

    @property
    def false_alarm_rate(self) -> Rate:
        """
        The share of supported answers with an alarm.
        """
        return Rate(self.false, self.good)

    @property
    def balanced_accuracy(self) -> float:
        """
        The mean of recall and of the share of supported answers without an alarm.
        """
        return (self.found / self.bad + 1 - self.false / self.good) / 2


@dataclass(frozen=True, slots=True)
class Proposal:
    """
    A threshold and what is to be expected of it.

    Args:
        rule: How it was chosen.
        threshold: The value; a score past it is an alarm.
        expected: Counted on answers that did not take part in choosing.
    """

    rule: Rule
    threshold: float
    expected: Alarms


def alarms_at(answers: Iterable[Judged], threshold: float, *, higher_is_better: bool) -> Alarms:
    """
    Count the alarms of a threshold; reaching it exactly is none.
    """
    counts = [0, 0, 0, 0]
    for answer in answers:
        past = threshold - answer.score if higher_is_better else answer.score - threshold
        alarm = past > TOLERANCE
        counts[2 * answer.supported] += alarm
        counts[2 * answer.supported + 1] += 1
    return Alarms(found=counts[0], false=counts[2], bad=counts[1], good=counts[3])


def propose(answers: Sequence[Judged], *, higher_is_better: bool) -> list[Proposal]:
    """
    Propose a threshold by each of the `RULES`.

    Args:
        answers: Labelled answers, both kinds among them.
        higher_is_better: The metric's direction.

    Raises:
        GateError: if one kind is missing.
    """
    bad = sum([not answer.supported for answer in answers])
    if not 0 < bad < len(answers):
        raise GateError(f"of {len(answers)} labelled answers {bad} are unsupported: a threshold needs both kinds")
    proposals = []
    for rule in RULES:
        threshold = _choose(answers, rule, higher_is_better=higher_is_better)
        proposals.append(Proposal(rule, threshold, _expected(answers, rule, higher_is_better=higher_is_better)))
    return proposals


def _expected(answers: Sequence[Judged], rule: Rule, *, higher_is_better: bool) -> Alarms:
    """
    Count alarms fold by fold, at the threshold that the other folds choose.
    """
    folds: list[list[Judged]] = [[] for _ in range(_FOLDS)]
    seen = [0, 0]
    for answer in answers:
        folds[seen[answer.supported] % _FOLDS].append(answer)
        seen[answer.supported] += 1
    counted = []
    for at, fold in enumerate(folds):
        others = [answer for other, members in enumerate(folds) if other != at for answer in members]
        if fold and 0 < sum([answer.supported for answer in others]) < len(others):
            threshold = _choose(others, rule, higher_is_better=higher_is_better)
            counted.append(alarms_at(fold, threshold, higher_is_better=higher_is_better))
    return Alarms(
        found=sum([alarms.found for alarms in counted]),
        false=sum([alarms.false for alarms in counted]),
        bad=sum([alarms.bad for alarms in counted]),
        good=sum([alarms.good for alarms in counted]),
    )


def _choose(answers: Sequence[Judged], rule: Rule, *, higher_is_better: bool) -> float:
    """
    Return the best threshold halfway between two neighbouring scores, by a rule.
    """
    sign = -1.0 if higher_is_better else 1.0
    good = sorted([sign * answer.score for answer in answers if answer.supported])
    bad = sorted([sign * answer.score for answer in answers if not answer.supported])
    scores = sorted({*good, *bad})
    cuts = [scores[0] - 1, *[(low + high) / 2 for low, high in itertools.pairwise(scores)], scores[-1]]
    best: tuple[tuple[float, ...], float] | None = None
    for cut in cuts:
        recall = 1 - bisect_right(bad, cut) / len(bad)
        false = 1 - bisect_right(good, cut) / len(good)
        value = _value(rule, recall, false)
        if best is None or value > best[0]:
            best = value, cut
    assert best is not None  # noqa: S101  # there is a cut for every score
    return round(min(1.0, max(0.0, sign * best[1])), _DIGITS)


def _value(rule: Rule, recall: float, false: float) -> tuple[float, ...]:
    if rule == "few-alarms":
        return (float(false <= _FEW), recall if false <= _FEW else -false, -false)
    if rule == "catch-most":
        return (float(recall >= _MOST), -false if recall >= _MOST else recall, recall)
    return (recall - false,)


def budget_threshold(scores: Sequence[float], per_thousand: float, *, higher_is_better: bool) -> tuple[float, Rate]:
    """
    Return the threshold nearest to a number of breaches in 1,000 answers, never above it, and what it gives.

    Args:
        scores: Of answers as they come; at least one.
        per_thousand: The breaches that are welcome.
        higher_is_better: The metric's direction.
    """
    sign = -1.0 if higher_is_better else 1.0
    turned = sorted([sign * score for score in scores])
    allowed = min(len(turned) - 1, math.floor(len(turned) * per_thousand / 1000 + 1e-9))
    threshold = round(sign * turned[len(turned) - 1 - allowed], _DIGITS)
    past = [sign * (score - threshold) > TOLERANCE for score in scores]
    if sum(past) > allowed:
        # Rounding may have moved the threshold to the wrong side of the score that it was.
        threshold = round(threshold + sign * 10**-_DIGITS, _DIGITS)
        past = [sign * (score - threshold) > TOLERANCE for score in scores]
    return threshold, Rate(sum(past), len(scores))
