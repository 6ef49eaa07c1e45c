"""
Hear a streamed answer without touching it: a generator around the user's generator.

The default engines call their model inside `response_gen`, in whatever thread or task reads it, after every span of
the query has ended; no event says which query a token belongs to. So the generator itself is wrapped.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterable
from queue import SimpleQueue
from typing import Any, Final, TypeAlias

from llama_index.core.base.llms.types import ChatResponse
from llama_index.core.base.response.schema import AsyncStreamingResponse
from llama_index.core.chat_engine.types import StreamingAgentChatResponse

from rageval_trace_llama_index.convert import Stream

__all__ = ["CANCELLED", "Endings", "Listener", "generator_of", "is_spent", "told", "wrap"]

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

    def odd(self, text: Any) -> int:
        """
        Keep a token that is no plain string, if there is some text in it, and return its length.
        """
        try:
            said = text.delta if isinstance(text, ChatResponse) else text
            plain = str.__str__(said) if isinstance(said, str) else ""
        except Exception:
            return 0
        self.append(plain)
        return len(plain)

    def forget(self) -> None:
        """
        Tell nothing, ever.
        """
        self._owner = None

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


def wrap(response: Stream, listener: Listener) -> bool:
    """
    Put a listening generator in the place of a response's own.

    Args:
        response: The user's.
        listener: Hears the text, and has the new generator's identity as its key.

    Returns:
        False for what is no iterator, a list of texts for one: it is left alone, for it can be read more than once.
    """
    place = _place(response)
    inner: Any = getattr(response, place)
    # Both ways of reading are tried in the order of the response's type, for proxies have both.
    first = isinstance(response, AsyncStreamingResponse) or place == "achat_stream"
    for asynchronous in (first, not first):
        if hasattr(inner, "__anext__" if asynchronous else "__next__"):
            wrapped: Any = _alisten(inner, listener) if asynchronous else _listen(inner, listener)
            setattr(response, place, wrapped)
            listener.key = id(wrapped)
            return True
    listener.forget()
    return False


def generator_of(response: Stream) -> Any:
    """
    Return what a response's text is read from.
    """
    return getattr(response, _place(response))


def told(response: Stream) -> str | None:
    """
    Return the text of a response that need not be waited for: it was read before, or is no stream. None for others.
    """
    generator = generator_of(response)
    if isinstance(generator, (list, tuple)):
        return "".join([text for text in generator if isinstance(text, str)])
    text = response.response if isinstance(response, StreamingAgentChatResponse) else response.response_txt
    return text if is_spent(response) and isinstance(text, str) else None


def is_spent(response: Stream) -> bool:
    """
    Return whether a response's text was read to its end already, so that there is nothing to hear.
    """
    generator = generator_of(response)
    return getattr(generator, "gi_frame", generator) is None or getattr(generator, "ag_frame", generator) is None


def _place(response: Stream) -> str:
    """
    Return the attribute that holds a response's generator: a chat's is one of whole messages, synchronous or not.
    """
    if not isinstance(response, StreamingAgentChatResponse):
        return "response_gen"
    return "chat_stream" if response.achat_stream is None else "achat_stream"


def _listen(inner: Iterable[Any], listener: Listener) -> Generator[Any, None, None]:
    listener.started = True
    append, room = listener.append, listener.room
    try:
        for text in inner:
            if room > 0:
                if type(text) is str:
                    if text:
                        append(text)
                        room -= len(text)
                elif text is not None:
                    room -= listener.odd(text)
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
    advance = inner.__anext__
    try:
        step = _first_step(inner)
        while True:
            text = await step
            if room > 0:
                if type(text) is str:
                    if text:
                        append(text)
                        room -= len(text)
                elif text is not None:
                    room -= listener.odd(text)
            yield text
            step = advance()
    except StopAsyncIteration:
        listener.end("ok")
    except GeneratorExit:
        close = getattr(inner, "aclose", None)
        if close is not None and not getattr(inner, "ag_running", False):
            await close()
        raise
    except BaseException as error:
        listener.fail(error)
        raise


def _first_step(inner: AsyncIterator[Any]) -> Awaitable[Any]:
    """
    Begin with a generator behind the event loop's back.

    A loop that shuts down closes all of the generators it has seen begin, side by side: this one and the one around it
    would be closed twice at once, and the loop would report that as an error. The one around it closes this one.
    """
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, hooks.finalizer)
    try:
        return inner.__anext__()
    finally:
        sys.set_asyncgen_hooks(*hooks)
