"""
Which requests are scored: the arithmetic of OpenTelemetry's TraceIdRatioBased.

Using the same arithmetic on the same trace id, scored requests nest inside traced ones, and the requests a judge is
asked about nest inside the scored ones, in every Python service.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from opentelemetry.trace import SpanContext

__all__ = ["Sampler", "run_key"]

_LOW_64_BITS: Final = (1 << 64) - 1


def run_key(run_id: object) -> int:
    """
    Return 64 even bits for a run id.

    A run UUID's own bits are not uniform (its variant bits alone rule out three quarters of the low range), so they
    are hashed.
    """
    return int.from_bytes(blake2b(str(run_id).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


class Sampler:
    """
    Decide by a request's key.

    Args:
        rate: Share to keep, in [0, 1].
        only_sampled: Keep nothing of a trace that is not sampled itself; what is in no trace is kept by its rate.

    Attributes:
        always: Every request is kept.
        never: No request is kept.
    """

    __slots__ = ("_bound", "_only_sampled", "always", "never", "rate")

    def __init__(self, rate: float, *, only_sampled: bool = False) -> None:
        self.rate = rate
        self._only_sampled = only_sampled
        self._bound = round(rate * (1 << 64))
        self.always = self._bound > _LOW_64_BITS and not only_sampled
        self.never = self._bound <= 0

    def takes(self, target: SpanContext | None, run_id: object) -> bool:
        """
        Return whether to keep the request that belongs to the span *target*; None without one.
        """
        if target is None:
            return self.keeps(None, run_id)
        return (target.trace_flags.sampled or not self._only_sampled) and self.keeps(target.trace_id, run_id)

    def keeps(self, trace_id: int | None, run_id: object) -> bool:
        """
        Return whether to keep the request: by its trace id, by its root run's id when there is no trace.
        """
        key = run_key(run_id) if trace_id is None else trace_id & _LOW_64_BITS
        return key < self._bound
