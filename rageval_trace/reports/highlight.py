"""
Which parts of an answer are supported: its sentences, each with what the judge found and what speaks against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from rageval_trace.claims import Claim, split_claims, split_sentences
from rageval_trace.models import EvalConfig
from rageval_trace.reports.scorecard import RecordResult

__all__ = ["Part", "highlighted"]

State: TypeAlias = Literal["supported", "unsupported", "doubtful", "unjudged"]
_DOUBTFUL = 0.5


@dataclass(frozen=True, slots=True)
class Part:
    """
    One sentence of an answer.

    Args:
        text: The sentence as written.
        state: What the judge found; `doubtful` for one that the judge let pass, or did not see, and that is more likely
            wrong than right by its risk; `unjudged` for a sentence that claims nothing, or when nothing was judged.
        note: What speaks against it (`hallucination_risk`'s cause), else the judge's reason, if it gave one.
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
    claims = [_claim(sentence, entry, config) for sentence in sentences]
    details = _details(entry)
    judged = details is not None and sum([claim is not None for claim in claims]) == len(details.get("supporting", ()))
    reasons = {}
    if details is not None and judged:
        reasons = {claim["index"]: str(claim["reason"]) for claim in details.get("unsupported", ())}
    return tuple(_parts(sentences, claims, reasons, _read(entry), "supported" if judged else "unjudged"))


def _details(entry: RecordResult) -> Mapping[str, Any] | None:
    for name in ("groundedness", "hallucination_rate"):
        result = entry.results.get(name)
        if result is not None and result.score is not None:
            return result.details
    return None


def _read(entry: RecordResult) -> dict[int, Mapping[str, Any]]:
    """
    Return what the risk was read from, by the claim's number.
    """
    result = entry.results.get("hallucination_risk")
    return {claim["index"]: claim for claim in result.details.get("claims", ())} if result else {}


def _claim(sentence: str, entry: RecordResult, config: EvalConfig) -> Claim | None:
    ids = {chunk.id for chunk in entry.record.contexts or ()}
    found = split_claims(sentence, stopwords=config.stopwords, ids=ids)
    return found[0] if len(found) == 1 else None


def _parts(
    sentences: Sequence[str],
    claims: Sequence[Claim | None],
    reasons: Mapping[int, str],
    read: Mapping[int, Mapping[str, Any]],
    passed: State,
) -> Iterator[Part]:
    index = 0
    for sentence, claim in zip(sentences, claims, strict=True):
        if claim is None:
            yield Part(sentence, "unjudged")
            continue
        index += 1
        known = read.get(index, {})
        # A split that differs from the metric's would lay a cause at the wrong door.
        cause, risk = (str(known["cause"]), known["risk"]) if known.get("text") == claim.text else ("", 0.0)
        if index in reasons:
            yield Part(sentence, "unsupported", cause or reasons[index])
        elif cause and risk >= _DOUBTFUL:
            yield Part(sentence, "doubtful", cause)
        else:
            yield Part(sentence, passed)
