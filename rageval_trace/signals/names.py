"""
Names of a claim that neither the contexts nor the question mention: words with a capital inside a sentence.

Whole names are forgiven when the contexts hold their initials, and initials when the contexts hold the name; initials
are the same with dots and without.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from rageval_trace.signals.numbers import has_digit
from rageval_trace.text import tokenize

__all__ = ["Background", "Name", "missing_names"]

_UPPER = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0391-\u03a9\u0400-\u042f"
_CAPITAL = re.compile(rf"(?:[{_UPPER}]\.){{2,}}|[{_UPPER}][^\W_]*(?:['\u2019][^\W_]+)*")
_STARTS_ANEW = frozenset('.!?:;"\u201c\u2022(|*_')
# Before a capital that goes on with a word, or that is a unit ("175°C").
_INSIDE = frozenset("'\u2019°º")
# "I" and its contractions, and the titles of this list, are no names.
_PLAIN = frozenset("i i'm i'd i've i'll ok am pm".split())
# Two of these make a German sentence, in which every noun has a capital.
_GERMAN = frozenset("der das und ist nicht ein eine einen einer den dem mit für von zu auf im wird werden sind".split())
_SAME = (
    frozenset("us u.s usa america american americans".split()),
    frozenset("uk u.k britain british england english".split()),
)
_STATES: dict[str, tuple[str, ...]] = {
    word: tuple(codes.split("/"))
    for word, codes in [
        entry.split(":")
        for entry in (
            "alabama:AL alaska:AK arizona:AZ arkansas:AR california:CA colorado:CO connecticut:CT delaware:DE "
            "florida:FL georgia:GA hawaii:HI idaho:ID illinois:IL indiana:IN iowa:IA kansas:KS kentucky:KY "
            "louisiana:LA maine:ME maryland:MD massachusetts:MA michigan:MI minnesota:MN mississippi:MS "
            "missouri:MO montana:MT nebraska:NE nevada:NV ohio:OH oklahoma:OK oregon:OR pennsylvania:PA "
            "tennessee:TN texas:TX utah:UT vermont:VT virginia:VA/WV washington:WA wisconsin:WI wyoming:WY "
            "new:NY/NJ/NM/NH york:NY jersey:NJ mexico:NM hampshire:NH north:NC/ND south:SC/SD carolina:NC/SC "
            "dakota:ND/SD west:WV rhode:RI island:RI"
        ).split()
    ]
}
_STATE_OF = {code: word for word, codes in reversed(_STATES.items()) for code in codes}
_OTHER_FORMS = {word: group for group in _SAME for word in group}
_OTHER_FORMS |= {"united": _SAME[0] | _SAME[1], "states": _SAME[0], "kingdom": _SAME[1]}


class Name(NamedTuple):
    """
    A capitalised word: as written, normalised, and where it stands in the claim.
    """

    written: str
    token: str
    start: int


class Background:
    """
    What contexts know of names.

    Args:
        texts: The contexts.
        words: Their distinct tokens.
    """

    def __init__(self, texts: Sequence[str], words: frozenset[str]) -> None:
        self._texts = texts
        self.words = words
        self._capitals: str | None = None
        self._initials: str | None = None

    def writes(self, code: str) -> bool:
        """
        Tell whether a context has a word in just these letters: `CA`, but no "ca".
        """
        return any([re.search(rf"\b{code}\b", text) is not None for text in self._texts if code in text])

    def hyphenates(self, word: str) -> bool:
        """
        Tell whether a context writes a word in two: "Wi-Fi" for `wifi`.
        """
        for at in range(2, len(word) - 1):
            first, second = word[:at], word[at:]
            if first in self.words and second in self.words:
                compound = re.compile(rf"\b{re.escape(first)}-{re.escape(second)}\b", re.IGNORECASE)
                if any([compound.search(text) for text in self._texts]):
                    return True
        return False

    def dots(self, acronym: str) -> bool:
        """
        Tell whether a context has these letters with dots between them: "U.N." for `UN`.
        """
        dotted = ".".join(acronym)
        return any([dotted in text for text in self._texts])

    def spells_out(self, acronym: str) -> bool:
        """
        Tell whether capitalised words in a row have these initials: "World Health Organization" for `WHO`.
        """
        if self._capitals is None:
            self._capitals = _NOT_CAPITAL.sub("", " ".join(self._texts))
        if acronym not in self._capitals:
            return False
        if self._initials is None:
            self._initials = " ".join([_initials(text) for text in self._texts])
        return acronym in self._initials


# More missing names than this add nothing to a claim's risk.
_MOST = 20
_NOT_CAPITAL = re.compile(rf"[^{_UPPER}]+")
# The look-behind changes no match; without it a long run of letters is read again from each of them.
_COMPOUND = re.compile(r"(?<![^\W\d_])([^\W\d_]{2,})-([^\W\d_]{2,})")
_ACRONYM = re.compile(rf"([{_UPPER}]{{2,6}})s?\)")
# The words of a spelled-out acronym are few.
_MOST_BETWEEN = 8
_SMALL = frozenset("of the and for in on to a an de la".split())


def _initials(text: str) -> str:
    letters = []
    for word in re.findall(r"[^\W_]+", text):
        if word[0].isupper():
            letters.append(word[0])
        elif word not in _SMALL:
            letters.append(" ")
    return "".join(letters)


def _names(text: str) -> list[Name]:
    """
    Return the capitalised words inside the sentence.
    """
    names = []
    for match in _CAPITAL.finditer(text, 1):
        start = match.start()
        if text[start - 1].isalnum() or text[start - 1] in _INSIDE:
            continue
        before = text[max(0, start - 8) : start].rstrip()
        if not before or before[-1] in _STARTS_ANEW:
            continue
        written = match[0]
        token = written.lower() if written.isascii() and written.isalnum() else next(iter(tokenize(written)), "")
        if token and token not in _PLAIN:
            names.append(Name(written, token, start))
    return names


def missing_names(
    text: str,
    tokens: Sequence[str],
    held: frozenset[str],
    asked: Collection[str],
    background: Background,
    stopwords: Collection[str] = frozenset(),
) -> tuple[list[Name], frozenset[str]]:
    """
    Return the names of a claim that no context mentions, each once, in order, and the tokens of those that the
    contexts have in another form.

    Args:
        text: The claim.
        tokens: Its tokens.
        held: Those that some context has.
        asked: The question's words.
        background: The contexts, for names in another form.
        stopwords: Words that are never names.

    Returns:
        Names and tokens; none where capitals say nothing: in a title, in German.
    """
    doubtful = [token for token in tokens if not (token in held or token in stopwords or token in asked)]
    if not _may_hold_names(text, tokens, doubtful):
        return [], frozenset()
    names = _names(text)
    unheld: dict[str, Name] = {}
    for name in names:
        if not (name.token in held or name.token in stopwords or name.token in asked):
            unheld.setdefault(name.token, name)
    if not unheld or (len(tokens) > 4 and len(names) > 0.6 * (len(tokens) - 1)):
        return [], frozenset()
    if len(_GERMAN.intersection(tokens)) > 1:
        return [], frozenset()
    missing: list[Name] = []
    known: list[str] = []
    solid = _written_solid(text, background.words) if "-" in text else ()
    for name in list(unheld.values())[:_MOST]:
        if name.token in solid or _known_otherwise(name, names, background) or _introduces(text, name, background):
            known += tokenize(name.written)
        else:
            missing.append(name)
    return missing, frozenset(known)


def _written_solid(text: str, words: frozenset[str]) -> list[str]:
    """
    Return the parts of those hyphenated words that a context writes as one: "wi" and "fi" when it has `wifi`.
    """
    pairs = [(first.casefold(), second.casefold()) for first, second in _COMPOUND.findall(text)]
    return [part for pair in pairs if "".join(pair) in words for part in pair]


def _introduces(text: str, name: Name, background: Background) -> bool:
    """
    Tell whether the name is part of a spelling-out of an acronym of the contexts: "Islamic State (ISIS)".
    """
    opened = text.find(" (", name.start)
    acronym = _ACRONYM.match(text, opened + 2) if opened > 0 else None
    if acronym is None or name.written[0] not in acronym[1]:
        return False
    between = text[name.start : opened].split(maxsplit=_MOST_BETWEEN)
    return (
        len(between) <= _MOST_BETWEEN
        and all([word[0].isupper() or word in _SMALL for word in between])
        and not background.words.isdisjoint((acronym[1].casefold(), acronym[0][:-1].casefold()))
    )


def _may_hold_names(text: str, tokens: Sequence[str], doubtful: Sequence[str]) -> bool:
    """
    Tell whether one of the doubtful tokens can be a name: no, where none has a capital inside the text.

    Yes, where a capitalised word need not be one of the text's tokens: with accents, with numbers ("A1.5").
    """
    plain = text.replace("\u2019", "'")
    if len(doubtful) > _MOST or not plain.isascii() or has_digit(text, tokens):
        return True
    lowered = plain.lower()
    for token in doubtful:
        at = lowered.find(token, 1)
        while at >= 0:
            if plain[at].isupper():
                return True
            at = lowered.find(token, at + 1)
    return False


def _known_otherwise(name: Name, names: Sequence[Name], background: Background) -> bool:
    """
    Tell whether the contexts know a name under another form.
    """
    letters = name.written.replace(".", "")
    token = name.token if letters == name.written else letters.casefold()
    same = _OTHER_FORMS.get(token)
    if token in background.words or (same is not None and not background.words.isdisjoint(same)):
        return True
    if any([background.writes(code) for code in _STATES.get(token, ())]):
        return True
    if letters[-1] == "s" and letters[:-1].isupper() and token[:-1] in background.words:
        return True
    if letters.isupper() and len(letters) > 1:
        if letters in _STATE_OF and _STATE_OF[letters] in background.words:
            return True
        spelled = "".join([other.written[0] for other in names if not other.written.isupper()])
        return letters in spelled or background.dots(letters) or (len(letters) > 2 and background.spells_out(letters))
    return _inside_acronym(name, names, background) or background.hyphenates(token)


def _inside_acronym(name: Name, names: Sequence[Name], background: Background) -> bool:
    """
    Tell whether three to five capitalised words around the name have initials that a context holds.
    """
    words = [other for other in names if not other.written.isupper()]
    if len(words) < 3 or name not in words:
        return False
    place = words.index(name)
    initials = "".join([other.written[0] for other in words]).casefold()
    for size in (3, 4, 5):
        for start in range(max(0, place - size + 1), min(place, len(words) - size) + 1):
            if initials[start : start + size] in background.words:
                return True
    return False
