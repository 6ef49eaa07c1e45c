"""
Every setting, good and bad, and which source wins.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from rageval_trace.live import settings as module
from rageval_trace.live.monitor import Monitor
from rageval_trace.live.settings import VARIABLES, Settings, switched_off
from rageval_trace.live.unset import UNSET


@pytest.fixture(autouse=True)
def _unwarned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_warned", set())


GOOD: list[tuple[str, str, str, Any]] = [
    ("RAGEVAL_TRACE_ENABLED", "0", "enabled", False),
    ("RAGEVAL_TRACE_ENABLED", "on", "enabled", True),
    ("RAGEVAL_TRACE_SAMPLE_RATE", "0.25", "sample_rate", 0.25),
    ("RAGEVAL_TRACE_JUDGE_SAMPLE_RATE", "0", "judge_sample_rate", 0.0),
    ("RAGEVAL_TRACE_MODE", "Background", "mode", "background"),
    ("RAGEVAL_TRACE_QUEUE_SIZE", "12", "queue_size", 12),
    ("RAGEVAL_TRACE_SHUTDOWN_TIMEOUT", "0.5", "shutdown_timeout_s", 0.5),
    ("RAGEVAL_TRACE_EVENTS", "span-all, log", "events", frozenset({"span-all", "log"})),
    ("RAGEVAL_TRACE_EVENTS", "none", "events", frozenset()),
    ("RAGEVAL_TRACE_SPANS", "never", "spans", "never"),
    ("RAGEVAL_TRACE_ANNOTATE_PARENT", "true", "annotate_parent", True),
    ("RAGEVAL_TRACE_OPENINFERENCE", "1", "openinference", True),
    ("RAGEVAL_TRACE_PIPELINE", "support-bot", "pipeline", "support-bot"),
    ("RAGEVAL_TRACE_MAX_RUNS", "5", "max_runs", 5),
    ("RAGEVAL_TRACE_RUN_TTL", "60", "run_ttl_s", 60.0),
    ("RAGEVAL_TRACE_MAX_CONTEXTS", "7", "max_contexts", 7),
    ("RAGEVAL_TRACE_MAX_CHARS", "900", "max_chars", 900),
    ("RAGEVAL_TRACE_ALWAYS", "error, faithfulness<0.5", "always", ("error", "faithfulness<0.5")),
    ("RAGEVAL_TRACE_ALWAYS", "tag:vip customer,empty_retrieval", "always", ("tag:vip customer", "empty_retrieval")),
    ("RAGEVAL_TRACE_ONLY_SAMPLED", "1", "only_sampled", True),
    ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "span_only", "capture_spans", True),
    ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "EVENT_ONLY", "capture_events", True),
    ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "NO_CONTENT", "capture_spans", False),
    ("OPENINFERENCE_HIDE_INPUTS", "true", "hide_inputs", True),
    ("OPENINFERENCE_HIDE_OUTPUTS", "true", "hide_outputs", True),
]
BAD: list[tuple[str, str]] = [
    ("RAGEVAL_TRACE_ENABLED", "perhaps"),
    ("RAGEVAL_TRACE_SAMPLE_RATE", "1.5"),
    ("RAGEVAL_TRACE_SAMPLE_RATE", "nan"),
    ("RAGEVAL_TRACE_JUDGE_SAMPLE_RATE", "-1"),
    ("RAGEVAL_TRACE_MODE", "sometimes"),
    ("RAGEVAL_TRACE_QUEUE_SIZE", "0"),
    ("RAGEVAL_TRACE_SHUTDOWN_TIMEOUT", "-1"),
    ("RAGEVAL_TRACE_EVENTS", "log,metric"),
    ("RAGEVAL_TRACE_SPANS", "yes"),
    ("RAGEVAL_TRACE_ANNOTATE_PARENT", "2"),
    ("RAGEVAL_TRACE_OPENINFERENCE", "maybe"),
    ("RAGEVAL_TRACE_MAX_RUNS", "many"),
    ("RAGEVAL_TRACE_RUN_TTL", "soon"),
    ("RAGEVAL_TRACE_MAX_CONTEXTS", "1.5"),
    ("RAGEVAL_TRACE_MAX_CHARS", "-3"),
    ("RAGEVAL_TRACE_ALWAYS", "error, faithfulness=0.5"),
    ("RAGEVAL_TRACE_ONLY_SAMPLED", "often"),
    ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "yes"),
    ("OPENINFERENCE_HIDE_INPUTS", "x"),
    ("OPENINFERENCE_HIDE_OUTPUTS", "x"),
]


@pytest.mark.parametrize(("variable", "text", "field", "expected"), GOOD)
def test_a_good_value_is_read(variable: str, text: str, field: str, expected: Any) -> None:
    """
    Each variable fills its setting.
    """
    assert expected == getattr(Settings.from_env({variable: text}), field)


@pytest.mark.parametrize(("variable", "text"), BAD)
def test_a_bad_value_warns_once_and_leaves_the_default(
    variable: str, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    """
    The warning names the variable and what is accepted, and comes once.
    """
    (about,) = [one for one in VARIABLES if one.name == variable]

    found = [Settings.from_env({variable: text}) for _ in range(3)]

    assert [Settings()] * 3 == found
    assert [f"{variable}={text} is ignored: expected {about.accepted}"] == caplog.messages


def test_every_variable_is_tried_good_and_bad() -> None:
    """
    The tables above leave no variable out; any text is a pipeline's name.
    """
    names = {one.name for one in VARIABLES}

    assert names == {variable for variable, *_ in GOOD}
    assert names - {"RAGEVAL_TRACE_PIPELINE"} == {variable for variable, _ in BAD}


def test_true_content_capture_is_both_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """
    `true` was once valid upstream: it is read as SPAN_AND_EVENT, and said to be.
    """
    found = Settings.from_env({"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"})

    assert (True, True) == (found.capture_spans, found.capture_events)
    assert "is read as SPAN_AND_EVENT" in caplog.messages[0]


def test_an_argument_beats_settings_beats_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    The nearer source wins.
    """
    monkeypatch.setenv("RAGEVAL_TRACE_PIPELINE", "environment")
    given = Settings(pipeline="settings")

    assert "rag" == Settings().pipeline
    assert "environment" == Monitor().settings.pipeline
    assert "settings" == Monitor(settings=given).settings.pipeline
    assert "argument" == Monitor(settings=given, pipeline="argument").settings.pipeline


def test_the_operators_switch_wins_over_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    RAGEVAL_TRACE_ENABLED=0 beats settings that say otherwise.
    """
    monkeypatch.setenv("RAGEVAL_TRACE_ENABLED", "0")

    assert not Monitor(settings=Settings(enabled=True)).enabled
    assert switched_off()


def test_overrides_fill_the_environments_settings() -> None:
    """
    `from_env` takes the rest from the environment, and leaves out what is UNSET.
    """
    environ = {"RAGEVAL_TRACE_MAX_RUNS": "5", "RAGEVAL_TRACE_SPANS": "never"}

    found = Settings.from_env(environ, max_runs=6, pipeline=UNSET)

    assert (6, "never", "rag") == (found.max_runs, found.spans, found.pipeline)


def test_an_unknown_override_names_the_known_ones() -> None:
    """
    A misspelt setting is an error with a suggestion.
    """
    with pytest.raises(TypeError, match=r"unknown setting 'max_run' \(did you mean 'max_runs'\?\); known: enabled"):
        Settings.from_env({}, max_run=1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("enabled", 1),
        ("sample_rate", 2),
        ("sample_rate", True),
        ("mode", "later"),
        ("queue_size", 0),
        ("queue_size", True),
        ("pipeline", " "),
        ("events", {"mail"}),
        ("deadline_s", float("nan")),
        ("always", "error"),
        ("always", ("errors",)),
        ("only_sampled", 1),
        ("max_finished", 0),
    ],
)
def test_settings_refuse_what_is_out_of_range(field: str, value: Any) -> None:
    """
    The error names the field and what is accepted.
    """
    with pytest.raises(ValueError, match=rf"{field} is .* expected "):
        Settings(**{field: value})


def test_every_setting_has_a_range_or_is_a_flag() -> None:
    """
    No field escapes checking but the four that only variables with fixed words fill.
    """
    unchecked = {one.name for one in fields(Settings)} - set(module._RANGES)

    assert {"capture_spans", "capture_events", "hide_inputs", "hide_outputs"} == unchecked
    assert "UNSET" == repr(UNSET)
