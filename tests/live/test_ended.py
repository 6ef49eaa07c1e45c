"""
Runs that ended are known a while longer, in bounds.
"""

from __future__ import annotations

import pytest

from rageval_trace.live.ended import EndedRuns


def test_what_ended_is_known_however_often_one_asks() -> None:
    """
    Between, before and after questions, every id that was added is known, and no other.
    """
    ended = EndedRuns()
    assert "a" not in ended
    ended.add(["a", "b"])
    assert "b" in ended
    ended.add(["c"])

    assert [True, True, True, False] == [run_id in ended for run_id in "abcd"]
    assert 3 == len(ended)


@pytest.mark.parametrize("asked", [True, False])
def test_the_older_half_is_forgotten(asked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    At least one generation is known, at most two are kept, whether or not anybody asks in between.
    """
    monkeypatch.setattr("rageval_trace.live.ended._GENERATION", 10)
    ended = EndedRuns()
    for number in range(0, 100, 2):
        ended.add([number, number + 1])
        assert not asked or number in ended
        assert len(ended) <= 20

    known = [number for number in range(100) if number in ended]
    assert list(range(known[0], 100)) == known
    assert 10 <= len(known) <= 20
