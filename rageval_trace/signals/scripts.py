"""
The writing systems of a text: word overlap says nothing between two of them.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable

__all__ = ["foreign_script"]

_LOOKED_AT = 2000
_FAMILY = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "HANGUL": "Korean", "FULLWIDTH": "Latin"}
# A script with less than this share of a text's letters is a quotation.
_SHARE = 0.05


def _scripts(text: str) -> Counter[str]:
    """
    Count the letters of each script.
    """
    found: Counter[str] = Counter()
    for char in text[:_LOOKED_AT]:
        if char.isascii():
            if char.isalpha():
                found["Latin"] += 1
        elif char.isalpha():
            name = unicodedata.name(char, "").partition(" ")[0]
            found[_FAMILY.get(name, name if name == "CJK" else name.title())] += 1
    return found


def foreign_script(answer: str, contexts: Iterable[str]) -> str | None:
    """
    Say in words that an answer is written in a script of which the contexts have (nearly) nothing.

    Returns:
        `the answer is Latin, the contexts are CJK`; None when they share the answer's script, or have no letters.
    """
    written = _scripts(answer)
    known: Counter[str] = Counter()
    for text in contexts:
        known.update(_scripts(text))
    if not written or not known:
        return None
    script = written.most_common(1)[0][0]
    if known[script] >= _SHARE * sum(known.values()):
        return None
    return f"the answer is {script}, the contexts are {known.most_common(1)[0][0]}"
