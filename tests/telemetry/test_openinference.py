"""
The OpenInference form stands in place of span events.
"""

from __future__ import annotations

import pytest

from rageval_trace.models import MetricResult
from rageval_trace.telemetry.anchor import Anchor

RESULTS = {
    "groundedness": MetricResult(
        "groundedness", 0.5, judge="lexical", details={"counts": {"unsupported": 2, "claims": 4}}
    ),
    "faithfulness": MetricResult("faithfulness", 0.75, judge="claude"),
    "mrr": MetricResult("mrr", 1.0, judge="none"),
    "recall": MetricResult("recall", None, error_type="ValueError"),
}
CHANGES = {"results": RESULTS, "breached": ("groundedness",), "labels": {"groundedness": "fail"}}
GROUNDEDNESS = {
    "evaluations.0.evaluation.name": "groundedness",
    "evaluations.0.evaluation.score": 0.5,
    "evaluations.0.evaluation.label": "fail",
    "evaluations.0.evaluation.explanation": "2 of 4 claims unsupported",
    "evaluations.0.evaluation.annotator_kind": "CODE",
    "evaluations.0.evaluation.identifier": "scoring-1+0a1b2c3d",
}
FAITHFULNESS = {
    "evaluations.1.evaluation.name": "faithfulness",
    "evaluations.1.evaluation.score": 0.75,
    "evaluations.1.evaluation.annotator_kind": "LLM",
    "evaluations.1.evaluation.identifier": "scoring-1+0a1b2c3d",
}
MRR = {
    "evaluations.2.evaluation.name": "mrr",
    "evaluations.2.evaluation.score": 1.0,
    "evaluations.2.evaluation.annotator_kind": "CODE",
    "evaluations.2.evaluation.identifier": "scoring-1+0a1b2c3d",
}


@pytest.mark.parametrize(
    ("events", "wanted"),
    [
        ({"span"}, {**GROUNDEDNESS, **FAITHFULNESS}),
        ({"span-all"}, {**GROUNDEDNESS, **FAITHFULNESS, **MRR}),
        ({"log"}, {}),
    ],
)
def test_results_of_the_span_channel_become_attributes(emitter, captured, make_evaluation, events, wanted):
    """
    The same results, numbered from 0, with the kind of their annotator; and no span events beside them.
    """
    emitter(openinference=True, events=frozenset(events)).emit(make_evaluation(**CHANGES), Anchor())
    span = captured.spans[-1]
    assert wanted == {key: value for key, value in span.attributes.items() if key.startswith("evaluations.")}
    assert () == span.events
    assert "rageval.score.mrr" == list(span.attributes)[-1]


def test_without_a_version_there_is_no_identifier(emitter, captured, make_evaluation):
    """
    An unknown evaluator is not named.
    """
    emitter(openinference=True).emit(make_evaluation(**CHANGES, evaluator_version=""), Anchor())
    assert not [key for key in captured.spans[-1].attributes if key.endswith("identifier")]


def test_sixteen_metrics_in_full_fit_one_span(emitter, captured, make_evaluation):
    """
    Every built-in metric in this form leaves the span within its 128 attributes, nothing dropped.
    """
    made = emitter(openinference=True, events=frozenset({"span-all"}))
    made.emit(make_evaluation(), Anchor())
    attributes = captured.spans[-1].attributes
    entries = [key for key in attributes if key.endswith("evaluation.name")]
    assert (True, True) == (len(attributes) <= 128, "gen_ai.operation.name" in attributes)
    assert 15 <= len(entries)
