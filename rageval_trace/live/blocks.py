"""
Requests of code without a framework: a `with` block, or a decorated function.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import os
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime, timezone
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast
from uuid import uuid4

from opentelemetry.trace import SpanContext, format_trace_id

from rageval_trace.live.capture import Capture, Limits, build
from rageval_trace.live.documents import DocumentKeys, DocumentReader
from rageval_trace.live.runs import CHAIN, Request, Retrieval
from rageval_trace.live.sampling import Sampler
from rageval_trace.live.settings import Settings
from rageval_trace.live.tally import Tally
from rageval_trace.live.worker import settle_at_exit
from rageval_trace.models import Context, EvalRecord
from rageval_trace.telemetry.anchor import Anchor

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Block", "Blocks"]

F = TypeVar("F", bound=Callable[..., Any])
QuestionReader = Callable[[tuple[Any, ...], dict[str, Any]], str]
_TEXT_KEYS: Final = ("text", "page_content", "content")
_CANCELLED: Final = (asyncio.CancelledError, KeyboardInterrupt, SystemExit)

_current: ContextVar[Block | None] = ContextVar("rageval_trace_block", default=None)


class Blocks(ABC):
    """
    Take requests from code that no adapter watches; the framework-free side of `Monitor`.
    """

    settings: Settings
    sampler: Sampler
    tally: Tally

    def __init__(self) -> None:
        # Blocks that were entered, never left, and are gone: the garbage collector may do no more than name them here.
        self.left_open: SimpleQueue[tuple[Request, Limits]] = SimpleQueue()
        settle_at_exit(self)

    def settle(self) -> None:
        """
        Count the blocks that were entered and never left, as `abandoned`.
        """
        while not self.left_open.empty():
            try:
                request, limits = self.left_open.get_nowait()
            except Empty:
                return
            self.end(request, "abandoned", limits)

    def end(self, request: Request, status: str, limits: Limits) -> None:
        """
        Take a block's request that ended, or skip it when it is not sampled.
        """
        try:
            if request.settle(self.sampler):
                self.submit(build(request, status, limits, sample_rate=self.sampler.rate))
            else:
                self.skip(request.anchor)
        except Exception as fault:
            self.tally.fault("run", fault)

    @property
    @abstractmethod
    def enabled(self) -> bool:
        """
        Return whether anything is scored at all.
        """

    @abstractmethod
    def submit(self, capture: Capture) -> None:
        """
        Take a request that ended.
        """

    @abstractmethod
    def skip(self, anchor: Anchor, *, seen: int = 1, rag: bool = True) -> None:
        """
        Count a request that was not sampled.
        """

    def run(
        self,
        question: str,
        *,
        pipeline: str | None = None,
        ground_truth: str | None = None,
        relevant_ids: Iterable[str] | Mapping[str, float] | None = None,
        tags: Iterable[str] = (),
    ) -> Block:
        """
        Return a block for one request: `with monitor.run(question) as run:`, or `async with`.

        What the block raises passes through, and counts as the request's error. A block that is entered and never
        left counts as `abandoned` once it is gone; of two processes that a fork makes of one, the first counts it.

        Args:
            question: What was asked.
            pipeline: Its name in telemetry; None for the monitor's.
            ground_truth: A reference answer, when there is one.
            relevant_ids: Ids of the relevant documents, when they are known.
            tags: For rules such as `tag:vip`.
        """
        self.settle()
        said = {"pipeline": pipeline, "ground_truth": ground_truth, "relevant_ids": relevant_ids}
        return Block(self, question, {f"rageval.{name}": value for name, value in said.items() if value}, tags)

    def score(self, record: EvalRecord, *, parent: SpanContext | None = None, run_id: str | None = None) -> None:
        """
        Score a record that was put together elsewhere, as a request that has just ended.

        Args:
            record: With its contexts and answer.
            parent: The span that it belongs to; None for the current one.
            run_id: For feedback and late facts; the record's id for None, else a new one.
        """
        try:
            self._score_record(record, parent, run_id or record.id or str(uuid4()))
        except Exception as error:
            self.tally.fault("score", error)

    def _score_record(self, record: EvalRecord, parent: SpanContext | None, run_id: str) -> None:
        anchor, now = Anchor.begin(), time.time_ns()
        anchor.found = parent or anchor.outer
        anchor.settled = True
        if not self.enabled:
            return
        if not self.sampler.takes(anchor.target, run_id):
            self.skip(anchor)
            return
        if record.asked_at is None:
            record = replace(record, asked_at=datetime.fromtimestamp(now / 1e9, timezone.utc))
        status = "ok" if record.contexts is not None else "answer_only"
        status = "retrieval_only" if status == "ok" and record.answer is None else status
        about = {"context_source": "explicit", "sample_rate": self.sampler.rate, "timed": False}
        self.submit(Capture(record, status, run_id, anchor, now, now, **about))  # type: ignore[arg-type]  # by name

    @property
    def current(self) -> Block | None:
        """
        Return the block of the watched function that the caller is inside of; None outside of any.
        """
        block = _current.get()
        while block is not None and block.monitor is not self:
            block = block.outer
        return block

    def watch(self, function: F) -> F:
        """
        Decorate a function that answers questions: plain, async, or a generator of the answer's pieces.

        The question is its argument `question`, else its first string. Inside, `monitor.current.contexts(docs)` says
        what was retrieved. The answer is what it returns, when that is a string, or joined what it yields; a mapping
        with `answer` and `contexts` tells both.
        """
        read = _question_reader(function)
        if inspect.isasyncgenfunction(function):
            return cast("F", _watch_async_stream(self, function, read))
        if inspect.isgeneratorfunction(function):
            return cast("F", _watch_stream(self, function, read))
        if inspect.iscoroutinefunction(function):
            return cast("F", _watch_async(self, function, read))
        return cast("F", _watch_plain(self, function, read))


def _watch_plain(monitor: Blocks, function: Callable[..., Any], read: QuestionReader) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with monitor.run(read(args, kwargs)) as block, block.as_current():
            return block.returned(function(*args, **kwargs))

    return wrapper


def _watch_async(monitor: Blocks, function: Callable[..., Any], read: QuestionReader) -> Callable[..., Any]:
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        with monitor.run(read(args, kwargs)) as block, block.as_current():
            return block.returned(await function(*args, **kwargs))

    return wrapper


def _watch_stream(monitor: Blocks, function: Callable[..., Any], read: QuestionReader) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Iterator[Any]:
        with monitor.run(read(args, kwargs)) as block, contextlib.closing(function(*args, **kwargs)) as pieces:
            # The block is the current one while the function runs, not while its reader does.
            while True:
                try:
                    with block.as_current():
                        piece = next(pieces)
                except StopIteration:
                    return
                block.piece(piece)
                yield piece

    return wrapper


def _watch_async_stream(monitor: Blocks, function: Callable[..., Any], read: QuestionReader) -> Callable[..., Any]:
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        with monitor.run(read(args, kwargs)) as block:
            async with contextlib.aclosing(function(*args, **kwargs)) as pieces:
                while True:
                    try:
                        with block.as_current():
                            piece = await anext(pieces)
                    except StopAsyncIteration:
                        return
                    block.piece(piece)
                    yield piece

    return wrapper


class Block:
    """
    One request, from the block's beginning to its end.

    Attributes:
        id: The run's id, for feedback and late facts.
        monitor: Who scores it.
        outer: The watched function's block around this one; None without one.
    """

    def __init__(self, monitor: Blocks, question: str, said: dict[str, Any], tags: Iterable[str]) -> None:
        self.id = str(uuid4())
        self.monitor = monitor
        self.outer = _current.get()
        self._question = question
        self._said = said
        self._tags = tuple(tags)
        self._request: Request | None = None
        self._pieces: list[str] = []
        settings, count = monitor.settings, monitor.tally.add
        self._reader = DocumentReader(DocumentKeys(), max_chars=settings.max_chars, count=count)
        self._limits = Limits(settings.max_contexts, settings.max_chars, count)

    @property
    def trace_id(self) -> str | None:
        """
        Return the trace's id in lower-case hex; None outside a trace.
        """
        target = None if self._request is None else self._request.anchor.target
        return None if target is None else format_trace_id(target.trace_id)

    def contexts(self, documents: Iterable[Any]) -> None:
        """
        Say what was retrieved, in rank order: strings, `Context`s, mappings with `text`, or objects with
        `page_content` or `text`. Several calls add up.
        """
        request = self._request
        if request is None or not request.settle(self.monitor.sampler):
            return
        try:
            read = [self._context(one) for one in documents]
            found = tuple([one for one in read if one is not None])
            request.add(Retrieval("explicit", None, contexts=found))
        except Exception as error:
            self.monitor.tally.fault("run.contexts", error)

    def answer(self, text: str) -> None:
        """
        Say what was answered; the last word counts.
        """
        if self._request is not None and isinstance(text, str):
            self._request.explicit_answer = str(text)

    @contextlib.contextmanager
    def as_current(self) -> Iterator[None]:
        """
        Be the monitor's current block for a while.
        """
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def returned(self, value: Any) -> Any:
        """
        Read the answer, and contexts, off what a function returned, and give it back.
        """
        if isinstance(value, str):
            self.answer(value)
        elif isinstance(value, Mapping):
            if value.get("contexts") is not None:
                self.contexts(value["contexts"])
            self.answer(value.get("answer", ""))
        return value

    def piece(self, value: Any) -> None:
        """
        Add a piece of a streamed answer.
        """
        if isinstance(value, str):
            self._pieces.append(value)

    def __enter__(self) -> Self:
        monitor = self.monitor
        if monitor.enabled:
            try:
                request = Request(self.id, CHAIN, Anchor.begin(), monitor.sampler)
                request.question = self._question if isinstance(self._question, str) else str(self._question)
                request.overrides = self._said
                request.tags = self._tags
                self._request, self._process = request, os.getpid()
            except Exception as error:
                monitor.tally.fault("run", error)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        request = self._take_request()
        if request is None:
            return
        if self._pieces and request.explicit_answer is None:
            request.explicit_answer = "".join(self._pieces)
        self.monitor.end(request, _status(error), self._limits)

    def __del__(self) -> None:
        request = self._take_request()
        if request is not None:
            self.monitor.left_open.put((request, self._limits))

    def _take_request(self) -> Request | None:
        """
        Return the block's request, once, and in the process alone that it began in.
        """
        request: Request | None = getattr(self, "_request", None)
        self._request = None
        if request is None or request.closed or self._process != os.getpid():
            return None
        request.closed = True
        return request

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def _context(self, document: Any) -> Context | None:
        reader = self._reader
        if isinstance(document, str):
            return reader.context(document, {})
        if isinstance(document, Context):
            return document if len(document.text) <= self._limits.max_chars else _shorter(document, reader)
        if isinstance(document, Mapping):
            text = next((document[name] for name in _TEXT_KEYS if isinstance(document.get(name), str)), None)
            known = {key: document[key] for key in ("timestamp", "source") if document.get(key) is not None}
            metadata, key, score = document.get("metadata"), document.get("id"), document.get("score")
        else:
            text = next((found for name in _TEXT_KEYS if isinstance(found := getattr(document, name, None), str)), None)
            metadata, known = getattr(document, "metadata", None), {}
            key, score = getattr(document, "id", None), getattr(document, "score", None)
        if text is None:
            reader.coerced()
            return None
        return reader.context(
            text, {**(metadata if isinstance(metadata, Mapping) else {}), **known}, id=key, score=score
        )


def _shorter(context: Context, reader: DocumentReader) -> Context:
    text = reader.cut(context.text)
    return Context(context.id, text, context.score, context.timestamp, context.source, context.metadata)


def _status(error: BaseException | None) -> str:
    if error is None:
        return "ok"
    if isinstance(error, GeneratorExit):
        return "partial"
    return "cancelled" if isinstance(error, _CANCELLED) else "error"


def _question_reader(function: Callable[..., Any]) -> QuestionReader:
    signature = inspect.signature(function)

    def read(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            return ""  # the call itself will say what is wrong with it
        named = given.get("question")
        if isinstance(named, str):
            return named
        return next((value for value in given.values() if isinstance(value, str)), "")

    return read
