"""
Inputs and outputs of every type, some of them hostile.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("langgraph")

import langchain_parts as parts
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel
from rageval_trace_langchain import convert

from rageval_trace.live.documents import DocumentKeys, DocumentReader
from rageval_trace.models import Context


class Ask(BaseModel):
    question: str = "asked?"


class Answered(BaseModel):
    answer: str = "answered."


@dataclasses.dataclass
class AskPlain:
    query: str = "asked?"


class Hostile:
    """
    Raise at every comparison, test and print, as arrays and lazy frames do.
    """

    def __eq__(self, other: object) -> bool:
        raise ValueError("ambiguous")

    def __bool__(self) -> bool:
        raise ValueError("ambiguous")

    def __str__(self) -> str:
        raise ValueError("unprintable")

    __repr__ = __str__
    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no such thing")


HUMAN = HumanMessage("asked?")
BLOCKS = HumanMessage(
    [{"type": "text", "text": "ask"}, {"type": "image_url", "image_url": "x"}, {"type": "text", "text": "ed?"}]
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("asked?", "asked?"),
        ("", None),
        (None, None),
        (7, None),
        ({"input": ""}, None),
        ({"input": "asked?"}, "asked?"),
        ({"question": "asked?", "input": "other"}, "asked?"),
        ({"anything": "asked?"}, "asked?"),
        ({"one": "a", "two": "b"}, None),
        ({"input": [HUMAN]}, "asked?"),
        ({"input": HUMAN}, "asked?"),
        ({"messages": [SystemMessage("s"), HUMAN, AIMessage("a")]}, "asked?"),
        ({"messages": [("system", "s"), ("user", "asked?")]}, "asked?"),
        ({"messages": [{"role": "user", "content": "asked?"}]}, "asked?"),
        ({"messages": "asked?"}, "asked?"),
        ({"messages": HUMAN}, "asked?"),
        ([HUMAN], "asked?"),
        (["asked?"], "asked?"),
        ([], None),
        (HUMAN, "asked?"),
        (BLOCKS, "asked?"),
        (Ask(), "asked?"),
        (AskPlain(), "asked?"),
    ],
)
def test_questions_are_read_from_anything(value: Any, expected: str | None) -> None:
    """
    Strings, messages, and the usual keys of mappings, models and dataclasses.
    """
    assert expected == convert.question_of(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("answered.", "answered."),
        ("", ""),
        (None, None),
        (7, None),
        ({"answer": "answered.", "output": "x"}, "answered."),
        ({"output": AIMessage("answered.")}, "answered."),
        ({"messages": [HUMAN, AIMessage("draft"), AIMessage("answered.")]}, "answered."),
        ({"messages": [HUMAN, AIMessage("answered."), HUMAN]}, None),
        ({"messages": [AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "1"}])]}, None),
        ({"messages": AIMessage("answered.")}, "answered."),
        ({"messages": [{"role": "assistant", "content": "answered."}]}, "answered."),
        ([HUMAN, AIMessage("answered.")], "answered."),
        (AIMessage("answered."), "answered."),
        (AIMessage([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "answered."}]), "answered."),
        (AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "1"}]), None),
        (Answered(), "answered."),
        ({"context": [parts.TOWER]}, None),
    ],
)
def test_answers_are_read_from_anything(value: Any, expected: str | None) -> None:
    """
    Strings, messages without tool calls, and the usual keys; reasoning is left out.
    """
    assert expected == convert.answer_of(value)


ODD: dict[str, Callable[[], Any]] = {
    "alone": Hostile,
    "under a key": lambda: {"question": Hostile(), "answer": Hostile(), "context": Hostile()},
    "as documents": lambda: {"context": [Hostile()], "documents": [(Hostile(), Hostile())]},
    "among messages": lambda: {"messages": [Hostile()]},
    "in a list": lambda: [Hostile()],
    "in a pair": lambda: (Hostile(), Hostile()),
    "keys that are no strings": lambda: {1: 2},
    "nested": lambda: {"input": {"input": "x"}},
    "bytes": lambda: b"x",
    "number": lambda: 3.5,
}


def test_hostile_values_are_neither_questions_nor_answers() -> None:
    """
    What cannot be compared or printed is passed over.
    """
    assert [None] * 8 == [
        read(ODD[name]()) for read in (convert.question_of, convert.answer_of) for name in list(ODD)[:4]
    ]
    assert "asked?" == convert.question_of({"question": Hostile(), "query": "asked?"})


@pytest.mark.parametrize("odd", ODD)
def test_hostile_values_change_nothing(odd: str, handler: Any, results: list[Any]) -> None:
    """
    The application gets its own object back, and nothing is logged or counted as an error of ours.
    """
    value = ODD[odd]()
    chain = RunnableLambda(lambda x: (parts.Docs().invoke("q"), x)[1])

    assert chain.invoke(value, {"callbacks": [handler]}) is value

    assert 0 == handler.stats.get("internal_errors", 0)
    assert 1 == len(results)


def test_hostile_documents_cost_only_themselves(handler: Any, results: list[Any]) -> None:
    """
    The documents beside them are kept.
    """
    chain = parts.Docs(docs=[Hostile(), parts.TOWER]) | RunnableLambda(lambda found: parts.GOOD)

    chain.invoke(parts.QUESTION, {"callbacks": [handler]})

    assert ["tower"] == [context.id for context in results[0].record.contexts]
    assert 0 == handler.stats.get("internal_errors", 0)


def test_numpy_inputs_change_nothing(handler: Any, results: list[Any]) -> None:
    """
    Comparing an array gives an array, whose truth is an error.
    """
    numpy = pytest.importorskip("numpy")
    value = {"input": numpy.array([1, 2]), "question": parts.QUESTION, "vector": numpy.zeros(3)}

    (RunnableLambda(lambda x: x["question"]) | parts.lcel()).invoke(value, {"callbacks": [handler]})

    assert parts.QUESTION == results[0].record.question
    assert 0 == handler.stats.get("internal_errors", 0)


def test_cyclic_and_huge_inputs_are_bounded(handler: Any, results: list[Any]) -> None:
    """
    Nothing is followed deeper than two levels, or further than a thousand items.
    """
    cyclic: dict[str, Any] = {"question": parts.QUESTION, "many": list(range(1_000_000)), "text": "x" * 5_000_000}
    cyclic["self"] = cyclic

    (RunnableLambda(lambda x: x) | RunnableLambda(lambda x: x["question"]) | parts.lcel()).invoke(
        cyclic, {"callbacks": [handler]}
    )

    assert parts.QUESTION == results[0].record.question
    assert 0 == handler.stats.get("internal_errors", 0)


@pytest.mark.parametrize(
    "metadata", [{"session_id": -2}, {"thread_id": None}, {"x": object()}, {"rageval.question": 7}]
)
def test_odd_metadata_changes_nothing(metadata: dict[str, Any], handler: Any, results: list[Any]) -> None:
    """
    Session ids that are numbers, and values of any type.
    """
    parts.lcel().invoke(parts.QUESTION, {"callbacks": [handler], "metadata": metadata})

    assert ("ok", parts.QUESTION) == (results[0].status, results[0].record.question)
    assert 0 == handler.stats.get("internal_errors", 0)


def test_what_a_model_says_of_itself_is_kept(make: Any, telemetry: Any) -> None:
    """
    Response id, model, provider and conversation reach the span; ids that LangChain made up do not.
    """
    said = AIMessage(parts.GOOD, response_metadata={"id": "resp-1", "model_name": "m-1", "model_provider": "p-1"})
    config = {"callbacks": [make()], "metadata": {"session_id": "s-1"}}

    parts.lcel(model=parts.Script(says=[said])).invoke(parts.QUESTION, config)
    parts.lcel().invoke(parts.QUESTION, config)

    names = ("gen_ai.response.id", "gen_ai.request.model", "gen_ai.provider.name", "gen_ai.conversation.id")
    spans = [span.attributes for span in telemetry.spans if span.name == "evaluation rag"]
    assert ["resp-1", "m-1", "p-1", "s-1"] == [spans[0].get(name) for name in names]
    assert [None, None, None, "s-1"] == [spans[1].get(name) for name in names]


def test_models_that_complete_text_are_read(handler: Any, results: list[Any]) -> None:
    """
    The older kind of model, without chat messages.
    """
    from langchain_core.language_models import FakeListLLM

    chain = parts.Docs() | RunnableLambda(parts.join) | FakeListLLM(responses=[parts.GOOD])

    chain.invoke(parts.QUESTION, {"callbacks": [handler]})

    assert ("ok", parts.GOOD) == (results[0].status, results[0].record.answer)


def test_the_models_word_stands_in_for_an_unreadable_output(handler: Any, results: list[Any]) -> None:
    """
    An output of the application's own type: the last model call outside a retriever is taken.
    """
    chain = parts.lcel() | RunnableLambda(lambda text: object())

    chain.invoke(parts.QUESTION, {"callbacks": [handler]})

    assert parts.ANSWER == results[0].record.answer


@pytest.mark.parametrize("fails", [False, True])
def test_tools_called_alone_are_no_requests(fails: bool, handler: Any, results: list[Any]) -> None:
    """
    A retriever tool's text is no answer.
    """
    from langchain_core.tools import create_retriever_tool

    retriever = parts.Docs(error=ValueError("down")) if fails else parts.Docs()
    search = create_retriever_tool(retriever, "search", "Searches.")
    try:
        search.invoke({"query": parts.QUESTION}, {"callbacks": [handler]})
    except ValueError:
        assert fails

    assert ["error" if fails else "retrieval_only"] == [result.status for result in results]
    assert 0 == handler.stats["live_requests"]


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (None, None),
        (SimpleNamespace(generations=[]), None),
        (SimpleNamespace(generations=[[]]), None),
        (SimpleNamespace(generations=[[SimpleNamespace(text="said")]]), "said"),
        (SimpleNamespace(generations=[[SimpleNamespace(text=7)]]), None),
        (SimpleNamespace(generations=[[SimpleNamespace(message=AIMessage("said"))]]), "said"),
    ],
)
def test_odd_model_responses_are_read(response: Any, expected: str | None) -> None:
    """
    Nothing is assumed of a response but what is looked at.
    """
    found = convert.model_answer(response)

    assert expected == (None if found is None else found.text)


def test_ids_that_langchain_made_up_are_no_response_ids() -> None:
    """
    A provider's own message id is one.
    """
    said = [AIMessage("x", id=name) for name in ("run-1", "lc_run--1", "msg-1")]
    facts = [convert.model_answer(SimpleNamespace(generations=[[SimpleNamespace(message=one)]])) for one in said]

    assert [{}, {}, {"response_id": "msg-1"}] == [one.facts for one in facts if one is not None]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"text": "mapped", "id": "m", "metadata": {"score": 0.5}}, ("m", "mapped", 0.5)),
        (HumanMessage("spoken"), ("", "spoken", None)),
        (({"content": "paired"}, 0.25), ("", "paired", 0.25)),
        (Context("c", "a context", 0.75), ("c", "a context", 0.75)),
        (SimpleNamespace(page_content="like one", metadata=None), ("", "like one", None)),
        ({"metadata": {}}, None),
        (7, None),
    ],
)
def test_documents_of_any_kind_are_read(document: Any, expected: Any) -> None:
    """
    Mappings, messages, pairs, contexts, and what only looks like a document.
    """
    reader = DocumentReader(DocumentKeys(), max_chars=100, count=lambda name: None)

    found = convert.context_of(document, reader)

    assert expected == (None if found is None else (found.id, found.text, found.score))


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"context": "joined"}, ["joined"]),
        ({"context": "  ", "documents": ["a", "b"]}, ["a", "b"]),
        ({"context": [parts.TOWER]}, [parts.TOWER.page_content]),
        ({"context": [1]}, []),
        ({"question": "x"}, []),
        ("a string", []),
    ],
)
def test_prompt_variables_are_read(variables: Any, expected: list[str]) -> None:
    """
    A joined string is one context; documents and strings are one each.
    """
    reader = DocumentReader(DocumentKeys(), max_chars=100, count=lambda name: None)

    assert expected == [context.text for context in convert.prompt_contexts(variables, reader)]


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (None, (None, None)),
        ({"langgraph_node": "n"}, (None, None)),
        ({"langgraph_node": "n", "langgraph_step": 2}, (("n",), 2)),
        ({"langgraph_node": "n", "langgraph_step": 2, "langgraph_checkpoint_ns": "a:1|n:2"}, (("a", "n", "n"), 2)),
    ],
)
def test_the_place_in_a_graph_is_read(metadata: Any, expected: Any) -> None:
    """
    Node and subgraphs by name, without the ids of this run.
    """
    assert expected == convert.graph_place(metadata)


def test_openinference_is_asked_without_being_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Loaded but not at work, its own look-up would print: it is asked only when it traces.
    """
    import sys

    from rageval_trace_langchain.tracker import _openinference_span

    name = "openinference.instrumentation.langchain"
    monkeypatch.delitem(sys.modules, name, raising=False)
    assert _openinference_span("run") is None

    class LangChainInstrumentor:
        _tracer: Any = None

        def get_span(self, run_id: Any) -> str:
            return f"span of {run_id}"

    monkeypatch.setitem(sys.modules, name, SimpleNamespace(LangChainInstrumentor=LangChainInstrumentor))
    assert _openinference_span("run") is None
    LangChainInstrumentor._tracer = object()
    look_up = _openinference_span("run")
    assert look_up is not None
    assert "span of run" == look_up()
