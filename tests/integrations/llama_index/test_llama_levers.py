"""
What a user can tell of one request, while it is asked and afterwards.
"""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

import llama_parts as parts
import pytest
from llama_index.core import Settings as LlamaSettings
from llama_index.core.callbacks import CallbackManager
from llama_index_instrumentation.dispatcher import instrument_tags

from rageval_trace import Monitor, Settings
from rageval_trace.live.documents import DocumentKeys
from rageval_trace.testing import CapturedTelemetry

TRUTH = "The Harbour Tower is 82 metres tall."


def _stream() -> str:
    return "".join(parts.engine(streaming=True).query(parts.QUESTION).response_gen)


def _agent() -> str:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.tools import QueryEngineTool

    tool = QueryEngineTool.from_defaults(query_engine=parts.engine(), name="ask", description="Answers.")

    async def run() -> str:
        agent = FunctionAgent(tools=[tool], llm=parts.Caller(tools=[("ask", "tower height")]))
        return str(await agent.run(parts.QUESTION, memory=parts.memory()))

    return asyncio.run(run())


def _chat() -> str:
    from llama_index.core.chat_engine import ContextChatEngine

    chat = ContextChatEngine.from_defaults(retriever=parts.Docs(), llm=parts.Script(), memory=parts.memory())
    return str(chat.chat(parts.QUESTION))


WAYS = {
    "query": lambda: str(parts.engine().query(parts.QUESTION)),
    "aquery": lambda: str(asyncio.run(parts.engine().aquery(parts.QUESTION))),
    "stream": _stream,
    "chat": _chat,
    "agent": _agent,
}

SAID: dict[str, tuple[Any, Any]] = {
    "rageval.question": ("How high?", lambda result: result.record.question),
    "rageval.relevant_ids": (["opening"], lambda result: sorted(result.record.relevant_ids)),
    "rageval.ground_truth": (TRUTH, lambda result: result.record.ground_truth),
    "rageval.citations": (["tower"], lambda result: list(result.record.citations)),
    "rageval.pipeline": ("guide", lambda result: result.pipeline),
}

pytestmark = [
    pytest.mark.usefixtures("swept"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect"),
    pytest.mark.filterwarnings("ignore:is_running called:DeprecationWarning"),
]


@pytest.mark.parametrize("way", WAYS)
def test_every_override_reaches_every_kind_of_request(way: str, handler: Any, results: list[Any]) -> None:
    """
    All of them at once, as instrumentation tags around the call.
    """
    with instrument_tags({name: said for name, (said, _) in SAID.items()}):
        text = WAYS[way]()

    (result,) = results
    assert parts.ANSWER == text
    assert {name: said for name, (said, _) in SAID.items()} == {name: read(result) for name, (_, read) in SAID.items()}
    assert {"mrr", "answer_correctness", "citation_accuracy"} <= set(result.scores)


@pytest.mark.parametrize("way", WAYS)
def test_without_labels_no_metric_that_needs_them_runs(way: str, handler: Any, results: list[Any]) -> None:
    """
    The same request with nothing said about it.
    """
    WAYS[way]()

    (result,) = results
    assert set() == {"mrr", "hit_rate", "answer_correctness", "context_recall"} & set(result.results)
    assert ("rag", None, None) == (result.pipeline, result.record.ground_truth, result.record.relevant_ids)


@pytest.mark.parametrize(
    ("override", "value"), [("rageval.relevant_ids", 7), ("rageval.citations", 7.5), ("rageval.relevant_ids", "tower")]
)
def test_an_override_that_cannot_be_read_costs_nothing_else(
    override: str, value: Any, handler: Any, results: list[Any]
) -> None:
    """
    It is left out and counted; the record stays.
    """
    with instrument_tags({override: value}):
        parts.engine().query(parts.QUESTION)

    (result,) = results
    assert ("ok", parts.ANSWER) == (result.status, result.record.answer)
    assert 1 == handler.stats["unreadable_overrides"]


@pytest.mark.parametrize(
    ("said", "scored"), [("vip", 1), (["beta", "vip"], 1), ({"vip"}, 1), (["beta"], 0), (7, 0), (None, 0)]
)
@pytest.mark.parametrize("surface", ["instrumentation", "legacy"])
def test_rules_look_at_labels(surface: str, said: Any, scored: int, make: Any, results: list[Any]) -> None:
    """
    A label takes a request that the sample would leave out, on both surfaces.
    """
    handler = make(settings=Settings(sample_rate=0.0, always=("tag:vip",)))
    before = LlamaSettings.callback_manager
    if surface == "legacy":
        LlamaSettings.callback_manager = CallbackManager([handler])
    else:
        handler.install()
    try:
        engine = parts.engine(callback_manager=LlamaSettings.callback_manager)
        engine.callback_manager = LlamaSettings.callback_manager
        with instrument_tags({"rageval.tags": said}):
            engine.query(parts.QUESTION)
    finally:
        LlamaSettings.callback_manager = before

    assert [(1.0, "rule")] * scored == [(result.sample_rate, result.selection) for result in results]
    assert (scored, 1 - scored) == (handler.stats["scored"], handler.stats["not_sampled"])


def test_a_conversation_is_named(handler: Any, telemetry: CapturedTelemetry) -> None:
    """
    The application's session id is the conversation's.
    """
    with instrument_tags({"session_id": "s-1"}):
        parts.engine().query(parts.QUESTION)

    (span,) = [span for span in telemetry.spans if span.name == "evaluation rag"]
    assert "s-1" == span.attributes["gen_ai.conversation.id"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("by", ["run_id", "trace_id"])
def test_feedback_joins_the_request(by: str, way: str, handler: Any, telemetry: CapturedTelemetry) -> None:
    """
    What a person says later stands below the request's own span, as an evaluation by a human.
    """
    WAYS[way]()
    (evaluated,) = [span for span in telemetry.spans if span.name == "evaluation rag"]

    assert handler.feedback(getattr(handler.last, by), "helpful", False)

    (span,) = [span for span in telemetry.spans if span.attributes.get("rageval.judge") == "human"]
    assert (evaluated.trace_id, evaluated.parent_id) == (span.trace_id, span.parent_id)
    assert 0.0 == span.attributes["rageval.score.helpful"]
    (point,) = telemetry.metrics("rageval.feedback")
    assert (1, "fail") == (point.value, point.attributes["gen_ai.evaluation.score.label"])


@pytest.mark.parametrize("way", WAYS)
def test_the_truth_may_come_late(way: str, handler: Any, results: list[Any], telemetry: CapturedTelemetry) -> None:
    """
    It gives the scores that need it and no others, and counts no second request.
    """
    WAYS[way]()
    first = handler.last

    assert handler.ground_truth(first.run_id, TRUTH, relevant_ids={"opening"})

    late = results[-1]
    assert (2, 1, first.run_id) == (len(results), handler.stats["scored"], late.run_id)
    assert {"answer_correctness", "context_recall", "mrr"} <= set(late.scores)
    assert (1.0, 0.5) == (late.scores["context_recall"], late.scores["mrr"])
    assert not {"faithfulness", "freshness"} & set(late.results)


def test_what_is_not_remembered_is_refused(make: Any, results: list[Any]) -> None:
    """
    A request that is unknown, unsampled, or still streams takes neither feedback nor truth; both are counted.
    """
    with make() as handler:
        response = parts.engine(streaming=True).query(parts.QUESTION)
        asked = [handler.feedback("unknown", "helpful", True), handler.ground_truth("unknown", TRUTH)]
        assert (None, [False, False]) == (handler.last, asked)
        str(response)
        assert handler.feedback(handler.last.run_id, "helpful", True)

    assert (1, 1) == (handler.stats["feedback_rejected"], handler.stats["late_facts_rejected"])


def test_a_gate_file_gives_the_thresholds(make: Any, tmp_path: Path) -> None:
    """
    The file that gates a build gates live requests.
    """
    gates = tmp_path / "gates.toml"
    gates.write_text("[gates]\ngroundedness = 0.9\n", encoding="utf-8")

    with make(thresholds=str(gates)) as handler:
        parts.engine().query(parts.QUESTION)

    assert ("fail", ("groundedness",)) == (handler.last.verdict, handler.last.breached)


def test_names_are_read_from_the_users_keys(make: Any, results: list[Any]) -> None:
    """
    Where nodes keep their times and sources is the user's to say.
    """
    node = parts.node(parts.TOWER, "tower", reviewed_on="2026-11-20", origin="archive")

    with make(document_keys=DocumentKeys(source=("origin",), timestamp=("reviewed_on",))):
        parts.engine(parts.Docs(nodes=[node])).query(parts.QUESTION)

    (context,) = results[0].record.contexts
    assert ("archive", "2026-11-20") == (context.source, context.timestamp.date().isoformat())


def test_it_takes_what_the_monitor_takes() -> None:
    """
    Every argument, and every call on a request that has ended.
    """
    from rageval_trace_llama_index import RagEvalHandler

    arguments = [set(inspect.signature(one.__init__).parameters) for one in (Monitor, RagEvalHandler)]
    late = [set(inspect.signature(getattr(RagEvalHandler, name)).parameters) for name in ("feedback", "ground_truth")]

    assert set() == arguments[0] - arguments[1]
    assert late == [set(inspect.signature(getattr(Monitor, name)).parameters) for name in ("feedback", "ground_truth")]
