"""
A scorecard held to its gates.
"""

from __future__ import annotations

import itertools

import pytest

from rageval_trace.errors import GateError
from rageval_trace.gates import Amount, GateRules, Threshold, check_gates, parse_amount
from rageval_trace.reports.gating import GateOutcome, GateReport
from rageval_trace.reports.scorecard import MetricSummary, Scorecard


def card(*summaries: MetricSummary, count: int = 10, now_source: str | None = None) -> Scorecard:
    return Scorecard({one.name: one for one in summaries}, count, (), (), now_source, 1, "scoring-1+00000000")


def summary(
    name: str, mean: float | None, *, observed: int = 10, failed: int = 0, judges: dict | None = None
) -> MetricSummary:
    higher = name != "hallucination_rate"
    undefined = 10 - observed - failed
    given = {"lexical": observed} if judges is None and observed else judges or {}
    return MetricSummary(name, higher, mean, observed, undefined, failed, mean, mean, mean, given)


def check(one: MetricSummary, value: float, **rules: object) -> GateOutcome:
    (outcome,) = check_gates(card(one), [Threshold(one.name, value)], GateRules(**rules)).outcomes
    return outcome


@pytest.mark.parametrize(
    ("one", "value", "rules", "outcome", "reason"),
    [
        (summary("recall", 0.85), 0.85, {}, "held", ""),
        (summary("recall", 0.85 - 1e-10), 0.85, {}, "held", ""),
        (summary("recall", 0.625), 0.85, {}, "breached", "it is 0.225 below the minimum"),
        (summary("hallucination_rate", 0.1), 0.1, {}, "held", ""),
        (summary("hallucination_rate", 0.375), 0.1, {}, "breached", "it is 0.275 above the maximum"),
        (summary("recall", None, observed=0), 0.1, {}, "breached", "it was observed on no record"),
        (summary("recall", 1.0, observed=1), 0.1, {}, "held", ""),
        (summary("recall", 1.0, observed=4), 0.1, {"min_observed": Amount(5)}, "breached", "it was observed on 4 of 10 records, fewer than 5"),
        (summary("recall", 1.0, observed=5), 0.1, {"min_observed": Amount(5)}, "held", ""),
        (summary("recall", 1.0, observed=7), 0.1, {"min_observed": Amount(0.75, is_share=True)}, "breached", "it was observed on 7 of 10 records, fewer than 8"),
        (summary("recall", 1.0, observed=8), 0.1, {"min_observed": Amount(0.8, is_share=True)}, "held", ""),
        (summary("recall", None, observed=0), 0.1, {"min_observed": Amount(0)}, "breached", "it was observed on no record"),
        (summary("recall", 1.0, observed=9, failed=1), 0.1, {}, "error", "it failed on 1 of 10 records (allowed: 0)"),
        (summary("recall", 1.0, observed=9, failed=1), 0.1, {"allow_failed": Amount(0.1, is_share=True)}, "held", ""),
        (summary("recall", 1.0, observed=8, failed=2), 0.1, {"allow_failed": Amount(0.1, is_share=True)}, "error", "it failed on 2 of 10 records (allowed: 10%)"),
        (summary("recall", 1.0, judges={"claude": 9, "lexical_fallback": 1}), 0.1, {}, "error", "its values are not of one judge that was asked (claude 9, lexical_fallback 1); --allow-fallback takes them"),
        (summary("recall", 1.0, judges={"lexical_fallback": 10}), 0.1, {}, "error", "its values are not of one judge that was asked (lexical_fallback 10); --allow-fallback takes them"),
        (summary("recall", 1.0, judges={"claude": 9, "lexical_fallback": 1}), 0.1, {"allow_fallback": True}, "held", ""),
    ],
)  # fmt: skip
def test_gate(one, value, rules, outcome, reason):
    """
    Value, observations, failures and judges each decide a gate, and the outcome says which did.
    """
    found = check(one, value, **rules)
    assert (found.outcome, found.reason, found.value, found.observed) == (outcome, reason, one.mean, one.observed)


def test_a_metric_that_was_not_scored():
    """
    A gate on a metric that the run left out cannot be judged.
    """
    (found,) = check_gates(card(summary("mrr", 1.0)), [Threshold("recall", 0.5)]).outcomes
    assert found == GateOutcome("recall", 0.5, True, "error", None, 0, "it was not scored")


def outcome(name: str, word: str) -> GateOutcome:
    return GateOutcome(name, 0.5, True, word)


@pytest.mark.parametrize(
    ("words", "code", "headline"),
    [
        ((), 0, "PASS"),
        (("held", "held"), 0, "PASS"),
        (("held", "breached", "breached"), 1, "FAIL (b, c)"),
        (("error", "breached", "held"), 2, "ERROR (a)"),
    ],
)
def test_exit_code(words, code, headline):
    """
    What could not be judged outranks a breach, and the headline names the metrics at fault.
    """
    report = GateReport(tuple(outcome(name, word) for name, word in zip("abc", words, strict=False)))
    assert (report.exit_code, report.headline) == (code, headline)


def test_exit_code_depends_on_no_order():
    """
    The gates may be named in any order.
    """
    for words in itertools.permutations(("error", "breached", "held")):
        assert GateReport(tuple(outcome("a", word) for word in words)).exit_code == 2


@pytest.mark.parametrize(("name", "expected"), [("recall", ">= 0.5"), ("hallucination_rate", "<= 0.5")])
def test_bound(name, expected):
    """
    A gate reads as its inequality, by the metric's direction.
    """
    assert expected == check(summary(name, 0.5), 0.5).bound


@pytest.mark.parametrize(
    ("metric", "source", "warned"),
    [("freshness", "wall clock", True), ("freshness", "config", False), ("recall", "wall clock", False)],
)
def test_a_gate_on_the_wall_clock_warns(metric, source, warned):
    """
    A freshness gate that will fall by itself says so.
    """
    report = check_gates(card(summary(metric, 1.0), now_source=source), [Threshold(metric, 0.5)])
    assert warned is bool(report.warnings)
    assert report.exit_code == 0


@pytest.mark.parametrize(("version", "warned"), [(None, False), (1, False), (2, True)])
def test_gates_of_another_scoring_version_warn(version, warned):
    """
    Thresholds chosen for other formulas are to be looked at again.
    """
    report = check_gates(card(summary("recall", 1.0)), [Threshold("recall", 0.5)], GateRules(scoring_version=version))
    assert warned is bool(report.warnings)


@pytest.mark.parametrize(
    ("text", "expected", "of_seven"),
    [("0", Amount(0), 0), (20, Amount(20), 20), (" 80% ", Amount(0.8, True), 6), ("12.5 %", Amount(0.125, True), 1), ("100%", Amount(1.0, True), 7), ("0%", Amount(0.0, True), 0)],
)  # fmt: skip
def test_amount(text, expected, of_seven):
    """
    An amount is a number or a share, and a share is rounded up.
    """
    assert expected == parse_amount(text, "--min-observed")
    assert of_seven == expected.of(7)


@pytest.mark.parametrize("text", ["", "-1", "1.5", "101%", "%", "many", True, "1e3", "٣x"])
def test_an_amount_of_another_shape_is_refused(text):
    """
    Anything else names the option.
    """
    with pytest.raises(GateError, match="--min-observed: expected a number of records or a percentage"):
        parse_amount(text, "--min-observed")


def test_amounts_read_back_as_written():
    """
    An amount in a message looks as the user wrote it.
    """
    assert [str(parse_amount(text, "")) for text in ("20", "80%", "12.5%")] == ["20", "80%", "12.5%"]
