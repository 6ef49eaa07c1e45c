"""
Errors, retries, fallbacks, interrupts and jumps.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest

pytest.importorskip("langgraph")

import langchain_parts as parts
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt
from pydantic import Field


class State(TypedDict, total=False):
    question: str
    context: list[Any]
    answer: str
    tries: Annotated[int, operator.add]


class Flaky(parts.Docs):
    """
    Return a stale document and a failing step at first, then the right one.
    """

    served: Any = Field(default_factory=list)

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
        self.served.append(1)
        return [Document(page_content=f"attempt {len(self.served)}", metadata={"id": f"attempt-{len(self.served)}"})]


class Breaks:
    """
    Fail a number of times, then pass on.
    """

    def __init__(self, times: int, error: type[BaseException] = ValueError) -> None:
        self.left = times
        self.error = error

    def __call__(self, value: Any) -> Any:
        if self.left:
            self.left -= 1
            raise self.error("broken")
        return value


def only(results: list[Any]) -> Any:
    (result,) = results
    return result


def ids(result: Any) -> list[str]:
    return [context.id for context in result.record.contexts]


def assert_clean(handler: Any) -> None:
    assert (0, 0) == (handler.stats["live_requests"], handler.stats.get("internal_errors", 0))


@pytest.mark.parametrize(
    ("chain", "contexts"),
    [
        (lambda: parts.lcel(parts.Docs(error=ValueError("retriever broken"))), None),
        (lambda: parts.lcel(model=parts.Script(says=[ValueError("model broken")])), 2),
        (lambda: parts.lcel() | RunnableLambda(Breaks(9)), 2),
        (lambda: parts.graph(model=parts.Script(says=[ValueError("node broken")])), 2),
    ],
)
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_failed_request_is_an_error(
    chain: Any, contexts: int | None, asynchronous: bool, handler: Any, results: list[Any]
) -> None:
    """
    The application sees its own exception; the request is kept with what was retrieved, counted, and not scored.
    """
    made = chain()
    value = {"question": parts.QUESTION} if hasattr(made, "nodes") else parts.QUESTION

    with pytest.raises(ValueError, match="broken"):
        if asynchronous:
            await made.ainvoke(value, {"callbacks": [handler]})
        else:
            made.invoke(value, {"callbacks": [handler]})

    record = only(results).record
    assert ("error", parts.QUESTION, None) == (only(results).status, record.question, record.answer)
    assert contexts == (None if record.contexts is None else len(record.contexts))
    assert ({}, 1) == (only(results).results, handler.stats["request_error"])
    assert_clean(handler)


def test_a_failed_item_of_a_batch_costs_the_others_nothing(handler: Any, results: list[Any]) -> None:
    """
    Items end one by one.
    """
    chain = RunnableLambda(lambda q: 1 / (q != "bad") and q) | parts.lcel(parts.Echo(), parts.Script(says=[None]))

    found = chain.batch(["a", "bad", "b"], {"callbacks": [handler]}, return_exceptions=True)

    assert isinstance(found[1], ZeroDivisionError)
    assert ["error", "ok", "ok"] == sorted([result.status for result in results])
    assert_clean(handler)


def test_a_retried_chain_counts_its_last_attempt(handler: Any, results: list[Any]) -> None:
    """
    What failed attempts had retrieved is left out.
    """
    chain = (
        Flaky(served=[]) | RunnableLambda(Breaks(2)) | RunnableLambda(lambda docs: docs[0].page_content)
    ).with_retry(wait_exponential_jitter=False)

    chain.invoke(parts.QUESTION, {"callbacks": [handler]})

    assert ("ok", ["attempt-3"], "attempt 3") == (only(results).status, ids(only(results)), only(results).record.answer)


@pytest.mark.parametrize(
    "first",
    [
        lambda: parts.Docs(error=ValueError("down")) | RunnableLambda(parts.join),
        lambda: parts.Docs(docs=[parts.OPENING]) | RunnableLambda(Breaks(1)) | RunnableLambda(parts.join),
    ],
    ids=["the retriever fails", "a later step fails"],
)
def test_a_fallback_counts_in_place_of_what_failed(first: Any, handler: Any, results: list[Any]) -> None:
    """
    The answer is the fallback's, and so are the contexts.
    """
    second = parts.Docs(docs=[parts.TOWER]) | RunnableLambda(parts.join)

    first().with_fallbacks([second]).invoke(parts.QUESTION, {"callbacks": [handler]})

    assert ("ok", ["tower"]) == (only(results).status, ids(only(results)))


def test_a_retried_node_counts_its_last_attempt(handler: Any, results: list[Any]) -> None:
    """
    A node with a retry policy runs again as the same node.
    """
    source, breaks = Flaky(served=[]), Breaks(1)
    graph = StateGraph(State)
    policy = RetryPolicy(initial_interval=0.0, jitter=False, retry_on=ValueError)
    graph.add_node("retrieve", lambda s: {"context": breaks(source.invoke(s["question"]))}, retry_policy=policy)
    graph.add_node("generate", lambda s: {"answer": "the answer"})
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "generate")

    graph.compile().invoke({"question": parts.QUESTION}, {"callbacks": [handler]})

    assert ("ok", ["attempt-2"]) == (only(results).status, ids(only(results)))


def test_a_corrective_loop_counts_its_last_retrieval(handler: Any, results: list[Any]) -> None:
    """
    Graded, rewritten, retrieved again: the second retrieval replaces the first.
    """
    source = Flaky(served=[])
    graph = StateGraph(State)
    graph.add_node("retrieve", lambda s: {"context": source.invoke(s["question"]), "tries": 1})
    graph.add_node("rewrite", lambda s: {"question": "rewritten?"})
    graph.add_node("generate", lambda s: {"answer": s["context"][0].page_content})
    graph.add_edge(START, "retrieve")
    graph.add_conditional_edges("retrieve", lambda s: "rewrite" if s["tries"] < 2 else "generate")
    graph.add_edge("rewrite", "retrieve")

    graph.compile().invoke({"question": parts.QUESTION, "tries": 0}, {"callbacks": [handler]})

    assert ("ok", parts.QUESTION, ["attempt-2"]) == (
        only(results).status,
        only(results).record.question,
        ids(only(results)),
    )
    assert ("rewritten?",) == only(results).search_queries


def test_an_interrupt_is_no_error_and_the_resumed_run_is_scored(handler: Any, results: list[Any]) -> None:
    """
    A human in the loop: the first run is interrupted; the second has its question and contexts in the state alone.
    """
    graph = StateGraph(State)
    graph.add_node("retrieve", lambda s: {"context": parts.Docs().invoke(s["question"])})
    graph.add_node("review", lambda s: {"answer": interrupt("good?")})
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "review")
    app = graph.compile(checkpointer=InMemorySaver())
    config = {"callbacks": [handler], "configurable": {"thread_id": "t"}}

    app.invoke({"question": parts.QUESTION}, config)
    app.invoke(Command(resume="The tower is 82 metres tall."), config)

    assert ["interrupted", "ok"] == [result.status for result in results]
    assert (parts.QUESTION, "The tower is 82 metres tall.", "output") == (
        results[1].record.question,
        results[1].record.answer,
        results[1].context_source,
    )
    assert ["tower", "opening"] == ids(results[1])
    assert (1, 1, 0) == (handler.stats["incomplete"], handler.stats["scored"], handler.stats["request_error"])
    assert_clean(handler)


def test_an_interrupt_inside_a_tool_is_no_error(handler: Any, results: list[Any]) -> None:
    """
    GraphInterrupt comes through the tool's error callback as well.
    """
    from langchain_core.tools import tool

    @tool
    def ask(query: str) -> str:
        """Ask a human."""
        return str(interrupt(query))

    app = parts.agent(
        parts.Script(says=[parts.call("ask", "sure?"), parts.ANSWER]), [ask], checkpointer=InMemorySaver()
    )
    config = {"callbacks": [handler], "configurable": {"thread_id": "t"}}

    app.invoke({"messages": [("human", parts.QUESTION)]}, config)
    app.invoke(Command(resume="yes"), config)

    assert ["interrupted", "answer_only"] == [result.status for result in results]


async def test_a_break_after_an_interrupt_chunk_ends_the_request(handler: Any, results: list[Any]) -> None:
    """
    Applications stop reading when they see `__interrupt__`.
    """
    graph = StateGraph(State)
    graph.add_node("review", lambda s: {"answer": interrupt("good?")})
    graph.add_edge(START, "review")
    app = graph.compile(checkpointer=InMemorySaver())
    config = {"callbacks": [handler], "configurable": {"thread_id": "t"}}

    stream = app.astream({"question": parts.QUESTION}, config)
    async for chunk in stream:
        if "__interrupt__" in chunk:
            break
    await stream.aclose()

    assert "interrupted" == only(results).status
    assert_clean(handler)


def test_ten_thousand_interrupts_leave_nothing(handler: Any, results: list[Any]) -> None:
    """
    Threads that are never resumed are not waited for (a hundred here; the bound is the same).
    """
    graph = StateGraph(State)
    graph.add_node("review", lambda s: {"answer": interrupt("good?")})
    graph.add_edge(START, "review")
    app = graph.compile(checkpointer=InMemorySaver())

    for number in range(100):
        app.invoke({"question": "?"}, {"callbacks": [handler], "configurable": {"thread_id": str(number)}})

    assert ({"interrupted"}, 100) == ({result.status for result in results}, handler.stats["incomplete"])
    assert_clean(handler)


def test_a_jump_to_the_parent_graph_is_no_error(handler: Any, results: list[Any]) -> None:
    """
    ParentCommand is raised through three runs, and the request ends well.
    """
    inner = StateGraph(State)
    inner.add_node(
        "retrieve",
        lambda s: Command(
            goto="generate", update={"context": parts.Docs().invoke(s["question"])}, graph=Command.PARENT
        ),
    )
    inner.add_edge(START, "retrieve")
    outer = StateGraph(State)
    outer.add_node("search", inner.compile())
    outer.add_node("generate", lambda s: {"answer": parts.ANSWER})
    outer.add_edge(START, "search")

    outer.compile().invoke({"question": parts.QUESTION}, {"callbacks": [handler]})

    assert ("ok", ["tower", "opening"], parts.ANSWER) == (
        only(results).status,
        ids(only(results)),
        only(results).record.answer,
    )


def test_a_command_hands_over(handler: Any, results: list[Any]) -> None:
    """
    Command(goto=..., update=...) carries documents from node to node.
    """
    graph = StateGraph(State)
    graph.add_node("search", lambda s: Command(goto="generate", update={"context": [parts.TOWER]}))
    graph.add_node("generate", lambda s: {"answer": parts.ANSWER})
    graph.add_edge(START, "search")

    graph.compile().invoke({"question": parts.QUESTION}, {"callbacks": [handler]})

    assert ("ok", "chain_output", ["tower"]) == (only(results).status, only(results).context_source, ids(only(results)))


def test_a_fan_out_adds_up(handler: Any, results: list[Any]) -> None:
    """
    Send runs one node several times in one step: all of it is retrieved.
    """
    from langgraph.types import Send

    class Fan(TypedDict, total=False):
        question: str
        found: Annotated[list[Any], operator.add]
        answer: str

    graph = StateGraph(Fan)
    graph.add_node("retrieve", lambda s: {"found": parts.Echo().invoke(s["question"])})
    graph.add_node("generate", lambda s: {"answer": parts.ANSWER})
    graph.add_conditional_edges(START, lambda s: [Send("retrieve", {"question": q}) for q in ("one", "two")])
    graph.add_edge("retrieve", "generate")

    graph.compile().invoke({"question": parts.QUESTION}, {"callbacks": [handler]})

    assert {"doc of one", "doc of two"} == set(ids(only(results)))


def test_a_subgraph_is_part_of_its_request(handler: Any, results: list[Any]) -> None:
    """
    A compiled graph as a node.
    """
    graph = StateGraph(State)
    graph.add_node("rag", parts.graph())
    graph.add_node("polish", lambda s: {"answer": s["answer"] + " Indeed."})
    graph.add_edge(START, "rag")
    graph.add_edge("rag", "polish")
    graph.add_edge("polish", END)

    graph.compile().invoke({"question": parts.QUESTION}, {"callbacks": [handler]})

    assert (["tower", "opening"], parts.ANSWER + " Indeed.") == (ids(only(results)), only(results).record.answer)


def test_the_functional_api_is_read(handler: Any, results: list[Any]) -> None:
    """
    Tasks and an entrypoint.
    """
    from langgraph.func import entrypoint, task

    @task
    def retrieve(question: str) -> list[Any]:
        return parts.Docs().invoke(question)

    @entrypoint()
    def answer(question: str) -> str:
        return f"{len(retrieve(question).result())} documents"

    answer.invoke(parts.QUESTION, {"callbacks": [handler]})

    assert (parts.QUESTION, "2 documents", ["tower", "opening"]) == (
        only(results).record.question,
        only(results).record.answer,
        ids(only(results)),
    )


def test_keyboard_interrupt_passes_through(handler: Any, results: list[Any]) -> None:
    """
    The user stops the program: so it is, and the request was cancelled.
    """
    with pytest.raises(KeyboardInterrupt):
        parts.lcel(model=parts.Script(says=[KeyboardInterrupt()])).invoke(parts.QUESTION, {"callbacks": [handler]})

    assert "cancelled" == only(results).status
    assert_clean(handler)


def test_an_error_named_like_an_interrupt_is_an_error(handler: Any, results: list[Any]) -> None:
    """
    LangGraph's exceptions are told by base class and module, not by their name alone.
    """

    class GraphInterrupt(Exception):  # noqa: N818 - the name is the point
        pass

    with pytest.raises(GraphInterrupt):
        (parts.lcel() | RunnableLambda(Breaks(1, GraphInterrupt))).invoke(parts.QUESTION, {"callbacks": [handler]})

    assert "error" == only(results).status


def test_a_cached_answer_is_an_answer(handler: Any, results: list[Any]) -> None:
    """
    A cache hit brings the same events.
    """
    from langchain_core.caches import InMemoryCache

    chain = parts.lcel(model=parts.Script(cache=InMemoryCache()))

    for _ in range(2):
        chain.invoke(parts.QUESTION, {"callbacks": [handler]})

    assert [("ok", parts.ANSWER)] * 2 == [(result.status, result.record.answer) for result in results]
