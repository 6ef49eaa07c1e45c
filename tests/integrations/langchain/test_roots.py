"""
Which run is a request: duplicates, unknown parents, late children, ids used again, units.
"""

from __future__ import annotations

import copy
import gc
import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("langgraph")

import langchain_parts as parts
from langchain_core.callbacks import CallbackManager
from langchain_core.runnables import RunnableLambda


def statuses(results: list[Any]) -> list[str]:
    return [result.status for result in results]


def test_a_handler_attached_twice_counts_once(handler: Any, results: list[Any]) -> None:
    """
    By `with_config` and in the call, every root event comes twice.
    """
    chain = parts.lcel().with_config(callbacks=[handler])

    chain.invoke(parts.QUESTION, {"callbacks": [handler]})
    list(chain.stream(parts.QUESTION, {"callbacks": [handler]}))
    chain.with_config(callbacks=CallbackManager([handler])).invoke(parts.QUESTION, {"callbacks": [handler]})

    assert ["ok", "ok", "ok"] == statuses(results)


def test_a_handler_on_the_model_and_in_the_call_counts_once(handler: Any, results: list[Any]) -> None:
    """
    A constructor's callbacks join those of the call.
    """
    parts.lcel(model=parts.Script(callbacks=[handler])).invoke(parts.QUESTION, {"callbacks": [handler]})

    assert ["ok"] == statuses(results)


def test_two_handlers_give_two_results(make: Callable[..., Any], results: list[Any]) -> None:
    """
    Two instances are two pipelines: each reports.
    """
    parts.lcel().invoke(parts.QUESTION, {"callbacks": [make(pipeline="one"), make(pipeline="two")]})

    assert ["one", "two"] == sorted([result.pipeline for result in results])


@pytest.mark.parametrize(
    ("attach", "expected"),
    [
        (lambda h: parts.lcel(model=parts.Script(callbacks=[h])), "answer_only"),
        (lambda h: parts.lcel(parts.Docs().with_config(callbacks=[h])), "retrieval_only"),
    ],
)
def test_a_handler_on_a_part_sees_a_part(
    attach: Callable[[Any], Any], expected: str, handler: Any, results: list[Any]
) -> None:
    """
    The root is the first run whose parent is unknown; half a request says so and is outside the coverage.
    """
    attach(handler).invoke(parts.QUESTION)

    assert [expected] == statuses(results)
    assert (1, 0) == (handler.stats["not_rag"], handler.stats["live_requests"])


def test_a_langsmith_parent_is_an_unknown_one(handler: Any, results: list[Any]) -> None:
    """
    Inside LangSmith's tracing context every root has a parent that no handler sees.
    """
    from langsmith.run_helpers import tracing_context
    from langsmith.run_trees import RunTree

    with tracing_context(parent=RunTree(name="outer", run_type="chain"), enabled=False):
        parts.lcel().invoke(parts.QUESTION, {"callbacks": [handler]})

    assert ["ok"] == statuses(results)
    assert 0 == handler.stats["live_requests"]


def test_a_run_id_used_again_is_another_request(handler: Any, results: list[Any]) -> None:
    """
    One after the other, two requests under one id are two.
    """
    run_id = uuid.uuid4()
    for question in ("first?", "second?"):
        parts.lcel().invoke(question, {"callbacks": [handler], "run_id": run_id})

    assert ["first?", "second?"] == [result.record.question for result in results]
    assert ["ok", "ok"] == statuses(results)


def test_a_run_id_used_twice_at_once_is_ambiguous(handler: Any, results: list[Any]) -> None:
    """
    Contexts of two requests cannot be told apart: neither is scored, both are counted.
    """
    run_id, meet = uuid.uuid4(), threading.Barrier(2)

    def wait(text: str) -> str:
        meet.wait(10)
        return text

    chain = RunnableLambda(wait) | parts.lcel() | RunnableLambda(wait)
    threads = [
        threading.Thread(target=chain.invoke, args=(f"q{n}", {"callbacks": [handler], "run_id": run_id}))
        for n in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert ["ambiguous"] == statuses(results)
    assert (2, 0) == (handler.stats["incomplete"], handler.stats["live_requests"])


def test_late_children_are_ignored(handler: Any, results: list[Any]) -> None:
    """
    A thread that the application left running does not become a request.
    """
    from langchain_core.runnables.config import var_child_runnable_config

    go, kept = threading.Event(), []

    def leave_running(text: str) -> str:
        config = var_child_runnable_config.get()

        def late() -> None:
            go.wait(10)
            parts.lcel().invoke("late?", config)

        kept.append(threading.Thread(target=late))
        kept[0].start()
        return text

    (parts.lcel() | RunnableLambda(leave_running)).invoke(parts.QUESTION, {"callbacks": [handler]})
    go.set()
    kept[0].join()

    assert ["ok"] == statuses(results)
    assert 0 == handler.stats["live_requests"]
    assert handler.stats["late_runs"] > 0


@pytest.mark.parametrize("part", ["model", "retriever", "chain"])
def test_a_run_called_by_hand_inside_a_step_belongs_to_the_request(part: str, handler: Any, results: list[Any]) -> None:
    """
    A config written by hand gives a run no parent; the step that it runs in tells where it belongs.
    """
    called = {"model": parts.Script(says=["draft"]), "retriever": parts.Echo(), "chain": parts.lcel(parts.Echo())}[part]

    def by_hand(text: str) -> str:
        called.invoke("x", config={"callbacks": [handler]})
        return text

    (parts.lcel() | RunnableLambda(by_hand)).invoke(parts.QUESTION, {"callbacks": [handler]})

    (result,) = results
    assert ("ok", parts.QUESTION, parts.ANSWER) == (result.status, result.record.question, result.record.answer)
    assert (2 if part == "model" else 3) == len(result.record.contexts)


def test_callbacks_of_a_constructor_see_no_retrieval(handler: Any, results: list[Any]) -> None:
    """
    They are not inherited: contexts are missing, which is not the same as empty. `with_config` is the way.
    """
    from langchain_classic.chains import RetrievalQA

    RetrievalQA.from_chain_type(parts.Script(), retriever=parts.Docs(), callbacks=[handler]).invoke(parts.QUESTION)
    chain = RetrievalQA.from_chain_type(parts.Script(), retriever=parts.Docs()).with_config(callbacks=[handler])
    chain.invoke(parts.QUESTION)

    assert [("answer_only", None), ("ok", 2)] == [
        (r.status, None if r.record.contexts is None else len(r.record.contexts)) for r in results
    ]


def test_a_manager_in_the_call_with_inheritable_handlers_works(handler: Any, results: list[Any]) -> None:
    """
    A manager's handlers are inherited only when it says so.
    """
    parts.lcel().invoke(parts.QUESTION, {"callbacks": CallbackManager([handler], [handler])})

    assert ["ok"] == statuses(results)


def test_a_plain_function_becomes_one_request(handler: Any, results: list[Any]) -> None:
    """
    Two calls in a function are two roots, unless the function is a RunnableLambda: the one-line way.
    """
    retriever, model = parts.Docs(), parts.Script()

    def answer(question: str) -> str:
        found = retriever.invoke(question)
        return str(model.invoke(f"{parts.join(found)}\n{question}").content)

    RunnableLambda(answer).invoke(parts.QUESTION, {"callbacks": [handler]})

    (result,) = results
    assert ("ok", parts.QUESTION, parts.ANSWER, 2) == (
        result.status,
        result.record.question,
        result.record.answer,
        len(result.record.contexts),
    )


def test_a_plain_function_without_it_is_two_halves(handler: Any, results: list[Any]) -> None:
    """
    They cannot be joined, and neither half is scored.
    """
    config = {"callbacks": [handler]}
    parts.Docs().invoke(parts.QUESTION, config)
    parts.Script().invoke(parts.QUESTION, config)

    assert ["retrieval_only", "answer_only"] == statuses(results)


def test_a_chain_group_needs_with_config(handler: Any, results: list[Any]) -> None:
    """
    `trace_as_chain_group` ignores its callback manager while LangSmith is off; the chain's own config works inside.
    """
    from langchain_core.callbacks.manager import trace_as_chain_group

    with trace_as_chain_group("group", CallbackManager([handler])):
        parts.lcel().invoke(parts.QUESTION)
        assert [] == results
        parts.lcel().with_config(callbacks=[handler]).invoke(parts.QUESTION)

    assert ["ok"] == statuses(results)


def test_each_element_of_a_map_can_be_a_unit(handler: Any, results: list[Any]) -> None:
    """
    `chain.map()` is one root over independent questions; the tag makes each of them a request.
    """
    chain = parts.lcel(parts.Echo(), parts.Script(says=[None]))

    chain.with_config(tags=["rageval:unit"]).map().invoke(["a", "b", "c"], {"callbacks": [handler]})

    units = [result for result in results if result.status == "ok"]
    assert [("a", ["doc of a"]), ("b", ["doc of b"]), ("c", ["doc of c"])] == sorted(
        [(r.record.question, [context.id for context in r.record.contexts]) for r in units]
    )
    assert ["answer_only"] == [result.status for result in results if result.status != "ok"]


def test_a_sub_agent_can_be_a_unit(handler: Any, results: list[Any]) -> None:
    """
    A supervisor sees its sub-agent's summary alone; tagged, the sub-agent is scored on what it saw.
    """
    from langchain_core.tools import tool

    inner = parts.agent(parts.Script(says=[parts.call("search", "tower"), parts.GOOD]))

    @tool
    def guide(query: str) -> str:
        """Ask the guide."""
        said = inner.invoke({"messages": [("human", query)]}, {"tags": ["rageval:unit"]})
        return str(said["messages"][-1].content)

    outer = parts.agent(parts.Script(says=[parts.call("guide", "height of the tower"), "82 metres."]), [guide])

    outer.invoke({"messages": [("human", parts.QUESTION)]}, {"callbacks": [handler]})

    assert [("ok", "height of the tower", parts.GOOD), ("answer_only", parts.QUESTION, "82 metres.")] == [
        (r.status, r.record.question, r.record.answer) for r in results
    ]


def test_one_handler_serves_chains_of_any_shape(handler: Any, results: list[Any]) -> None:
    """
    Nothing is configured per chain.
    """
    config = {"callbacks": [handler]}
    parts.lcel().invoke(parts.QUESTION, config)
    parts.retrieval_chain().invoke({"input": parts.QUESTION}, config)
    parts.graph().invoke({"question": parts.QUESTION}, config)

    assert [parts.QUESTION] * 3 == [result.record.question for result in results]
    assert [2, 2, 2] == [len(result.record.contexts) for result in results]


def test_handlers_are_hashable_and_copies_are_themselves(handler: Any) -> None:
    """
    LangChain puts handlers in sets, and deep-copies models that hold them.
    """
    model = parts.Script(callbacks=[handler])

    assert handler is copy.copy(handler) is copy.deepcopy(handler)
    assert {handler} == {handler, copy.copy(handler)}
    assert handler is model.model_copy(deep=True).callbacks[0]
    assert handler in CallbackManager([handler]).merge(CallbackManager([handler])).handlers


def test_handlers_made_per_request_leave_nothing(make: Callable[..., Any]) -> None:
    """
    A hundred handlers, made and dropped, leave neither threads nor themselves.
    """
    import weakref

    before, alive = threading.active_count(), []
    for _ in range(100):
        handler = make()
        alive.append(weakref.ref(handler))
        parts.lcel().invoke(parts.QUESTION, {"callbacks": [handler]})
    del handler
    gc.collect()

    assert before == threading.active_count()
    assert [None] * 100 == [one() for one in alive]


def test_a_state_that_holds_live_objects_is_read(handler: Any, results: list[Any]) -> None:
    """
    Retrievers, clients and locks in the input are neither copied nor serialised.
    """
    state = {"retriever": parts.Docs(), "lock": threading.Lock(), "question": parts.QUESTION}

    (RunnableLambda(lambda s: s["question"]) | parts.lcel()).invoke(state, {"callbacks": [handler]})

    assert parts.QUESTION == results[0].record.question
