"""
Shapes on which, by public reports, LlamaIndex's own tracing or another tracer went wrong: here each is one record.

Every scenario's docstring says what it holds; `REPORTS` names where the shape was reported.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

import llama_parts as parts
import pytest
from llama_index.core import Settings
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.callbacks import CallbackManager
from llama_index.core.chat_engine import CondenseQuestionChatEngine, SimpleChatEngine
from llama_index.core.llms import ChatMessage, CustomLLM
from llama_index.core.query_engine import RetrieverQueryEngine, SubQuestionQueryEngine
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import RecursiveRetriever, RouterRetriever
from llama_index.core.schema import IndexNode, NodeWithScore
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from llama_index.core.workflow import Context, StartEvent, StopEvent, Workflow, step
from llama_index_instrumentation import get_dispatcher
from opentelemetry.trace import Tracer

ONE = [("ok", parts.QUESTION, parts.ANSWER, {parts.TOWER, parts.OPENING})]
# The chunk is what the engine behind the index node was asked and answered.
RECURSIVE = [("ok", parts.QUESTION, parts.ANSWER, {f"Query: {parts.QUESTION}\nResponse: {parts.ANSWER}"})]

# LlamaIndex itself looks at every attribute of an agent, pydantic's old ones too.
pytestmark = [
    pytest.mark.usefixtures("swept"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect"),
    pytest.mark.filterwarnings("ignore:is_running called:DeprecationWarning"),
]


def carrying(*components: Any) -> Any:
    """
    Give components the manager that the legacy handler is in, and return the last.
    """
    for component in components:
        component.callback_manager = Settings.callback_manager
    return components[-1]


def carrying_engine(retriever: Any = None, model: Any = None) -> Any:
    retriever, model = carrying(retriever or parts.Docs()), carrying(model or parts.Script())
    return carrying(parts.engine(retriever, model, callback_manager=Settings.callback_manager))


async def agent_with_an_engine() -> None:
    """The agent's span ends before spans that it has started: the record still has the tool's contexts."""
    tool = QueryEngineTool.from_defaults(query_engine=parts.engine(), name="ask", description="Answers.")
    agent = FunctionAgent(tools=[tool], llm=parts.Caller(tools=[("ask", "tower height")]))
    await agent.run(parts.QUESTION, memory=parts.memory())


class Rag(Workflow):
    """
    Ask an engine in a step.
    """

    @step
    async def answer(self, ctx: Context, ev: StartEvent) -> StopEvent:
        return StopEvent(result=str(await parts.engine().aquery(ev.question)))


async def workflow_handler_that_is_pending() -> None:
    """A span of the user's own that returns a workflow's handler, a future, does not orphan what runs in it."""

    @get_dispatcher("app").span
    def start() -> Any:
        return Rag().run(question=parts.QUESTION)

    await start()


async def workflow_steps() -> None:
    """What a step asks belongs to its workflow's run, and is not a request beside it."""
    await Rag().run(question=parts.QUESTION)


async def workflow_of_the_separate_package() -> None:
    """A workflow whose class comes from the package `workflows` is one like the core's."""
    import workflows
    from workflows.events import StartEvent as Start
    from workflows.events import StopEvent as Stop

    class Separate(workflows.Workflow):
        @workflows.step
        async def answer(self, ev: Start) -> Stop:
            return Stop(result=str(await parts.engine().aquery(ev.question)))

    await Separate().run(question=parts.QUESTION)


class Answered(StopEvent):
    """
    A stop event of the user's own.
    """

    answer: str


async def workflow_with_its_own_stop_event() -> None:
    """A stop event of the user's own is read by its fields, and the context that it ends in does not matter."""
    logging.getLogger("llama_index_instrumentation").setLevel(logging.DEBUG)

    class Own(Workflow):
        @step
        async def answer(self, ev: StartEvent) -> Answered:
            return Answered(answer=str(await parts.engine().aquery(ev.question)))

    try:
        await Own().run(question=parts.QUESTION)
    finally:
        logging.getLogger("llama_index_instrumentation").setLevel(logging.NOTSET)


def condensed_question() -> None:
    """The model call that condenses a question is outside of every span, and is neither question nor answer."""
    chat = CondenseQuestionChatEngine.from_defaults(
        query_engine=parts.engine(),
        llm=parts.Script("How tall is it, condensed?"),
        memory=parts.memory([ChatMessage(role="user", content="Hello"), ChatMessage(role="assistant", content="Hi")]),
    )
    chat.chat(parts.QUESTION)


class Asks(BaseQuestionGenerator):
    """
    Ask the one tool.
    """

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        pass

    def generate(self, tools: Any, query: Any) -> Any:
        return [SubQuestion(tool_name="tower", sub_question="how tall")]

    async def agenerate(self, tools: Any, query: Any) -> Any:
        return self.generate(tools, query)


def sub_questions_of_a_carrying_tool() -> None:
    """A sub-question engine takes its first tool's callbacks, and no event of its own need arrive."""
    tool = QueryEngineTool.from_defaults(query_engine=carrying_engine(), name="tower", description="Tower.")
    synthesizer = get_response_synthesizer(llm=parts.Script(), callback_manager=Settings.callback_manager)
    SubQuestionQueryEngine.from_defaults(
        [tool], question_gen=Asks(), response_synthesizer=synthesizer, use_async=False, verbose=False
    ).query(parts.QUESTION)


def model_with_a_manager_of_its_own() -> None:
    """A model that brings callbacks of its own does not take the engine away from a handler that is installed."""
    model = parts.Script(callback_manager=CallbackManager([]))
    chat = parts.index().as_chat_engine(chat_mode="context", llm=model, memory=parts.memory(), similarity_top_k=2)
    chat.chat(parts.QUESTION)


def engine_by_its_constructor() -> None:
    """An engine that was put together by hand, with no callbacks anywhere, is seen like any other."""
    synthesizer = get_response_synthesizer(llm=parts.Script())
    RetrieverQueryEngine(retriever=parts.Docs(), response_synthesizer=synthesizer).query(parts.QUESTION)


def engine_of_the_global_manager() -> None:
    """The same for the legacy callbacks, where the components took the global manager when they were made."""
    carrying_engine().query(parts.QUESTION)


def model_outside_of_any_trace() -> None:
    """A model called on its own is no request, and leaves none open for the query after it."""
    carrying(parts.Script()).complete("Hello")
    carrying_engine().query(parts.QUESTION)


class Bare(CustomLLM):
    """
    A model whose author left out the callbacks' decorators.
    """

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=100_000, model_name="bare")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=parts.ANSWER)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        yield CompletionResponse(text=parts.ANSWER, delta=parts.ANSWER)


def model_without_callbacks() -> None:
    """A model that reports nothing about itself costs the record nothing, read at once or streamed."""
    parts.engine(model=Bare()).query(parts.QUESTION)
    str(parts.engine(model=Bare(), streaming=True).query(parts.QUESTION))


def nodes_that_are_none() -> None:
    """Events of a recursive retriever may hold text in the place of nodes."""
    pointer = NodeWithScore(node=IndexNode(text="all about it", index_id="inner", id_="pointer"), score=0.3)
    inner = carrying_engine()
    retriever = RecursiveRetriever(
        "root",
        retriever_dict={"root": carrying(parts.Docs(nodes=[pointer]))},
        query_engine_dict={"inner": inner},
        callback_manager=Settings.callback_manager,
    )
    carrying_engine(retriever).query(parts.QUESTION)


class First(BaseSelector):
    """
    Choose the first.
    """

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        pass

    def _select(self, choices: Any, query: Any) -> SelectorResult:
        return SelectorResult(selections=[SingleSelection(index=0, reason="first")])

    async def _aselect(self, choices: Any, query: Any) -> SelectorResult:
        return self._select(choices, query)


def router_of_retrievers() -> None:
    """A router hands retrievers' nodes on, and is one retrieval with them."""
    tool = RetrieverTool.from_defaults(retriever=carrying(parts.Docs()), name="docs", description="Docs.")
    router = RouterRetriever(selector=First(), retriever_tools=[tool], llm=parts.Script())
    carrying_engine(carrying(router)).query(parts.QUESTION)


def chat_written_in_a_thread() -> None:
    """Spans in LlamaIndex's own writer thread lose no parent that anything waits for; a bare chat is not RAG."""
    chat = SimpleChatEngine.from_defaults(llm=parts.Script(), memory=parts.memory())
    assert parts.ANSWER == "".join(chat.stream_chat("Hello").response_gen)


def client_span_inside(tracer: Tracer) -> None:
    """A client's span inside a query keeps the parent that it would have without a handler: no context is attached."""
    parents = []

    class Searches(parts.Docs):
        def _retrieve(self, query_bundle: Any) -> Any:
            with tracer.start_as_current_span("GET /search") as span:
                parents.append(span.parent.span_id)
            return super()._retrieve(query_bundle)

    with tracer.start_as_current_span("POST /ask") as outer:
        parts.engine(Searches()).query(parts.QUESTION)
    assert [outer.get_span_context().span_id] == parents


def streamed_events_of_a_closed_span() -> None:
    """The end of a model's stream names a span that has ended by then; its text is the answer all the same."""

    @get_dispatcher("app").span
    def ask(question: str) -> str:
        parts.Docs().retrieve(question)
        return "".join([one.delta for one in parts.Script().stream_complete(question)])

    assert parts.ANSWER == ask(parts.QUESTION)


def plain_query() -> None:
    """A plain query is one trace, not a trace a span."""
    parts.engine().query(parts.QUESTION)


# Where it was reported, which surface listens, and the records that come out.
REPORTS: dict[str, tuple[Callable[[], Any], str, list[tuple[Any, ...]]]] = {
    "run-llama/llama_index#18757": (agent_with_an_engine, "modern", ONE),
    "run-llama/llama_index#16283": (workflow_handler_that_is_pending, "modern", ONE),
    "run-llama/llama-agents#380": (workflow_steps, "modern", ONE),
    "run-llama/llama-agents#62": (workflow_of_the_separate_package, "modern", ONE),
    "run-llama/llama_index#20298": (workflow_with_its_own_stop_event, "modern", ONE),
    "run-llama/llama_index#11860": (condensed_question, "modern", ONE),
    "run-llama/llama_index#16312": (sub_questions_of_a_carrying_tool, "legacy", ONE),
    "run-llama/llama_index#16311": (model_with_a_manager_of_its_own, "modern", ONE),
    "run-llama/llama_index#8657": (engine_by_its_constructor, "modern", ONE),
    "run-llama/llama_index#8657 legacy": (engine_of_the_global_manager, "legacy", ONE),
    "run-llama/llama_index#15537": (model_outside_of_any_trace, "legacy", ONE),
    "run-llama/llama_index#15597": (model_without_callbacks, "modern", ONE * 2),
    "run-llama/llama_index#8576": (nodes_that_are_none, "modern", RECURSIVE),
    "run-llama/llama_index#8576 legacy": (nodes_that_are_none, "legacy", RECURSIVE),
    "run-llama/llama_index#8576 router": (router_of_retrievers, "modern", ONE),
    "run-llama/llama_index#8576 legacy router": (router_of_retrievers, "legacy", ONE),
    "run-llama/llama_index#13700": (
        chat_written_in_a_thread,
        "modern",
        [("answer_only", "Hello", parts.ANSWER, set())],
    ),
    "run-llama/llama_index#21533": (client_span_inside, "modern", ONE),
    "run-llama/llama_index#22484": (streamed_events_of_a_closed_span, "modern", ONE),
    "run-llama/llama_index#18744": (plain_query, "modern", ONE),
}


@pytest.fixture
def listening(request: pytest.FixtureRequest, make: Any) -> Iterator[Any]:
    """
    A handler on the surface that the report is about; at its end nothing is open, and nothing of ours went wrong.
    """
    handler = make()
    before = Settings.callback_manager
    if REPORTS[request.param][1] == "modern":
        handler.install()
    else:
        Settings.callback_manager = CallbackManager([handler])
    yield handler
    Settings.callback_manager = before
    handler.uninstall()
    stats = handler.stats
    assert {} == {name: stats[name] for name in ("live_requests", "internal_errors") if stats.get(name)}


@pytest.mark.parametrize(("report", "listening"), [(one, one) for one in REPORTS], indirect=["listening"], ids=REPORTS)
def test_a_shape_that_was_reported(report: str, listening: Any, results: list[Any], telemetry: Any) -> None:
    """
    Exactly the records that the application itself would tell of, each in one trace.
    """
    scenario, _, expected = REPORTS[report]
    tracer = telemetry.tracer_provider.get_tracer("app")
    done = scenario(*[tracer] * len(signature(scenario).parameters))
    if done is not None:
        asyncio.run(done)

    assert expected == [
        (one.status, one.record.question, one.record.answer, {context.text for context in one.record.contexts or ()})
        for one in results
    ]
    scored = [one for one in expected if one[0] == "ok"]
    traces = [span.trace_id for span in telemetry.spans if span.name == "evaluation rag"]
    assert (len(scored), set(traces)) == (len(set(traces)), {span.trace_id for span in telemetry.spans})
