"""
How live scoring behaves: one frozen value, read from arguments or from the environment.

Precedence: an argument beats `settings=`, that beats the environment, that beats the default. Only
`RAGEVAL_TRACE_ENABLED=0` beats them all, for it is the operator's switch.
"""

from __future__ import annotations

import logging
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal, TypeAlias

from rageval_trace.errors import closest
from rageval_trace.live.unset import UNSET

__all__ = ["EVENT_CHANNELS", "VARIABLES", "Settings", "Variable"]

_log = logging.getLogger("rageval_trace")

Mode: TypeAlias = Literal["auto", "inline", "background"]
Spans: TypeAlias = Literal["auto", "always", "never"]

EVENT_CHANNELS: Final = ("log", "log-all", "span", "span-all")


@dataclass(frozen=True, slots=True)
class Settings:
    """
    Everything that an operator may turn.

    A `Settings(...)` is complete: a field that is not named has its default, whatever the environment says.
    `Settings.from_env(...)` takes what is not named from the environment.

    Args:
        enabled: Score at all.
        sample_rate: Share of the requests that are scored, in [0, 1].
        judge_sample_rate: Share that an LLM judge is asked about, in [0, 1]; where the trace id decides, these are
            among the scored ones. Requests that breach a threshold come on top.
        mode: `inline` scores at the end of the request, `background` in a worker thread, `auto` inline when the
            texts have at most `inline_chars` characters. An LLM judge always works in the background.
        queue_size: Requests that may wait for the worker; more are dropped and counted. At least 1.
        shutdown_timeout_s: How long a process that ends waits for the queue, in seconds.
        events: Channels of the result events: any of `log`, `log-all`, `span`, `span-all`; empty for none.
        spans: When to build spans of the request itself: `auto` only where no instrumentation did.
        annotate_parent: Write the verdict on the evaluated span too.
        openinference: Write OpenInference attributes instead of span events.
        pipeline: The pipeline's name in telemetry.
        max_runs: Live requests that are kept track of; the oldest is given up for a newer one. At least 1.
        run_ttl_s: Age at which a request that never ended is given up, in seconds.
        max_contexts: Contexts kept of one request; at least 1.
        max_chars: Characters kept of one text; at least 1.
        capture_spans: Questions, contexts and answers may stand on spans.
        capture_events: They may stand on log events.
        hide_inputs: Questions and contexts stay in the process even so.
        hide_outputs: Answers and claims stay in the process even so.
        inline_chars: Characters up to which `auto` scores inline.
        deadline_s: Time one request's formulas may take, in seconds; looked at between metrics.
        judge_deadline_s: The same for an LLM judge.
        score_partial: Score streams that were closed before their end, too.
        always: Rules that take a request whatever the sample says: `error`, `empty_retrieval`, `tag:NAME`,
            `METRIC<VALUE` or `METRIC>VALUE`. With any rule, every request is captured, for only its end tells.
        only_sampled: Score nothing of a trace that is not sampled itself.
        max_finished: Scored requests remembered for feedback and late ground truth; at least 1.

    Raises:
        ValueError: if a value is out of its range, naming what is accepted.
        TypeError: if an argument is unknown.
    """

    enabled: bool = True
    sample_rate: float = 1.0
    judge_sample_rate: float = 1.0
    mode: Mode = "auto"
    queue_size: int = 256
    shutdown_timeout_s: float = 5.0
    events: frozenset[str] = frozenset({"log", "span"})
    spans: Spans = "auto"
    annotate_parent: bool = False
    openinference: bool = False
    pipeline: str = "rag"
    max_runs: int = 10_000
    run_ttl_s: float = 900.0
    max_contexts: int = 100
    max_chars: int = 200_000
    capture_spans: bool = False
    capture_events: bool = False
    hide_inputs: bool = False
    hide_outputs: bool = False
    inline_chars: int = 65_536
    deadline_s: float = 5.0
    judge_deadline_s: float = 60.0
    score_partial: bool = False
    always: tuple[str, ...] = ()
    only_sampled: bool = False
    max_finished: int = 1000

    def __post_init__(self) -> None:
        if not isinstance(self.always, str):
            object.__setattr__(self, "always", tuple(self.always))
        object.__setattr__(self, "events", frozenset(self.events))
        for name, (accepts, accepted) in _RANGES.items():
            value = getattr(self, name)
            if not accepts(value):
                raise ValueError(f"{name} is {value!r}: expected {accepted}")

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
        """
        Return the environment's settings, with *overrides* before them.

        A value that cannot be read, or is out of range, is named in one warning with what is accepted, and its
        default stays.

        Args:
            environ: The variables; None for the process's own.
            overrides: Fields by name; `UNSET` ones are left out.

        Raises:
            ValueError: if an override is out of its range.
            TypeError: if an override is no field, naming the known ones.
        """
        environ = os.environ if environ is None else environ
        read: dict[str, Any] = {}
        for variable in VARIABLES:
            text = environ.get(variable.name)
            if text is not None and text.strip():
                read.update(variable.read(text.strip()))
        return replace(cls(**read), **_known_fields(overrides))


def _known_fields(overrides: Mapping[str, Any]) -> dict[str, Any]:
    known = [one.name for one in fields(Settings)]
    for name in overrides:
        if name not in known:
            raise TypeError(f"unknown setting {name!r}{closest(name, known)}; known: {', '.join(known)}")
    return {name: value for name, value in overrides.items() if value is not UNSET}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)


def _within(low: float, high: float) -> Callable[[Any], bool]:
    return lambda value: _is_number(value) and low <= value <= high


def _at_least_one(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _one_of(*words: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in words


SIMPLE_RULES: Final = ("error", "empty_retrieval")
RULE: Final = (
    r"(?P<word>error|empty_retrieval)|tag:(?P<tag>\S.*)"
    r"|(?P<metric>[a-z_]\w*)\s*(?P<sign>[<>])\s*(?P<value>\d+(?:\.\d+)?|\.\d+)"
)
_ACCEPTED_RULES: Final = "any of error, empty_retrieval, tag:NAME, METRIC<VALUE, METRIC>VALUE"


def _are_rules(value: Any) -> bool:
    return isinstance(value, tuple) and all([isinstance(x, str) and re.fullmatch(RULE, x.strip()) for x in value])


_RATE = (_within(0, 1), "a number in [0, 1]")
_SECONDS = (_within(0, math.inf), "a number of seconds, at least 0")
_COUNT = (_at_least_one, "a whole number of at least 1")
_FLAG = (lambda value: isinstance(value, bool), "a bool")
_RANGES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "enabled": _FLAG,
    "sample_rate": _RATE,
    "judge_sample_rate": _RATE,
    "mode": (_one_of("auto", "inline", "background"), "auto, inline or background"),
    "queue_size": _COUNT,
    "shutdown_timeout_s": _SECONDS,
    "events": (lambda value: value <= set(EVENT_CHANNELS), f"any of {', '.join(EVENT_CHANNELS)}"),
    "spans": (_one_of("auto", "always", "never"), "auto, always or never"),
    "annotate_parent": _FLAG,
    "openinference": _FLAG,
    "pipeline": (lambda value: isinstance(value, str) and bool(value.strip()), "a name"),
    "max_runs": _COUNT,
    "run_ttl_s": _SECONDS,
    "max_contexts": _COUNT,
    "max_chars": _COUNT,
    "inline_chars": (_within(0, math.inf), "a number of characters, at least 0"),
    "deadline_s": _SECONDS,
    "judge_deadline_s": _SECONDS,
    "score_partial": _FLAG,
    "always": (_are_rules, _ACCEPTED_RULES),
    "only_sampled": _FLAG,
    "max_finished": _COUNT,
}


@dataclass(frozen=True, slots=True)
class Variable:
    """
    One environment variable.

    Args:
        name: The variable.
        field: The setting it fills; of several, the first.
        parse: Turns text into settings by name; raises ValueError on other text.
        accepted: What it accepts, in words.
    """

    name: str
    field: str
    parse: Callable[[str], Mapping[str, Any]]
    accepted: str

    def read(self, text: str) -> Mapping[str, Any]:
        """
        Return the settings that *text* gives; none, after a warning, when it cannot be read.
        """
        try:
            values = self.parse(text)
            Settings(**values)
        except ValueError:
            _warn_once(self.name, text, self.accepted)
            return {}
        return values


_warned: set[tuple[str, str]] = set()


def _warn_once(name: str, text: str, accepted: str) -> None:
    if (name, text) not in _warned:
        _warned.add((name, text))
        shown = text if len(text) <= 40 else text[:37] + "..."
        _log.warning("%s=%s is ignored: expected %s", name, shown, accepted)


_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off")


def _flag(text: str) -> bool:
    word = text.lower()
    if word not in _TRUE + _FALSE:
        raise ValueError(text)
    return word in _TRUE


def _whole(text: str) -> int:
    return int(text)


def _listed(text: str) -> tuple[str, ...]:
    return tuple([part.strip() for part in text.split(",") if part.strip()])


def _events(text: str) -> frozenset[str]:
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    return frozenset() if names == ["none"] else frozenset(names)


_CAPTURE: Final = {
    "no_content": (False, False),
    "false": (False, False),
    "span_only": (True, False),
    "event_only": (False, True),
    "span_and_event": (True, True),
    "true": (True, True),
}
CAPTURE_VARIABLE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CAPTURE_WORDS: Final = "NO_CONTENT, SPAN_ONLY, EVENT_ONLY or SPAN_AND_EVENT"


def _capture(text: str) -> Mapping[str, Any]:
    word = text.lower()
    if word not in _CAPTURE:
        raise ValueError(text)
    if word == "true" and (CAPTURE_VARIABLE, word) not in _warned:
        _warned.add((CAPTURE_VARIABLE, word))
        _log.warning("%s=%s is read as SPAN_AND_EVENT: write one of %s", CAPTURE_VARIABLE, text, _CAPTURE_WORDS)
    spans, events = _CAPTURE[word]
    return {"capture_spans": spans, "capture_events": events}


def _variable(name: str, field: str, parse: Callable[[str], Any], accepted: str | None = None) -> Variable:
    return Variable(name, field, lambda text: {field: parse(text)}, accepted or _RANGES[field][1])


_SWITCH = "0 or 1"
VARIABLES: Final[tuple[Variable, ...]] = (
    _variable("RAGEVAL_TRACE_ENABLED", "enabled", _flag, _SWITCH),
    _variable("RAGEVAL_TRACE_SAMPLE_RATE", "sample_rate", float),
    _variable("RAGEVAL_TRACE_JUDGE_SAMPLE_RATE", "judge_sample_rate", float),
    _variable("RAGEVAL_TRACE_MODE", "mode", str.lower),
    _variable("RAGEVAL_TRACE_QUEUE_SIZE", "queue_size", _whole),
    _variable("RAGEVAL_TRACE_SHUTDOWN_TIMEOUT", "shutdown_timeout_s", float),
    _variable("RAGEVAL_TRACE_EVENTS", "events", _events, f"none, or a list of {', '.join(EVENT_CHANNELS)}"),
    _variable("RAGEVAL_TRACE_SPANS", "spans", str.lower),
    _variable("RAGEVAL_TRACE_ANNOTATE_PARENT", "annotate_parent", _flag, _SWITCH),
    _variable("RAGEVAL_TRACE_OPENINFERENCE", "openinference", _flag, _SWITCH),
    _variable("RAGEVAL_TRACE_PIPELINE", "pipeline", str),
    _variable("RAGEVAL_TRACE_MAX_RUNS", "max_runs", _whole),
    _variable("RAGEVAL_TRACE_RUN_TTL", "run_ttl_s", float),
    _variable("RAGEVAL_TRACE_MAX_CONTEXTS", "max_contexts", _whole),
    _variable("RAGEVAL_TRACE_MAX_CHARS", "max_chars", _whole),
    _variable("RAGEVAL_TRACE_ALWAYS", "always", _listed, f"a list of {_ACCEPTED_RULES}"),
    _variable("RAGEVAL_TRACE_ONLY_SAMPLED", "only_sampled", _flag, _SWITCH),
    Variable(CAPTURE_VARIABLE, "capture_spans", _capture, _CAPTURE_WORDS),
    _variable("OPENINFERENCE_HIDE_INPUTS", "hide_inputs", _flag, _SWITCH),
    _variable("OPENINFERENCE_HIDE_OUTPUTS", "hide_outputs", _flag, _SWITCH),
)


def switched_off(environ: Mapping[str, str] | None = None) -> bool:
    """
    Return whether the operator has switched live scoring off in the environment.
    """
    environ = os.environ if environ is None else environ
    return environ.get("RAGEVAL_TRACE_ENABLED", "").strip().lower() in _FALSE
