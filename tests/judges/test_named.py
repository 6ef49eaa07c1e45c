"""
Judges by their words.
"""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from rageval_trace.errors import RagEvalError
from rageval_trace.judges.base import judge_name
from rageval_trace.judges.named import NAMES, make_judge


def test_each_word_makes_the_judge_of_that_name() -> None:
    """
    The word on the command line is the name in results.
    """
    assert [judge_name(make_judge(word)) for word in NAMES] == list(NAMES)


def test_a_judge_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    `module:Class` makes any judge; what does not judge, or cannot be made, is an error in one sentence.
    """
    own = ModuleType("own_module")
    own.Fine = type(  # type: ignore[attr-defined]
        "Fine", (), {"judge_claims": lambda *_: [], "judge_relevance": lambda *_: None}
    )
    own.Empty = type("Empty", (), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_module", own)
    assert type(make_judge("own_module:Fine")) is own.Fine
    for word, words in [
        ("own_module:Empty", "does not judge"),
        ("own_module:Absent", "cannot be made: AttributeError"),
        ("no_such_module:X", "cannot be made: ModuleNotFoundError"),
        ("claud", "did you mean 'claude'"),
    ]:
        with pytest.raises(RagEvalError, match=words):
            make_judge(word)
