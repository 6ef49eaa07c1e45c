"""
Which span a score belongs to.

Instrumentations differ in whether, and when, their spans are current while a callback runs. So an anchor is asked at
every callback until something is found, and nothing is ever attached, ended or kept current from here.
"""

from __future__ import annotations

from collections.abc import Callable

from opentelemetry.trace import Span, SpanContext, get_current_span

__all__ = ["Anchor", "SpanLookup"]

SpanLookup = Callable[[], "Span | None"]


class Anchor:
    """
    Find the span that stands for one request.

    Attributes:
        outer: Context of the span that was current when the request began; None if there was none.
        found: Context of another instrumentation's span for the request; None until one is seen.
        request: Context of the span that the emitter built for the request itself; None when it built none.
        span: The live object behind `found` or `outer`, best effort: it may have ended.
    """

    __slots__ = ("found", "outer", "request", "span")

    def __init__(self) -> None:
        self.outer: SpanContext | None = None
        self.found: SpanContext | None = None
        self.request: SpanContext | None = None
        self.span: Span | None = None

    @classmethod
    def begin(cls) -> Anchor:
        """
        Return an anchor for a request that starts now, in the caller's context.
        """
        anchor = cls()
        current = get_current_span()
        context = current.get_span_context()
        if context.is_valid:
            anchor.outer = context
            anchor.span = current
        return anchor

    def observe(self, lookup: SpanLookup | None = None, *, child: bool) -> None:
        """
        Look for the request's span from inside a callback; the first hit wins.

        Args:
            lookup: Asks an instrumentation for its span of this request; None when there is none to ask.
            child: The callback belongs to a run below the root, where an instrumentation may have its span current.
        """
        if self.found is not None:
            return
        span = lookup() if lookup is not None else None
        if span is None and child:
            span = get_current_span()
        if span is None:
            return
        context = span.get_span_context()
        if context.is_valid and not self._is_outer(context):
            self.found = context
            self.span = span

    def adopt(self, request: SpanContext) -> None:
        """
        Take the span that the emitter built for the request as what later evaluations of it belong to.
        """
        self.request = request
        self.span = None

    @property
    def target(self) -> SpanContext | None:
        """
        Return the context that scores belong to: the request's span, else the outer one, else None.
        """
        return self.request or self.found or self.outer

    @property
    def instrumented(self) -> bool:
        """
        Return whether another instrumentation's span stands for the request.
        """
        return self.found is not None

    def _is_outer(self, context: SpanContext) -> bool:
        outer = self.outer
        return outer is not None and outer.span_id == context.span_id and outer.trace_id == context.trace_id
