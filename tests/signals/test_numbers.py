"""
Numbers and clock times that no context gives.
"""

from __future__ import annotations

import pytest

from rageval_trace.signals.numbers import (
    NumberBook,
    clock_times,
    given_times,
    missing_numbers,
    missing_times,
    number_forms,
)
from rageval_trace.text import tokenize


@pytest.mark.parametrize(
    ("claim", "context", "expected"),
    [
        ("It costs 12,000.", "It costs 6,650.", ["12,000"]),
        ("It costs 6650.", "It costs 6,650.", []),
        ("Twelve of 12 came.", "A dozen came.", []),
        ("It came 3rd.", "It came third.", []),
        ("in the 1970s", "in 1979", []),
        ("It has 3.5 out of 5 stars.", "It has 3.5 stars.", []),
        ("It has 3 out of 7 keys.", "It has 3 keys.", ["7"]),
        ("Step 7: Serve the 9 dishes.", "Serve the dishes.", ["9"]),
        ("Keep it at 60-75\u00b0F (15-24\u00b0C).", "Keep it at 60-75 degrees.", []),
        ("in the 1970s", "the early '70s", []),
        ("in the 1970s", "in 1981, the '80s", ["1970s"]),
        ("6.5 million people", "6,500,000 people", []),
        ("6,500,000 people", "some 6.5 million people", []),
        ("7 million people", "7 thousand people", ["7"]),
        ("a 401(k) plan", "a 401k plan", []),
        ("350\u00b0F (175\u00b0C)", "350\u00b0F", []),
        ("350\u00b0F (275\u00b0C)", "350\u00b0F", ["275"]),
        ("4,000 miles (6,437 km)", "4,000 miles", []),
        ("3.50 euros", "3.5 euros", []),
        ("3,5 kg", "3,5 kg", []),
        ("in the 1990s", "in the 1990s", []),
        ("in your 20s", "when young", []),
        ("2. Whisk 3 eggs", "Whisk 3 eggs", []),
        ("Salt 4.", "Salt", []),
        ("model B12 and A4", "another model", []),
        ("9 and 9 again", "none", ["9"]),
        ("at 17:30", "closed", []),
        ("no number", "none", []),
    ],
)
def test_missing_numbers(claim: str, context: str, expected: list[str]) -> None:
    """A number is given in any common form; what is left is named once, as written."""
    found = missing_numbers(claim, clock_times(claim), NumberBook([tokenize(context)]), NumberBook([]))
    assert expected == [figure.written for figure in found]


def test_a_number_of_the_question_needs_no_context() -> None:
    """What the user asked with is not held against the answer."""
    assert [] == missing_numbers("Room 7 is free.", [], NumberBook([]), NumberBook([["room", "7"]]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5 pm", [1020]),
        ("5:30 p.m.", [1050]),
        ("12 am and 12 PM", [0, 720]),
        ("17:05", [1025]),
        ("noon to midnight", [720, 0]),
        ("25:00 or 10:75", []),
        ("ratio 3:2:1", []),
        ("version 1.2", []),
        ("in 1932", []),
    ],
)
def test_clock_times(text: str, expected: list[int]) -> None:
    """Times of day are read in minutes after midnight; ratios, versions and years are none."""
    assert expected == [time.minutes for time in clock_times(text)]


@pytest.mark.parametrize(
    ("claim", "context", "expected"),
    [
        ("opens at 5 pm", "17:00-21:00", []),
        ("opens at 5 pm", "5:00", []),
        ("opens at 5 pm", "5 am", ["5 pm"]),
        ("from 6 pm to 6 pm", "5 pm", ["6 pm"]),
    ],
)
def test_missing_times(claim: str, context: str, expected: list[str]) -> None:
    """A time is given in either notation, and a bare morning time may mean the evening."""
    assert expected == [time.written for time in missing_times(clock_times(claim), given_times(context))]


def test_forms_of_what_is_no_number() -> None:
    """A word has no forms, and a version has its token and parts."""
    assert () == number_forms("seven")
    assert ("1.2.3", "1.2", "3") == number_forms("1.2.3")


def test_numbers_near_words() -> None:
    """The numbers that stand with most of the words come first, at most three."""
    book = NumberBook(
        [tokenize("The river is 6650 km long. " + "x " * 20 + "The dam has 12 gates, 3 locks and 9 doors.")]
    )
    assert "6650" == book.near(["river", "long"])[0]
    assert 3 == len(book.near(["dam"]))
