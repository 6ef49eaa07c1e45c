"""
Names of a claim that neither the contexts nor the question mention: words with a capital inside a sentence.

Whole names are forgiven when the contexts hold their initials, and initials when the contexts hold the name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from rageval_trace.text import tokenize

__all__ = ["Background", "Name", "missing_names"]

_UPPER = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0391-\u03a9\u0400-\u042f"
_CAPITAL = re.compile(rf"[{_UPPER}][^\W_]*(?:['\u2019][^\W_]+)*")
_STARTS_ANEW = frozenset('.!?:;"\u201c\u2022(|*_')
_INSIDE = frozenset("'\u2019")
_DIGIT = re.compile(r"\d")
# "I" and its contractions, and the titles of this list, are no names.
_PLAIN = frozenset("i i'm i'd i've i'll ok am pm".split())
# Two of these make a German sentence, in which every noun has a capital.
_GERMAN = frozenset("der das und ist nicht ein eine einen einer den dem mit für von zu auf im wird werden sind".split())
_SAME = (
    frozenset("us u.s usa america american americans".split()),
    frozenset("uk u.k britain british england english".split()),
)
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
) -> list[Name]:
    """
    Return the names of a claim that no context mentions, each once, in order.

    Args:
        text: The claim.
        tokens: Its tokens.
        held: Those that some context has.
        asked: The question's words.
        background: The contexts, for names in another form.
        stopwords: Words that are never names.

    Returns:
        The names; none where capitals say nothing: in a title, in German.
    """
    if held.issuperset(tokens) and _reads_plainly(text):
        return []
    names = _names(text)
    missing: dict[str, Name] = {}
    for name in names:
        if not (name.token in stopwords or name.token in asked or name.token in held):
            missing.setdefault(name.token, name)
    if not missing or (len(tokens) > 4 and len(names) > 0.6 * (len(tokens) - 1)):
        return []
    if len(_GERMAN.intersection(tokens)) > 1:
        return []
    return [name for name in list(missing.values())[:_MOST] if not _known_otherwise(name, names, background)]


def _reads_plainly(text: str) -> bool:
    """
    Tell whether every capitalised word of a text is one of its tokens: no accents, no "A1.5".
    """
    return text.replace("\u2019", "'").isascii() and _DIGIT.search(text) is None


def _known_otherwise(name: Name, names: Sequence[Name], background: Background) -> bool:
    """
    Tell whether the contexts know a name under another form.
    """
    same = _OTHER_FORMS.get(name.token)
    if same is not None and not background.words.isdisjoint(same):
        return True
    if name.written.isupper() and len(name.written) > 1:
        spelled = "".join([other.written[0] for other in names if not other.written.isupper()])
        return name.written in spelled or (len(name.written) > 2 and background.spells_out(name.written))
    return _inside_acronym(name, names, background)


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
