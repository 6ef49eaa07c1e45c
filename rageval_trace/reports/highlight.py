"""
Which parts of an answer are supported: its sentences, each with what the judge found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from rageval_trace.claims import split_claims, split_sentences
from rageval_trace.models import EvalConfig
from rageval_trace.reports.scorecard import RecordResult

__all__ = ["Part", "highlighted"]

State: TypeAlias = Literal["supported", "unsupported", "unjudged"]


@dataclass(frozen=True, slots=True)
class Part:
    """
    One sentence of an answer.

    Args:
        text: The sentence as written.
        state: What the judge found; `unjudged` for a sentence that claims nothing, or when nothing was judged.
        note: The judge's reason, if it gave one.
    """

    text: str
    state: State
    note: str = ""


def highlighted(entry: RecordResult, config: EvalConfig) -> tuple[Part, ...]:
    """
    Cut a record's answer into sentences with the judge's findings; empty without an answer.

    Args:
        entry: The record with its results.
        config: The config that it was scored with, for its stopwords decide what a claim is.
    """
    answer = entry.record.answer
    if not answer:
        return ()
    sentences = split_sentences(answer)
    details = _details(entry)
    claims = [_is_claim(sentence, entry, config) for sentence in sentences]
    if details is None or sum(claims) != len(details.get("supporting", ())):
        return tuple([Part(sentence, "unjudged") for sentence in sentences])
    reasons = {claim["index"]: str(claim["reason"]) for claim in details.get("unsupported", ())}
    return tuple(_parts(sentences, claims, reasons))


def _details(entry: RecordResult) -> Mapping[str, Any] | None:
    for name in ("groundedness", "hallucination_rate"):
        result = entry.results.get(name)
        if result is not None and result.score is not None:
            return result.details
    return None


def _is_claim(sentence: str, entry: RecordResult, config: EvalConfig) -> bool:
    ids = {chunk.id for chunk in entry.record.contexts or ()}
    return len(split_claims(sentence, stopwords=config.stopwords, ids=ids)) == 1


def _parts(sentences: list[str], claims: list[bool], reasons: Mapping[int, str]) -> Iterator[Part]:
    index = 0
    for sentence, is_claim in zip(sentences, claims, strict=True):
        if not is_claim:
            yield Part(sentence, "unjudged")
            continue
        index += 1
        yield Part(sentence, "unsupported" if index in reasons else "supported", reasons.get(index, ""))
