"""
Fork in the middle of requests and print, for parent and child apart, what was reported; a process of its own, for it
carries no threads but those it starts.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import threading
from collections.abc import Callable
from typing import Any

import llama_parts as parts
from llama_index.core import Settings
from llama_index.core.callbacks import CallbackManager
from rageval_trace_llama_index import RagEvalHandler

reported: list[tuple[str, str, str | None]] = []
handler = RagEvalHandler(
    on_result=lambda result: reported.append((result.record.question, result.status, result.record.answer))
)


how = ""


def say(who: str) -> None:
    """
    Print what a process has reported since the fork.
    """
    told = {"how": how, "who": who, "reported": reported, "open": handler.stats["live_requests"]}
    print(json.dumps(told), flush=True)  # noqa: T201 - the test reads it


def fork(rest: Callable[[], object]) -> None:
    """
    Do *rest* and ask a question in the child, then in the parent, and print what each reported.
    """
    reported.clear()
    child = os.fork()
    if child == 0:
        reported.clear()
    else:
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    who = "parent" if child else "child"
    rest()
    gc.collect()
    parts.engine().query(f"of the {who}")
    handler.flush()
    say(who)
    if child == 0:
        handler.close()
        os._exit(0)


def unread() -> None:
    """
    Read the whole stream after the fork.
    """
    response = parts.engine(streaming=True).query("streamed")
    fork(lambda: str(response))


def partly() -> None:
    """
    Leave off in the middle, after the fork.
    """
    stream = parts.engine(streaming=True).query("streamed").response_gen
    next(stream)
    fork(stream.close)


def dropped() -> None:
    """
    Drop a stream before the fork: the collector's note is there, and nobody has read it.
    """
    parts.engine(streaming=True).query("streamed")
    gc.collect()
    fork(lambda: None)


def asynchronous() -> None:
    """
    The same as *partly*, on an event loop that ends before the fork.
    """

    async def begin() -> Any:
        stream = (await parts.engine(streaming=True).aquery("streamed")).response_gen
        await anext(stream)
        return stream

    loop = asyncio.new_event_loop()
    stream = loop.run_until_complete(begin())

    def close() -> None:
        loop.run_until_complete(stream.aclose())
        loop.close()

    fork(close)


def inside() -> None:
    """
    Fork inside a retriever: both processes return from it.
    """

    class Forks(parts.Docs):
        def _retrieve(self, query_bundle: Any) -> Any:
            fork(lambda: None)
            return super()._retrieve(query_bundle)

    parts.engine(Forks()).query("forked")
    say("parent at last")


def legacy() -> None:
    """
    The same as *unread*, by the legacy callbacks.
    """
    handler.uninstall()
    Settings.callback_manager = CallbackManager([handler])
    make = parts.engine

    def carrying(*args: Any, **kwargs: Any) -> Any:
        engine = make(*args, **kwargs, callback_manager=Settings.callback_manager)
        engine.callback_manager = Settings.callback_manager
        return engine

    parts.engine = carrying
    unread()
    parts.engine = make
    Settings.callback_manager = CallbackManager([])
    handler.install()


def busy() -> None:
    """
    Fork while other threads ask, so that any lock may be held, many times over.
    """
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            str(parts.engine(streaming=True).query("of a thread"))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        response = parts.engine(streaming=True).query("streamed")
        child = os.fork()
        if child == 0:
            reported.clear()
            str(response)
            parts.engine().query("of the child")
            handler.flush()
            os._exit(0 if [("of the child", "ok", parts.ANSWER)] == reported else 1)
        str(response)
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    done.set()
    for thread in threads:
        thread.join()
    reported[:] = [one for one in reported if one[0] == "streamed"]
    say("parent")


if __name__ == "__main__":
    handler.install()
    for scene in (unread, partly, dropped, asynchronous, inside, legacy, busy):
        how = scene.__name__
        reported.clear()
        scene()
