"""
What speaks against a claim, beside the claim, in every report for people.
"""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from rageval_trace import EvalRecord, evaluate
from rageval_trace.gates import Threshold, check_gates
from rageval_trace.live.result import LiveResult
from rageval_trace.reports.annotations import github_annotations
from rageval_trace.reports.evidence import evidence
from rageval_trace.reports.markdown import to_markdown
from rageval_trace.reports.text import format_text

RECORD = EvalRecord(
    "Where does the Aare rise?",
    ["The Aare rises in the Bernese Alps, is 288 km long and flows through Bern into the Rhine."],
    "The Aare is 988 km long and flows through Bern into the Rhine. Otters paint its bridges.",
)
UNSUPPORTED = ("Otters paint its bridges.", "no context has the words otters, paint, bridges")
DOUBTFUL = (
    "The Aare is 988 km long and flows through Bern into the Rhine.",
    "988 is in no context; the contexts say 288",
)


def test_evidence_has_causes() -> None:
    """An unsupported claim has its cause; one that the judge let pass is doubtful when the risk says so."""
    found = evidence(evaluate([RECORD]).results[0])
    assert (UNSUPPORTED,) == found.named
    assert (DOUBTFUL,) == found.doubtful


def test_without_the_risk_there_are_no_causes() -> None:
    """Where the risk was not computed, unsupported claims stand alone."""
    found = evidence(evaluate([RECORD], metrics=["groundedness"]).results[0])
    assert ((UNSUPPORTED[0], ""),) == found.named
    assert () == found.doubtful


@pytest.mark.parametrize(
    ("render", "unsupported", "doubtful"),
    [
        (format_text, "    - unsupported: {} ({})", "    - doubtful: {} ({})"),
        (to_markdown, "- **Unsupported:** {} ({})", "- **Doubtful:** {} ({})"),
    ],
)
def test_reports_show_causes(render, unsupported: str, doubtful: str) -> None:
    """Text and Markdown show each cause in brackets after its claim."""
    lines = render(evaluate([RECORD])).splitlines()
    assert unsupported.format(*UNSUPPORTED) in lines
    assert doubtful.format(*DOUBTFUL) in lines


def test_annotations_show_the_cause() -> None:
    """A build's annotation tells why its claim is unsupported."""
    card = evaluate([RECORD])
    gates = check_gates(card, [Threshold("groundedness", 1.0)])
    assert f"unsupported: {UNSUPPORTED[0]} ({UNSUPPORTED[1]})" in "\n".join(github_annotations(card, gates))


def test_a_live_result_names_the_riskiest_claim() -> None:
    """The sentence named is the riskiest, or the first unsupported one where no risk was computed."""
    now = datetime(2026, 1, 1, tzinfo=timezone.utc)
    broken = []
    for metrics in (["groundedness", "hallucination_risk"], ["groundedness"], ["hallucination_risk"]):
        results = evaluate([RECORD], metrics=metrics).results[0].results
        broken.append(LiveResult(RECORD, results, "ok", "rag", "run", now, now).broken)
    assert [DOUBTFUL[0], UNSUPPORTED[0], DOUBTFUL[0]] == broken
