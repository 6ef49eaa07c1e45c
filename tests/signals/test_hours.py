"""
Opening hours that a claim gets wrong.
"""

from __future__ import annotations

import pytest

from rageval_trace.signals.hours import opening_hours, wrong_hours
from rageval_trace.signals.numbers import clock_times
from rageval_trace.signals.structured import read_facts

WEEK = opening_hours(
    read_facts(
        "hours Monday: 9:0-17:0\nhours Tuesday: 9:0-17:0\nhours Wednesday: 9:0-17:0\nhours Thursday: 9:0-17:0\n"
        "hours Friday: 9:0-20:0\nhours Saturday: 10:0-2:0"
    )
)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("It is open Monday to Thursday from 9 am to 5 pm.", []),
        ("It is open from 9:00 to 17:00 on Mondays and Tuesdays, and from 9:00 to 20:00 on Friday.", []),
        ("It is open Monday to Friday, 9 am - 5 pm.", ["the context has 9:00-20:00 for Friday, not 9 am - 5 pm"]),
        ("It is open on Sunday from 9 am to 5 pm.", ["the context has no hours for Sunday, not 9 am to 5 pm"]),
        ("It is open daily from 9 am to 5 pm, except later on Friday.", []),
        ("It is open from 8 am to 5 pm.", ["no day has the hours 8 am to 5 pm"]),
        ("It is open from 9 am to 8 pm.", []),
        ("On Saturday it is open from 10 am to 2 pm.", []),
        ("On weekdays it is open from 9 am to 5 pm.", []),
        ("On weekends it is open from 10 am to 2 am.", []),
        ("It is open seven days a week.", ["the context has no hours for Sunday"]),
        ("It is loved seven days a week.", []),
        ("Happy hour runs from 1 pm to 2 pm on Monday.", []),
        ("It opens at 9 am.", []),
        ("Friday's hours run from 9 am until 8 pm and Monday's from 9 am until 6 pm.",
         ["the context has 9:00-17:00 for Monday, not 9 am until 6 pm"]),
    ],
)  # fmt: skip
def test_wrong_hours(claim: str, expected: list[str]) -> None:
    """Each day that a claim names must have the hours it gives."""
    assert expected == wrong_hours(WEEK, claim, clock_times(claim))


def test_no_weekdays_no_hours() -> None:
    """Without weekdays among the facts nothing is wrong."""
    assert [] == wrong_hours({}, "It is open daily from 9 am to 5 pm.", clock_times("9 am to 5 pm"))


def test_two_places_have_no_common_hours() -> None:
    """A weekday with two different hours says nothing."""
    lines = "hours Monday: {}\nhours Tuesday: 9:0-17:0\nx: 1"
    facts = read_facts(lines.format("9:0-17:0")) + read_facts(lines.format("8:0-17:0"))
    assert {} == opening_hours(facts)
    assert {0, 1} == set(opening_hours(read_facts(lines.format("9:0-17:0")) * 2))
