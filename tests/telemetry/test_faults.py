"""
An error in our own code is counted, named once, and never quoted.
"""

from __future__ import annotations

from rageval_trace.telemetry.faults import Faults


def _raised(message="secret"):
    try:
        raise ValueError(message)
    except ValueError as error:
        return error


def test_the_first_of_a_kind_is_logged_and_all_are_counted(caplog):
    """
    The line names type and place, not the message, which may quote the user's content.
    """
    faults = Faults()
    for _ in range(3):
        faults.note("a thing was lost", _raised())
    ((kind, count),) = faults.counts.items()
    assert (3, 1) == (count, len(caplog.records))
    assert kind.startswith("ValueError at test_faults.py:")
    assert f"a thing was lost: {kind}; further ones are only counted" == caplog.records[0].getMessage()
    assert "secret" not in caplog.text


def test_an_error_that_was_never_raised_has_no_place():
    """
    Without a traceback the place is unknown.
    """
    faults = Faults()
    faults.note("lost", ValueError("secret"))
    assert {"ValueError at unknown": 1} == faults.counts


def test_kinds_are_bounded():
    """
    Past the bound, new kinds share one entry.
    """
    faults = Faults()
    for number in range(Faults.MAX_KINDS + 5):
        faults.note("lost", type(f"Error{number}", (Exception,), {})())
    assert (Faults.MAX_KINDS + 1, 5) == (len(faults.counts), faults.counts["other"])
