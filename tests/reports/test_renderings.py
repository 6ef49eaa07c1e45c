"""
The renderings of one scorecard, held to golden files.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.dom import minidom

import pytest

from rageval_trace import EvalRecord, MetricResult, evaluate
from rageval_trace.reports.annotations import github_annotations
from rageval_trace.reports.evidence import evidence, goodness, weakest_examples
from rageval_trace.reports.gating import GateReport
from rageval_trace.reports.json_report import to_json
from rageval_trace.reports.junit import to_junit
from rageval_trace.reports.markdown import to_markdown
from rageval_trace.reports.scorecard import RecordResult
from rageval_trace.reports.text import format_text

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def annotated(card, gates):
    return "\n".join(github_annotations(card, gates)) + "\n"


@pytest.mark.parametrize(
    ("name", "render"),
    [
        ("report.txt", lambda card, gates: format_text(card, gates) + "\n"),
        ("report.md", to_markdown),
        ("report.json", to_json),
        ("report.xml", to_junit),
        ("annotations.txt", annotated),
    ],
)
def test_golden(bike_card, bike_gates, name, render):
    """
    Every character of a rendering is looked at when it changes; UPDATE_GOLDEN=1 writes the files anew.
    """
    shown = render(bike_card, bike_gates)
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(shown, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == shown


def test_without_gates_nothing_is_said_of_any(bike_card):
    """
    A run without gates shows no gate line, column or outcome.
    """
    for shown in (bike_card.format_text(), bike_card.to_markdown()):
        assert "gate" not in shown.lower()
    assert json.loads(bike_card.to_json())["gates"] is None


def test_every_observed_count_stands_beside_its_mean(bike_card):
    """
    A mean is shown with the records behind it, and none is shown as a hyphen.
    """
    rows = {
        line.split()[0]: line.split()[1:5] for line in bike_card.format_text().splitlines() if line.startswith("  ")
    }
    assert rows["recall"] == ["0.500", "2", "1", "0"]
    assert rows["freshness"] == ["-", "0", "3", "0"]


def test_junit_counts(bike_card, bike_gates):
    """
    A breach is a failure, what could not be judged an error, and the totals say how many.
    """
    suite = minidom.parseString(to_junit(bike_card, bike_gates)).getElementsByTagName("testsuite")[0]  # noqa: S318
    counts = {name: suite.getAttribute(name) for name in ("tests", "failures", "errors")}
    assert counts == {"tests": "3", "failures": "1", "errors": "1"}
    assert [len(suite.getElementsByTagName(tag)) for tag in ("testcase", "failure", "error")] == [3, 1, 1]


def test_held_gates_annotate_nothing(bike_card, bike_gates):
    """
    A run whose gates held puts nothing into the pull request.
    """
    assert list(github_annotations(bike_card, GateReport(bike_gates.outcomes[:1]))) == []


def test_evidence_names_what_broke(bike_card):
    """
    The weakest examples carry claims, documents and failures, worst first, and no record that is well.
    """
    first, second = [found for _, found in weakest_examples(bike_card)]
    assert (first.label, first.metric, first.score) == ("bike-005", "groundedness", 0.0)
    assert first.unsupported == ("Batteries are replaced overnight.",)
    assert (first.missing, first.unused, first.wrong_citations) == (("insurance",), ("puncture", "2"), ("puncture",))
    assert (second.label, second.metric, second.failed) == (
        "What is rented?",
        None,
        (("groundedness", "TimeoutError"),),
    )


def test_as_many_examples_as_asked_for(bike_card):
    """
    The number of examples is the caller's.
    """
    assert [found.label for _, found in weakest_examples(bike_card, 1)] == ["bike-005"]


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([MetricResult("hallucination_rate", 1.0, higher_is_better=False), MetricResult("recall", 0.5)], "hallucination_rate"),
        ([MetricResult("hallucination_rate", 0.0, higher_is_better=False), MetricResult("recall", 0.5)], "recall"),
        ([MetricResult("faithfulness", 0.9), MetricResult("recall", 0.5)], "faithfulness"),
        ([MetricResult("recall", None)], None),
    ],
)  # fmt: skip
def test_the_headline_is_grounding_or_else_the_worst(results, expected):
    """
    Lower-is-better scores are turned before they are compared.
    """
    assert expected == evidence(RecordResult(EvalRecord("q"), {one.name: one for one in results})).metric


@pytest.mark.parametrize(("score", "higher", "expected"), [(0.3, True, 0.3), (0.25, False, 0.75), (None, True, None)])
def test_goodness(score, higher, expected):
    """
    Whatever the direction, more is better.
    """
    assert expected == goodness(MetricResult("m", score, higher_is_better=higher))


def test_long_lists_are_cut_and_say_so(bike_card):
    """
    The eleventh document is counted, not listed.
    """
    many = MetricResult("recall", 0.0, details={"missing": [f"doc-{at}" for at in range(30)]})
    card = evaluate([])
    card = type(card)(
        bike_card.metrics, 1, (), (RecordResult(EvalRecord("q", id="x"), {"recall": many}),), None, 1, "v"
    )
    assert "doc-9 and 20 more" in card.format_text()
    assert "doc-9 and 20 more" in card.to_markdown()


def test_nothing_defined():
    """
    A record that nothing can be said of gives a report all the same.
    """
    card = evaluate([EvalRecord("?")])
    assert "Weakest: -" in card.format_text()
    assert "Weakest" not in card.to_markdown()
