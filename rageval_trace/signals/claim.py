"""
All signals of one claim, and what they found in words.

Each signal grows with doubt. The shares and runs see words that no context has, or never so close together; the
counts see things that the contexts lack or contradict outright.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from rageval_trace.claims import Claim
from rageval_trace.signals.evidence import Evidence
from rageval_trace.signals.flags import Contradiction, contradicted_flags, word_stem, yes_no_keys
from rageval_trace.signals.hours import opening_hours, wrong_hours
from rageval_trace.signals.names import Background, Name, missing_names
from rageval_trace.signals.numbers import ClockTime, Figure, NumberBook, clock_times, missing_numbers, missing_times
from rageval_trace.signals.structured import read_facts
from rageval_trace.signals.wording import POINTERS, strip_references
from rageval_trace.text import tokenize

__all__ = ["ClaimSignals", "Findings", "Reader", "damped"]

_MOST = 6
_MOST_TIMES = 50
_DIGIT_OR_HOUR = re.compile(r"\d|\b(?:noon|midnight)\b", re.IGNORECASE)


_DAMPED = tuple([math.log1p(count) for count in range(_MOST + 1)])


def damped(count: int) -> float:
    """
    Return ln(1 + count), with the count cut at 6: the fifth missing number adds less than the first.
    """
    return _DAMPED[min(count, _MOST)]


class ClaimSignals(NamedTuple):
    """
    The signals of one claim; 0 in each is no doubt.

    Args:
        new_neighbours: Share of neighbouring words that never stand side by side in a context, in [0, 1]. Where the
            contexts are structured, in which neighbours mean nothing: share of content words in no context.
        apart: Share of neighbouring content words that no context holds near each other, in [0, 1]; likewise.
        new_run: The longest run of content words that no context has, damped.
        conflicts: Missing numbers and times, contradicted facts and hours, each damped, summed.
        names: Names that no context mentions, damped.
        apart_count: How many neighbouring content words are apart, damped: long claims break more often. Only for
            comparing the claims of one answer.
        found: How many conflicts there are, undamped.
    """

    new_neighbours: float
    apart: float
    new_run: float
    conflicts: float
    names: float
    apart_count: float
    found: int


class Findings(NamedTuple):
    """
    What the signals of a claim rest on, for putting it in words.
    """

    numbers: list[Figure]
    times: list[ClockTime]
    flags: list[Contradiction]
    hours: list[str]
    names: list[Name]
    absent: list[str]


class Reader:
    """
    Read claims against the contexts of one record.

    Args:
        texts: The contexts.
        tokens: The tokens of each.
        claims: The claims to be read.
        question: What was asked; its names and numbers need no support.
        stopwords: Tokens without content.
        vocabulary: The distinct tokens of the contexts; found here when not given.
    """

    def __init__(
        self,
        texts: Sequence[str],
        tokens: Sequence[Sequence[str]],
        claims: Sequence[Claim],
        question: str,
        stopwords: Collection[str],
        vocabulary: Collection[str] | None = None,
    ) -> None:
        self.texts = texts
        self.tokens = tokens
        self.stopwords = stopwords
        self.asked = tokenize(question)
        self.evidence = Evidence(tokens, [token for claim in claims for token in claim.tokens], stopwords, vocabulary)
        self._background = Background(texts, tokens)
        self._numbers: NumberBook | None = None
        self._asked_numbers = NumberBook([self.asked])
        per_text = [read_facts(text) for text in texts]
        facts = [fact for found in per_text for fact in found]
        self.structured = any([fact.kind != "text" for fact in facts])
        self._keys = yes_no_keys(facts)
        self._hours = opening_hours(facts)
        self._prose: frozenset[str] = frozenset()
        if self._keys:
            prose = [
                set(words)
                for words, found in zip(tokens, per_text, strict=True)
                if all([fact.kind == "text" for fact in found])
            ]
            self._prose = frozenset(map(word_stem, set().union(*prose)))

    def read(self, claim: Claim) -> tuple[ClaimSignals, Findings]:
        """
        Return the signals of one of the claims, and what they rest on.
        """
        text, tokens = claim.text, claim.tokens
        stripped = strip_references(text, tokens)
        if stripped is not text:
            text, tokens = stripped, tuple(tokenize(stripped))
        spoken = [token for token in tokens if token not in POINTERS] or list(tokens)
        content = [token for token in spoken if token not in self.stopwords]
        times, numbers = self._missing_figures(text)
        flags = contradicted_flags(self._keys, text, self._prose) if self._keys else []
        hours = wrong_hours(self._hours, text) if self._hours else []
        names = missing_names(text, tokens, self.evidence.holds, self.asked, self._background, self.stopwords)
        missing = self.evidence.missing(content)
        new, apart = self._shares(spoken, content, missing)
        counts = [len(numbers), len(times), len(flags), len(hours)]
        signals = ClaimSignals(
            new_neighbours=new,
            apart=apart,
            new_run=damped(_longest_run(missing)),
            conflicts=sum(map(damped, counts)),
            names=damped(len(names)),
            apart_count=math.log1p(apart * max(1, len(content) - 1)),
            found=sum(counts),
        )
        absent = [token for token, is_missing in zip(content, missing, strict=True) if is_missing]
        return signals, Findings(numbers, times, flags, hours, names, absent)

    def _shares(self, spoken: Sequence[str], content: Sequence[str], missing: Sequence[bool]) -> tuple[float, float]:
        if self.structured:
            share = sum(missing) / len(missing) if missing else 0.0
            return share, share
        evidence = self.evidence
        return 1.0 - evidence.share_of_neighbours(spoken), 1.0 - evidence.share_near(content)

    def _missing_figures(self, text: str) -> tuple[list[ClockTime], list[Figure]]:
        """
        Return the clock times and the numbers of a claim that the contexts lack.
        """
        if not _DIGIT_OR_HOUR.search(text):
            return [], []
        times = clock_times(text)[:_MOST_TIMES]
        missing = missing_numbers(text, times, self.numbers, self._asked_numbers)
        return missing_times(times, self.texts) if times else [], missing

    @property
    def numbers(self) -> NumberBook:
        """
        The numbers of the contexts, read at first use.
        """
        if self._numbers is None:
            self._numbers = NumberBook(self.tokens)
        return self._numbers


def _longest_run(missing: Sequence[bool]) -> int:
    longest = run = 0
    for absent in missing:
        run = run + 1 if absent else 0
        longest = max(longest, run)
    return longest
