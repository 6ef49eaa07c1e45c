"""
Hear a streamed answer without touching it: a generator around the user's generator.

The default engines call their model inside `response_gen`, in whatever thread or task reads it, after every span of
the query has ended; no event says which query a token belongs to. So the generator itself is wrapped.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterable
from queue import SimpleQueue
from typing import Any, Final, TypeAlias

from rageval_trace_llama_index.convert import Stream

__all__ = ["CANCELLED", "Endings", "Listener", "is_spent", "wrap"]

# BaseExceptions by which an application stops its own work.
CANCELLED: Final = (asyncio.CancelledError, KeyboardInterrupt, SystemExit)

Ending: TypeAlias = "tuple[Any, int, str, str]"
Endings: TypeAlias = "SimpleQueue[Ending]"


class Listener:
    """
    Collect one stream's text, and tell how it ended, once.

    Only the generator holds it, so it goes when the generator goes, read or not; then it does no more than put a note
    on a queue, for the garbage collector runs at any point of any thread, whatever locks that holds.

    Args:
        owner: What the stream belongs to; it must not hold the stream.
        room: Characters kept of the text.
        ended: Called as `ended(owner, key, text, status)` when the reader sees the end.
        endings: Takes the same from a stream that nobody read to its end.

    Attributes:
        key: Of the generator that holds it.
    """

    __slots__ = ("_ended", "_endings", "_owner", "append", "key", "parts", "room", "started")

    def __init__(self, owner: Any, room: int, ended: Callable[[Any, int, str, str], None], endings: Endings) -> None:
        self._owner = owner
        self.key = 0
        self._ended = ended
        self._endings = endings
        self.room = room
        self.started = False
        self.parts: list[str] = []
        self.append = self.parts.append

    def end(self, status: str) -> None:
        """
        Tell the end, in the reader's own stack.
        """
        owner, self._owner = self._owner, None
        if owner is not None:
            self._ended(owner, self.key, "".join(self.parts), status)

    def fail(self, error: BaseException) -> None:
        """
        Tell that reading raised.
        """
        self.end("cancelled" if isinstance(error, CANCELLED) else "error")

    def __del__(self) -> None:
        if self._owner is not None:
            status = "partial" if self.started else "abandoned"
            self._endings.put((self._owner, self.key, "".join(self.parts), status))


def wrap(response: Stream, listener: Listener, *, asynchronous: bool) -> int:
    """
    Put a listening generator in the place of a response's own.

    Args:
        response: The user's.
        listener: Hears the text.
        asynchronous: As the response's type says; the generator does not tell, for proxies have both protocols.

    Returns:
        The new generator's identity, for as long as it lives.
    """
    inner: Any = response.response_gen
    wrapped: Any = _alisten(inner, listener) if asynchronous else _listen(inner, listener)
    response.response_gen = wrapped
    return id(wrapped)


def is_spent(response: Stream) -> bool:
    """
    Return whether a response's text was read to its end already, so that there is nothing to hear.
    """
    generator = response.response_gen
    return getattr(generator, "gi_frame", generator) is None or getattr(generator, "ag_frame", generator) is None


def _listen(inner: Iterable[Any], listener: Listener) -> Generator[Any, None, None]:
    listener.started = True
    append, room = listener.append, listener.room
    try:
        for text in inner:
            if room > 0 and isinstance(text, str):
                append(text)
                room -= len(text)
            yield text
    except GeneratorExit:
        # Closed by its reader, or collected unread: nothing but the reader's own generator may run here.
        close = getattr(inner, "close", None)
        if close is not None:
            close()
        raise
    except BaseException as error:
        listener.fail(error)
        raise
    listener.end("ok")


async def _alisten(inner: AsyncIterator[Any], listener: Listener) -> AsyncGenerator[Any, None]:
    listener.started = True
    append, room = listener.append, listener.room
    try:
        async for text in inner:
            if room > 0 and isinstance(text, str):
                append(text)
                room -= len(text)
            yield text
    except GeneratorExit:
        close = getattr(inner, "aclose", None)
        if close is not None:
            await close()
        raise
    except BaseException as error:
        listener.fail(error)
        raise
    listener.end("ok")
