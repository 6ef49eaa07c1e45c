"""
What a judge is: a class with two methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from rageval_trace.models import Context, EvalRecord, MetricResult, Verdict

__all__ = ["FALLBACK", "Judge", "Rating", "RecordJudge", "judge_name"]

FALLBACK = "lexical_fallback"
"""Who answered when the judge that was asked could not."""


class Rating(float):
    """
    A rating in [0, 1] that names who gave it, when it was not the judge that was asked (`lexical_fallback`).
    """

    __slots__ = ("judge",)

    judge: str

    # typing.Self, which PYI034 asks for, is newer than Python 3.10; the class tells what D102 asks for.
    def __new__(cls, value: float, judge: str) -> Rating:  # noqa: PYI034, D102
        rating = super().__new__(cls, value)
        rating.judge = judge
        return rating


@runtime_checkable
class Judge(Protocol):
    """
    Decide whether contexts support claims, and whether an answer is relevant.

    Two optional attributes are read where present: `name` (as shown in results and telemetry; the class name
    otherwise) and `version`.
    """

    def judge_claims(self, claims: Sequence[str], contexts: Sequence[Context]) -> Sequence[Verdict]:
        """
        Judge each claim against the contexts.

        Returns:
            One verdict a claim, in the claims' order.
        """
        ...

    def judge_relevance(self, question: str, answer: str) -> float | None:
        """
        Rate how far the answer addresses the question.

        Returns:
            A rating in [0, 1] (a `Rating` when somebody else gave it); None to leave it to the keyword formula.
        """
        ...


@runtime_checkable
class RecordJudge(Protocol):
    """
    Judge a whole record at once, as `LLMJudge` does.
    """

    def judge(self, record: EvalRecord) -> Mapping[str, MetricResult]:
        """
        Return results by metric name; they replace the formulas' results of those names.
        """
        ...


def judge_name(judge: object) -> str:
    """
    Return the name under which a judge's results are reported.
    """
    return str(getattr(judge, "name", None) or type(judge).__name__)
