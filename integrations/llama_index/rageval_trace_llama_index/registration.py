"""
A handler's place on LlamaIndex's root dispatcher, which all of its dispatchers report to.

The dispatcher keeps plain lists, has no way to remove, and may be walking along a list in another thread: a list is
replaced by a new one, never changed.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any
from weakref import WeakSet

from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.span import BaseSpan
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index_instrumentation import get_dispatcher
from typing_extensions import override

from rageval_trace.live.forks import renew_after_fork

__all__ = ["Registration", "is_installed"]


class _Lists:
    """
    Guard the dispatcher's lists from our own threads.
    """

    def __init__(self) -> None:
        self.after_fork()

    def after_fork(self) -> None:
        """
        Begin anew: another thread may have held the lock.
        """
        self.lock = RLock()


_lists = _Lists()
renew_after_fork(_lists)
_installed: WeakSet[Registration] = WeakSet()


def is_installed() -> bool:
    """
    Return whether any handler listens to the instrumentation, and so the legacy callbacks have to be silent.
    """
    return len(_installed) > 0


class Registration:
    """
    One listener's place.

    Args:
        enter: Called with each span that begins.
        exit: Called with each that returns.
        drop: Called with each that raises.
        hear: Called with each event.

    Attributes:
        automatic: It gives way to those that were put in their place by hand.
    """

    def __init__(
        self,
        enter: Callable[..., None],
        exit: Callable[..., None],
        drop: Callable[..., None],
        hear: Callable[[BaseEvent], None],
    ) -> None:
        self.automatic = False
        self._spans = _Spans(enter, exit, drop)
        self._events = _Events(hear)

    def add(self, *, automatic: bool) -> None:
        """
        Take the place; nothing when it was taken before, and is still there.
        """
        dispatcher = get_dispatcher()
        with _lists.lock:
            if self not in _installed:
                self.automatic = automatic
            # Whoever emptied the dispatcher's lists, tests for one, did not ask us.
            if self._spans not in dispatcher.span_handlers:
                dispatcher.span_handlers = [*dispatcher.span_handlers, self._spans]
            if self._events not in dispatcher.event_handlers:
                dispatcher.event_handlers = [*dispatcher.event_handlers, self._events]
            _installed.add(self)

    def remove(self) -> bool:
        """
        Leave the place; False when it was not taken.
        """
        dispatcher = get_dispatcher()
        with _lists.lock:
            taken = self in _installed
            _installed.discard(self)
            if self._spans in dispatcher.span_handlers:
                dispatcher.span_handlers = [one for one in dispatcher.span_handlers if one is not self._spans]
            if self._events in dispatcher.event_handlers:
                dispatcher.event_handlers = [one for one in dispatcher.event_handlers if one is not self._events]
        return taken

    @property
    def gives_way(self) -> bool:
        """
        Return whether another one counts, for as long as it is there.
        """
        return self.automatic and any([not one.automatic for one in _all()])

    def stay_last(self) -> None:
        """
        Move behind handlers of others that came later: OpenInference knows a bare synthesizer's stream by its
        identity, and so has to see it before it is wrapped.
        """
        dispatcher = get_dispatcher()
        handlers = dispatcher.span_handlers
        if (handlers and handlers[-1] is self._spans) or self._spans not in handlers:
            return
        with _lists.lock:
            handlers = dispatcher.span_handlers
            later = handlers[handlers.index(self._spans) + 1 :] if self._spans in handlers else []
            # Of two of ours, each behind the other's back would change places with every request.
            if any([type(one) is not _Spans for one in later]):
                dispatcher.span_handlers = [*[one for one in handlers if one is not self._spans], self._spans]


def _all() -> list[Registration]:
    with _lists.lock:
        return list(_installed)


class _Spans(BaseSpanHandler[BaseSpan]):
    """
    What the dispatcher calls; it keeps no spans, as the base would.
    """

    def __init__(self, enter: Callable[..., None], exit: Callable[..., None], drop: Callable[..., None]) -> None:
        super().__init__()
        # Straight to the listener: a pydantic model's own attributes are slow to reach.
        vars(self).update(span_enter=enter, span_exit=exit, span_drop=drop)

    @classmethod
    @override
    def class_name(cls) -> str:
        return "RagEvalSpanHandler"

    @override
    def new_span(self, *args: Any, **kwargs: Any) -> None:
        return None

    @override
    def prepare_to_exit_span(self, *args: Any, **kwargs: Any) -> None:
        return None

    @override
    def prepare_to_drop_span(self, *args: Any, **kwargs: Any) -> None:
        return None

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType]  # pydantic declares it None


class _Events(BaseEventHandler):
    """
    What the dispatcher calls with each event, and there is one for each streamed token.
    """

    def __init__(self, hear: Callable[[BaseEvent], None]) -> None:
        super().__init__()
        vars(self).update(handle=hear)

    @classmethod
    @override
    def class_name(cls) -> str:
        return "RagEvalEventHandler"

    @override
    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        return None

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType]  # pydantic declares it None
