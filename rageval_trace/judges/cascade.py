"""
A cheap judge first, a dear one for what it cannot settle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from rageval_trace.judges.base import Judge
from rageval_trace.judges.claude import ClaudeJudge
from rageval_trace.judges.lexical import LexicalJudge
from rageval_trace.judges.observe import Escalation, JudgeStats, Tally, notify
from rageval_trace.models import Context, Verdict
from rageval_trace.text import tokenize

__all__ = ["CascadeJudge", "Unsettled", "When"]

When: TypeAlias = Callable[[str, Verdict, Sequence[Context]], bool]
"""Whether the first judge's verdict on a claim leaves it open: (claim, verdict, contexts) -> bool."""

_DIGIT = re.compile(r"\d")
# A capitalised word inside a sentence, most often a name; the first word of a sentence tells nothing.
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w'\u2019-]+")


@dataclass(frozen=True, slots=True)
class Unsettled:
    """
    Leave a claim open unless word overlap speaks clearly.

    Overlap settles support well and the lack of it badly. On the human-labelled sentences of RAGTruth, with the
    defaults and `LexicalJudge(0.6)`, 44 % (question answering) and 29 % (summaries) of the sentences stay open; of
    those settled as supported 97 % are; among those left open are 80 % and 53 % of the unsupported ones. With
    `high=0.8` and `LexicalJudge(0.8)`: 59 % and 57 % stay open, 98 % are right, 87 % and 81 % are among the open ones.
    Of the sentences scored under 0.3 more than 80 % are supported in other words, so by default nothing is settled
    as unsupported.

    Args:
        low: A claim scored under this is settled as unsupported, in [0, 1].
        high: A claim scored at least this is settled as supported, in [0, 1], unless it mismatches.
        mismatches: Leave open a supported claim with a number or a name that no context holds.

    Raises:
        ValueError: if the bounds are not ordered inside [0, 1].
    """

    low: float = 0.0
    high: float = 0.6
    mismatches: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high <= 1:
            raise ValueError(f"expected 0 <= low <= high <= 1, not low={self.low}, high={self.high}")

    def __call__(self, claim: str, verdict: Verdict, contexts: Sequence[Context]) -> bool:
        """
        Tell whether the claim is open.
        """
        if verdict.score is None or self.low <= verdict.score < self.high:
            return True
        return verdict.score >= self.high and (
            not verdict.supported or (self.mismatches and bool(mismatches(claim, contexts)))
        )


def mismatches(claim: str, contexts: Sequence[Context]) -> list[str]:
    """
    Return the tokens of the claim's numbers and names that no context holds, in order.
    """
    wanted = [token for token in tokenize(claim) if _DIGIT.search(token)]
    wanted += [token for name in _NAME.findall(claim) for token in tokenize(name)]
    if not wanted:
        return []
    held = {token for context in contexts for token in tokenize(context.text)}
    return [token for token in wanted if token not in held]


class CascadeJudge:
    """
    Ask the first judge about every claim, and the second only about those that *when* leaves open.

    All open claims of an answer go to the second judge in one call. Results are reported under the name `cascade`:
    they are neither judge's own. When the second judge falls back, its verdicts say so.

    Args:
        first: The cheap judge; None for `LexicalJudge(0.6)`.
        second: The dear judge; None for `ClaudeJudge()`.
        when: Which claims to pass on; None for `Unsettled()`.
        relevance_below: Pass relevance on when the first judge rates it under this, or not at all, in [0, 1].
    """

    name = "cascade"

    def __init__(
        self,
        first: Judge | None = None,
        second: Judge | None = None,
        when: When | None = None,
        *,
        relevance_below: float = 0.5,
    ) -> None:
        self.first: Judge = first if first is not None else LexicalJudge(0.6)
        self.second: Judge = second if second is not None else ClaudeJudge()
        self.when: When = when if when is not None else Unsettled()
        self.relevance_below = relevance_below
        self.version = "/".join([str(getattr(judge, "version", "")) for judge in (self.first, self.second)])
        self._tally = Tally()

    @property
    def stats(self) -> JudgeStats:
        """
        Return claims and escalations of the cascade, with the calls, tokens and fallbacks of its second judge.
        """
        own = self._tally.stats()
        spent = getattr(self.second, "stats", None)
        if not isinstance(spent, JudgeStats):
            return own
        return replace(spent, claims=own.claims, escalated=own.escalated)

    def judge_claims(self, claims: Sequence[str], contexts: Sequence[Context]) -> list[Verdict]:
        """
        Judge each claim; see `Judge.judge_claims`.
        """
        verdicts = list(self.first.judge_claims(claims, contexts))
        pairs = enumerate(zip(claims, verdicts, strict=True))
        passed_on = [index for index, (claim, verdict) in pairs if self.when(claim, verdict, contexts)]
        self._tally.add(claims=len(claims), escalated=len(passed_on))
        notify(Escalation(self.name, len(claims), len(passed_on)))
        if passed_on:
            again = self.second.judge_claims([claims[index] for index in passed_on], contexts)
            for index, verdict in zip(passed_on, again, strict=True):
                verdicts[index] = verdict
        return verdicts

    def judge_relevance(self, question: str, answer: str) -> float | None:
        """
        Rate relevance; see `Judge.judge_relevance`.
        """
        rating = self.first.judge_relevance(question, answer)
        if rating is not None and rating >= self.relevance_below:
            return rating
        return self.second.judge_relevance(question, answer)
