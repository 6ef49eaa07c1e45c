"""
What a judge tells about its work: events while it judges, and counts since it was made.

Whoever runs a judge (live code, a progress display) listens with `observing`; the judge itself knows no telemetry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeAlias

from rageval_trace.judges.locks import Lock

__all__ = ["Escalation", "JudgeEvent", "JudgeStats", "ModelCall", "Observer", "Tally", "notify", "observing"]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """
    One call of a model, retries included.

    Args:
        judge: The judge's name.
        model: The model asked.
        duration_s: Seconds from asking to answer or failure.
        input_tokens: As billed, cached ones included; 0 when the call failed.
        output_tokens: As billed; 0 when the call failed.
        error_type: The class name of what went wrong; None when an answer came.
    """

    judge: str
    model: str
    duration_s: float
    input_tokens: int = 0
    output_tokens: int = 0
    error_type: str | None = None


@dataclass(frozen=True, slots=True)
class Escalation:
    """
    What a cascade passed on to its second judge.

    Args:
        judge: The cascade's name.
        claims: Claims judged.
        escalated: Those of them passed on.
    """

    judge: str
    claims: int
    escalated: int


JudgeEvent: TypeAlias = "ModelCall | Escalation"
Observer: TypeAlias = Callable[[JudgeEvent], None]

_observers: ContextVar[tuple[Observer, ...]] = ContextVar("rageval_trace.judges.observers", default=())


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """
    Tell *observer* of every judge event in this context, on the thread where it happens.

    An observer that raises is ignored: judging goes on.
    """
    token = _observers.set((*_observers.get(), observer))
    try:
        yield
    finally:
        _observers.reset(token)


def notify(event: JudgeEvent) -> None:
    """
    Hand *event* to the observers of this context.
    """
    for observer in _observers.get():
        try:
            observer(event)
        except Exception:  # noqa: S112 - an observer's fault is not the judge's
            continue


@dataclass(frozen=True, slots=True)
class JudgeStats:
    """
    What a judge did since it was made.

    Args:
        calls: Calls of the model, retries not counted.
        claims: Claims asked of this judge, from cache, model or fallback.
        cache_hits: Claims and ratings answered without a call.
        fallbacks: Claims, ratings and records that the fallback answered.
        invented: Supporting contexts that the model named and was never given; all were dropped.
        escalated: Claims that a cascade passed on.
        input_tokens: As billed.
        output_tokens: As billed.
        errors: Why calls failed: class name -> number of calls.
    """

    calls: int = 0
    claims: int = 0
    cache_hits: int = 0
    fallbacks: int = 0
    invented: int = 0
    escalated: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    errors: dict[str, int] = field(default_factory=dict)


class Tally:
    """
    Count under a lock.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()

    def add(self, **counts: int) -> None:
        """
        Add to the counts of these `JudgeStats` fields.
        """
        with self._lock:
            self._counts.update(counts)

    def error(self, error_type: str) -> None:
        """
        Count a failed call.
        """
        with self._lock:
            self._errors[error_type] += 1

    def stats(self) -> JudgeStats:
        """
        Return the counts as they are now.
        """
        with self._lock:
            return JudgeStats(**self._counts, errors=dict(self._errors))
