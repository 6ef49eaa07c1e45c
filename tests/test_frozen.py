from __future__ import annotations

import copy
import inspect
from dataclasses import FrozenInstanceError, replace

import pytest

from rageval_trace.claims import Claim
from rageval_trace.models import Context, MetricResult, Verdict

CASES = [
    (Context, ("d1", "Tea is hot."), {}),
    (Context, (7, "Tea is hot.", 0.5), {"timestamp": "2026-05-01", "metadata": {"lang": "en"}}),
    (Verdict, (True, 0.8, (0, 2)), {"reason": "it says so"}),
    (MetricResult, ("recall", None), {}),
    (MetricResult, ("recall", 1.0, "2 of 2"), {"details": {"counts": {"found": 2}}, "error_type": None}),
    (Claim, ("Tea is hot.", ("1",), ("tea", "is", "hot")), {}),
]


@pytest.mark.parametrize(("made", "values", "named"), CASES)
def test_equals_the_plain_definition(made, values, named):
    """A class with the quick `__init__` holds what the one that `dataclasses` generated would have put there."""
    plain = object.__new__(made)
    made.__init__.__wrapped__(plain, *values, **named)

    quick = made(*values, **named)

    assert plain == quick
    assert repr(plain) == repr(quick)
    assert quick == copy.copy(quick) == replace(quick)


@pytest.mark.parametrize("made", [Context, Verdict, MetricResult, Claim])
def test_keeps_signature_and_freezing(made):
    """Its signature is the generated one, a missing argument is named, and nothing can be set afterwards."""
    assert inspect.signature(made.__init__.__wrapped__) == inspect.signature(made.__init__)
    with pytest.raises(TypeError, match=rf"{made.__name__}\.__init__\(\) missing"):
        made()
    one = made(*next(values for cls, values, _ in CASES if cls is made))
    with pytest.raises(FrozenInstanceError):
        setattr(one, made.__slots__[0], "other")


def test_makes_a_default_for_each():
    """Two objects do not share the dictionary that a field is filled with."""
    assert Context("a", "x").metadata is not Context("b", "y").metadata
