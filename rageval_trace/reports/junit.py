"""
The gates as JUnit XML: a test case a gate, so that any CI shows them among its tests.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from rageval_trace.reports.clean import xml
from rageval_trace.reports.gating import GateOutcome, GateReport
from rageval_trace.reports.scorecard import Scorecard
from rageval_trace.reports.text import format_text, number

__all__ = ["to_junit"]


def to_junit(card: Scorecard, gates: GateReport) -> str:
    """
    Render the gates as one test suite; a breach is a failure, what could not be judged an error.

    Args:
        card: The scorecard, which goes into the suite's output.
        gates: The gates' outcomes.

    Returns:
        An XML document with a final newline, without the characters that XML 1.0 forbids.
    """
    totals = {
        "tests": str(len(gates.outcomes)),
        "failures": str(len(gates.breached)),
        "errors": str(len(gates.errors)),
        "skipped": "0",
        "time": "0",
    }
    suites = Element("testsuites", {"name": "rageval", **totals})
    suite = SubElement(suites, "testsuite", {"name": "rageval gates", **totals})
    for one in gates.outcomes:
        _add_case(suite, one)
    SubElement(suite, "system-out").text = xml(format_text(card, gates))
    indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suites, encoding="unicode")}\n'


def _add_case(suite: Element, one: GateOutcome) -> None:
    name = xml(f"{one.metric} {one.bound}")
    case = SubElement(suite, "testcase", {"classname": "rageval.gates", "name": name, "time": "0"})
    if one.outcome == "held":
        return
    message = xml(f"{one.metric} is {number(one.value)}: {one.reason}")
    kind = "failure" if one.outcome == "breached" else "error"
    SubElement(case, kind, {"message": message, "type": one.outcome}).text = message
