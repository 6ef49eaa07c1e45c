"""
Agents and hand-written workflows.
"""

from __future__ import annotations

import asyncio
from typing import Any

import llama_parts as parts
import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step
from rageval_trace_llama_index import record_answer, record_contexts

# LlamaIndex itself looks at every attribute of an agent, pydantic's old ones too.
pytestmark = [
    pytest.mark.usefixtures("swept"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect"),
    pytest.mark.filterwarnings("ignore:is_running called:DeprecationWarning"),
]

WALLS = parts.node("The walls are blue.", "walls")


def look(input: str) -> str:
    return "The gate is red."


def tools() -> list[Any]:
    return [
        QueryEngineTool.from_defaults(query_engine=parts.engine(), name="ask", description="Answers."),
        RetrieverTool.from_defaults(retriever=parts.Docs(nodes=[WALLS]), name="search", description="Searches."),
        FunctionTool.from_defaults(fn=look, name="look", description="Looks."),
    ]


@pytest.mark.parametrize(
    ("called", "expected", "source"),
    [
        (["ask"], ["tower", "opening"], "tool"),
        (["search"], ["walls"], "tool"),
        (["ask", "search", "ask"], ["tower", "opening", "walls"], "tool"),
    ],
)
async def test_an_agent(called: list[str], expected: list[str], source: str, handler: Any, results: list[Any]) -> None:
    """
    The user's message, the agent's last word, and the union of what its tools returned.
    """
    model = parts.Caller(tools=[(name, "tower height") for name in called])

    output = await FunctionAgent(tools=tools(), llm=model).run(parts.QUESTION, memory=parts.memory())

    (result,) = results
    assert parts.ANSWER == str(output)
    assert ("ok", source) == (result.status, result.context_source)
    assert (parts.QUESTION, parts.ANSWER) == (result.record.question, result.record.answer)
    assert expected == [context.id for context in result.record.contexts]


async def test_a_react_agent(handler: Any, results: list[Any]) -> None:
    """
    Thoughts are not the answer.
    """
    model = parts.Script(
        'Thought: I have to ask.\nAction: ask\nAction Input: {"input": "tower height"}',
        f"Thought: I can answer without using any more tools.\nAnswer: {parts.ANSWER}",
    )

    await ReActAgent(tools=tools(), llm=model).run(parts.QUESTION, memory=parts.memory())

    (result,) = results
    assert (parts.QUESTION, parts.ANSWER) == (result.record.question, result.record.answer)
    assert ["tower", "opening"] == [context.id for context in result.record.contexts]


async def test_an_agent_workflow(handler: Any, results: list[Any]) -> None:
    """
    Several agents in one workflow are one request.
    """
    agent = FunctionAgent(
        name="guide", description="Guides.", tools=tools(), llm=parts.Caller(tools=[("ask", "tower")])
    )

    await AgentWorkflow(agents=[agent], root_agent="guide").run(user_msg=parts.QUESTION, memory=parts.memory())

    (result,) = results
    assert (parts.QUESTION, parts.ANSWER) == (result.record.question, result.record.answer)
    assert ["tower", "opening"] == [context.id for context in result.record.contexts]


async def test_a_tools_text_is_a_context_when_the_user_says_so(make: Any, results: list[Any]) -> None:
    """
    Which of an agent's tools look something up, only the user knows.
    """
    with make(retrieval_tools=["look"]):
        await FunctionAgent(tools=tools(), llm=parts.Caller(tools=[("look", "gate")])).run(
            parts.QUESTION, memory=parts.memory()
        )

    (result,) = results
    assert "tool_text" == result.context_source
    assert ["The gate is red."] == [context.text for context in result.record.contexts]


class Found(Event):
    """
    What a step found.
    """

    nodes: list[NodeWithScore]
    question: str


class Rag(Workflow):
    """
    Two steps, named as retrievers and engines name their methods.
    """

    def __init__(self, engine: Any = None, retriever: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.engine = engine
        self.retriever = retriever or parts.Docs()

    @step
    async def retrieve(self, ctx: Context, ev: StartEvent) -> Found:
        return Found(nodes=await self.retriever.aretrieve(ev.question), question=ev.question)

    @step
    async def query(self, ctx: Context, ev: Found) -> StopEvent:
        return StopEvent(result=await self.answer(ev))

    async def answer(self, ev: Found) -> Any:
        from llama_index.core.response_synthesizers import get_response_synthesizer

        response = await get_response_synthesizer(llm=parts.Script(None)).asynthesize(ev.question, ev.nodes)
        return str(response)


async def test_a_workflow_with_steps_named_like_ours(handler: Any, results: list[Any]) -> None:
    """
    A step is no retriever for its name; the record is the workflow's.
    """
    await Rag().run(question=parts.QUESTION)

    (result,) = results
    assert ("ok", parts.QUESTION, f"It is {parts.QUESTION}") == (
        result.status,
        result.record.question,
        result.record.answer,
    )
    assert ["tower", "opening"] == [context.id for context in result.record.contexts]


async def test_workflows_side_by_side(handler: Any, results: list[Any]) -> None:
    """
    Ten at once do not mix.
    """
    questions = [f"question {number}" for number in range(10)]

    await asyncio.gather(*[Rag(retriever=parts.Echo()).run(question=one) for one in questions])

    assert sorted(questions) == sorted([result.record.question for result in results])
    for result in results:
        question = result.record.question
        assert [f"doc of {question}"] == [context.id for context in result.record.contexts]
        assert f"It is {question}" == result.record.answer


class Streams(Rag):
    """
    Return a stream, in one of the shapes that people return it in.
    """

    how: Any = None

    async def answer(self, ev: Found) -> Any:
        response = await parts.engine(streaming=True).aquery(ev.question)
        return type(self).how(response)


@pytest.mark.parametrize("shape", ["response", "generator"])
async def test_a_workflow_that_returns_a_stream(shape: str, handler: Any, results: list[Any]) -> None:
    """
    The record waits for the stream, which is read after the workflow has ended.
    """

    class Shape(Streams):
        how = staticmethod(lambda response: response if shape == "response" else response.async_response_gen())

    stream = await Shape().run(question=parts.QUESTION)
    assert [] == results
    texts = [text async for text in (stream.async_response_gen() if shape == "response" else stream)]

    (result,) = results
    assert (parts.ANSWER, "ok", parts.ANSWER) == ("".join(texts), result.status, result.record.answer)
    assert ["tower", "opening"] == [context.id for context in result.record.contexts]


async def test_a_workflow_started_in_a_span_that_ends_first(handler: Any, results: list[Any]) -> None:
    """
    A workflow that is not awaited outlives the span that started it, and is a request all the same.
    """
    from llama_index_instrumentation import get_dispatcher

    @get_dispatcher("app").span
    def start() -> list[Any]:
        return [Rag().run(question=parts.QUESTION)]

    await start()[0]

    assert [parts.QUESTION] == [result.record.question for result in results]


class Named(Workflow):
    """
    Name contexts and answer from inside a step.
    """

    @step
    async def all(self, ev: StartEvent) -> StopEvent:
        assert record_contexts([parts.TOWER, {"text": parts.OPENING, "id": "opening"}])
        assert record_answer(parts.ANSWER)
        return StopEvent(result=object())


async def test_a_step_may_name_what_it_used(handler: Any, results: list[Any]) -> None:
    """
    For steps that no retriever or engine takes part in.
    """
    await Named().run(topic=parts.QUESTION)

    (result,) = results
    assert ("ok", "explicit", parts.ANSWER) == (result.status, result.context_source, result.record.answer)
    assert ["1", "opening"] == [context.id for context in result.record.contexts]


async def test_naming_outside_a_request_is_said(handler: Any, results: list[Any]) -> None:
    """
    Nothing is taken where nothing runs.
    """
    assert (False, False) == (record_contexts([]), record_answer(""))
    assert [] == results


async def test_extractors(make: Any, results: list[Any]) -> None:
    """
    An application with shapes of its own is told about in three functions.
    """

    class Own(Workflow):
        @step
        async def all(self, ev: StartEvent) -> StopEvent:
            return StopEvent(result={"found": [parts.TOWER], "said": parts.ANSWER})

    with make(
        question=lambda event: event.ask,
        contexts=lambda stop: stop.result["found"],
        answer=lambda stop: stop.result["said"],
    ):
        await Own().run(ask=parts.QUESTION)

    (result,) = results
    assert (parts.QUESTION, parts.ANSWER) == (result.record.question, result.record.answer)
    assert [parts.TOWER] == [context.text for context in result.record.contexts]
