"""
From an answer to its claims: sentences, the citation marks on them, and the answers that only decline.

A block (paragraph, list item, table row) never shares a sentence with the next one. Headings, rules, table
separators and fenced code hold no sentences.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rageval_trace.stopwords import ENGLISH
from rageval_trace.text import tokenize

__all__ = ["Claim", "is_abstention", "read_citations", "split_claims", "split_sentences"]


@dataclass(frozen=True, slots=True)
class Claim:
    """
    One sentence of an answer that says something.

    Args:
        text: The sentence without citation marks.
        marks: What stood in its citation marks, in order: `("1", "3")` for `[1, 3]`.
        tokens: The tokens of *text*.
    """

    text: str
    marks: tuple[str, ...]
    tokens: tuple[str, ...]


# ---------------------------------------------------------------------------------------------- blocks

_FENCE = re.compile(r"\s*(```|~~~)")
_HEADING = re.compile(r"\s*#{1,6}\s+\S")
_RULE = re.compile(r"\s*([-*_=]\s*){3,}$")
_TABLE_RULE = re.compile(r"\s*\|?[\s:|-]*-[\s:|-]*$")
_QUOTE = re.compile(r"\s*(>\s?)+")
_ITEM = re.compile(r"\s*(?:[-*+\u2022\u2013\u25aa\u25cf]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)])\s+(?=\S)")
# A line this short that ends without a stop was ended on purpose, not wrapped.
_WRAP_WIDTH = 50


def _blocks(text: str) -> Iterator[str]:
    """
    Yield the stretches of *text* that sentences cannot cross, each on one line.
    """
    if "\n" not in text and text[:1].isalpha():
        yield from [line for line in text.splitlines() if line.strip()]
        return
    lines: list[str] = []
    fenced = False
    for raw in text.splitlines():
        if _FENCE.match(raw):
            fenced = not fenced
            yield from _flush(lines)
            continue
        line = _QUOTE.sub("", raw, count=1).strip()
        if fenced or not line or _RULE.match(line) or _HEADING.match(line):
            yield from _flush(lines)
        elif line.startswith("|"):
            yield from _flush(lines)
            if not _TABLE_RULE.match(line):
                yield " | ".join([cell.strip() for cell in line.strip("|").split("|") if cell.strip()])
        else:
            item = _ITEM.match(line)
            if item or (lines and _ended_on_purpose(lines[-1], line)):
                yield from _flush(lines)
            lines.append(line[item.end() :] if item else line)
    yield from _flush(lines)


def _flush(lines: list[str]) -> Iterator[str]:
    if lines:
        yield " ".join(lines)
        lines.clear()


def _ended_on_purpose(line: str, following: str) -> bool:
    if line[-1] == ":":
        return True
    return len(line) < _WRAP_WIDTH and not following[0].islower() and line[-1] not in ",;"


# ------------------------------------------------------------------------------------------- sentences

_NUMBER_MARK = r"\[\d{1,3}(?:\s*[,;\u2013-]\s*\d{1,3})*\]"
_MARK = (
    rf"(?:{_NUMBER_MARK}|\[\^[\w-]{{1,20}}\]|\u3010[^\u3010\u3011\n]{{1,40}}\u3011"
    r"|[\[(](?:source|sources|ref|see source)s?:\s*[^\])\n]{1,120}[\])])"
)
_CLOSERS = "\"'\u201d\u2019\u00bb)\\]}*_\u300d\u300f\uff09\u3011"
# One leading class, so that `re` scans for it; whether the stop ends the sentence is decided in `_ends_sentence`.
_STOP = re.compile(rf"[.!?\u2026\u3002\uff01\uff1f\uff61]+[{_CLOSERS}]*(?:\s*{_MARK})*")
_UNSPACED_STOPS = "\u3002\uff01\uff1f\uff61"
_WINDOW = 40
_NEXT_WORD = re.compile(r"[\s,;:.!?)]")
_DOTTED = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")
_OPENERS = "\"'\u201c\u2018\u00ab([{*_\u00bf\u00a1 "

_NEVER_ENDS = frozenset(
    "dr mr mrs ms mx prof gen rep sen gov capt cpt lt col sgt maj adm rev hon fr pres supt messrs mme mlle st mt ft "
    "e.g i.e eg ie cf vs viz approx ca resp incl esp".split()
)
_BEFORE_A_NUMBER = frozenset("no nos nr fig figs eq eqs sec secs ch chap vol vols art p pp para tab ref v ver".split())
_SELDOM_ENDS = frozenset(
    "inc ltd co corp llc plc gmbh bros jr sr esq etc al u.s u.k u.n e.u u.s.a d.c ph.d m.d b.a m.a b.sc m.sc a.m p.m "
    "b.c a.d jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun dept est "
    "min max avg hr hrs ave blvd rd ed eds univ assn".split()
)
_STARTERS = frozenset(
    "the a an it its it's this that these those they he she we you i there here in on at for from to by with as if "
    "when while after before since because although however but and or so also then thus therefore moreover "
    "furthermore additionally meanwhile please note our your his her their what why how who where which all some "
    "many most each every no not both one another such".split()
)


def _ends_sentence(block: str, start: int, stop: re.Match[str]) -> bool:
    """
    Decide whether a stop ends the sentence that began at *start*, from a window on both sides of it.
    """
    end = stop.end()
    rest = block[end : end + _WINDOW]
    first = stop[0][0]
    if not rest or first in _UNSPACED_STOPS:
        return True
    if not rest[0].isspace():
        return False
    following = rest.lstrip(_OPENERS)
    if not following:
        return True
    if following[0].islower() and not following.startswith(("iP", "eB")):
        return False
    if first != "." or stop[0].startswith(".."):
        return True
    before = block[max(start, stop.start() - _WINDOW) : stop.start()]
    word = (before.rsplit(None, 1) or [""])[-1].lstrip(_OPENERS)
    lowered = word.lower()
    if lowered in _NEVER_ENDS:
        return False
    if lowered in _BEFORE_A_NUMBER:
        return not following[0].isdigit()
    initial = len(word) == 1 and word.isupper()
    if initial or lowered in _SELDOM_ENDS or ("." in word and _DOTTED.fullmatch(word)):
        return _NEXT_WORD.split(following, maxsplit=1)[0].lower() in _STARTERS
    # "1. Returns" opening a sentence is a number, not a sentence.
    return not (len(word) <= 2 and word.isdigit() and len(before.strip()) == len(word))


def split_sentences(text: str) -> list[str]:
    """
    Split *text* into sentences, in order, each trimmed and on one line.

    A citation mark after a stop stays with the sentence before it.
    """
    found: list[str] = []
    for block in _blocks(text):
        start = 0
        for stop in _STOP.finditer(block):
            if _ends_sentence(block, start, stop):
                found.append(block[start : stop.end()].strip())
                start = stop.end()
        found.append(block[start:].strip())
    return [sentence for sentence in found if sentence]


# ------------------------------------------------------------------------------------------- citations

_ANY_MARK = re.compile(_MARK, re.IGNORECASE)
_BRACKETED = re.compile(r"\[([^\[\]\n]{1,120})\](?!\()")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*\)")
_MARK_HINTS = ("[", "\u3010", "(s", "(S", "(r", "(R")
_LOOSE_SPACE = re.compile(r"\s+(?=[.,;:!?](?:\s|$))|\s{2,}")


def _mark_parts(mark: str) -> list[str]:
    inner = re.sub(r"(?i)^(?:see )?(?:sources?|refs?):\s*", "", mark[1:-1].strip()).lstrip("^")
    inner = inner.split("\u2020")[0]
    parts: list[str] = []
    for part in re.split(r"\s*[,;]\s*", inner):
        span = re.fullmatch(r"(\d{1,3})\s*[\u2013-]\s*(\d{1,3})", part)
        if span and 0 < int(span[2]) - int(span[1]) < 20:
            parts += [str(number) for number in range(int(span[1]), int(span[2]) + 1)]
        elif part:
            parts.append(part)
    return parts


def _take_marks(sentence: str, ids: Collection[str]) -> tuple[str, list[str]]:
    """
    Return the sentence without its citation marks, and what stood in them.
    """
    if not any([hint in sentence for hint in _MARK_HINTS]):
        return sentence, []
    marks: list[str] = []

    def take(match: re.Match[str]) -> str:
        marks.extend(_mark_parts(match[0]))
        return ""

    def take_id(match: re.Match[str]) -> str:
        parts = re.split(r"\s*[,;]\s*", match[1])
        return take(match) if all(part in ids for part in parts) else match[0]

    plain = _ANY_MARK.sub(take, _LINK.sub(r"\1", sentence) if "](" in sentence else sentence)
    if ids:
        plain = _BRACKETED.sub(take_id, plain)
    return (_LOOSE_SPACE.sub(lambda gap: " " if len(gap[0]) > 1 else "", plain).strip() if marks else plain), marks


def split_claims(
    answer: str, *, stopwords: frozenset[str] = ENGLISH, ids: Collection[str] = frozenset()
) -> tuple[Claim, ...]:
    """
    Split an answer into its claims: the sentences with at least one content token, in order.

    Args:
        answer: The answer as the model wrote it.
        stopwords: Tokens without content.
        ids: Known context ids; a bracket that holds nothing else is a citation mark.

    Returns:
        The claims; empty for a blank answer and for one that only declines (see `is_abstention`).
    """
    found: list[Claim] = []
    for sentence in split_sentences(answer) if answer else ():
        plain, marks = _take_marks(sentence, ids)
        found.append(Claim(plain, tuple(marks), tuple(tokenize(plain))))
    if _only_decline(found):
        return ()
    return tuple([claim for claim in found if not stopwords.issuperset(claim.tokens)])


def read_citations(claims: Sequence[Claim], ids: Sequence[str]) -> tuple[str, ...] | None:
    """
    Return the ids that the claims' citation marks point to, each once, in order of appearance.

    Args:
        claims: As `split_claims` gave them.
        ids: The contexts' ids in rank order; a mark is an id, or else a 1-based rank.

    Returns:
        The ids; None when no mark maps to a context.
    """
    found: dict[str, None] = {}
    for claim in claims:
        for mark in claim.marks:
            if mark in ids:
                found[mark] = None
            elif mark.isdecimal() and 1 <= int(mark) <= len(ids):
                found[ids[int(mark) - 1]] = None
    return tuple(found) or None


# ------------------------------------------------------------------------------------------ abstention

_SOURCE = (
    r"(?:contexts?|documents?|documentation|passages?|texts?|sources?|information|articles?|excerpts?|materials?|"
    r"knowledge\s+base|search\s+results?|records?)"
)
_CANNOT = r"(?:do\s+not|don't|cannot|can\s+not|can't|could\s+not|couldn't|did\s+not|didn't|does\s+not|doesn't)"
_FACT = r"(?:information|details?|mention|indication|answers?|data|context|access|records?|knowledge|means)"
_DECLINES = re.compile(
    rf"""
    \b(?:i|we)\s+(?:really\s+|currently\s+|simply\s+)?{_CANNOT}\s+(?:actually\s+)?
        (?:know|answer|find|determine|tell|say|confirm|locate|assist|verify|comment|be\s+(?:sure|certain))\b
    | \b(?:i|we)\s+{_CANNOT}\s+(?:have|see|provide|give|offer|help)\b[^.]{{0,40}}?\b(?:{_FACT}|with\s+that)\b
    | \b(?:unable|not\s+able)\s+to\s+(?:answer|determine|find|say|confirm|locate|assist|verify)\b
    | \b(?:unable|not\s+able)\s+to\s+(?:provide|give|help)\b[^.]{{0,40}}?\b(?:{_FACT}|with\s+that)\b
    | \b{_SOURCE}\b[^.]{{0,60}}?\b{_CANNOT}\s+(?:\w+\s+)?
        (?:say|contain|mention|provide|include|specify|state|answer|address|cover|give|have|discuss|indicate|list|
        describe|offer|reference|hold|support|disclose|reveal|tell)\b
    | \bthere(?:\s+is|'s|\s+are|\s+was|\s+were)\s+(?:no|not\s+enough|not\s+any|insufficient)\s+(?:\w+\s+){{0,2}}
        (?:information|mention|details|indication|answer)\b
    | \b(?:not|isn't|aren't|wasn't|never)\s+(?:\w+\s+)?(?:mentioned|specified|stated|provided|available|found|covered|
        included|given|described|addressed|listed|disclosed)\s+(?:in|by|within)\b[^.]{{0,40}}?\b{_SOURCE}\b
    | \b(?:no|insufficient|not\s+enough)\s+(?:\w+\s+)?(?:information|context|documents?|results?|answer)\b
        [^.]{{0,40}}?\b(?:found|available|provided|given|retrieved|to\s+(?:answer|determine|say))\b
    | \b(?:i'm|i\s+am|we're|we\s+are)\s+(?:not\s+sure|not\s+certain|unsure)\b
    | ^\W*(?:unanswerable|unknown|not\s+known|not\s+available|n/a|(?:i\s+have\s+)?no\s+idea|
        (?:no|not\s+enough|insufficient)\s+(?:information|context|answer|data))\W*$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# No pattern above matches a sentence without a word of each of these sets; most sentences are settled by that.
_NEGATIONS = frozenset(
    "not no never nothing cannot can't don't doesn't didn't couldn't isn't aren't wasn't unable unsure insufficient "
    "unanswerable unknown n".split()
)
_WITHHOLDERS = frozenset(
    "i i'm we we're unable able context contexts document documents documentation passage passages text texts source "
    "sources information article articles excerpt excerpts material materials knowledge search result results record "
    "records there available known unknown unanswerable idea answer data n".split()
)
_COURTESY = re.compile(
    r"^\W*(?:(?:i'm|i am|we're|we are)\s+(?:very\s+|so\s+)?sorry|sorry|apologies|my apologies|unfortunately\W*$"
    r"|please\s+(?:contact|reach|try|check|provide|rephrase|ask|consult|refer|let)|let me know|feel free"
    r"|(?:could|can|would) you (?:please |like )?(?:provide|rephrase|clarify|share|me)"
    r"|if you (?:have|can|could|provide|need)"
    r"|you (?:may|might|can|could) (?:want to |wish to )?(?:contact|check|try|consult|reach)|is there anything)",
    re.IGNORECASE,
)
# What stands after one of these is an answer after all, when it holds this many tokens.
_ANSWERS_AFTER_ALL = re.compile(r"(?i)[,;\u2014\u2013-]\s*(?:but|however|though|although|yet)\b(.*)$|\bhowever,(.*)$")
_CLAUSE_TOKENS = 4
_LONGEST_ABSTENTION = 700


def is_abstention(answer: str) -> bool:
    """
    Tell whether the answer only declines: every sentence says that it cannot be answered, or is a courtesy.
    """
    sentences = split_sentences(answer)
    return _only_decline([Claim(sentence, (), tuple(tokenize(sentence))) for sentence in sentences])


def _only_decline(sentences: Sequence[Claim]) -> bool:
    if sum([len(sentence.text) for sentence in sentences]) > _LONGEST_ABSTENTION:
        return False
    declined = False
    for sentence in sentences:
        if _declines(sentence):
            if _answers_after_all(sentence.text):
                return False
            declined = True
        elif sentence.tokens and not _COURTESY.match(sentence.text.replace("\u2019", "'")):
            return False
    return declined


def _declines(sentence: Claim) -> bool:
    if _NEGATIONS.isdisjoint(sentence.tokens) or _WITHHOLDERS.isdisjoint(sentence.tokens):
        return False
    return _DECLINES.search(sentence.text.replace("\u2019", "'")) is not None


def _answers_after_all(sentence: str) -> bool:
    turn = _ANSWERS_AFTER_ALL.search(sentence)
    if turn is None:
        return False
    rest = turn[1] or turn[2] or ""
    return len(tokenize(rest)) >= _CLAUSE_TOKENS and not _DECLINES.search(rest) and not _COURTESY.match(rest)
