"""
Which span a score belongs to.

Instrumentations differ in whether, and when, their spans are current while a callback runs. So an anchor is asked at
every callback until something is found, and nothing is ever attached, ended or kept current from here.
"""

from __future__ import annotations

from collections.abc import Callable

from opentelemetry.context import Context, get_current
from opentelemetry.trace import Span, SpanContext, get_current_span

__all__ = ["Anchor", "SpanLookup"]

SpanLookup = Callable[[], "Span | None"]


class Anchor:
    """
    Find the span that stands for one request.

    Attributes:
        outer: Context of the span that was current when the request began; None if there was none.
        found: Context of another instrumentation's span for the request; None until one is seen.
        settled: Nothing seen from now on can change `found`; there is no need to look any more.
        request: Context of the span that the emitter built for the request itself; None when it built none.
        span: The live object behind `found` or `outer`, best effort: None when only its context is known, and it
            may have ended.
    """

    __slots__ = ("_outer_span", "_seen", "found", "outer", "request", "settled", "span")

    def __init__(self) -> None:
        self.outer: SpanContext | None = None
        self.found: SpanContext | None = None
        self.settled = False
        self.request: SpanContext | None = None
        self.span: Span | None = None
        self._outer_span: Span | None = None
        self._seen: Context | None = None

    @classmethod
    def begin(cls) -> Anchor:
        """
        Return an anchor for a request that starts now, in the caller's context.
        """
        anchor = cls()
        anchor._seen = get_current()
        current = get_current_span(anchor._seen)
        context = current.get_span_context()
        if context.is_valid:
            anchor.outer = context
            anchor.span = anchor._outer_span = current
        return anchor

    def observe(self, lookup: SpanLookup | None = None, *, child: bool) -> None:
        """
        Look for the request's span from inside a callback; the first hit wins.

        Args:
            lookup: Asks an instrumentation for its span of this request; None when there is none to ask.
            child: The callback belongs to a run below the root, where an instrumentation may have its span current.
        """
        if self.settled:
            return
        span = None if lookup is None else lookup()
        if span is not None and span.get_span_context().is_valid:
            self._take(span)
        elif child and self.moved:
            self._seen = get_current()
            self._see_current(get_current_span(self._seen))

    def adopt(self, request: SpanContext) -> None:
        """
        Take the span that the emitter built for the request as what later evaluations of it belong to.
        """
        self.request = request
        self.settled = True
        self.span = self._outer_span = None

    @property
    def moved(self) -> bool:
        """
        Return whether the caller's context is another than the one that was looked at last: in the same one nobody
        attached anything since, which is the most frequent case, and asked at every callback.
        """
        return get_current() is not self._seen

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

    def _take(self, span: Span) -> None:
        self.found = span.get_span_context()
        self.span = span
        self.settled = True

    def _see_current(self, span: Span) -> None:
        context = span.get_span_context()
        if not context.is_valid:
            return
        if self._is_outer(context):
            # An outer span that comes back after one of its own kind was current below it: that instrumentation's
            # handler runs before ours, so the outer span is the request's already, and the other one was a child's.
            if self.found is not None and self._outer_span is not None:
                self._take(self._outer_span)
            return
        if self.found is not None:
            return
        parent = getattr(span, "parent", None)
        if not isinstance(parent, SpanContext) or not parent.is_valid:
            self._take(span)
        elif self._is_outer(parent):
            self._take(span)
            self.settled = _scope(span) != _scope(self._outer_span)
        else:
            # The request's span was attached in a task that is not ours, and this is a child's: one up.
            self.found = parent
            self.span = None
            self.settled = True

    def _is_outer(self, context: SpanContext) -> bool:
        outer = self.outer
        return outer is not None and outer.span_id == context.span_id and outer.trace_id == context.trace_id


def _scope(span: Span | None) -> str | None:
    """
    Return the name of the instrumentation that made a span, where the SDK shows it.
    """
    return getattr(getattr(span, "instrumentation_scope", None), "name", None)
