"""
The judge that needs no key: word overlap with one context.
"""

from __future__ import annotations

from collections.abc import Sequence

from rageval_trace.models import Context, Verdict
from rageval_trace.overlap import coverage
from rageval_trace.stopwords import ENGLISH
from rageval_trace.text import content_tokens, tokenize

__all__ = ["LexicalJudge"]

_TOLERANCE = 1e-9


class LexicalJudge:
    """
    Support a claim when ONE context holds enough of its content tokens.

    Support is never stitched together from several contexts. Deterministic; blind to paraphrase and to a sentence
    that turns the context's words around.

    Args:
        threshold: The share of the claim's distinct content tokens that one context must hold, in [0, 1].
        stopwords: Tokens without content.

    Raises:
        ValueError: if *threshold* is not in [0, 1].
    """

    name = "lexical"
    version = "1"

    def __init__(self, threshold: float = 0.7, *, stopwords: frozenset[str] = ENGLISH) -> None:
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold must lie in [0, 1], not {threshold}")
        self.threshold = threshold
        self.stopwords = stopwords

    def __repr__(self) -> str:
        return f"LexicalJudge(threshold={self.threshold})"

    def judge_claims(self, claims: Sequence[str], contexts: Sequence[Context]) -> list[Verdict]:
        """
        Judge each claim; see `Judge.judge_claims`.
        """
        vocabularies = [frozenset(tokenize(context.text)) for context in contexts]
        wanted = [frozenset(content_tokens(tokenize(claim), self.stopwords)) for claim in claims]
        return [self.verdict(len(words), [len(words & held) for held in vocabularies]) for words in wanted]

    def verdict(self, size: int, held: Sequence[int]) -> Verdict:
        """
        Judge a claim of *size* distinct content tokens, of which each context holds so many.
        """
        if not size:
            return Verdict(False, None, reason="no content word")
        best = max(held, default=0)
        needed = (self.threshold - _TOLERANCE) * size
        if best < needed or not held:
            return Verdict(False, best / size, reason=f"best context holds {best} of {size} words")
        return Verdict(True, best / size, tuple([position for position, count in enumerate(held) if count >= needed]))

    def judge_relevance(self, question: str, answer: str) -> float | None:
        """
        Return the share of the question's distinct content tokens found in the answer; None when it has none.
        """
        wanted = frozenset(content_tokens(tokenize(question), self.stopwords))
        return coverage(wanted, frozenset(tokenize(answer))) if wanted else None
