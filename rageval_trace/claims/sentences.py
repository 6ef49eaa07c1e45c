"""
From a block to its sentences: which stops end one.

A stop followed by a capital ends a sentence unless the word before it is an abbreviation. The abbreviations fall into
classes by what may follow them; the classes and their order were chosen on the table in `docs/claims.md`.
"""

from __future__ import annotations

import re
from itertools import pairwise

from rageval_trace.claims.blocks import split_blocks
from rageval_trace.claims.marks import MARK

__all__ = ["split_sentences"]

_WIDE = "\u3002\uff01\uff1f\uff61"
_CLOSERS = "\"'\u201d\u2019\u00bb)\\]}*_\u300d\u300f\uff09\u3011\u00b9\u00b2\u00b3\u2070-\u2079"
_ENDS = rf"[.!?\u2026\u0964\u0965\u061f\u06d4{_WIDE}]"
# One leading class, so that `re` scans for it (under a `+` it does not), and nothing that can fail after it: a long run
# of dots costs its length.
_STOP = re.compile(rf"{_ENDS}{_ENDS}*[{_CLOSERS}]*(?:\s*{MARK})*")
_NEXT_WORD = re.compile(r"[\s,;:.!?)]")
_DOTTED = re.compile(r"(?:[A-Z]\.)+[A-Z]")
_OPENERS = "\"'\u201c\u2018\u00ab([{*_\u00bf\u00a1 "
_ENUMERATOR = re.compile(r"^(?:\d{1,2}[.)]|\(\d{1,2}\))\s+(?=\S)")

_OPENS_ENUMERATOR = frozenset("(0123456789")

# How far a decision looks: no abbreviation and no opening of a sentence is longer.
_SIGHT = 40

# A word or a name follows: never the end.
_NEVER_ENDS = frozenset(
    "dr mr mrs ms mx prof gen rep sen gov capt cpt lt col sgt maj adm rev hon fr pres supt messrs mme mlle st mt ft "
    "e.g i.e eg ie cf vs viz approx ca resp incl esp a.k.a".split()
)
# A number follows, or the sentence is over.
_BEFORE_A_NUMBER = frozenset(
    "no nos nr fig figs eq eqs sec secs ch chap vol vols art p pp para tab ref v ver min max avg est hr hrs".split()
)
# The same, when written with a capital; "sun" and "sat" are words.
_DATES = frozenset(
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun".split()
)
# Part of a name as often as its end: over when a word follows that opens sentences.
_SELDOM_ENDS = frozenset(
    "inc ltd co corp llc plc gmbh bros jr sr esq al ph.d m.d b.a m.a b.sc m.sc dept ave blvd rd ed eds univ "
    "assn".split()
)
_ABBREVIATIONS = _NEVER_ENDS | _BEFORE_A_NUMBER | _SELDOM_ENDS
_CLOCK = frozenset({"a.m", "p.m"})
_ZONES = frozenset(
    "eastern pacific central mountain gmt utc est edt pst pdt cst cdt cet cest bst monday tuesday wednesday thursday "
    "friday saturday sunday".split()
)
# A capital after one of these is its letter, not an initial: "gate B."
_LETTERED = frozenset(
    "plan gate vitamin type class part section option appendix grade hepatitis group level zone model building hall "
    "room step team phase exhibit schedule form figure table category series side point platform terminal tier block "
    "unit version annex clause question answer".split()
)
_STARTERS = frozenset(
    "the a an it its it's this that these those they he she we you i there here in on at for from to by with as if "
    "when while after before since because although however but and or so also then thus therefore moreover "
    "furthermore additionally meanwhile please note our your his her their what why how who where which all some "
    "many most each every no not both one another such".split()
)


def split_sentences(text: str) -> list[str]:
    """
    Split *text* into sentences, in order, each trimmed and on one line.

    A citation mark after a stop stays with the sentence before it; list markers and enumerators are left out.
    """
    found: list[str] = []
    for block in split_blocks(text):
        found += _split_plainly(block) or _split_at_stops(block)
    return [_ENUMERATOR.sub("", one) if one[0] in _OPENS_ENUMERATOR else one for one in found if one]


def _split_at_stops(block: str) -> list[str]:
    """
    Split a block at those of its stops that end a sentence.
    """
    found: list[str] = []
    start = 0
    for match in _STOP.finditer(block):
        if _ends_sentence(block, start, match):
            found.append(block[start : match.end()].strip())
            start = match.end()
    found.append(block[start:].strip())
    return found


def _split_plainly(block: str) -> list[str]:
    """
    Do what `_split_at_stops` does, with a block of plain prose, at half the price.

    Returns:
        The sentences; none when any stop but those of the last sentence is other than a full stop after a lower-case
        word that is no abbreviation, and before a space and a capital.
    """
    if not block.isascii() or "!" in block or "?" in block:
        return []
    *pieces, last = block.split(". ")
    inside_last = last.count(".")
    if block.count(".") != len(pieces) + inside_last:
        return []
    for piece, following in pairwise([*pieces, last]):
        word = piece[piece.rfind(" ") + 1 :]
        if not (word.isalpha() and word.islower() and following[:1].isupper() and 1 < len(word) < _SIGHT):
            return []
        if word in _ABBREVIATIONS:
            return []
    plain = [f"{piece}.".strip() for piece in pieces]
    if inside_last > last.endswith("."):
        return plain + _split_at_stops(f" {last}")
    return [*plain, last.strip()]


def _ends_sentence(block: str, start: int, match: re.Match[str]) -> bool:
    """
    Decide whether a stop ends the sentence that began at *start*, from the text on both sides of it.
    """
    end = match.end()
    if _ends_plainly(block, match):
        return True
    rest = block[end : end + _SIGHT]
    following = rest.lstrip(_OPENERS)
    if not following:
        return True
    stop = match[0]
    if stop[0] in _WIDE:
        # A quotation that goes on with a quoting particle.
        return not (stop[-1] in "\u300d\u300f" and following.startswith(("\u3068", "\u3063\u3066")))
    spaced = rest[0].isspace()
    if not spaced and not rest[0].isupper():
        return False
    before = block[max(start, match.start() - _SIGHT) : match.start()]
    word = before.rsplit(None, 1)[-1].lstrip(_OPENERS) if before and not before[-1].isspace() else ""
    if not spaced:
        return _ends_without_space(word, following)
    if following[0].islower() and not following.startswith(("iP", "eB")):
        return _is_uncapitalised(block, start, stop, word)
    if stop[0] != "." or stop[1:2] == ".":
        return True
    return _ends_after(word, following, before)


def _ends_plainly(block: str, match: re.Match[str]) -> bool:
    """
    Tell what most stops are, at a fraction of the price: after a lower-case word that is no abbreviation, and before
    a space and a capital.
    """
    stop, end = match.start(), match.end()
    if end - stop != 1 or block[end : end + 1] != " " or not block[end + 1 : end + 2].isupper():
        return False
    space = block.rfind(" ", max(0, stop - _SIGHT), stop)
    if space < 0 and stop > _SIGHT:
        return False
    word = block[space + 1 : stop]
    return word.isalpha() and word.islower() and len(word) > 1 and word not in _ABBREVIATIONS


def _next_word(following: str) -> str:
    return _NEXT_WORD.split(following, maxsplit=1)[0].lower()


def _ends_without_space(word: str, following: str) -> bool:
    """
    Tell "It is open.It is free" from `example.Com` and `U.S.`.
    """
    return len(word) > 2 and word.isalpha() and word.islower() and _next_word(following) in _STARTERS


def _is_uncapitalised(block: str, start: int, stop: str, word: str) -> bool:
    """
    Tell whether a lower-case word can open a sentence here: the one before it was opened by one, too.
    """
    opened = block[start : start + _SIGHT].lstrip()[:1].islower()
    return opened and stop in (".", "!", "?") and len(word) > 2 and word not in _ABBREVIATIONS


def _ends_after(word: str, following: str, before: str) -> bool:
    """
    Decide on a single full stop before a capital or a digit; *before* ends with *word*.
    """
    lowered = word.lower()
    if lowered in _NEVER_ENDS:
        return False
    if lowered in _BEFORE_A_NUMBER or word in _DATES:
        return not following[0].isdigit()
    if lowered in _CLOCK:
        return _next_word(following) not in _ZONES
    if len(word) == 1 and word.isalpha() and word.isupper():
        return _next_word(following) in _STARTERS or _is_letter_or_pronoun(word, before)
    if lowered in _SELDOM_ENDS or ("." in word and _DOTTED.fullmatch(word)):
        return _next_word(following) in _STARTERS
    if following[0] == ".":
        return False  # an ellipsis with spaces
    # "1. Returns" opening a sentence is a number, not a sentence.
    return not (len(word) <= 2 and word.isdigit() and len(before.strip()) == len(word))


def _is_letter_or_pronoun(word: str, before: str) -> bool:
    previous = before[: -len(word)].split()[-1:]
    return bool(previous) and (previous[0].lower() in _LETTERED or (word == "I" and previous[0].islower()))
