"""
Thresholds and the verdict on one request.
"""

from __future__ import annotations

import math

import pytest

from rageval_trace.errors import GateError, UnknownMetricError
from rageval_trace.gates import (
    LiveVerdict,
    Threshold,
    breached,
    judge_results,
    parse_threshold,
    parse_thresholds,
)
from rageval_trace.metrics import base
from rageval_trace.models import MetricResult


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """
    Register a built-in-like metric of each direction and one that is not a default, in a registry of their own.
    """
    monkeypatch.setattr(base, "_registry", {})
    for name, higher, default in (
        ("good", True, True),
        ("other", True, True),
        ("bad", False, True),
        ("own", True, False),
    ):
        base.register(name, higher_is_better=higher, default=default)(lambda record, config=None: None)


def result(name: str, score: float | None, *, error_type: str | None = None) -> MetricResult:
    return MetricResult(name, score, higher_is_better=name != "bad", error_type=error_type)


def test_thresholds_keep_the_mappings_order():
    """
    Thresholds come out in the order of the mapping, as floats.
    """
    assert parse_thresholds({"bad": 1, "good": 0.5}) == (Threshold("bad", 1.0), Threshold("good", 0.5))


@pytest.mark.parametrize("nothing", [None, {}])
def test_no_thresholds(nothing):
    """
    Neither None nor an empty mapping sets a threshold.
    """
    assert parse_thresholds(nothing) == ()


@pytest.mark.parametrize("value", [math.nan, math.inf, "0.5", None, True, 85, -0.1, [1]])
def test_a_value_that_no_metric_can_have_is_refused(value):
    """
    A threshold that is no finite number, or is out of a built-in metric's range, names its metric.
    """
    with pytest.raises(GateError, match="threshold of good"):
        parse_thresholds({"good": value})


def test_a_metric_of_the_users_own_may_have_another_range():
    """
    Only the built-in metrics promise [0, 1].
    """
    assert parse_thresholds({"own": 7}) == (Threshold("own", 7.0),)


def test_thresholds_are_a_mapping():
    """
    A list of pairs is refused with what was expected.
    """
    with pytest.raises(GateError, match="expected a mapping"):
        parse_thresholds([("good", 0.5)])


def test_an_unknown_metric_is_named_with_the_nearest():
    """
    A misspelt metric raises with a suggestion and the known names.
    """
    with pytest.raises(UnknownMetricError, match=r"'goood' \(did you mean 'good'\?\); known: good, other, bad, own"):
        parse_thresholds({"goood": 0.5})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("good=0.85", Threshold("good", 0.85)),
        (" bad = .1 ", Threshold("bad", 0.1)),
        ("own=-2e1", Threshold("own", -20.0)),
    ],
)
def test_a_gate_is_read_from_text(text, expected):
    """
    `name=value` is a threshold; blanks around both do not matter.
    """
    assert expected == parse_threshold(text)


@pytest.mark.parametrize("text", ["good", "good=", "=0.5", "", "good=high", "good=0.5=1", "good=nan"])
def test_a_gate_of_another_shape_is_refused(text):
    """
    Text that is not `name=value` is refused.
    """
    with pytest.raises(GateError):
        parse_threshold(text)


@pytest.mark.parametrize(
    ("metric", "score", "expected"),
    [
        ("good", 0.5, False),
        ("good", 0.5 - 1e-10, False),
        ("good", 0.49, True),
        ("good", 0.51, False),
        ("bad", 0.5, False),
        ("bad", 0.5 + 1e-10, False),
        ("bad", 0.51, True),
        ("bad", 0.49, False),
        ("good", None, None),
        ("good", math.nan, None),
    ],
)
def test_a_threshold_reads_the_direction_of_the_result(metric, score, expected):
    """
    Equality holds, a lower-is-better metric has a maximum, and no score is neither.
    """
    assert breached(Threshold(metric, 0.5), result(metric, score)) is expected


HALVES = (Threshold("good", 0.5), Threshold("bad", 0.5))


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([], LiveVerdict()),
        ([result("other", 0.1)], LiveVerdict()),
        (
            [result("good", 0.9), result("bad", 0.2)],
            LiveVerdict("pass", (), {"good": "pass", "bad": "pass"}, "bad", 0.2),
        ),
        (
            [result("good", 0.4), result("bad", 0.9)],
            LiveVerdict("fail", ("good", "bad"), {"good": "fail", "bad": "fail"}, "bad", 0.9),
        ),
        ([result("good", None), result("bad", 0.9)], LiveVerdict("fail", ("bad",), {"bad": "fail"}, "bad", 0.9)),
        ([result("good", None), result("bad", 0.1)], LiveVerdict("unknown", (), {"bad": "pass"}, "bad", 0.1)),
        ([result("good", None, error_type="KeyError")], LiveVerdict("unknown")),
    ],
    ids=["nothing", "no threshold applies", "pass", "fail", "fail beats unknown", "undefined", "failed"],
)
def test_verdict(results, expected):
    """
    A breach fails, a missing score makes the rest unknown, and the weakest has the largest shortfall.
    """
    assert expected == judge_results({one.name: one for one in results}, HALVES)


def test_the_first_threshold_wins_a_tie():
    """
    Of two equal shortfalls, the threshold named first is the weakest.
    """
    verdict = judge_results({"good": result("good", 0.25), "bad": result("bad", 0.75)}, HALVES)
    assert verdict.weakest == "good"


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({}, LiveVerdict("unknown")),
        ({"good": result("good", 1.0)}, LiveVerdict("pass", (), {"good": "pass"}, "good", 1.0)),
    ],
)
def test_an_abstention_is_not_held_to_faithfulness(others, expected):
    """
    An answer that declines is left out of the verdict on faithfulness, and on nothing else.
    """
    results = {"faithfulness": result("faithfulness", 0.1), **others}
    thresholds = (Threshold("faithfulness", 0.9), Threshold("good", 0.9))
    assert expected == judge_results(results, thresholds, abstained=True)
