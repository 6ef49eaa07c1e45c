"""
What a user can tell: explicit contexts and answers, overrides, extractors, keys, citations.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("langgraph")

import langchain_parts as parts
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import tool
from pydantic import BaseModel
from rageval_trace_langchain import DocumentKeys, record_answer, record_contexts


def only(results: list[Any]) -> Any:
    (result,) = results
    return result


def in_a_lambda() -> tuple[Any, Any]:
    def retrieve(question: str) -> dict[str, str]:
        found = [parts.TOWER, parts.OPENING]
        assert record_contexts(found)
        return {"context": parts.join(found), "question": question}

    return RunnableLambda(retrieve) | parts.PROMPT | parts.Script(), parts.QUESTION


def in_an_async_lambda() -> tuple[Any, Any]:
    async def retrieve(question: str, config: RunnableConfig) -> dict[str, str]:
        found = [parts.TOWER, parts.OPENING]
        await asyncio.sleep(0)
        assert record_contexts(found, config=config)
        return {"context": parts.join(found), "question": question}

    return RunnableLambda(retrieve) | parts.PROMPT | parts.Script(), parts.QUESTION


def in_a_tool() -> tuple[Any, Any]:
    @tool
    def search(query: str) -> str:
        """Search."""
        assert record_contexts([parts.TOWER, parts.OPENING])
        return "found"

    return parts.agent(tools=[search]), {"messages": [("human", parts.QUESTION)]}


def in_a_dynamic_prompt() -> tuple[Any, Any]:
    from langchain.agents.middleware import dynamic_prompt

    @dynamic_prompt
    def with_context(request: Any) -> str:
        found = [parts.TOWER, parts.OPENING]
        assert record_contexts(found)
        return f"Answer from this: {parts.join(found)}"

    agent = parts.agent(parts.Script(), tools=[], middleware=[with_context])
    return agent, {"messages": [("human", parts.QUESTION)]}


def in_a_node() -> tuple[Any, Any]:
    from typing import TypedDict

    from langgraph.graph import START, StateGraph

    class State(TypedDict, total=False):
        question: str
        answer: str

    def answer(state: State) -> State:
        assert record_contexts([parts.TOWER])
        assert record_contexts([parts.OPENING])
        return {"answer": parts.ANSWER}

    graph = StateGraph(State)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    return graph.compile(), {"question": parts.QUESTION}


STEPS = [in_a_lambda, in_a_tool, in_a_dynamic_prompt, in_a_node]


@pytest.mark.parametrize(
    ("build", "asynchronous"), [(in_an_async_lambda, True), *itertools.product(STEPS, [False, True])]
)
def test_contexts_can_be_named_from_inside_a_step(
    build: Callable[[], Any], asynchronous: bool, handler: Any, results: list[Any]
) -> None:
    """
    One line where callbacks see nothing; several calls add up.
    """
    chain, value = build()
    config = {"callbacks": [handler]}
    if asynchronous:
        asyncio.run(chain.ainvoke(value, config))
    else:
        chain.invoke(value, config)

    assert ("ok", "explicit", parts.ANSWER) == (
        only(results).status,
        only(results).context_source,
        only(results).record.answer,
    )
    assert ["tower", "opening"] == [context.id for context in only(results).record.contexts]


def test_named_contexts_beat_observed_ones(handler: Any, results: list[Any]) -> None:
    """
    A reranker written by hand says what the model was shown.
    """

    def rerank(found: list[Any]) -> str:
        record_contexts(found[:1])
        return parts.join(found[:1])

    chain = (
        {
            "context": parts.Docs() | RunnableLambda(rerank),
            "question": RunnableLambda(lambda q: q),
        }
        | parts.PROMPT
        | parts.Script()
    )

    chain.invoke(parts.QUESTION, {"callbacks": [handler]})

    assert ["tower"] == [context.id for context in only(results).record.contexts]


def test_the_answer_can_be_named(handler: Any, results: list[Any]) -> None:
    """
    An output of a type of the application's own hides the answer.
    """

    class Page:
        pass

    def render(text: str) -> Page:
        assert record_answer(parts.GOOD)
        return Page()

    (parts.lcel() | RunnableLambda(render)).invoke(parts.QUESTION, {"callbacks": [handler]})

    assert parts.GOOD == only(results).record.answer


def test_outside_a_request_nothing_is_recorded(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    It says so once, and never raises.
    """
    from rageval_trace.live import tally

    monkeypatch.setattr(tally, "_said", set())

    assert not record_contexts([parts.TOWER])
    assert not record_answer("x", config={"callbacks": [object()]})
    found: list[bool] = []
    RunnableLambda(lambda x: found.append(record_contexts([x]))).invoke("x")
    assert [False] == found
    assert ["nothing was recorded: no RagEvalHandler follows the current run"] == caplog.messages


def test_a_raw_thread_needs_the_config(handler: Any, results: list[Any]) -> None:
    """
    Threads that the application starts itself do not inherit the current run; they can be given it.
    """
    found: list[bool] = []

    def step(question: str, config: RunnableConfig) -> str:
        for given in (None, config):
            thread = threading.Thread(target=lambda given=given: found.append(record_contexts(["text"], config=given)))
            thread.start()
            thread.join()
        return "answer"

    RunnableLambda(step).invoke(parts.QUESTION, {"callbacks": [handler]})

    assert ([False, True], ("text",)) == (found, tuple([c.text for c in only(results).record.contexts]))


def test_a_request_can_be_described_in_its_metadata(handler: Any, results: list[Any]) -> None:
    """
    Labels, question and pipeline of one call.
    """
    metadata = {
        "rageval.question": "asked?",
        "rageval.relevant_ids": ["tower"],
        "rageval.ground_truth": "82 metres",
        "rageval.citations": ["tower"],
        "rageval.pipeline": "special",
    }

    parts.lcel().invoke(parts.QUESTION, {"callbacks": [handler], "metadata": metadata})

    result = only(results)
    assert ("asked?", "82 metres", ("tower",), "special") == (
        result.record.question,
        result.record.ground_truth,
        result.record.citations,
        result.pipeline,
    )
    assert {"recall", "ndcg", "context_recall", "answer_correctness", "citation_accuracy"} <= set(result.scores)


def test_extractors_read_what_only_the_user_knows(make: Callable[..., Any], results: list[Any]) -> None:
    """
    Each is asked first, and may leave it to the usual way by returning None.
    """
    handler = make(
        question=lambda inputs: inputs["payload"]["q"] if "payload" in inputs else None,
        contexts=lambda outputs: outputs.get("evidence"),
        answer=lambda outputs: outputs.get("prose"),
    )
    chain = RunnableLambda(lambda x: {"evidence": [parts.TOWER], "prose": parts.GOOD})

    chain.invoke({"payload": {"q": "nested?"}}, {"callbacks": [handler]})
    parts.retrieval_chain().invoke({"input": parts.QUESTION}, {"callbacks": [handler]})

    assert [("nested?", parts.GOOD, "explicit"), (parts.QUESTION, parts.ANSWER, "retriever")] == [
        (r.record.question, r.record.answer, r.context_source) for r in results
    ]


def test_document_keys_can_be_chosen(make: Callable[..., Any], results: list[Any]) -> None:
    """
    Ids and times under names of the application's own.
    """
    document = parts.Document(page_content="x", metadata={"id": "no", "key": "yes", "seen": "2026-01-01"})
    handler = make(document_keys=DocumentKeys(id=("key",), timestamp=("seen",)))

    parts.lcel(parts.Docs(docs=[document])).invoke(parts.QUESTION, {"callbacks": [handler]})

    (context,) = only(results).record.contexts
    assert ("yes", 2026) == (context.id, context.timestamp.year)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"question": "q"}, "question is str: expected a function"),
        ({"contexts": 1}, "contexts is int: expected a function"),
        ({"retrieval_tools": "search"}, "retrieval_tools is one str: expected a sequence of names"),
        ({"retrieval_tools": [1]}, r"retrieval_tools holds 1: expected names or compiled patterns"),
        ({"document_keys": {}}, "document_keys is dict: expected DocumentKeys"),
        ({"pipelin": "x"}, "pipelin"),
    ],
)
def test_a_bad_lever_is_an_error_at_once(arguments: dict[str, Any], message: str, make: Callable[..., Any]) -> None:
    """
    The error says what is expected.
    """
    with pytest.raises(TypeError, match=message):
        make(**arguments)


def cited(**block: Any) -> AIMessage:
    return AIMessage([{"type": "text", "text": parts.GOOD, **block}])


@pytest.mark.parametrize(
    "message",
    [
        cited(citations=[{"type": "char_location", "cited_text": "x", "document_index": 0, "document_title": None}]),
        cited(citations=[{"type": "char_location", "cited_text": "82 metres tall", "document_title": "?"}]),
        cited(annotations=[{"type": "citation", "title": "guide.md", "extras": {"document_index": 5}}]),
        cited(annotations=[{"type": "file_citation", "file_id": "tower", "index": 3}]),
        cited(annotations=[{"type": "citation", "cited_text": "The Harbour Tower is 82 metres"}]),
    ],
    ids=["index", "quote", "title", "id", "standard"],
)
def test_citations_of_content_blocks_are_read(message: AIMessage, handler: Any, results: list[Any]) -> None:
    """
    Chat models cite in blocks, which a string parser drops: they are resolved to context ids.
    """
    parts.lcel(model=parts.Script(says=[message])).invoke(parts.QUESTION, {"callbacks": [handler]})

    assert ("tower",) == only(results).record.citations
    assert 1.0 == only(results).scores["citation_accuracy"]


class Cited(BaseModel):
    answer: str
    citations: list[Any]


@pytest.mark.parametrize(
    ("citations", "expected"),
    [
        ([1], ("tower",)),
        (["opening", "tower"], ("opening", "tower")),
        ([{"source_id": 2, "quote": "The tower opens at nine"}], ("opening",)),
        ([{"source_id": 1}], ("tower",)),
        ([{"url": "https://elsewhere.example"}], ("https://elsewhere.example",)),
        ([True, None, 1.5, {}], None),
        ("tower", None),
    ],
)
def test_citations_of_an_answers_schema_are_read(
    citations: Any, expected: Any, handler: Any, results: list[Any]
) -> None:
    """
    Structured answers name ranks, ids, or quotes; as a mapping, a model or an agent's structured response.
    """
    made = {"answer": parts.GOOD, "citations": citations}
    outputs: list[Any] = [made, {"structured_response": made, "messages": []}]
    if isinstance(citations, list):
        outputs.append(Cited(**made))
    for output in outputs:
        chain = parts.Docs() | RunnableLambda(lambda found, output=output: output)
        chain.invoke(parts.QUESTION, {"callbacks": [handler]})

    assert [(parts.GOOD, expected)] * len(outputs) == [(r.record.answer, r.record.citations) for r in results]


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("The Harbour Tower is 82 metres tall [1].", 1.0),
        ("The Harbour Tower is 82 metres tall [1, 2].", 0.5),
        ("The Harbour Tower is 82 metres tall [tower].", 1.0),
        ("The Harbour Tower is 82 metres tall [opening].", 0.0),
    ],
)
def test_marks_in_the_answer_are_citations(answer: str, score: float, handler: Any, results: list[Any]) -> None:
    """
    Ranks and ids in brackets, read by the harness itself.
    """
    parts.lcel(model=parts.Script(says=[answer])).invoke(parts.QUESTION, {"callbacks": [handler]})

    assert score == only(results).scores["citation_accuracy"]
