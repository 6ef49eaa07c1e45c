"""
All signals of one claim, and what they found in words.

Each signal grows with doubt. The shares and runs see words that no context has, or never so close together; the
counts see things that the contexts lack or contradict outright.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import NamedTuple

from rageval_trace.claims import Claim
from rageval_trace.signals.evidence import Evidence
from rageval_trace.signals.flags import Contradiction, KeyBook, contradicted_flags, word_stem
from rageval_trace.signals.hours import opening_hours, wrong_hours
from rageval_trace.signals.names import Background, Name, missing_names
from rageval_trace.signals.numbers import (
    ClockTime,
    Figure,
    NumberBook,
    clock_times,
    given_times,
    has_digit,
    missing_numbers,
    missing_times,
)
from rageval_trace.signals.structured import Fact, read_facts
from rageval_trace.signals.wording import POINTERS, strip_references
from rageval_trace.text import tokenize
from rageval_trace.tokenized import TokenizedText

__all__ = ["ClaimSignals", "Findings", "Reader", "damped"]

_MOST = 6
_MOST_TIMES = 50


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
        new_run: The longest run of content words that no context has, in any form, damped.
        conflicts: Missing numbers and times, contradicted facts and hours, each damped, summed.
        names: Names that no context mentions, damped.
        length: ln(1 + words): long claims break more often. Only for comparing the claims of one answer.
        found: How many conflicts there are, undamped.
    """

    new_neighbours: float
    apart: float
    new_run: float
    conflicts: float
    names: float
    length: float
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
        tokenized: Their tokens.
        claims: The claims to be read.
        question: What was asked; its names and numbers need no support.
        stopwords: Tokens without content.
        vocabulary: The distinct tokens of the contexts; found here when not given.
        together: Pairs of tokens known to stand side by side in a context.
    """

    def __init__(
        self,
        texts: Sequence[str],
        tokenized: Sequence[TokenizedText],
        claims: Sequence[Claim],
        question: str,
        stopwords: Collection[str],
        vocabulary: frozenset[str] | None = None,
        together: AbstractSet[tuple[str, str]] = frozenset(),
    ) -> None:
        self.texts = texts
        self.stopwords = stopwords
        self._tokenized = tokenized
        self._words = frozenset().union(*[text.words for text in tokenized]) if vocabulary is None else vocabulary
        self._asked = tokenize(question)
        self.evidence = Evidence(
            [text.tokens for text in tokenized],
            [token for claim in claims for token in claim.tokens],
            stopwords,
            self._words,
            together,
        )
        self._background = Background(texts, self._words)
        per_text = [tokens.derive(read_facts, text) for tokens, text in zip(tokenized, texts, strict=True)]
        facts = [fact for found in per_text for fact in found]
        self.structured = any([fact.kind != "text" for fact in facts])
        self._keys = KeyBook(facts, partial(_prose_stems, tokenized, per_text)) if self.structured else None
        self._hours = opening_hours(facts) if facts else {}
        self._numbers: NumberBook | None = None
        self._asked_numbers: NumberBook | None = None
        self._given_times: frozenset[int] | None = None

    def read(self, claim: Claim) -> tuple[ClaimSignals, Findings]:
        """
        Return the signals of one of the claims, and what they rest on.
        """
        text, tokens = claim.text, claim.tokens
        stripped = strip_references(text, tokens)
        if stripped is not text:
            text, tokens = stripped, tuple(tokenize(stripped))
        spoken: Sequence[str] = tokens
        if not POINTERS.isdisjoint(tokens):
            spoken = [token for token in tokens if token not in POINTERS] or tokens
        stopwords, held = self.stopwords, self.evidence.held
        content = [token for token in spoken if token not in stopwords]
        digits = has_digit(text, tokens)
        times = clock_times(text) if digits or _may_have_times(text) else []
        missing_clock, numbers = self._missing_figures(text, times[:_MOST_TIMES]) if digits or times else ([], [])
        flags = contradicted_flags(self._keys, text) if self._keys else []
        hours = wrong_hours(self._hours, text, times) if self._hours else []
        names, known = missing_names(text, tokens, held, self._asked, self._background, stopwords)
        there = held | known if known else held
        absent = [] if there.issuperset(content) else _absent(content, there, numbers, missing_clock)
        new, apart = self._shares(spoken, content, absent)
        counts = [len(numbers), len(missing_clock), len(flags), len(hours)]
        found = sum(counts)
        signals = ClaimSignals(
            new_neighbours=new,
            apart=apart,
            new_run=damped(_longest_run(content, absent)) if absent else 0.0,
            conflicts=sum(map(damped, counts)) if found else 0.0,
            names=damped(len(names)),
            length=math.log1p(len(tokens)),
            found=found,
        )
        return signals, Findings(numbers, missing_clock, flags, hours, names, absent)

    def _shares(self, spoken: Sequence[str], content: Sequence[str], absent: Sequence[str]) -> tuple[float, float]:
        if self.structured:
            share = len(absent) / len(content) if content else 0.0
            return share, share
        evidence = self.evidence
        return 1.0 - evidence.share_of_neighbours(spoken), 1.0 - evidence.share_near(content)

    def _missing_figures(self, text: str, times: Sequence[ClockTime]) -> tuple[list[ClockTime], list[Figure]]:
        """
        Return the clock times and the numbers of a claim that the contexts lack.
        """
        if self._asked_numbers is None:
            self._asked_numbers = NumberBook([self._asked])
        missing = missing_numbers(text, times, self.numbers, self._asked_numbers)
        if times and self._given_times is None:
            per_text = zip(self._tokenized, self.texts, strict=True)
            self._given_times = frozenset().union(*[tokens.derive(given_times, text) for tokens, text in per_text])
        return missing_times(times, self._given_times or ()) if times else [], missing

    @property
    def numbers(self) -> NumberBook:
        """
        The numbers of the contexts, read at first use.
        """
        if self._numbers is None:
            self._numbers = NumberBook([text.tokens for text in self._tokenized], self._words)
        return self._numbers


def _absent(
    content: Sequence[str], held: frozenset[str], numbers: Sequence[Figure], times: Sequence[ClockTime]
) -> list[str]:
    """
    Return the content words that the contexts lack in any form; a number that is not missing is there in another.
    """
    written = [number.written for number in numbers] + [time.written for time in times]
    lost = {token for one in written for token in tokenize(one)}
    return [token for token in content if not (token in held or ("0" <= token[0] <= "9" and token not in lost))]


def _may_have_times(text: str) -> bool:
    lowered = text.lower()
    return "noon" in lowered or "midnight" in lowered


def _prose_stems(tokenized: Sequence[TokenizedText], per_text: Sequence[Sequence[Fact]]) -> frozenset[str]:
    """
    Return the stems of the words of the unstructured contexts.
    """
    prose = [
        text.derive(_stems, text)
        for text, facts in zip(tokenized, per_text, strict=True)
        if all([fact.kind == "text" for fact in facts])
    ]
    return frozenset().union(*prose)


def _stems(text: TokenizedText) -> frozenset[str]:
    return frozenset(map(word_stem, text.words))


def _longest_run(content: Sequence[str], absent: Sequence[str]) -> int:
    longest = run = 0
    gone = frozenset(absent)
    for token in content:
        run = run + 1 if token in gone else 0
        longest = max(longest, run)
    return longest
