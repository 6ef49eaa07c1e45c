"""
Which sentences of an answer claim something, and which of their words only point at the contexts.
"""

from __future__ import annotations

import re
from collections.abc import Collection

__all__ = ["POINTERS", "declares_a_gap", "is_filler", "strip_references"]

# Words by which an answer speaks of its contexts, and words that only tie its sentences together: they are support for
# nothing and need none.
_OF_CONTEXTS = frozenset(
    "passage passages context contexts document documents provided given based mentioned mentions mention states "
    "stated according excerpt excerpts described describes article articles author authors text texts source "
    "sources".split()
)
_TIES = frozenset(
    "however although though despite whereas nevertheless nonetheless moreover furthermore additionally besides "
    "meanwhile otherwise therefore thus hence consequently accordingly likewise similarly overall finally lastly "
    "ultimately conversely alternatively instead namely indeed notably specifically particularly especially including "
    "regarding concerning due upon unless since".split()
)
POINTERS: frozenset[str] = _OF_CONTEXTS | _TIES

_SOURCE = (
    r"(?:passages?|contexts?|documents?|docs?|sources?|articles?|excerpts?|texts?|reviews?|references?|snippets?"
    r"|chunks?)"
)
_SOURCE_WORDS = frozenset(
    "passage passages context contexts document documents doc docs source sources article articles excerpt excerpts "
    "text texts review reviews reference references snippet snippets chunk chunks".split()
)
_REFERENCE = re.compile(
    rf"\(?\b(?:(?:as (?:stated|mentioned|described|noted|per|seen) in|according to|in|from|see) )?(?:the )?{_SOURCE}"
    rf"\s*#?\d{{1,2}}(?:\s*(?:,|and|&|or|-|to)\s*(?:{_SOURCE}\s*)?#?\d{{1,2}})*\b(?:['\u2019]s\b)?\)?",
    re.IGNORECASE,
)

_CHATTER = re.compile(
    r"(?:sure|certainly|of course|absolutely|okay|great|yes|no)[!.,]?|.*\b(?:let me know|hope (?:this|that) helps|"
    r"feel free|happy to help|anything else)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_CHATTER_WORDS = frozenset("sure certainly course absolutely okay great yes no know hope feel happy anything".split())

_GAP_WORDS = _SOURCE_WORDS | frozenset("information data detail details mention mentions unable cannot can't".split())
_GAP_WORDS |= frozenset("find doesn't don't didn't couldn't answer determine provided specified".split())
# Enough of a sentence to tell; bounds the search in text that was made to be slow.
_LOOKED_AT = 300
_DENIALS = frozenset("not no never nor neither unclear unable impossible cannot".split())
_GAP = re.compile(
    r"\b(?:passages?|contexts?|documents?|sources?|articles?|excerpts?|texts?|information|data|details?)\b[^.;]{0,120}?"
    r"(?:\b(?:not|no|never|nor|neither|unclear)\b|n't\b)[^.;]{0,120}?\b(?:provid|mention|specif|contain|includ|stat|discuss|"
    r"address|answer|explain|offer|give|indicat|clear|direct|explicit|list|cover|describ|available)"
    r"|\bno (?:information|mention|details?|data)\b"
    r"|\b(?:unable|not able|impossible|cannot|can't|not possible) (?:to )?(?:answer|determine|find|provide)"
    r"|\bi (?:could not|couldn't|did not|cannot|can't) find\b"
    r"|n't (?:provide|mention|specify|contain|state|explicitly)",
    re.IGNORECASE,
)


def is_filler(text: str, tokens: Collection[str]) -> bool:
    """
    Tell whether a sentence claims nothing: a lead-in or heading (it ends in a colon), a short title in bold, a
    pleasantry ("Sure!", "Let me know if ...").
    """
    plain = text.strip(" *_#")
    if plain.endswith((":", "\uff1a")):
        return True
    if text.startswith("**") and text.rstrip().endswith("**") and len(tokens) <= 8:
        return True
    return not _CHATTER_WORDS.isdisjoint(tokens) and _CHATTER.fullmatch(plain) is not None


def declares_a_gap(text: str, tokens: Collection[str]) -> bool:
    """
    Tell whether a sentence says what the contexts do not tell ("Passage 2 does not mention a price").

    Such a sentence shares few words with any context and is nearly always right.
    """
    plain = text[:_LOOKED_AT].replace("\u2019", "'")
    if _GAP_WORDS.isdisjoint(tokens) or (_DENIALS.isdisjoint(tokens) and "n't" not in plain):
        return False
    return _GAP.search(plain) is not None


def strip_references(text: str, tokens: Collection[str]) -> str:
    """
    Return the sentence without references to contexts by number ("passage 2", "(Document 3)"), whose numbers are
    no facts.
    """
    if _SOURCE_WORDS.isdisjoint(tokens):
        return text
    return _REFERENCE.sub(" ", text)
