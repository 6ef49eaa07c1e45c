"""
Engines made of engines: exactly one outer record each.
"""

from __future__ import annotations

import asyncio
from typing import Any

import llama_parts as parts
import pytest
from llama_index.core.base.base_selector import BaseSelector, MultiSelection, SelectorResult, SingleSelection
from llama_index.core.indices.query.query_transform import StepDecomposeQueryTransform
from llama_index.core.query_engine import (
    CitationQueryEngine,
    MultiStepQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import IndexNode, NodeWithScore
from llama_index.core.tools import QueryEngineTool

WALLS = parts.node("The walls are blue.", "walls")

pytestmark = pytest.mark.usefixtures("swept")


class Asks(BaseQuestionGenerator):
    """
    Ask each tool of a list one question.
    """

    def __init__(self, *asked: tuple[str, str]) -> None:
        self.asked = [SubQuestion(tool_name=name, sub_question=text) for name, text in asked]

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        pass

    def generate(self, tools: Any, query: Any) -> Any:
        return self.asked

    async def agenerate(self, tools: Any, query: Any) -> Any:
        return self.asked


def tool(name: str, engine: Any) -> QueryEngineTool:
    return QueryEngineTool.from_defaults(query_engine=engine, name=name, description=name)


def sub_questions(*, use_async: bool, failing: bool = False) -> SubQuestionQueryEngine:
    model = RuntimeError("down") if failing else "They are blue."
    return SubQuestionQueryEngine.from_defaults(
        [
            tool("tower", parts.engine()),
            tool("walls", parts.engine(parts.Docs(nodes=[WALLS]), parts.Script(model))),
        ],
        question_gen=Asks(("tower", "how tall"), ("walls", "which colour")),
        response_synthesizer=get_response_synthesizer(llm=parts.Script("Tall and blue.")),
        use_async=use_async,
        verbose=False,
    )


@pytest.mark.parametrize("call", ["query", "aquery", "threads"])
@pytest.mark.parametrize("failing", [False, True])
def test_sub_questions(call: str, failing: bool, handler: Any, results: list[Any]) -> None:
    """
    The sub-questions' sources are the contexts, without the question-and-answer pairs that are passed on as nodes;
    a sub-question that failed gives none, and does not fail the request.
    """
    engine = sub_questions(use_async=call == "threads", failing=failing)

    if call == "aquery":
        asyncio.run(engine.aquery("How tall and which colour?"))
    else:
        engine.query("How tall and which colour?")

    (result,) = results
    assert ("ok", "How tall and which colour?", "Tall and blue.") == (
        result.status,
        result.record.question,
        result.record.answer,
    )
    expected = ["tower", "opening"] if failing else ["tower", "opening", "walls"]
    assert expected == [context.id for context in result.record.contexts]
    assert {"how tall", "which colour"} >= set(result.search_queries) >= {"how tall"}


def test_nested_records_are_of_another_pipeline(make: Any, results: list[Any]) -> None:
    """
    On request the inner queries are reported too, apart from the averages of the outer ones.
    """
    with make(pipeline="guide", nested=True):
        sub_questions(use_async=False).query("How tall and which colour?")

    assert [
        ("guide.nested", "how tall", parts.ANSWER, ["tower", "opening"]),
        ("guide.nested", "which colour", "They are blue.", ["walls"]),
        ("guide", "How tall and which colour?", "Tall and blue.", ["tower", "opening", "walls"]),
    ] == [
        (one.pipeline, one.record.question, one.record.answer, [context.id for context in one.record.contexts])
        for one in results
    ]


class Picks(BaseSelector):
    """
    Choose the first *count* engines.
    """

    def __init__(self, count: int) -> None:
        self.count = count

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        pass

    def _select(self, choices: Any, query: Any) -> SelectorResult:
        return MultiSelection(selections=[SingleSelection(index=one, reason="") for one in range(self.count)])

    async def _aselect(self, choices: Any, query: Any) -> SelectorResult:
        return self._select(choices, query)


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_a_router(count: int, streaming: bool, handler: Any, results: list[Any]) -> None:
    """
    With one engine its very response is handed on; with several, their sources are joined.
    """
    router = RouterQueryEngine(
        selector=Picks(count),
        query_engine_tools=[
            tool("tower", parts.engine(streaming=streaming)),
            tool("walls", parts.engine(parts.Docs(nodes=[WALLS]), streaming=streaming)),
        ],
        llm=parts.Script(),
        summarizer=get_response_synthesizer(llm=parts.Script(), response_mode="tree_summarize", streaming=streaming),
    )

    text = str(router.query(parts.QUESTION))

    (result,) = results
    assert (parts.ANSWER, parts.ANSWER) == (text, result.record.answer)
    expected = ["tower", "opening", "walls"] if count == 2 else ["tower", "opening"]
    assert expected == [context.id for context in result.record.contexts]


def test_a_fusion_retriever(handler: Any, results: list[Any]) -> None:
    """
    One question is searched for in several words by several retrievers; only their fusion is the retrieval.
    """
    fusion = QueryFusionRetriever(
        [parts.Docs(), parts.Docs(nodes=[WALLS])],
        llm=parts.Script("one\ntwo"),
        num_queries=3,
        similarity_top_k=2,
        use_async=False,
    )

    parts.engine(fusion).query(parts.QUESTION)

    (result,) = results
    assert (parts.QUESTION, (parts.QUESTION,)) == (result.record.question, result.search_queries)
    assert 2 == len(result.record.contexts)


def test_hypothetical_documents(handler: Any, results: list[Any]) -> None:
    """
    The user's question counts, whatever was searched for instead.
    """
    from llama_index.core.indices.query.query_transform import HyDEQueryTransform

    TransformQueryEngine(parts.engine(), HyDEQueryTransform(llm=parts.Script("A tower of 80 metres."))).query(
        parts.QUESTION
    )

    (result,) = results
    assert parts.QUESTION == result.record.question
    assert ["tower", "opening"] == [context.id for context in result.record.contexts]


def test_questions_one_after_the_other(handler: Any, results: list[Any]) -> None:
    """
    An engine that asks in steps is one request, with the sources of every step.
    """
    model = parts.Script("how tall", "None")
    engine = MultiStepQueryEngine(
        parts.engine(),
        query_transform=StepDecomposeQueryTransform(llm=model),
        response_synthesizer=get_response_synthesizer(llm=parts.Script("Tall.")),
        num_steps=2,
    )

    engine.query(parts.QUESTION)

    (result,) = results
    assert ("ok", parts.QUESTION, "Tall.") == (result.status, result.record.question, result.record.answer)
    assert ["tower", "opening"] == [context.id for context in result.record.contexts]
    assert ("how tall",) == result.search_queries[:1]


def test_an_engine_inside_a_retriever(handler: Any, results: list[Any]) -> None:
    """
    An index node may stand for a whole query engine; what it answers is a chunk, and its own retrieval is not ours.
    """
    inner = parts.engine(parts.Docs(nodes=[WALLS]), parts.Script("They are blue."))
    pointer = NodeWithScore(node=IndexNode(text="walls", index_id="walls", obj=inner), score=0.5)

    parts.engine(parts.Docs(nodes=[pointer, parts.chunks()[0]])).query(parts.QUESTION)

    (result,) = results
    assert parts.ANSWER == result.record.answer
    assert "They are blue." in [context.text for context in result.record.contexts]
    assert WALLS.text not in [context.text for context in result.record.contexts]


def test_citations_are_ranks_of_the_sources(handler: Any, results: list[Any]) -> None:
    """
    A mark in the answer is the rank of a source, whose id is its document's; the number inside its text is stripped.
    """
    model = parts.Script("The Harbour Tower is 82 metres tall [1].")

    CitationQueryEngine.from_args(index=parts.index(), llm=model, retriever=parts.Docs()).query(parts.QUESTION)

    (result,) = results
    assert ["tower", "opening"] == [context.id for context in result.record.contexts]
    assert [parts.TOWER, parts.OPENING] == [context.text for context in result.record.contexts]
    assert (1.0, 1.0) == (result.scores["citation_accuracy"], result.scores["citation_coverage"])


class Reverses:
    """
    A reranker that changes the user's own nodes in place, as many do.
    """

    def postprocess_nodes(self, nodes: Any, query_bundle: Any = None, **kwargs: Any) -> Any:
        for rank, one in enumerate(nodes):
            one.score = float(rank)
            one.node.metadata["seen"] = True
        return nodes[::-1]

    apostprocess_nodes = postprocess_nodes


def test_a_reranker(handler: Any, results: list[Any]) -> None:
    """
    Grounding looks at what the model read, ranking metrics at what the retriever found.
    """
    from llama_index_instrumentation.dispatcher import instrument_tags

    with instrument_tags({"rageval.relevant_ids": ["tower"]}):
        parts.engine(postprocessors=[Reverses()]).query(parts.QUESTION)

    (result,) = results
    assert [("opening", 1.0), ("tower", 0.0)] == [(one.id, one.score) for one in result.record.contexts]
    assert {"rageval.retrieved_ids": ("tower", "opening")} == result.record.metadata
    assert 1.0 == result.scores["mrr"]


def test_a_filter_that_leaves_nothing(handler: Any, results: list[Any]) -> None:
    """
    What the model never saw is no context.
    """
    from llama_index.core.postprocessor import SimilarityPostprocessor

    parts.engine(postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.99)]).query(parts.QUESTION)

    (result,) = results
    assert () == result.record.contexts
