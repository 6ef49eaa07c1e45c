from __future__ import annotations

import io

import pytest

from rageval_trace.cli.terminal import Terminal, cells


def printed(*segments, width=40, colour=False, indent=0) -> str:
    stream = io.StringIO()
    Terminal(stream, width=width, colour=colour).line(*segments, indent=indent)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("segments", "expected"),
    [
        ((), "\n"),
        (("plain ", ("strong", "strong")), "plain strong\n"),
        (("trailing blanks   ",), "trailing blanks\n"),
        (("x" * 50,), "x" * 50 + "\n"),
        (("  one two three four five six seven eight nine",), "  one two three four five six seven\n    eight nine\n"),
        (("十" * 19 + " 十十",), "十" * 19 + "\n    十十\n"),
    ],
)
def test_a_line_is_wrapped_between_words_and_goes_on_indented(segments, expected):
    """
    Words are kept whole, blanks at a break are dropped, and wide signs count two columns.
    """
    assert expected == printed(*segments, indent=4)


def test_colour_is_one_code_around_each_run_of_a_style():
    """
    The words of one segment share one pair of codes, and plain text has none.
    """
    assert printed("a ", ("b c", "bad"), " d", colour=True) == "a \x1b[31mb c\x1b[0m d\n"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "coloured"),
    [
        (Screen, {}, True),
        (Screen, {"NO_COLOR": "1"}, False),
        (Screen, {"TERM": "dumb"}, False),
        (io.StringIO, {}, False),
        (io.StringIO, {"FORCE_COLOR": "1"}, True),
        (io.StringIO, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colour_only_where_a_person_sees_it(monkeypatch, stream, environment, coloured):
    """
    A terminal is coloured unless NO_COLOR or a dumb terminal says no; a file only when it is forced.
    """
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    out = stream()
    Terminal(out).line(("word", "good"))
    assert coloured == ("\x1b[" in out.getvalue())


@pytest.mark.parametrize(
    ("stream", "columns", "expected"),
    [(Screen, "72", 72), (Screen, "500", 110), (Screen, "10", 40), (io.StringIO, None, 100), (io.StringIO, "64", 64)],
)
def test_the_width_is_the_terminals_within_bounds(monkeypatch, stream, columns, expected):
    """
    A terminal's width is used between 40 and 110 columns; a file gets 100 unless COLUMNS says otherwise.
    """
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    assert expected == Terminal(stream()).width


def test_wide_signs_take_two_columns():
    """
    East Asian wide signs are counted as terminals draw them.
    """
    assert [3, 4] == [cells("abc"), cells("漢字")]
