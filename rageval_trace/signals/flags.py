"""
Yes/no facts that a claim turns around, and unknown ones about which it knows something.

A key is mentioned when its words stand in one part of the sentence (parts end at *but*, *although*, ...; ";"); the
mention is denied when a negation governs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import NamedTuple

from rageval_trace.signals.structured import Fact

__all__ = ["Contradiction", "KeyBook", "contradicted_flags", "word_stem"]

_ENDING = re.compile(r"(?:ations?|ings?|ed|es|s|e)$")
_PIECE = re.compile(r"[^\W_]+(?:'[^\W_]+)?|[,;]")
_CONTRAST = frozenset("but although while though however whereas except yet unlike ;".split())
_NEGATIONS = frozenset(
    "no not without lack lacks lacking neither nor never none unavailable cannot doesn't don't isn't aren't can't "
    "won't hasn't haven't closed".split()
)
_NEGATE_BEFORE = frozenset("unavailable isn't aren't lacking".split())
_NEW_CLAUSE = frozenset("has have offers offer provides provide is are features accepts takes take".split())
_AFTER_AND = _NEW_CLAUSE | frozenset("the it they its all there their a an".split())
_AFTER_COMMA = frozenset("offers provides has with features".split())
_ENDS_REACH = _AFTER_COMMA | frozenset(
    "offer have include includes does do did it they takes accepts doesn't don't".split()
)
_BE = frozenset("is are was were".split())
_BE_ONE = frozenset("is was".split())
_ADVERBS = frozenset("also currently still".split())
_UNSURE = frozenset(
    "mention mentioned specify specified information unclear unknown listed indicated stated data details disclosed "
    "confirmed provided".split()
)
_SMALL = frozenset("good for of the is has and a in to accepts allowed".split())
_PARTICLES = frozenset("out up off in".split())
# Keys under these describe a mood, which claims name without the word itself.
_MOOD = frozenset("ambience ambiance atmosphere".split())
_STRUCTURE = frozenset("attributes attribute features feature properties property details options amenities".split())
_VAGUE = frozenset("hours name address city state".split())
_HEAD = 3


class Contradiction(NamedTuple):
    """
    A fact that a claim gets wrong.

    Args:
        fact: The fact.
        denied: The claim says no.
    """

    fact: Fact
    denied: bool

    def describe(self) -> str:
        """
        Say it in words: the fact's key and what the context has for it.
        """
        if self.fact.kind == "unknown":
            return f"the context leaves {self.fact.label!r} open"
        return f"the context says {self.fact.label!r} is {'yes' if self.fact.value else 'no'}"


@lru_cache(maxsize=8192)
def word_stem(word: str) -> str:
    """
    Cut a common English ending off a word of more than four letters.
    """
    return _ENDING.sub("", word) if len(word) > 4 else word


def _parts(text: str) -> list[list[str]]:
    """
    Split a sentence into parts that a negation does not reach across.
    """
    parts: list[list[str]] = [[]]
    opening = False
    for piece in _PIECE.findall(text.replace("\u2019", "'").casefold()):
        if piece in _CONTRAST:
            # "While X, Y": the part that opens with a contrast ends at its comma.
            opening = piece != ";" and not parts[-1]
            parts.append([])
        elif piece == "," and opening:
            parts.append([])
            opening = False
        else:
            parts[-1].append(piece)
    return [part for part in parts if part]


class Key(NamedTuple):
    """
    A fact's key made ready for looking up.

    Args:
        fact: The fact.
        joined: Its words written as one.
        stems: The stems that a looser mention must hold; empty when only the words themselves will do.
        above: The stem of the key above that must be there too; empty for none.
    """

    fact: Fact
    joined: str
    stems: tuple[str, ...]
    above: str


class KeyBook:
    """
    The yes/no and unknown facts of a record, found by the words of a claim.

    A label with two values (two hotels in one retrieval) is left out: a claim may speak of either.

    Args:
        facts: Of all contexts.
        prose: Returns the stems (`word_stem`) of the unstructured contexts; what they mention, a claim may affirm.
    """

    def __init__(self, facts: Sequence[Fact], prose: Callable[[], AbstractSet[str]] = frozenset) -> None:
        keys: dict[str, Key | None] = {}
        for fact in facts:
            known = keys.get(fact.label)
            if fact.label in keys and (known is None or known.fact.value != fact.value):
                keys[fact.label] = None
            elif fact.label not in keys and fact.kind in ("flag", "unknown") and not _VAGUE.issuperset(fact.words):
                keys[fact.label] = _key(fact)
        self.keys = [key for key in keys.values() if key is not None]
        self._by_word: dict[str, list[int]] = {}
        self._by_stem: dict[str, list[int]] = {}
        for number, key in enumerate(self.keys):
            for form in (key.joined, key.joined.removesuffix("s")):
                self._by_word.setdefault(form, []).append(number)
            if key.stems:
                self._by_stem.setdefault(key.stems[0], []).append(number)
        self._heads = frozenset([form[:_HEAD] for form in self._by_word])
        self._read_prose = prose
        self._prose: AbstractSet[str] | None = None

    def in_prose(self, fact: Fact) -> bool:
        """
        Tell whether an unstructured context mentions a fact's words.
        """
        if self._prose is None:
            self._prose = self._read_prose()
        prose = self._prose
        return bool(prose) and (
            "".join(fact.words) in prose or all([word in _SMALL or word_stem(word) in prose for word in fact.words])
        )

    def mentions(self, part: Sequence[str]) -> list[tuple[Key, tuple[int, int]]]:
        """
        Return the keys that a part of a sentence mentions, in order, and where.
        """
        runs = self._runs(part)
        stems: dict[str, int] = {}
        for at, stem in enumerate(map(word_stem, part)):
            stems.setdefault(stem, at)
        maybe = {number for run in runs for number in self._by_word[run]}
        for stem in self._by_stem.keys() & stems.keys():
            maybe.update(self._by_stem[stem])
        found = []
        for number in sorted(maybe):
            place = _mention(self.keys[number], runs, stems)
            if place is not None:
                found.append((self.keys[number], place))
        return found

    def _runs(self, part: Sequence[str]) -> dict[str, tuple[int, int]]:
        """
        Return the keys' forms that one to three words in a row make, with their place: `take out` is `takeout`.
        """
        found: dict[str, tuple[int, int]] = {}
        known, heads = self._by_word, self._heads
        for start, word in enumerate(part):
            if len(word) >= _HEAD and word[:_HEAD] not in heads and word[:-1] not in known:
                continue
            run = ""
            for end in range(start, min(start + 3, len(part))):
                if part[end] == ",":
                    break
                run += part[end]
                for form in (run, run.removesuffix("s")):
                    if form in known:
                        found.setdefault(form, (start, end))
        return found


def _key(fact: Fact) -> Key:
    loose = min(map(len, fact.words)) > 2 and _PARTICLES.isdisjoint(fact.words)
    stems = tuple([word_stem(word) for word in fact.words if word not in _SMALL]) if loose else ()
    parent = fact.above[-1] if fact.above else ""
    above = "" if not parent or parent in _MOOD or parent in _STRUCTURE else word_stem(parent)
    return Key(fact, "".join(fact.words), stems, above)


def _mention(key: Key, runs: Mapping[str, tuple[int, int]], stems: Mapping[str, int]) -> tuple[int, int] | None:
    """
    Return where a part of a sentence mentions a key; None when it does not.
    """
    place = runs.get(key.joined) or runs.get(key.joined.removesuffix("s"))
    if place is None:
        if not key.stems or not all([stem in stems for stem in key.stems]):
            return None
        places = [stems[stem] for stem in key.stems]
        place = (min(places), max(places))
        if place[1] - place[0] > 4:
            return None
    return place if not key.above or key.above in stems else None


def _denied(part: Sequence[str], place: tuple[int, int]) -> bool:
    """
    Tell whether a negation governs the words at *place*.
    """
    first, last = place
    for at in range(first - 1, -1, -1):
        after = part[at + 1]
        if part[at] == "and" and at + 1 < first and after in _AFTER_AND:
            break
        if part[at] in _AFTER_COMMA and at > 0 and part[at - 1] == ",":
            break
        if part[at] in _NEGATIONS and after != "only":
            return True
    return _denied_after(part[last + 1 :])


def _denied_after(rest: Sequence[str]) -> bool:
    """
    Tell whether a negation in the rest of a part reaches back to the words before it.
    """
    one_of_two = False
    for at, word in enumerate(rest):
        if word in _ENDS_REACH:
            return False
        if word in _NEGATE_BEFORE:
            return True
        if word in _BE:
            predicate = [other for other in rest[at + 1 : at + 3] if other not in _ADVERBS]
            # "Seating and wifi is not offered" speaks of the wifi alone; "is offered" needs no further look.
            denies = predicate[:1] == ["not"] or not _NEGATE_BEFORE.isdisjoint(predicate[:1])
            return denies and not (one_of_two and word in _BE_ONE)
        one_of_two = one_of_two or word == "and"
    return False


def contradicted_flags(book: KeyBook, text: str) -> list[Contradiction]:
    """
    Return the yes/no and unknown facts that a claim contradicts, each key once.

    Args:
        book: The facts.
        text: The claim.
    """
    found: dict[str, Contradiction] = {}
    for part in _parts(text) if book.keys else ():
        unsure = not _UNSURE.isdisjoint(part)
        for key, place in book.mentions(part):
            if key.fact.label not in found:
                denied = _denied(part, place)
                if _contradicts(key.fact, denied, unsure, part) and (denied or not book.in_prose(key.fact)):
                    found[key.fact.label] = Contradiction(key.fact, denied)
    return list(found.values())


def _contradicts(fact: Fact, denied: bool, unsure: bool, part: Sequence[str]) -> bool:
    if denied and any([word.startswith(("requir", "need")) for word in part]):
        return False  # "does not require reservations" denies no reservations
    if fact.kind == "unknown":
        return not unsure
    return bool(fact.value) == denied and not (unsure and denied)
