"""
Inputs and outputs of every type, some of them hostile.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("langgraph")

import langchain_parts as parts
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel
from rageval_trace_langchain import convert


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
