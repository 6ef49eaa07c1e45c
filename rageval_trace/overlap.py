"""
The overlap formulas: pure functions over tokens, below metrics and judges and used by both.

The loops run in C (`map`, `set`, `itertools`). Encoding words as bytes was measured slower on these sizes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, pairwise

__all__ = ["count_found", "count_pairs_found", "coverage", "f1", "mixed_precision"]

UNIGRAM_WEIGHT, BIGRAM_WEIGHT = 0.6, 0.4


def count_found(tokens: Iterable[object], vocabulary: Collection[object]) -> int:
    """
    Count the token occurrences that are in the vocabulary.
    """
    return sum(map(vocabulary.__contains__, tokens))


def count_pairs_found(tokens: Sequence[str], chunks: Iterable[Sequence[str]]) -> int:
    """
    Count the occurrences of neighbouring tokens that also stand next to each other inside one chunk.
    """
    pairs = list(pairwise(tokens))
    found = set(pairs).intersection(chain.from_iterable(map(pairwise, chunks)))
    return count_found(pairs, found)


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


def coverage(wanted: AbstractSet[str], vocabulary: AbstractSet[str]) -> float:
    """
    Return the share of the wanted words that the vocabulary holds, in [0, 1]; 0.0 when none is wanted.
    """
    return len(wanted & vocabulary) / len(wanted) if wanted else 0.0


def f1(answer: Sequence[str], truth: Sequence[str]) -> tuple[float, int]:
    """
    Return the unigram F1 of two bags of tokens, in [0, 1], and the tokens they share.

    Precision and recall count occurrences, as in SQuAD's answer F1. Two empty bags score 0.0.
    """
    left = Counter(truth)
    shared = 0
    for token in answer:
        if left[token] > 0:
            left[token] -= 1
            shared += 1
    return (2 * shared / (len(answer) + len(truth)) if shared else 0.0), shared
