"""
The names on the wire are those of the contract, word for word.
"""

from __future__ import annotations

import pytest

from rageval_trace.telemetry import names
from rageval_trace.telemetry.instruments import Instruments
from rageval_trace.testing import capture_telemetry

# Written by hand from the contract, never generated from the code.
ATTRIBUTES = """
    error.type
    evaluations.{index}.evaluation.{field}
    gen_ai.conversation.id gen_ai.evaluation.explanation gen_ai.evaluation.name gen_ai.evaluation.score.label
    gen_ai.evaluation.score.value gen_ai.operation.name gen_ai.provider.name gen_ai.request.model gen_ai.response.id
    gen_ai.retrieval.documents gen_ai.retrieval.query.text gen_ai.retrieval.top_k gen_ai.token.type
    gen_ai.workflow.name
    input.value openinference.span.kind output.value
    rageval.abstained rageval.answer rageval.breached rageval.claims.total rageval.claims.unsupported
    rageval.claims.unsupported_index rageval.context.count rageval.context.dated rageval.context.source
    rageval.contexts.unused rageval.evaluator.version rageval.failed rageval.higher_is_better rageval.judge
    rageval.link rageval.outcome rageval.pipeline rageval.retrieval rageval.sample_rate rageval.score.
    rageval.selection rageval.status rageval.undefined rageval.verdict rageval.weakest rageval.weakest_score
    retrieval.documents.{index}.document.{field}
"""
SPANS = {"evaluation {pipeline}", "invoke_workflow {pipeline}", "retrieval"}
EVENTS = {"gen_ai.evaluation.result"}
METRICS = {
    "rageval.evaluation.score": (
        "histogram",
        "1",
        {
            *("gen_ai.evaluation.name", "gen_ai.evaluation.score.label"),
            *("rageval.judge", "rageval.selection", "rageval.pipeline"),
        },
        [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.999, 1],
    ),
    "rageval.evaluation.duration": (
        "histogram",
        "s",
        {"rageval.judge", "rageval.pipeline", "error.type"},
        [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    ),
    "rageval.requests": ("counter", "{request}", {"rageval.outcome", "rageval.pipeline"}, []),
    "rageval.evaluation.undefined": ("counter", "{result}", {"gen_ai.evaluation.name", "rageval.pipeline"}, []),
    "rageval.evaluation.failures": (
        *("counter", "{result}"),
        {"gen_ai.evaluation.name", "error.type", "rageval.pipeline"},
        [],
    ),
    "rageval.answers": ("counter", "{answer}", {"rageval.answer", "rageval.retrieval", "rageval.pipeline"}, []),
    "rageval.context.age": (
        *("histogram", "h"),
        {"rageval.pipeline"},
        [1, 6, 24, 72, 168, 336, 720, 2160, 4320, 8760, 17520, 43800],
    ),
    "rageval.queue.size": ("up_down_counter", "{request}", set(), []),
    "rageval.judge.duration": (
        *("histogram", "s"),
        {"rageval.judge", "rageval.pipeline", "error.type"},
        [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    ),
    "rageval.judge.tokens": (
        *("counter", "{token}"),
        {"rageval.judge", "gen_ai.token.type", "rageval.pipeline"},
        [],
    ),
    "rageval.judge.escalations": ("counter", "{request}", {"rageval.pipeline"}, []),
    "rageval.feedback": (
        *("counter", "{feedback}"),
        {"gen_ai.evaluation.name", "gen_ai.evaluation.score.label", "rageval.pipeline"},
        [],
    ),
}
RESERVED = {
    "rageval.guard.outcome": "{request}",
}


def _strings():
    return {value for name, value in vars(names).items() if name.isupper() and isinstance(value, str)}


def test_no_name_is_missing_and_none_is_new():
    """
    Attributes, spans and events are those listed here.
    """
    values = {"evaluation", "retrieval", "invoke_workflow", "EVALUATOR", "RETRIEVER", "CHAIN", "evaluated"}
    wanted = {*ATTRIBUTES.split(), *SPANS, *EVENTS, *METRICS, *RESERVED, *values, "rageval_trace"}
    assert wanted == _strings()


def test_metrics_are_declared_as_contracted():
    """
    Name, instrument, unit, attributes and buckets of every metric.
    """
    declared = {
        spec.name: (spec.kind, spec.unit, set(spec.attributes), list(spec.buckets)) for spec in names.INSTRUMENTS
    }
    assert METRICS == declared
    assert RESERVED == {spec.name: spec.unit for spec in names.RESERVED}


def test_values_of_small_attributes():
    """
    Outcomes, answers, retrievals, selections and verdicts are closed lists.
    """
    outcomes = "scored not_sampled queue_full incomplete request_error scoring_error timeout evicted not_rag"
    assert tuple(outcomes.split()) == names.OUTCOMES
    assert ("answered", "abstained", "blank") == names.ANSWERS
    assert ("found", "empty", "not_observed") == names.RETRIEVALS
    assert ("random", "rule") == names.SELECTIONS
    assert ("pass", "fail", "unknown") == names.VERDICTS


def test_every_instrument_is_made_with_its_unit_and_buckets():
    """
    What the SDK was asked for is what is declared.
    """
    with capture_telemetry() as captured:
        instruments = Instruments(captured.meter_provider.get_meter("test"))
        made = {value.name: value for value in vars(instruments).values() if hasattr(value, "name")}
    assert set(METRICS) == set(made)
    assert {name: spec[1] for name, spec in METRICS.items()} == {name: made[name].unit for name in made}


def test_prometheus_names_are_those_of_the_exporter():
    """
    Dashboards are generated from names that the Prometheus exporter really writes.
    """
    exporter = pytest.importorskip("opentelemetry.exporter.prometheus")
    registry = pytest.importorskip("prometheus_client")
    from opentelemetry.sdk.metrics import MeterProvider

    reader = exporter.PrometheusMetricReader()
    try:
        provider = MeterProvider(metric_readers=[reader], shutdown_on_exit=False)
        meter = provider.get_meter("test")
        for spec in (*names.INSTRUMENTS, *names.RESERVED):
            create = getattr(meter, f"create_{spec.kind}")
            instrument = create(spec.name, spec.unit, spec.description)
            (instrument.record if spec.kind == "histogram" else instrument.add)(1)
        text = registry.generate_latest().decode()
        provider.shutdown()
    finally:
        if reader._collector in list(registry.REGISTRY._collector_to_names):
            registry.REGISTRY.unregister(reader._collector)
    for spec in (*names.INSTRUMENTS, *names.RESERVED):
        sample = spec.prometheus + ("_bucket{" if spec.kind == "histogram" else "{")
        assert f"\n{sample}" in text, spec.name
