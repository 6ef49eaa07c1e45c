"""
The state of live requests.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import pytest

from rageval_trace.live.runs import CHAIN, LLM, RETRIEVER, TOOL, Request, Retrieval, Runs
from rageval_trace.live.sampling import Sampler
from rageval_trace.models import Context
from rageval_trace.telemetry.anchor import Anchor

ALL = Sampler(1.0)


def request(id: Any, sampler: Sampler = ALL) -> Request:
    return Request(id, CHAIN, Anchor(), sampler)


@pytest.fixture
def given_up() -> list[Request]:
    """
    Collect the requests that were given up.
    """
    return []


@pytest.fixture
def counts() -> list[str]:
    """
    Collect what was counted.
    """
    return []


def make(given_up: list[Request], counts: list[str], *, max_requests: int = 10, ttl_s: float = 900.0) -> Runs:
    return Runs(max_requests=max_requests, ttl_s=ttl_s, give_up=given_up.append, count=counts.append)


def test_a_run_knows_what_it_is_inside_of(given_up: list[Request], counts: list[str]) -> None:
    """
    Kinds are inherited down the tree.
    """
    runs = make(given_up, counts)
    root = runs.begin(request("root"))
    tool = runs.child("tool", root, TOOL)
    retriever = runs.child("retriever", tool, RETRIEVER)
    model = runs.child("model", retriever, LLM)

    assert [0, 0, TOOL, TOOL | RETRIEVER] == [run.inside for run in (root, tool, retriever, model)]


def test_a_request_ends_once_and_leaves_nothing(given_up: list[Request], counts: list[str]) -> None:
    """
    All its runs go with it, and the second end is told from the first.
    """
    runs = make(given_up, counts)
    root = runs.begin(request("root"))
    runs.child("child", root, CHAIN)

    assert [True, False] == [runs.end(root.request), runs.end(root.request)]
    assert ({}, 0) == (runs.live, len(runs))


def test_late_children_are_ignored(given_up: list[Request], counts: list[str]) -> None:
    """
    A run whose request has ended, or whose parent was itself late, is no new request; an unknown parent is no reason.
    """
    runs = make(given_up, counts)
    root = runs.begin(request("root"))
    child = runs.child("child", root, CHAIN)
    runs.end(root.request)

    assert runs.child("late", child, CHAIN) is None
    assert [True, True, True, False] == [
        runs.is_late(new, parent) for new, parent in [("a", "child"), ("b", "a"), ("c", "late"), ("d", "never seen")]
    ]
    assert ["late_runs"] * 4 == counts


def test_too_many_requests_push_out_the_oldest(given_up: list[Request], counts: list[str]) -> None:
    """
    The limit holds whatever never ends.
    """
    runs = make(given_up, counts, max_requests=3)
    for number in range(5):
        runs.begin(request(number))

    assert [0, 1] == [one.id for one in given_up]
    assert ([2, 3, 4], 3) == (list(runs.live), len(runs))


def test_old_requests_are_given_up(given_up: list[Request], counts: list[str]) -> None:
    """
    A request without an end lives no longer than the limit.
    """
    runs = make(given_up, counts, ttl_s=0.02)
    runs.begin(request("old"))
    time.sleep(0.03)
    runs.begin(request("new"))

    assert ["old"] == [one.id for one in given_up]


def test_the_runs_of_one_request_are_bounded(
    given_up: list[Request], counts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    Past the limit runs are counted and their children ignored, not taken for requests.
    """
    monkeypatch.setattr("rageval_trace.live.runs._MAX_RUNS_PER_REQUEST", 3)
    runs = make(given_up, counts)
    root = runs.begin(request("root"))

    taken = [runs.child(number, root, CHAIN) is not None for number in range(4)]

    assert [True, True, False, False] == taken
    assert runs.is_late("grandchild", 3)
    assert ["dropped_runs", "dropped_runs", "late_runs"] == counts


def test_the_memory_of_finished_runs_is_bounded(
    given_up: list[Request], counts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    Two generations are kept.
    """
    monkeypatch.setattr("rageval_trace.live.ended._GENERATION", 10)
    runs = make(given_up, counts)
    for number in range(100):
        runs.end(runs.begin(request(number)).request)

    assert len(runs._ended) <= 20
    assert runs.is_late("late", 99)
    assert not runs.is_late("old", 1)


def test_an_unsampled_request_keeps_nothing_but_ids(given_up: list[Request], counts: list[str]) -> None:
    """
    Its children are known, so that theirs are no requests, and nothing is wanted of them.
    """
    runs = make(given_up, counts)
    unsampled = request("root", Sampler(0.0))
    root = runs.begin(unsampled)

    assert runs.child("child", root, RETRIEVER) is None
    assert runs.live["child"] is root
    assert runs.child("grandchild", runs.live["child"], CHAIN) is None
    runs.end(unsampled)
    assert {} == runs.live


def test_sampling_is_decided_once() -> None:
    """
    A request without a trace is decided by its id, and the decision stays when a trace turns up later.
    """
    undecided = request("run", Sampler(0.5))
    assert undecided.sampled is None

    first = undecided.settle(Sampler(0.5))

    assert first == Sampler(0.5).keeps(None, "run")
    assert first == undecided.settle(Sampler(0.0 if first else 1.0))


@pytest.mark.parametrize(("trace_id", "expected"), [(1, True), ((1 << 64) - 1, False)])
def test_an_outer_trace_decides_at_the_start(trace_id: int, expected: bool) -> None:
    """
    With a valid outer span, the trace's id decides before anything else happens.
    """
    from opentelemetry.trace import SpanContext

    anchor = Anchor()
    anchor.outer = SpanContext(trace_id, 1, is_remote=False)

    assert expected == Request("run", CHAIN, anchor, Sampler(0.5)).sampled


def test_a_retrieval_fails_with_any_run_above_it(given_up: list[Request], counts: list[str]) -> None:
    """
    A retry or fallback takes the place of all that a failed run did.
    """
    runs = make(given_up, counts)
    attempt = runs.child("attempt", runs.begin(request("root")), CHAIN)
    retrieval = Retrieval("retriever", runs.child("retriever", attempt, RETRIEVER))
    assert not retrieval.failed

    attempt.failed = True

    assert retrieval.failed
    assert not Retrieval("explicit", None).failed


def test_a_lone_source_replaces_itself() -> None:
    """
    State that a graph hands from node to node is one source, whose newest word counts.
    """
    one = request("run")
    for text in ("first", "second"):
        one.add(Retrieval("chain_output", None, contexts=(Context("", text),)), alone=True)

    assert ["second"] == [found.contexts[0].text for found in one.retrievals]
    assert not one.retrieved
    one.add(Retrieval("tool", None, contexts=()))
    assert one.retrieved


def test_drain_returns_what_is_live(given_up: list[Request], counts: list[str]) -> None:
    """
    Oldest first, each once.
    """
    runs = make(given_up, counts)
    for number in range(3):
        runs.begin(request(number))

    assert [0, 1, 2] == [one.id for one in runs.drain()]
    assert [] == runs.drain()


def test_threads_lose_no_run(given_up: list[Request], counts: list[str]) -> None:
    """
    Requests that begin and end on many threads leave nothing behind.
    """
    runs = make(given_up, counts, max_requests=10_000)

    def work(name: int) -> None:
        for number in range(200):
            root = runs.begin(request((name, number)))
            for child in range(5):
                runs.child((name, number, child), root, CHAIN)
            runs.end(root.request)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert ({}, 0, [], []) == (runs.live, len(runs), given_up, counts)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_begins_anew(given_up: list[Request], counts: list[str]) -> None:
    """
    A lock that another thread held at the fork does not stop the child, and the parent's requests stay the parent's.
    """
    runs = make(given_up, counts)
    begun = request("parent")
    runs.begin(begun)
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with runs._lock:
            held.set()
            release.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    child = os.fork()
    if child == 0:
        runs.begin(request("child"))
        os._exit(0 if list(runs.live) == ["child"] and not runs.end(begun) else 1)
    release.set()
    holder.join()

    assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ["parent"] == list(runs.live)
    assert runs.end(begun)


def test_a_part_of_a_run_stands_for_it(given_up: list[Request], counts: list[str]) -> None:
    """
    What begins below an uninteresting part belongs to the run around it, and goes with the request.
    """
    runs = make(given_up, counts)
    root = runs.begin(request("root"))

    runs.alias("part", root)
    below = runs.live["part"]
    runs.end(root.request)
    runs.alias("late part", root)

    assert below is root
    assert {} == runs.live
    assert runs.is_late("child", "late part")
