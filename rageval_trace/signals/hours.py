"""
Opening hours that a claim gets wrong, against facts whose keys are weekdays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rageval_trace.signals.numbers import ClockTime
from rageval_trace.signals.structured import Fact

__all__ = ["opening_hours", "wrong_hours"]

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHORT = ("mo", "tu", "we", "th", "fr", "sa", "su")
_DAY = re.compile(
    r"\b(?:(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?"
    r"|(weekdays?|weekends?|daily|every ?day|seven days|7 days|all week))\b",
    re.IGNORECASE,
)
_TO = frozenset(["to", "through", "thru", "-", "\u2013", "until", "till"])
_AND = frozenset([",", "and", ", and", "&", "or"])
_UP_TO = _TO | {"and", ""}
_HEDGED = re.compile(r"extended|vary|varied|except|most days|longer|later|early|shorter")
_SPEAKS_OF_HOURS = re.compile(r"\bopen|operat|hours\b")
_ABOUT_HOURS = ("open", "operat", "hours")
_NOON = 12 * 60

Hours = tuple[int, int]


class _Days(NamedTuple):
    days: frozenset[int]
    start: int
    end: int


class _Range(NamedTuple):
    opens: int
    closes: int
    start: int
    end: int


def opening_hours(facts: Sequence[Fact]) -> dict[int, Hours | None]:
    """
    Return the hours by weekday (Monday is 0) among the facts; None for a day without hours; empty without weekdays.

    Also empty when a day has two different hours: a claim may speak of either place.
    """
    hours: dict[int, Hours | None] = {}
    for fact in facts:
        if fact.words[-1] in _DAYS:
            day = _DAYS.index(fact.words[-1])
            known = fact.value if fact.kind == "hours" else None
            if hours.setdefault(day, known) != known:
                return {}
    return hours


def _day_groups(text: str) -> list[_Days]:
    """
    Find the groups of days a sentence names: "Monday to Friday", "Saturdays and Sundays", "weekends".
    """
    groups: list[_Days] = []
    last = -1
    for match in _DAY.finditer(text):
        if match[2]:
            groups.append(_Days(_whole(match[2].lower()), match.start(), match.end()))
            last = -1
            continue
        day = _SHORT.index(match[1][:2].lower())
        gap = text[groups[-1].end : match.start()].strip().lower() if last >= 0 else None
        if gap in _TO:
            days = frozenset([(last + step) % 7 for step in range((day - last) % 7 + 1)])
            groups[-1] = _Days(groups[-1].days | days, groups[-1].start, match.end())
        elif gap in _AND:
            groups[-1] = _Days(groups[-1].days | {day}, groups[-1].start, match.end())
        else:
            groups.append(_Days(frozenset([day]), match.start(), match.end()))
        last = day
    return groups


def _whole(words: str) -> frozenset[int]:
    # Writers count Friday to either side, so neither word is held to it, nor "weekend" to Sunday.
    if words.startswith("weekday"):
        return frozenset(range(4))
    return frozenset([5]) if words.startswith("weekend") else frozenset(range(7))


def _ranges(text: str, times: Sequence[ClockTime]) -> list[_Range]:
    ranges: list[_Range] = []
    at = 0
    while at + 1 < len(times):
        (opens, start, end, _), (closes, later, stop, _) = times[at], times[at + 1]
        if text[end:later].strip(" .").lower() in _UP_TO:
            ranges.append(_Range(opens, closes, start, stop))
            at += 1
        at += 1
    return ranges


def _belongs_to(span: _Range, groups: Sequence[_Days], days_first: bool) -> _Days | None:
    before = [group for group in groups if group.end <= span.start]
    after = [group for group in groups if group.start >= span.end]
    nearest = (before[-1:], after[:1])
    for choice in nearest if days_first else reversed(nearest):
        if choice:
            return choice[0]
    return None


def _agrees(hours: Hours | None, span: _Range) -> bool:
    if hours is None or hours[0] % 1440 != span.opens:
        return False
    # A closing time before the opening one ("11:30-2:0") is as often meant for the afternoon.
    return hours[1] % 1440 == span.closes or (hours[1] < hours[0] and hours[1] % _NOON == span.closes % _NOON)


def wrong_hours(hours: Mapping[int, Hours | None], text: str, times: Sequence[ClockTime]) -> list[str]:
    """
    Return what a claim gets wrong about opening hours, in words.

    Args:
        hours: As `opening_hours` gave them.
        text: The claim.
        times: Its clock times.
    """
    lowered = text.lower()
    if not hours or "happy hour" in lowered or (len(times) < 2 and not any([word in lowered for word in _ABOUT_HOURS])):
        return []
    groups, ranges = _day_groups(text), _ranges(text, times)
    wrong = []
    days_first = bool(groups) and (not ranges or groups[0].start < ranges[0].start)
    for span in ranges:
        group = _belongs_to(span, groups, days_first)
        said = text[span.start : span.end].rstrip(".")
        if group is None:
            if not any([_agrees(known, span) for known in hours.values()]):
                wrong.append(f"no day has the hours {said}")
            continue
        days = set(group.days)
        for other in groups:
            if other is not group and other.days < group.days:
                days -= other.days
        bad = [day for day in sorted(days) if not _agrees(hours.get(day), span)]
        if bad and not (len(bad) < len(days) and _HEDGED.search(lowered)):
            wrong.append(_say(bad[0], hours, said))
    if not ranges and any([len(group.days) == 7 for group in groups]) and _SPEAKS_OF_HOURS.search(lowered):
        shut = [day for day in range(7) if hours.get(day) is None]
        wrong += [f"the context has no hours for {_DAYS[shut[0]].title()}"] if shut else []
    return wrong


def _say(day: int, hours: Mapping[int, Hours | None], said: str) -> str:
    known = hours.get(day)
    if known is None:
        return f"the context has no hours for {_DAYS[day].title()}, not {said}"
    opens, closes = (f"{minutes // 60}:{minutes % 60:02d}" for minutes in known)
    return f"the context has {opens}-{closes} for {_DAYS[day].title()}, not {said}"
