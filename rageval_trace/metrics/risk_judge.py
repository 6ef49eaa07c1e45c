"""
A keyless judge by the risk of each claim: what `hallucination_risk` reads, as verdicts.

It stands among the metrics because it is made of one.
"""

from __future__ import annotations

from collections.abc import Sequence

from rageval_trace.claims import Claim
from rageval_trace.judges.lexical import LexicalJudge
from rageval_trace.metrics.risk_model import RiskModel, default_model
from rageval_trace.models import Context, Verdict
from rageval_trace.overlap import coverage
from rageval_trace.signals.causes import explain
from rageval_trace.signals.claim import Reader
from rageval_trace.stopwords import ENGLISH
from rageval_trace.text import content_tokens, tokenize
from rageval_trace.tokenized import TokenizedText

__all__ = ["RiskJudge"]

# A context supports a claim that stands when it holds this share of the claim's words, or more than any other.
_SUPPORTING_FROM = 0.6


class RiskJudge:
    """
    Support a claim when its risk is low: the probability, by its words, numbers and names, that nothing supports it.

    Beside `LexicalJudge` it sees numbers, times and names that no context has, and reads contexts that are records
    rather than prose. A verdict's `score` is 1 - risk, so that `Unsettled(low, high)` of a cascade is a band between
    two risks. Deterministic and free; blind to paraphrase too.

    Args:
        threshold: The risk from which a claim is not supported, in (0, 1].
        stopwords: Tokens without content.

    Raises:
        ValueError: if *threshold* is out of its range.
    """

    name = "risk"

    def __init__(self, threshold: float = 0.4, *, stopwords: frozenset[str] = ENGLISH) -> None:
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold must lie in (0, 1], not {threshold}")
        self.threshold = threshold
        self.stopwords = stopwords
        self._model: RiskModel = default_model()
        self.version = str(self._model.version)
        self._words = LexicalJudge(stopwords=stopwords)

    def judge_claims(self, claims: Sequence[str], contexts: Sequence[Context]) -> list[Verdict]:
        """
        Judge each claim; see `Judge.judge_claims`. Without contexts nothing is supported.
        """
        read = [Claim(claim, (), tuple(tokenize(claim))) for claim in claims]
        texts = [context.text for context in contexts]
        tokenized = [TokenizedText(text) for text in texts]
        reader = Reader(texts, tokenized, read, "", self.stopwords)
        held = [text.words for text in tokenized]
        return [self._verdict(reader, claim, held) for claim in read]

    def judge_relevance(self, question: str, answer: str) -> float | None:
        """
        Return the share of the question's keywords found in the answer; None when it has none.
        """
        return self._words.judge_relevance(question, answer)

    def _verdict(self, reader: Reader, claim: Claim, held: Sequence[frozenset[str]]) -> Verdict:
        content = content_tokens(claim.tokens, self.stopwords)
        if not content or not held:
            return Verdict(False, None, reason="nothing was retrieved" if content else "no content word")
        signals, found = reader.read(claim)
        risk = self._model.claim_risk(signals)
        supported = risk < self.threshold
        shares = [coverage(frozenset(content), words) for words in held]
        needed = min(_SUPPORTING_FROM, max(shares))
        return Verdict(
            supported,
            1 - risk,
            tuple([at for at, share in enumerate(shares) if share >= needed]) if supported else (),
            contradicted=not supported and bool(found.flags or found.hours),
            reason=explain(signals, found, reader, claim) or f"risk {risk:.2f}",
        )
