"""
Numbers and clock times of a claim that no context gives.

A number is given when a context has it in any common form: with thousands commas, as a word or an ordinal, scaled
("6.5 million", "3k"), or in another unit right after the one that is given ("350°F (175°C)"). A decade is also given by
its short form and by any of its years ("the 1970s" by "the '70s" and by 1979).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

__all__ = [
    "ClockTime",
    "Figure",
    "NumberBook",
    "clock_times",
    "given_times",
    "has_digit",
    "missing_numbers",
    "missing_times",
    "number_forms",
]

_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
_TENS = {"30": "thirty", "40": "forty", "50": "fifty", "60": "sixty", "70": "seventy", "80": "eighty", "90": "ninety"}
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
# By number, the words for it.
_SPELLED: dict[str, tuple[str, ...]] = {str(value): (word,) for value, word in enumerate(_WORDS)}
_SPELLED |= {str(value): (_WORDS[value], word) for value, word in enumerate(_ORDINALS, 1)}
_SPELLED |= {value: (word,) for value, word in _TENS.items()}
_SPELLED |= {"12": ("twelve", "dozen"), "100": ("hundred",), "0.5": ("half",)}
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9, "trillion": 1e12}

_NUMERAL = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)(st|nd|rd|th|s|k|m|bn|am|pm)?")
# How many tokens to either side of a number speak of it.
_REACH = 8
_LOOKED_AT = 300
_BETWEEN = "|"
_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_FULL_DECADE = re.compile(r"(\d\d(\d))0s", re.ASCII)


def has_digit(text: str, tokens: Iterable[str]) -> bool:
    """
    Tell whether a text has a digit; tokens of letters alone, as most have, say so faster than a search.
    """
    return not "".join(tokens).isalpha() and _DIGIT.search(text) is not None


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(round(value, 6))


def _value(token: str) -> float | None:
    found = _NUMERAL.fullmatch(token)
    if found is None or not token.isascii():
        return None
    return float(found[1]) * _SCALES.get(found[2] or "", 1.0)


def number_forms(token: str, following: str = "") -> tuple[str, ...]:
    """
    Return the forms under which a token's number is known; empty for a token without a digit.

    Args:
        token: A normalised token.
        following: The token after it, which may scale it ("million").
    """
    if not "0" <= token[0] <= "9":
        return ()
    value = _value(token)
    if value is None:
        return (token, *[_plain(float(part)) for part in _DIGITS.findall(token) if len(part) < 16])
    digits = _DIGITS.match(token)
    forms = (_plain(value),) if digits is None or token == digits[0] else (_plain(value), _plain(float(digits[0])))
    return (*forms, _plain(value * _SCALES[following])) if following in _SCALES else forms


class NumberBook:
    """
    Know every number that some texts give.

    Args:
        texts: The tokens of each text.
        words: Their distinct tokens; found here when not given.
    """

    def __init__(self, texts: Sequence[Sequence[str]], words: frozenset[str] | None = None) -> None:
        self._texts = texts
        self._words = frozenset().union(*texts) if words is None else words
        self._given: frozenset[str] | None = None
        self._scaled: frozenset[tuple[str, str]] | None = None
        self._around: list[tuple[str, frozenset[str]]] | None = None

    def has(self, token: str, following: str = "") -> bool:
        """
        Tell whether a number is given, in digits or in words.

        Args:
            token: The normalised token of the number.
            following: The word after it, which may scale it.
        """
        if following in _SCALES:
            # "7 million" is not given by a 7 alone.
            spelled = _SPELLED.get(token, ())
            if spelled and not self._pairs().isdisjoint([(word, following) for word in spelled]):
                return True
            return not self._forms().isdisjoint(number_forms(token, following)[-1:])
        if token in self._words:
            return True
        forms = number_forms(token)
        if any([word in self._words for form in forms for word in _SPELLED.get(form, ())]):
            return True
        if not self._forms().isdisjoint(forms):
            return True
        decade = _FULL_DECADE.fullmatch(token)
        return decade is not None and not self._words.isdisjoint(
            [f"{decade[2]}0s", *[f"{decade[1]}{year}" for year in range(10)]]
        )

    def _pairs(self) -> frozenset[tuple[str, str]]:
        """
        Return the words before a scale, with it: ("seven", "million").
        """
        if self._scaled is None:
            found: list[tuple[str, str]] = []
            if not self._words.isdisjoint(_SCALES):
                for tokens in self._texts:
                    found += [pair for pair in pairwise(tokens) if pair[1] in _SCALES]
            self._scaled = frozenset(found)
        return self._scaled

    def _forms(self) -> frozenset[str]:
        """
        Return all forms of the numbers given in digits.
        """
        if self._given is None:
            forms: list[str] = []
            for token in self._words:
                if "0" <= token[0] <= "9":
                    forms.append(token)
                    forms.extend(number_forms(token))
            for token, following in self._pairs():
                forms.extend(number_forms(token, following))
            self._given = frozenset(forms)
        return self._given

    def near(self, words: Collection[str]) -> list[str]:
        """
        Return up to three given numbers that stand within eight tokens of the most of these words, best first.
        """
        asked = self._words.intersection(words)
        if not asked:
            return []
        scored: dict[str, int] = {}
        for token, around in self._neighbourhoods():
            score = len(asked & around)
            if score > scored.get(token, 0):
                scored[token] = score
        return sorted(scored, key=lambda token: -scored[token])[:3]

    def _neighbourhoods(self) -> list[tuple[str, frozenset[str]]]:
        """
        Return the first given numbers, each with the tokens around it; made at the first call.
        """
        if self._around is None:
            tokens = [token for text in self._texts for token in (*text, _BETWEEN)]
            places = islice([at for at, token in enumerate(tokens) if "0" <= token[0] <= "9"], _LOOKED_AT)
            self._around = [(tokens[at], frozenset(tokens[max(0, at - _REACH) : at + _REACH + 1])) for at in places]
        return self._around


# ------------------------------------------------------------------------------------------- clock times

_CLOCK = re.compile(
    r"(?<![\d.:])(\d{1,2})(?:[:.](\d{1,2}))?\s*([ap])\.?\s?m\b\.?|(?<![\d.:])(\d{1,2}):(\d{1,2})(?![\d:])|\b(noon|midnight)\b",
    re.IGNORECASE,
)
# Begins with plain characters, so that text without a time is passed over fast.
_MAYBE_CLOCK = re.compile(r"[0-9](?:\s*[ap]\.?\s?m\b|:[0-9])|noon\b|midnight\b", re.IGNORECASE)
_DAY = 24 * 60


class ClockTime(NamedTuple):
    """
    A time of day in minutes after midnight, where it stands in the text, and as written.
    """

    minutes: int
    start: int
    end: int
    written: str


def clock_times(text: str) -> list[ClockTime]:
    """
    Find the clock times of a text: `5 pm`, `17:30`, `noon`.
    """
    found: list[ClockTime] = []
    if not _MAYBE_CLOCK.search(text):
        return found
    for match in _CLOCK.finditer(text):
        minutes = _minutes(match)
        if minutes is not None:
            found.append(ClockTime(minutes, match.start(), match.end(), match[0]))
    return found


def _minutes(match: re.Match[str]) -> int | None:
    if match[6]:
        return 12 * 60 if match[6].lower() == "noon" else 0
    hour, minute = int(match[1] or match[4]), int(match[2] or match[5] or 0)
    half = (match[3] or "").lower()
    if hour > 24 or minute > 59:
        return None
    if half == "p" and hour < 12:
        hour += 12
    if half == "a" and hour == 12:
        hour = 0
    return (hour * 60 + minute) % _DAY


def given_times(text: str) -> frozenset[int]:
    """
    Return the clock times of a context, in minutes after midnight.

    A time of the morning also stands for twelve hours later, since a time without am or pm may mean both.
    """
    given: set[int] = set()
    for minutes, _, _, written in clock_times(text):
        given.add(minutes)
        if minutes < _DAY // 2 and "m" not in written.lower():
            given.add(minutes + _DAY // 2)
    return frozenset(given)


def missing_times(claim: Sequence[ClockTime], given: Collection[int]) -> list[ClockTime]:
    """
    Return the claim's clock times that no context gives, each once.

    Args:
        claim: The claim's times.
        given: The contexts' (`given_times`).
    """
    once = {time.minutes: time for time in reversed(claim)}
    return [time for time in claim if time.minutes not in given and once[time.minutes] is time]


# --------------------------------------------------------------------------------------- missing numbers

_IN_TEXT = re.compile(r"\d[^\W_]*(?:(?:\.(?=\d)|,(?=\d{3}(?!\d)))[^\W_]+)*")
# Not `\s*[-]?\s*`: where no unit follows, that tries each split of a run of blanks, in time quadratic in the run.
_UNIT = re.compile(
    r"(?:\s*[-\u2013](?:\s*\d+[-\u2013]?)?)?\s*"
    r"(?:[°º]|degrees?|celsius|fahrenheit|[cfmgl]\b|km|kilom|miles?|mi\b|kg|kilog|lbs?|pounds?|feet|ft|met"
    r"|cm|centi|inch|in\b|oz|ounces?|grams?|lit|gal|ml)",
    re.IGNORECASE,
)
_RATIOS = (1.609, 0.3048, 2.54, 0.4536, 28.35, 3.785, 0.621)


def _converted(value: float, before: Iterable[float]) -> bool:
    """
    Tell whether a value is one of those before it in another unit (temperature, length, weight, volume).
    """
    for other in before:
        if abs(value - (other - 32) * 5 / 9) <= 3 or abs(value - (other * 9 / 5 + 32)) <= 3:
            return True
        for ratio in _RATIOS:
            for target in (other * ratio, other / ratio):
                if abs(value - target) <= max(0.06 * target, 0.6):
                    return True
    return False


# More numbers or times than this in one sentence are data, and the rest of them go unread.
_MOST = 50
_LIST_MARK = re.compile(r"\(?\d{1,2}[.)](?=\s)|step \d{1,2}[:.](?=\s)", re.IGNORECASE)
# "3.5 out of 5 stars": the upper end of a common scale states nothing.
_SCALE_ENDS = frozenset(["5", "10", "100"])
_OUT_OF = re.compile(r"\bout of (?:a possible )?$", re.IGNORECASE)
_NEXT_MARK = re.compile(r"(?<=\s)\d{1,2}\.$")
_DECADE = re.compile(r"\d0s")


class Figure(NamedTuple):
    """
    A number as written in a claim, and where it stands.
    """

    written: str
    start: int
    end: int


def _figures(text: str, times: Sequence[ClockTime]) -> list[Figure]:
    """
    Find the numbers of a claim that state something: no clock times, list numerals, decades of life ("your 20s")
    or ends of scales ("out of 5").
    """
    mark = _LIST_MARK.match(text)
    first = mark.end() if mark else 0
    last = len(text)
    if len(text) < 40:
        # "Drugs 4.": a list written in one line leaves the next item's numeral behind.
        following = _NEXT_MARK.search(text)
        last = following.start() if following else last
    return [
        Figure(match[0], *match.span())
        for match in islice(_IN_TEXT.finditer(text, first, last), _MOST)
        if not text[match.start() - 1 : match.start()].isalnum()
        and not any([start <= match.start() < end for _, start, end, _ in times])
        and not _DECADE.fullmatch(match[0])
        and not (match[0] in _SCALE_ENDS and _OUT_OF.search(text, max(0, match.start() - 20), match.start()))
    ]


def missing_numbers(text: str, times: Sequence[ClockTime], book: NumberBook, asked: NumberBook) -> list[Figure]:
    """
    Return the numbers of a claim that neither the contexts nor the question give, each once, in order.

    Args:
        text: The claim.
        times: Its clock times, which are not read as numbers.
        book: The numbers of the contexts.
        asked: The numbers of the question.
    """
    given: list[float] = []
    missing: dict[str, tuple[Figure, float | None]] = {}
    for figure in _figures(text, times):
        token = figure.written.casefold().replace(",", "")
        following = _word_after(text, figure.end)
        value = _value(token)
        if not (book.has(token, following) or asked.has(token, following)):
            missing.setdefault(token, (figure, value))
        elif value is not None:
            given.append(value)
    return [
        figure
        for figure, value in missing.values()
        if value is None or not given or not _UNIT.match(text, figure.end) or not _converted(value, given)
    ]


def _word_after(text: str, end: int) -> str:
    following = text[end : end + 12].split(maxsplit=1)
    return following[0].casefold().rstrip(".,;:)") if following else ""
