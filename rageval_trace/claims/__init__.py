"""
From an answer to its claims: the sentences that say something, without their citation marks.

`blocks` cuts the answer where no sentence may cross, `sentences` cuts the blocks, `marks` takes citation marks out of
a sentence, and `abstention` knows the answers that only decline.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from rageval_trace.claims.abstention import LONGEST_ABSTENTION, all_decline, is_abstention
from rageval_trace.claims.marks import is_footer, may_hold_marks, read_citations, take_marks
from rageval_trace.claims.sentences import split_sentences
from rageval_trace.frozen import quick_init
from rageval_trace.stopwords import ENGLISH
from rageval_trace.text import tokenize, tokenize_lines

__all__ = ["Claim", "is_abstention", "read_citations", "split_claims", "split_sentences"]


@quick_init
@dataclass(frozen=True, slots=True)
class Claim:
    """
    One sentence of an answer that says something.

    Args:
        text: The sentence without citation marks.
        marks: What stood in its citation marks, in order: `("1", "3")` for `[1, 3]`.
        tokens: The tokens of *text*.
    """

    text: str
    marks: tuple[str, ...]
    tokens: tuple[str, ...]


def split_claims(
    answer: str, *, stopwords: frozenset[str] = ENGLISH, ids: Collection[str] = frozenset()
) -> tuple[Claim, ...]:
    """
    Split an answer into its claims: the sentences with at least one content token, in order.

    Marks that stand alone, or under "Sources:", belong to the claim before them.

    Args:
        answer: The answer as the model wrote it.
        stopwords: Tokens without content.
        ids: Known context ids; a bracket that holds nothing else is a citation mark.

    Returns:
        The claims; empty for a blank answer and for one that only declines (see `is_abstention`).
    """
    sentences = split_sentences(answer) if answer else []
    if may_hold_marks(answer):
        found = [_without_marks(sentence, ids) for sentence in sentences]
    else:
        found = [
            Claim(sentence, (), tuple(tokens))
            for sentence, tokens in zip(sentences, tokenize_lines(sentences), strict=True)
        ]
    if len(answer) <= LONGEST_ABSTENTION and all_decline([(claim.text, claim.tokens) for claim in found]):
        return ()
    return tuple(_gather(found, stopwords))


def _without_marks(sentence: str, ids: Collection[str]) -> Claim:
    plain, marks = take_marks(sentence, ids)
    return Claim(plain, tuple(marks), tuple(tokenize(plain)))


def _gather(found: list[Claim], stopwords: frozenset[str]) -> list[Claim]:
    """
    Return the sentences with content, and hand the marks of the others to the claim before them, or to the first.
    """
    claims: list[Claim] = []
    loose: tuple[str, ...] = ()
    for sentence in found:
        if not stopwords.issuperset(sentence.tokens) and not (sentence.marks and is_footer(sentence.tokens)):
            claims.append(replace(sentence, marks=loose + sentence.marks) if loose else sentence)
            loose = ()
        elif sentence.marks and claims:
            claims[-1] = replace(claims[-1], marks=claims[-1].marks + sentence.marks)
        else:
            loose += sentence.marks
    return claims
