"""
The sixteen metrics written plainly: each from the texts alone, tokenised anew, with no cache and nothing shared but the verdicts.

This is the definition that the package is held to, and the yardstick that its speed is measured by.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from rageval_trace import EvalConfig, EvalRecord
from rageval_trace import text as text_module
from rageval_trace.claims import read_citations, split_claims


def tokens(text: str) -> list[str]:
    """Tokenise by the definition: NFKC, case folding, thousands commas out, tokens, a final 's out."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub("[\u2018\u2019\u02bc]", "'", text_module._INVISIBLE.sub("", text))
    text = re.sub(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))", "", text)
    return [token.removesuffix("'s") for token in text_module._token().findall(text)]


def content(text: str, config: EvalConfig) -> set[str]:
    return {token for token in tokens(text) if token not in config.stopwords}


def pairs(words: list[str]) -> list[tuple[str, str]]:
    return list(pairwise(words))


_judged: list[tuple[EvalRecord, list[list[int]]]] = []


def verdicts(record: EvalRecord, config: EvalConfig) -> list[list[int]]:
    """Judge the claims once for the five metrics that ask, as a plain program would too."""
    if not _judged or _judged[0][0] is not record:
        _judged[:] = [(record, judge(record, config))]
    return _judged[0][1]


def judge(record: EvalRecord, config: EvalConfig) -> list[list[int]]:
    """Return, for each claim, the positions of the contexts that support it."""
    found = []
    for claim in split_claims(record.answer or "", stopwords=config.stopwords):
        wanted = content(claim.text, config)
        shares = [len(wanted & set(tokens(context.text))) / len(wanted) for context in record.contexts or ()]
        found.append([rank for rank, share in enumerate(shares) if share >= config.claim_threshold - 1e-9])
    return found


def faithfulness(record: EvalRecord, config: EvalConfig) -> float:
    words = tokens(record.answer or "")
    if not words:
        return 1.0
    known = {token for context in record.contexts or () for token in tokens(context.text)}
    known_pairs = {pair for context in record.contexts or () for pair in pairs(tokens(context.text))}
    unigram = sum(token in known for token in words) / len(words)
    if len(words) == 1:
        return unigram
    return 0.6 * unigram + 0.4 * sum(pair in known_pairs for pair in pairs(words)) / (len(words) - 1)


def context_precision(record: EvalRecord, config: EvalConfig) -> float | None:
    wanted = content(record.question, config)
    if not wanted or not record.contexts:
        return None
    shares = [len(wanted & set(tokens(context.text))) / len(wanted) for context in record.contexts]
    return sum(shares) / len(shares)


def context_recall(record: EvalRecord, config: EvalConfig) -> float | None:
    truth = tokens(record.ground_truth or "")
    known = {token for context in record.contexts or () for token in tokens(context.text)}
    return sum(token in known for token in truth) / len(truth) if truth else None


def answer_relevance(record: EvalRecord, config: EvalConfig) -> float | None:
    wanted = content(record.question, config)
    return len(wanted & set(tokens(record.answer or ""))) / len(wanted) if wanted else None


def answer_correctness(record: EvalRecord, config: EvalConfig) -> float | None:
    answer, truth = Counter(tokens(record.answer or "")), Counter(tokens(record.ground_truth or ""))
    if not truth:
        return None
    return 2 * sum((answer & truth).values()) / (sum(answer.values()) + sum(truth.values()))


def freshness(record: EvalRecord, config: EvalConfig) -> float | None:
    assert config.now is not None
    ages = [(config.now - one.timestamp).total_seconds() / 3600 for one in record.contexts or () if one.timestamp]
    return sum(math.exp(-max(0.0, age) / config.half_life_hours) for age in ages) / len(ages) if ages else None


def ranks(record: EvalRecord, config: EvalConfig) -> list[int]:
    """Return the 1-based ranks of relevant ids in the top k; a repeated id counts once."""
    distinct = list(dict.fromkeys(context.id for context in record.contexts or ()))
    return [rank for rank, key in enumerate(distinct[: config.k], 1) if key in (record.relevant_ids or ())]


def ranked(name: str) -> Callable[[EvalRecord, EvalConfig], float | None]:
    def compute(record: EvalRecord, config: EvalConfig) -> float | None:
        relevant = len(record.relevant_ids or ())
        if not relevant:
            return None
        hits = ranks(record, config)
        ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(config.k, relevant) + 1))
        return {
            "hit_rate": float(bool(hits)),
            "precision": len(hits) / config.k,
            "recall": len(hits) / relevant,
            "mrr": 1 / hits[0] if hits else 0.0,
            "ndcg": sum(1 / math.log2(rank + 1) for rank in hits) / ideal,
        }[name]

    return compute


def groundedness(record: EvalRecord, config: EvalConfig) -> float | None:
    judged = verdicts(record, config)
    return sum(bool(support) for support in judged) / len(judged) if judged else None


def hallucination_rate(record: EvalRecord, config: EvalConfig) -> float | None:
    judged = verdicts(record, config)
    return sum(not support for support in judged) / len(judged) if judged else None


def context_utilisation(record: EvalRecord, config: EvalConfig) -> float | None:
    judged = verdicts(record, config)
    if not judged or not record.contexts:
        return None
    return len({rank for support in judged for rank in support}) / len(record.contexts)


def cited(record: EvalRecord, config: EvalConfig) -> tuple[str, ...] | None:
    if record.citations is not None:
        return tuple(dict.fromkeys(record.citations))
    claims = split_claims(record.answer or "", stopwords=config.stopwords)
    return read_citations([mark for claim in claims for mark in claim.marks], [one.id for one in record.contexts or ()])


def supporting(record: EvalRecord, config: EvalConfig) -> set[str]:
    contexts = record.contexts or ()
    return {contexts[rank].id for support in verdicts(record, config) for rank in support}


def citation_accuracy(record: EvalRecord, config: EvalConfig) -> float | None:
    keys, right = cited(record, config), supporting(record, config)
    return sum(key in right for key in keys) / len(keys) if keys else None


def citation_coverage(record: EvalRecord, config: EvalConfig) -> float | None:
    keys, right = cited(record, config), supporting(record, config)
    return sum(key in keys for key in right) / len(right) if right and keys is not None else None


PLAIN: dict[str, Callable[[EvalRecord, EvalConfig], float | None]] = {
    "faithfulness": faithfulness,
    "context_precision": context_precision,
    "context_recall": context_recall,
    "answer_relevance": answer_relevance,
    "freshness": freshness,
    **{name: ranked(name) for name in ("hit_rate", "precision", "recall", "mrr", "ndcg")},
    "groundedness": groundedness,
    "hallucination_rate": hallucination_rate,
    "context_utilisation": context_utilisation,
    "citation_accuracy": citation_accuracy,
    "citation_coverage": citation_coverage,
    "answer_correctness": answer_correctness,
}


def record_of(row: dict[str, Any]) -> EvalRecord:
    """Return a row of the benchmark's files as a record."""
    return EvalRecord(
        row["question"],
        row["retrieved_contexts"],
        row["answer"],
        row["ground_truth"],
        row["relevant_ids"],
        row["citations"],
        id=row["id"],
    )
