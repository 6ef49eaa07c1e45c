"""
The state of one live request: the outermost call that asks, retrieves and answers.
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from typing import Any, Final

from rageval_trace.live.runs import Request
from rageval_trace.live.sampling import Sampler
from rageval_trace.telemetry.anchor import Anchor

__all__ = [
    "CHAT",
    "CITES",
    "GROUP",
    "QUERY",
    "SCOPES",
    "SYNTHESIS",
    "TRACE",
    "WORKFLOW",
    "WRITER",
    "Scope",
    "Step",
    "Written",
]

# Kinds beyond those of `live.runs`, as further bits.
GROUP: Final = 8  # a span of the user's own: no request, unless it retrieves by hand
CHAT: Final = 16
QUERY: Final = 32
SYNTHESIS: Final = 64
WORKFLOW: Final = 128
WRITER: Final = 256  # writes a streamed chat answer, in a thread or task of its own
CITES: Final = 512  # numbers its sources inside their texts
TRACE: Final = 1024  # a trace of the legacy callbacks
SCOPES: Final = CHAT | QUERY | SYNTHESIS | WORKFLOW


class Written:
    """
    The text of a chat answer as it is written.

    Args:
        room: Characters kept.
    """

    __slots__ = ("_parts", "_room")

    def __init__(self, room: int) -> None:
        self._parts: list[str] = []
        self._room = room

    def add(self, delta: object) -> None:
        """
        Take the next piece.
        """
        if isinstance(delta, str) and delta and self._room > 0:
            self._parts.append(delta)
            self._room -= len(delta)

    @property
    def text(self) -> str:
        """
        Return all of it.
        """
        return "".join(self._parts).strip()


class Step:
    """
    What is kept about one call inside a request.

    Args:
        id: The span's id.
        data: The `Retrieval` of a retriever, the question of a query engine, what a chat's writer has `Written`.
    """

    __slots__ = ("data", "id", "started_ns")

    def __init__(self, id: str, data: Any = None) -> None:
        self.id = id
        self.data = data
        self.started_ns = time.time_ns()


class Scope(Request):
    """
    One request.

    Attributes:
        returned: The outermost call has returned or raised.
        status: How the outermost call ended.
        streams: Keys of the streamed answers that are still to come.
        said: What the newest of them said, and how it ended.
        chat: Key of the chat answer that is waited for; None when none is.
        written: Text by key of each chat answer that was written; None for one that failed.
        cites: An engine that numbers its sources took part.
        split: A request of its own ran inside this one, which so only groups.
    """

    __slots__ = ("chat", "cites", "returned", "said", "split", "status", "streams", "written")

    def __init__(self, id: Hashable, kind: int, anchor: Anchor, sampler: Sampler) -> None:
        super().__init__(id, kind, anchor, sampler)
        self.returned = False
        self.status = "ok"
        self.streams: set[int] = set()
        self.said: tuple[str | None, str] | None = None
        self.chat: int | None = None
        self.written: dict[int, str | None] = {}
        self.cites = bool(kind & CITES)
        self.split = False

    @property
    def waits(self) -> bool:
        """
        Return whether the answer, or its end, is still to come.
        """
        return not self.returned or bool(self.streams) or (self.chat is not None and self.chat not in self.written)
