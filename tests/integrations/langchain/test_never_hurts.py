"""
The application never notices: not our bugs, not our copies, not a fork.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import multiprocessing
import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

pytest.importorskip("langgraph")

import langchain_parts as parts
import rageval_trace_langchain.convert
import rageval_trace_langchain.tracker
from langchain_core.tools import create_retriever_tool
from opentelemetry import trace

from rageval_trace.live import capture, documents, levers, monitor, runs, sampling, scoring
from rageval_trace.telemetry import anchor, emitter

ADAPTER = (rageval_trace_langchain.convert, levers, rageval_trace_langchain.tracker)
CORE = (capture, documents, monitor, runs, sampling, scoring, anchor, emitter)


class InjectedError(Exception):
    """
    Be our bug.
    """


def _functions() -> list[tuple[Any, str]]:
    """
    Return every function and method that may run in a callback, with where it is looked up.
    """
    found: list[tuple[Any, str]] = []
    for module in (*ADAPTER, *CORE):
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) != module.__name__:
                continue
            if inspect.isfunction(value):
                found.append((module, name))
            elif inspect.isclass(value) and not issubclass(value, BaseException):
                found += [(value, method) for method, one in vars(value).items() if inspect.isfunction(one)]
    # Construction, and what a user calls, may raise.
    users = {
        "__init__",
        "stats",
        "flush",
        "close",
        "__len__",
        "after_fork",
        "__post_init__",
        "drain",
        "fault",
        "enabled",
    }
    return [(owner, name) for owner, name in found if name not in users]


FUNCTIONS = {f"{getattr(owner, '__name__', owner)}.{name}": (owner, name) for owner, name in _functions()}


def _agent() -> Any:
    tools = [create_retriever_tool(parts.Docs(), "search", "Searches.")]
    return parts.agent(parts.Script(says=[parts.call("search", "tower"), parts.ANSWER]), tools)


@cache
def _applications() -> tuple[Any, ...]:
    """
    Build them once: compiling graphs takes longer than running them.
    """
    broken = parts.lcel(parts.Docs(error=ValueError("r"))), parts.lcel(model=parts.Script(says=[KeyError("m")]))
    return parts.lcel(), parts.graph(), _agent(), broken


def _run_everything(callbacks: list[Any]) -> list[Any]:
    """
    Return all that an application sees: outputs, chunks, events, exceptions.
    """
    config = {"callbacks": callbacks}
    chain, graph, agent, failing = _applications()
    seen: list[Any] = [
        chain.invoke(parts.QUESTION, config),
        list(chain.stream(parts.QUESTION, config)),
        chain.batch(["a", "b"], config),
        graph.invoke({"question": parts.QUESTION}, config),
        [message.content for message in agent.invoke({"messages": [("human", parts.QUESTION)]}, config)["messages"]],
    ]
    for broken in failing:
        try:
            broken.invoke(parts.QUESTION, config)
        except Exception as error:
            seen.append(repr(error))

    async def asynchronously() -> list[Any]:
        chunks = [chunk async for chunk in chain.astream(parts.QUESTION, config)]
        events = [
            (event["event"], event["name"])
            async for event in chain.astream_events(parts.QUESTION, config, version="v2")
        ]
        return [await chain.ainvoke(parts.QUESTION, config), chunks, events]

    return [*seen, *asyncio.run(asynchronously())]


@pytest.fixture(scope="module")
def undisturbed() -> list[Any]:
    """
    Return what an application sees without a handler.
    """
    return _run_everything([])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_bug_in_any_function_of_ours_changes_nothing(
    name: str,
    undisturbed: list[Any],
    make: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """
    Outputs, stream chunks, events and exceptions are those without a handler, whichever of our functions raises.
    """
    handler = make(thresholds={"groundedness": 0.5})
    owner, attribute = FUNCTIONS[name]

    def broken(*args: Any, **kwargs: Any) -> Any:
        raise InjectedError("bug with the host's text in it: " + parts.QUESTION)

    monkeypatch.setattr(owner, attribute, broken)

    assert undisturbed == _run_everything([handler])
    langchain_saw = [one for one in caplog.records if one.name.startswith("langchain")]
    assert [] == langchain_saw
    assert parts.QUESTION not in caplog.text
    assert len(caplog.messages) < 60


def test_the_functions_above_are_most_of_our_code() -> None:
    """
    The list is made by looking, and would shrink unseen if a module moved.
    """
    assert len(FUNCTIONS) > 110
    assert {"Tracker._finish", "Monitor.submit", "Runs.begin", "rageval_trace_langchain.convert.documents_in"} <= set(
        FUNCTIONS
    )


def test_errors_of_ours_are_counted(make: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """
    What the application does not notice, `stats` tells.
    """
    handler = make()

    def broken(*args: Any, **kwargs: Any) -> Any:
        raise InjectedError

    monkeypatch.setattr(rageval_trace_langchain.convert, "contexts_of", broken)
    parts.lcel().invoke(parts.QUESTION, {"callbacks": [handler]})

    assert handler.stats["internal_errors"] > 0
    assert 0 == handler.stats["live_requests"]


@pytest.mark.parametrize("call", ["invoke", "ainvoke", "stream", "astream", "batch", "abatch"])
def test_the_current_span_is_unchanged(
    call: str, handler: Any, caplog: pytest.LogCaptureFixture, telemetry: Any
) -> None:
    """
    No context is attached, so none can be detached elsewhere: nothing leaks into the caller, nothing is logged.
    """
    caplog.set_level(logging.DEBUG)
    config = {"callbacks": [handler]}
    tracer = telemetry.tracer_provider.get_tracer("app")

    async def drain() -> None:
        async for _ in parts.lcel().astream(parts.QUESTION, config):
            pass

    calls: dict[str, Callable[[], Any]] = {
        "invoke": lambda: parts.lcel().invoke(parts.QUESTION, config),
        "ainvoke": lambda: asyncio.run(parts.lcel().ainvoke(parts.QUESTION, config)),
        "stream": lambda: list(parts.lcel().stream(parts.QUESTION, config)),
        "astream": lambda: asyncio.run(drain()),
        "batch": lambda: parts.lcel().batch(["a", "b"], config),
        "abatch": lambda: asyncio.run(parts.lcel().abatch(["a", "b"], config)),
    }
    with tracer.start_as_current_span("request") as outer:
        for _ in range(3):
            calls[call]()
            assert outer is trace.get_current_span()

    evaluations = [span for span in telemetry.spans if span.name == "evaluation rag"]
    assert {f"{outer.get_span_context().trace_id:032x}"} == {span.trace_id for span in evaluations}
    assert "different Context" not in caplog.text


async def test_consecutive_requests_do_not_nest(handler: Any, telemetry: Any) -> None:
    """
    Three requests without an outer span are three traces.
    """
    for _ in range(3):
        await parts.lcel().ainvoke(parts.QUESTION, {"callbacks": [handler]})
        assert not trace.get_current_span().get_span_context().is_valid

    assert 3 == len({span.trace_id for span in telemetry.spans})


def test_system_exit_passes_through(handler: Any, results: list[Any]) -> None:
    """
    A program that ends itself, ends.
    """
    with pytest.raises(SystemExit):
        parts.lcel(model=parts.Script(says=[SystemExit(3)])).invoke(parts.QUESTION, {"callbacks": [handler]})

    assert ["cancelled"] == [result.status for result in results]


def test_a_callback_of_the_user_that_raises_changes_nothing(make: Callable[..., Any]) -> None:
    """
    `on_result`, extractors and `redact` are the user's code, and still not the application's problem.
    """

    def broken(value: Any) -> Any:
        raise InjectedError

    handler = make(on_result=broken, question=broken, contexts=broken, answer=broken, redact=broken)

    assert parts.ANSWER == parts.lcel().invoke(parts.QUESTION, {"callbacks": [handler]})
    assert 1 == handler.stats["scored"]
    assert (parts.QUESTION, parts.ANSWER) == (handler.last.record.question, handler.last.record.answer)


async def test_a_slow_judge_does_not_hold_the_loop(make: Callable[..., Any]) -> None:
    """
    Twenty requests end while the first one's judge still thinks.
    """
    from rageval_trace.models import Verdict

    release = threading.Event()

    class Slow:
        name = "slow"

        def judge_claims(self, claims: Any, contexts: Any) -> list[Verdict]:
            assert release.wait(60)
            return [Verdict(supported=True) for _ in claims]

        def judge_relevance(self, question: str, answer: str) -> None:
            return None

    handler = make(judge=Slow())
    await asyncio.gather(*[parts.lcel().ainvoke(parts.QUESTION, {"callbacks": [handler]}) for _ in range(20)])

    assert (20, "lexical") == (handler.stats["scored"], handler.last.judge)
    release.set()
    assert handler.close(60)
    assert "slow" == handler.last.judge


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_handler_made_before_a_fork_works_after_it(make: Callable[..., Any]) -> None:
    """
    As under gunicorn --preload: the child scores, in the background too, and flushes; the parent's counts stay.
    """
    from rageval_trace.live.settings import Settings

    handler = make(settings=Settings(mode="background"))
    parts.lcel().invoke(parts.QUESTION, {"callbacks": [handler]})
    assert handler.flush(5)
    child = os.fork()
    if child == 0:
        parts.lcel().invoke("in the child?", {"callbacks": [handler]})
        good = handler.flush(5) and handler.stats["scored"] == 1 and handler.last.record.question == "in the child?"
        os._exit(0 if good else 1)

    assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    parts.lcel().invoke(parts.QUESTION, {"callbacks": [handler]})
    assert handler.close(5)
    assert 2 == handler.stats["scored"]


def _in_a_spawned_process() -> None:
    from rageval_trace_langchain import RagEvalHandler

    handler = RagEvalHandler()
    parts.lcel().invoke(parts.QUESTION, {"callbacks": [handler]})
    if handler.stats["scored"] != 1:
        raise SystemExit(1)


def test_a_handler_made_in_a_spawned_process_works() -> None:
    """
    Workers that start from nothing make their own.
    """
    process = multiprocessing.get_context("spawn").Process(target=_in_a_spawned_process)
    process.start()
    process.join(60)

    assert 0 == process.exitcode


@pytest.mark.parametrize(("tasks", "threads"), [(100, 0), (0, 16)])
def test_one_handler_under_many_at_once(tasks: int, threads: int, handler: Any, results: list[Any]) -> None:
    """
    Tasks and threads share it without cross-talk, and nothing is left.
    """
    _crowd(handler, tasks, threads, each=5)

    _assert_no_cross_talk(handler, results, tasks + threads * 5)


@pytest.mark.slow
def test_one_handler_under_a_thousand_tasks_and_sixteen_threads(handler: Any, results: list[Any]) -> None:
    """
    The same at once, and larger.
    """
    _crowd(handler, 1000, 16, each=50)

    _assert_no_cross_talk(handler, results, 1000 + 16 * 50)


def _crowd(handler: Any, tasks: int, threads: int, *, each: int) -> None:
    chain = parts.lcel(parts.Echo(), parts.Script(says=[None], delay_s=0.001))
    config = {"callbacks": [handler]}

    def work(name: int) -> None:
        for number in range(each):
            chain.invoke(f"thread {name} {number}", config)

    async def many() -> None:
        await asyncio.gather(*[chain.ainvoke(f"task {number}", config) for number in range(tasks)])

    workers = [threading.Thread(target=work, args=(name,)) for name in range(threads)]
    for worker in workers:
        worker.start()
    asyncio.run(many())
    for worker in workers:
        worker.join()


def _assert_no_cross_talk(handler: Any, results: list[Any], expected: int) -> None:
    assert expected == len(results) == handler.stats["scored"]
    assert expected == len({result.record.question for result in results})
    for result in results:
        question = result.record.question
        assert [f"doc of {question}"] == [context.id for context in result.record.contexts]
        assert f"It is {question}" == result.record.answer
    assert (0, {}) == (handler.stats["live_requests"], handler._tracker.runs.live)
