"""
The state of live requests, whatever the framework: bounded, locked, and gone when the request ends.

A *run* is one step that a framework reports; a *request* is the outermost run with all runs below it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from threading import RLock
from typing import Any, Final

from rageval_trace.live.citations import Citation
from rageval_trace.live.ended import EndedRuns
from rageval_trace.live.forks import renew_after_fork
from rageval_trace.live.sampling import Sampler
from rageval_trace.models import Context
from rageval_trace.telemetry.anchor import Anchor

__all__ = ["CHAIN", "LLM", "REPLACED", "RETRIEVER", "TOOL", "Request", "Retrieval", "Run", "Runs"]

# Bits, so that a run inherits in one operation what it is inside of.
CHAIN: Final = 0
RETRIEVER: Final = 1
TOOL: Final = 2
LLM: Final = 4

# The source of a retrieval whose chunks reached the answer in another form, reranked for one: it is drawn and its
# ranking counts, but the record's contexts are what it was replaced by.
REPLACED: Final = "replaced"

_RETRIEVED: Final = frozenset({"retriever", "tool", "explicit"})
_MAX_RUNS_PER_REQUEST: Final = 5_000


class Retrieval:
    """
    One retrieval, or another place where contexts were seen.

    Attributes:
        source: A `context_source` word, or `REPLACED`.
        run: The run that retrieved; None when no run did.
        query: What was searched for; None when not known.
        contexts: What came back, in rank order; None while it runs.
        node: The graph node it belongs to; running a node again replaces its earlier retrieval.
        step: The graph's step, which tells a node run again from a node fanned out.
        top_k: How many were asked for; None when not known.
    """

    __slots__ = ("contexts", "ended_ns", "node", "query", "run", "source", "started_ns", "step", "top_k")

    def __init__(
        self,
        source: str,
        run: Run | None,
        query: str | None = None,
        *,
        contexts: tuple[Context, ...] | None = None,
        node: Hashable = None,
        step: int | None = None,
        top_k: int | None = None,
    ) -> None:
        self.source = source
        self.run = run
        self.query = query
        self.contexts = contexts
        self.node = node
        self.step = step
        self.top_k = top_k
        self.started_ns = self.ended_ns = time.time_ns()

    def end(self, contexts: tuple[Context, ...]) -> None:
        """
        Note what came back, now.
        """
        self.ended_ns = time.time_ns()
        self.contexts = contexts

    @property
    def failed(self) -> bool:
        """
        Return whether the run, or one that it was a part of, failed: a retry or fallback took its place.
        """
        run = self.run
        while run is not None:
            if run.failed:
                return True
            run = run.parent
        return False


class Run:
    """
    One run that is live.

    Attributes:
        kind: CHAIN, RETRIEVER, TOOL or LLM.
        inside: The kinds of the runs around it, as bits.
        data: What the adapter keeps about it.
        open: It has not ended.
    """

    __slots__ = ("data", "failed", "inside", "kind", "open", "parent", "request")

    def __init__(self, request: Request, kind: int, parent: Run | None) -> None:
        self.request = request
        self.kind = kind
        self.parent = parent
        self.inside: int = 0 if parent is None else parent.inside | parent.kind
        self.failed = False
        self.open = True
        self.data: Any = None

    def end(self) -> None:
        """
        Note that the run has ended, once.
        """
        if self.open:
            self.open = False
            # One operation on a list, where a counter would take two that another thread may come between.
            self.request.ended.append(None)


class Request:
    """
    One request that is live: what was seen of it so far.

    Attributes:
        id: The root run's id.
        key: The same, or what stands for it among the live runs.
        sampled: Whether it will be scored; None while that is undecided. When it is False from the start, nothing is
            kept of what was asked, found and answered, and those attributes are not set.
        seeking: Its anchor may still be found.
        token: An object that lives as long as the root run and is made for it alone.
        question: What was asked, as far as known.
        answer: What was answered, as far as known.
        citations: What a model or an answer's own field cites.
        overrides: What the user said about this request, by name.
        retrievals: What was retrieved, in the order in which it ended.
        tags: What the application labelled it with.
        ended: As many items as runs have ended.
        searched: A retriever ran, whether or not the request is sampled.
        left: Another handler follows the request.
    """

    __slots__ = (
        "anchor",
        "answer",
        "citations",
        "closed",
        "ended",
        "explicit_answer",
        "id",
        "interrupted",
        "key",
        "kind",
        "left",
        "overrides",
        "question",
        "response",
        "retrievals",
        "root",
        "run_ids",
        "sampled",
        "searched",
        "seeking",
        "started_monotonic",
        "started_ns",
        "starts",
        "tags",
        "token",
        "unit",
    )

    def __init__(
        self,
        id: Hashable,
        kind: int,
        anchor: Anchor,
        sampler: Sampler,
        token: object = None,
        *,
        key: Hashable = None,
    ) -> None:
        self.id = id
        self.key = id if key is None else key
        self.kind = kind
        self.anchor = anchor
        self.token = token
        self.started_monotonic = time.monotonic()
        self.root = Run(self, kind, None)
        self.run_ids: list[Hashable] = [self.key]
        self.starts = 1
        self.closed = self.unit = self.searched = self.left = False
        self.retrievals: list[Retrieval] = []
        self.sampled: bool | None = _known_early(sampler, anchor, id)
        self.seeking = self.sampled is not False
        if not self.seeking:
            # Of what is in no sample nothing else is kept, not even empty.
            return
        self.started_ns = time.time_ns()
        self.interrupted = False
        self.question: str | None = None
        self.answer: str | None = None
        self.explicit_answer: str | None = None
        self.citations: Sequence[Citation] = ()
        self.overrides: dict[str, Any] = {}
        self.tags: tuple[str, ...] = ()
        self.response: dict[str, str] = {}
        self.ended: list[None] = []

    def settle(self, sampler: Sampler) -> bool:
        """
        Decide once whether the request is scored: by its trace, or by its own id when no trace is known by now.
        """
        if self.sampled is None:
            self.sampled = sampler.takes(self.anchor.target, self.id)
            if not self.sampled:
                self._forget()
        return bool(self.sampled)

    @property
    def open_runs(self) -> int:
        """
        Return how many runs have not ended, the root among them.
        """
        return len(self.run_ids) - len(self.ended)

    def leave(self) -> None:
        """
        Leave the request to another handler: it is neither scored nor counted here.
        """
        self.left = True
        self.sampled = False
        self._forget()

    def _forget(self) -> None:
        self.seeking = False
        self.retrievals = []

    def add(self, retrieval: Retrieval, *, alone: bool = False) -> None:
        """
        Keep what a retrieval found.

        Args:
            retrieval: That has ended.
            alone: It replaces what the same source showed before.
        """
        if alone:
            self.retrievals = [one for one in self.retrievals if one.source != retrieval.source]
        self.retrievals.append(retrieval)

    @property
    def retrieved(self) -> bool:
        """
        Return whether a retrieval itself was seen, so that traces of one need not be looked for.
        """
        return any([one.source in _RETRIEVED for one in self.retrievals])

    @property
    def ambiguous(self) -> bool:
        """
        Return whether two requests ran under this id at the same time.
        """
        return self.starts > 1


def _known_early(sampler: Sampler, anchor: Anchor, id: Hashable) -> bool | None:
    """
    Return whether a request is in the sample, if that can be told before anything of it has run.
    """
    if sampler.always or sampler.never:
        return sampler.always
    return None if anchor.outer is None else sampler.takes(anchor.target, id)


class Runs:
    """
    Every live run of a handler.

    Args:
        max_requests: Live requests kept; at least 1.
        ttl_s: Age in seconds at which one is given up.
        give_up: Called, outside the lock, with each request that is given up.
        count: Called with `late_runs` or `dropped_runs` for each such run.

    Attributes:
        live: Run by id. Reading it needs no lock.
    """

    __slots__ = (
        "__weakref__",
        "_count",
        "_ended",
        "_give_up",
        "_lock",
        "_max_requests",
        "_requests",
        "_ttl_s",
        "live",
    )

    def __init__(
        self,
        *,
        max_requests: int,
        ttl_s: float,
        give_up: Callable[[Request], None],
        count: Callable[[str], None],
    ) -> None:
        self._max_requests = max_requests
        self._ttl_s = ttl_s
        self._give_up = give_up
        self._count = count
        self._requests: dict[Hashable, Request] = {}
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """
        Forget everything: requests that began in the parent end in the parent.

        A stream that is open holds its request, in the child too; there it is one that has ended.
        """
        for request in self._requests.values():
            request.closed = True
        # Reentrant: the garbage collector may close an abandoned stream, and so end a request, inside the lock.
        self._lock = RLock()
        self.live: dict[Hashable, Run] = {}
        self._requests = {}
        self._ended = EndedRuns()

    def __len__(self) -> int:
        return len(self._requests)

    def begin(self, request: Request) -> Run:
        """
        Take up a request, giving up those that are too old or too many.
        """
        with self._lock:
            given_up = self._overdue(request.started_monotonic) if self._requests else ()
            self._requests[request.key] = request
            self.live[request.key] = request.root
        for old in given_up:
            self._give_up(old)
        return request.root

    def child(self, run_id: Hashable, parent: Run, kind: int) -> Run | None:
        """
        Take up a run below another; None when nothing of it is wanted.
        """
        request = parent.request
        with self._lock:
            if request.closed or len(request.run_ids) >= _MAX_RUNS_PER_REQUEST:
                self._ended.add([run_id])
                self._count("late_runs" if request.closed else "dropped_runs")
                return None
            request.run_ids.append(run_id)
            if request.sampled is False:
                self.live[run_id] = request.root
                return None
            run = self.live[run_id] = Run(request, kind, parent)
            return run

    def alias(self, run_id: Hashable, run: Run) -> None:
        """
        Know a run as a part of another: of interest only for what may begin below it.
        """
        request = run.request
        run_ids = request.run_ids
        if len(run_ids) < _MAX_RUNS_PER_REQUEST:
            # Without the lock, for most steps come here. Known first and asked afterwards: a request that closes in
            # between either drops this id with its own, or is seen to be closed.
            self.live[run_id] = run
            run_ids.append(run_id)
            if not request.closed:
                return
            self.live.pop(run_id, None)
        with self._lock:
            self._ended.add([run_id])

    def is_late(self, run_id: Hashable, parent_id: Hashable) -> bool:
        """
        Return whether a run's parent belongs to a request that has ended; one that was never seen does not.
        """
        with self._lock:
            if parent_id not in self._ended:
                return False
            self._ended.add([run_id])
        self._count("late_runs")
        return True

    def end(self, request: Request) -> bool:
        """
        Drop a request with all its runs; False when that was done before.
        """
        with self._lock:
            return self._close(request)

    def drain(self) -> list[Request]:
        """
        Drop every request and return them, oldest first.
        """
        with self._lock:
            return [request for request in list(self._requests.values()) if self._close(request)]

    def _close(self, request: Request) -> bool:
        if request.closed:
            return False
        request.closed = True
        self._requests.pop(request.key, None)
        live = self.live
        for run_id in request.run_ids:
            live.pop(run_id, None)
        self._ended.add(request.run_ids)
        return True

    def _overdue(self, now: float) -> Sequence[Request]:
        given_up = []
        while self._requests:
            oldest = next(iter(self._requests.values()))
            if len(self._requests) < self._max_requests and now - oldest.started_monotonic < self._ttl_s:
                break
            if self._close(oldest):
                given_up.append(oldest)
        return given_up
