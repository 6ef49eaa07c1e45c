"""
Abstentions: the answers that only decline.

A sentence declines when its author says that they cannot answer, or that what they were given does not say. It does
not when a third party cannot, does not, or is not told: "Customers are unable to verify their age online" is a claim.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache

from rageval_trace.claims.sentences import split_sentences
from rageval_trace.text import tokenize

__all__ = ["LONGEST_ABSTENTION", "all_decline", "is_abstention"]

LONGEST_ABSTENTION = 700

_CANNOT = r"(?:do\s+not|don't|cannot|can\s+not|can't|could\s+not|couldn't|did\s+not|didn't|does\s+not|doesn't)"
_GIVEN = r"(?:provided|given|available|retrieved|supplied|above|reference|following)"
# Words for what the author was given; the second group names other things as well ("the light source").
_SOURCE = (
    r"(?:contexts?|documents?|documentation|passages?|excerpts?|articles?|knowledge\s+base|search\s+results?"
    rf"|(?:the|these|this|my|your|any|{_GIVEN})\s+(?:texts?|sources?)"
    rf"|{_GIVEN}\s+(?:information|materials?|records?|data|content)"
    r"|(?:information|materials?|records?|data|content)\s+(?:provided|given|available|supplied|above|i\s+have))"
)
# Between a source and its verb: a few words, none of which makes the rest a report of what the source does say.
_REPORTS = r"(?:that|says?|shows?|states?|notes?|reports?|confirms?|explains?|mentions?|indicates?|claims?|and|but)"
_GAP = rf"(?:[\s,()]+(?!{_REPORTS}\b)[\w'\[\]\"-]+){{0,8}}?[\s,()]+"
_TELLS = (
    r"(?:say|contain|mention|provide|include|specify|state|answer|address|cover|give|have|discuss|indicate|list|"
    r"describe|offer|reference|hold|support|disclose|reveal|tell)"
)
_FACT = r"(?:information|details?|mention|indication|answers?|data|context|knowledge|means)"
_SEEN = (
    r"(?:mentioned|specified|stated|provided|available|found|covered|included|given|described|addressed|listed"
    r"|disclosed)"
)
_DECLINES = rf"""
    \bi\s+(?:really\s+|currently\s+|simply\s+)?{_CANNOT}\s+(?:actually\s+)?
        (?:know|answer|find|determine|tell|say|confirm|locate|assist|verify|comment|be\s+(?:sure|certain))\b
    | \bi\s+{_CANNOT}\s+(?:have|see|provide|give|offer|help)\b[^.]{{0,40}}?\b(?:{_FACT}|access|records?|with\s+that)\b
    | \bwe\s+(?:really\s+|currently\s+|simply\s+)?(?:{_CANNOT}\s+(?:know|determine)|(?:do\s+not|don't)\s+have\s+
        (?:\w+\s+){{0,2}}information|(?:cannot|can't|could\s+not|couldn't)\s+(?:find|answer|locate)\s+
        (?:an?|any|the|this|that|your)\s+(?:\w+\s+)?(?:{_FACT}|question))\b
    | (?:^\W*|\b(?:i|we)(?:\s+(?:am|are|was|were)|'m|'re)\s+)(?:\w+\s+)?(?:unable|not\s+able)\s+to\s+
        (?:answer|determine|find|say|confirm|locate|assist|verify|(?:provide|give|help)\b[^.]{{0,40}}?
        \b(?:{_FACT}|with\s+that))\b
    | \b(?:it\s+is|it's|is)\s+(?:not\s+possible|impossible|unable)\s+to\s+(?:answer|determine|say|confirm|know)\b
    | \b(?:question|answer|this|that|it)\s+(?:cannot|can\s+not|can't|could\s+not)\s+be\s+(?:answered|determined|inferred
        |found|confirmed)\b[^.]{{0,40}}?\b(?:{_SOURCE}|information|context)\b
    | \b{_SOURCE}{_GAP}{_CANNOT}\s+(?:\w+ly\s+|even\s+)?{_TELLS}\b
    | \bthe\s+information\s+{_CANNOT}\s+(?:\w+ly\s+)?(?:say|mention|specify|state|indicate|answer|address)\b
    | \bthere(?:\s+is|'s|\s+are|\s+was|\s+were)\s+(?:no|not\s+enough|not\s+any|insufficient)\s+(?:\w+\s+){{0,2}}
        (?:information|mention|details|indication|answer)\b(?!\s+(?:fee|desk|charge))
    | \bthere\s+(?:isn't|aren't|wasn't)\s+(?:enough|any|sufficient)\s+(?:\w+\s+){{0,2}}(?:information|mention|details)\b
    | \b(?:not|isn't|aren't|wasn't|never)\s+(?:\w+\s+)?{_SEEN}\s+(?:in|by|within)\b[^.]{{0,40}}?\b
        (?:{_SOURCE}|information|texts?)\b
    | \b(?:no|insufficient|not\s+enough)\s+(?:\w+\s+)?(?:information|context|results?)\b
        [^.]{{0,40}}?\b(?:found|available|provided|given|retrieved|to\s+(?:answer|determine|say))\b
    | \bno\s+(?:\w+\s+)?(?:documents?|passages?|answers?)\b[^.]{{0,40}}?\b(?:found|retrieved)\b
    | \b(?:i'm|i\s+am|we're|we\s+are)\s+(?:not\s+(?:entirely\s+|quite\s+)?(?:sure|certain)|unsure)\b
    | ^\W*(?:unanswerable|unknown|not\s+known|not\s+available|n/a|(?:i\s+have\s+)?no\s+idea|
        (?:no|not\s+enough|insufficient)\s+(?:information|context|answer|data))\W*$
    """
# No pattern above matches a sentence without a word of each of these sets; most sentences are settled by that.
_NEGATIONS = frozenset(
    "not no never cannot can't don't doesn't didn't couldn't isn't aren't wasn't unable unsure insufficient impossible "
    "unanswerable unknown n".split()
)
_WITHHOLDERS = frozenset(
    "i i'm we we're unable able possible impossible context contexts document documents documentation passage passages "
    "text texts source sources information article articles excerpt excerpts material materials knowledge search "
    "result results record records data content there available known unknown unanswerable idea answer answers "
    "n".split()
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
_TURN = re.compile(r"(?i)[,;\u2014\u2013-]\s*(?:but|however|though|although|yet)\b(.*)$|\bhowever,(.*)$")
_CLAUSE_TOKENS = 4


def is_abstention(answer: str) -> bool:
    """
    Tell whether the answer only declines: every sentence says that it cannot be answered, or is a courtesy.

    Returns:
        False for a blank answer, and for one longer than 700 characters.
    """
    if len(answer) > LONGEST_ABSTENTION:
        return False
    return all_decline([(sentence, tokenize(sentence)) for sentence in split_sentences(answer)])


def all_decline(sentences: Iterable[tuple[str, Collection[str]]]) -> bool:
    """
    Tell the same of an answer already split into sentences, each given with its tokens.
    """
    declined = False
    for sentence, tokens in sentences:
        if not tokens:
            continue
        plain = sentence.replace("\u2019", "'")
        if _declines(plain, tokens):
            if _answers_after_all(plain):
                return False
            declined = True
        elif not _COURTESY.match(plain):
            return False
    return declined


def _declines(sentence: str, tokens: Iterable[str]) -> bool:
    if _NEGATIONS.isdisjoint(tokens) or _WITHHOLDERS.isdisjoint(tokens):
        return False
    return _refusal().search(sentence) is not None


@cache
def _refusal() -> re.Pattern[str]:
    """
    Return the pattern of a sentence that declines: dearer to compile than all the others here, and rarely needed.
    """
    return re.compile(_DECLINES, re.IGNORECASE | re.VERBOSE)


def _answers_after_all(sentence: str) -> bool:
    turn = _TURN.search(sentence)
    if turn is None:
        return False
    rest = turn[1] or turn[2] or ""
    tokens = tokenize(rest)
    return len(tokens) >= _CLAUSE_TOKENS and not _declines(rest, tokens) and not _COURTESY.match(rest)
