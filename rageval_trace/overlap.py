"""
The overlap formulas: pure functions over tokens, below metrics and judges and used by both.

A token may be anything hashable, so the same functions serve strings and the workspace's encoded words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

__all__ = ["count_found", "count_pairs_found", "coverage", "f1", "mixed_precision"]

UNIGRAM_WEIGHT, BIGRAM_WEIGHT = 0.6, 0.4


def count_found(tokens: Iterable[Hashable], vocabulary: Collection[Hashable]) -> int:
    """
    Count the token occurrences that are in the vocabulary.
    """
    return sum(map(vocabulary.__contains__, tokens))


def count_pairs_found(tokens: Sequence[Hashable], chunks: Iterable[Sequence[Hashable]]) -> int:
    """
    Count the occurrences of neighbouring tokens that also stand next to each other inside one chunk.
    """
    known = {pair for chunk in chunks for pair in pairwise(chunk)}
    return count_found(pairwise(tokens), known)


def mixed_precision(found: int, pairs_found: int, total: int) -> float:
    """
    Mix unigram and bigram precision, 0.6 to 0.4: RAGEval's faithfulness.

    Args:
        found: Token occurrences found in the chunks.
        pairs_found: Occurrences of neighbouring tokens found inside one chunk.
        total: Token occurrences in all.

    Returns:
        A share in [0, 1]; 1.0 for no tokens; the unigram part alone for one token.
    """
    if total == 0:
        return 1.0
    if total == 1:
        return float(found)
    return UNIGRAM_WEIGHT * (found / total) + BIGRAM_WEIGHT * (pairs_found / (total - 1))


def coverage(wanted: AbstractSet[Hashable], vocabulary: AbstractSet[Hashable]) -> float:
    """
    Return the share of the wanted words that the vocabulary holds, in [0, 1]; 0.0 when none is wanted.
    """
    return len(wanted & vocabulary) / len(wanted) if wanted else 0.0


def f1(answer: Sequence[Hashable], truth: Sequence[Hashable]) -> tuple[float, int]:
    """
    Return the unigram F1 of two bags of tokens, in [0, 1], and the tokens they share.

    Precision and recall count occurrences, as in SQuAD's answer F1. Two empty bags score 0.0.
    """
    shared = sum((Counter(answer) & Counter(truth)).values())
    return (2 * shared / (len(answer) + len(truth)) if shared else 0.0), shared
