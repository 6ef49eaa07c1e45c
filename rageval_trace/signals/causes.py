"""
What speaks against a claim, in words a person can check.
"""

from __future__ import annotations

from collections.abc import Sequence

from rageval_trace.claims import Claim
from rageval_trace.signals.claim import ClaimSignals, Findings, Reader

__all__ = ["explain"]

_SHOWN = 3
_APART = 0.5


def explain(signals: ClaimSignals, found: Findings, reader: Reader, claim: Claim) -> str:
    """
    Return the gravest cause in one line; empty for a claim with nothing against it.

    Args:
        signals: Of the claim.
        found: What they rest on.
        reader: Who read it.
        claim: The claim.
    """
    if found.flags:
        return found.flags[0].describe()
    if found.hours:
        return found.hours[0]
    if found.numbers:
        return _number(found.numbers[0].written, reader, claim)
    if found.times:
        return f"no context gives the time {found.times[0].written.rstrip('.')}"
    if found.names:
        return f"no context mentions {_listed([name.written for name in found.names])}"
    if found.absent:
        return f"no context has the word{'s' * (len(found.absent) > 1)} {_listed(found.absent)}"
    if signals.apart >= _APART:
        return "the contexts have its words, but not together"
    return ""


def _number(written: str, reader: Reader, claim: Claim) -> str:
    stopwords = reader.stopwords
    others = reader.numbers.near([word for word in claim.tokens if not (word in stopwords or word[0].isdigit())])
    said = f"; the contexts say {_listed(others)}" if others else ""
    return f"{written} is in no context{said}"


def _listed(words: Sequence[str]) -> str:
    once = list(dict.fromkeys(words))
    more = f" and {len(once) - _SHOWN} more" if len(once) > _SHOWN else ""
    return ", ".join(once[:_SHOWN]) + more
