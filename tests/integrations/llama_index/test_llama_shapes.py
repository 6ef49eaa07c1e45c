"""
What a workflow may be started with, and what a call may return: each shape is read, and each error of ours contained.
"""

from __future__ import annotations

from typing import Any

import llama_parts as parts
import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.base.response.schema import Response
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from llama_index_instrumentation import get_dispatcher
from rageval_trace_llama_index import record_answer, record_contexts
from rageval_trace_llama_index.tracker import Tracker

from rageval_trace import Context

pytestmark = [
    pytest.mark.usefixtures("swept"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect"),
    pytest.mark.filterwarnings("ignore:is_running called:DeprecationWarning"),
]


def only(results: list[Any]) -> Any:
    (result,) = results
    return result


class Ends(Workflow):
    """
    Retrieve, and end with what *make* makes.
    """

    def __init__(self, make: Any) -> None:
        super().__init__()
        self.make = make

    @step
    async def all(self, ev: StartEvent) -> StopEvent:
        await parts.Docs().aretrieve("tower")
        return StopEvent(result=self.make())


def said(text: str = parts.ANSWER) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


def response() -> Response:
    return Response(parts.ANSWER, source_nodes=parts.chunks()[:1])


BOTH = ["tower", "opening"]
RETURNED: dict[str, tuple[Any, list[str]]] = {
    "text": (lambda: parts.ANSWER, BOTH),
    "response": (response, ["tower"]),
    "completion": (lambda: CompletionResponse(text=parts.ANSWER), BOTH),
    "chat": (lambda: ChatResponse(message=said()), BOTH),
    "message": (said, BOTH),
    "mapping of text": (lambda: {"answer": parts.ANSWER}, BOTH),
    "mapping of a message": (lambda: {"output": said()}, BOTH),
    "mapping of a response": (lambda: {"response": response()}, BOTH),
    "mapping with sources": (lambda: {"answer": parts.ANSWER, "sources": parts.chunks()[1:]}, ["opening"]),
    "mapping whose sources are a response": (lambda: {"answer": parts.ANSWER, "sources": response()}, ["tower"]),
    "mapping with other sources": (lambda: {"answer": parts.ANSWER, "sources": ["guide.md"]}, BOTH),
    "stop event in one": (lambda: StopEvent(result=response()), ["tower"]),
}


@pytest.mark.parametrize("shape", RETURNED)
async def test_what_a_workflow_returns(shape: str, handler: Any, results: list[Any]) -> None:
    """
    The answer is found in it, and its sources where it names any; else what was retrieved counts.
    """
    make, expected = RETURNED[shape]

    await Ends(make).run(question=parts.QUESTION)

    record = only(results).record
    assert (parts.QUESTION, parts.ANSWER) == (record.question, record.answer)
    assert expected == [context.id for context in record.contexts]


@pytest.mark.parametrize("result", [object(), {"score": 3}, 7])
async def test_a_workflow_that_returns_no_answer(result: Any, handler: Any, results: list[Any]) -> None:
    """
    What holds no text is none.
    """
    await Ends(lambda: result).run(question=parts.QUESTION)

    assert ("retrieval_only", None) == (only(results).status, only(results).record.answer)


@pytest.mark.parametrize(
    ("started", "question"),
    [
        ({"user_msg": parts.QUESTION, "query": "other"}, parts.QUESTION),
        ({"user_msg": " ", "query": parts.QUESTION}, parts.QUESTION),
        ({"message": ChatMessage(role="user", content=parts.QUESTION)}, parts.QUESTION),
        (
            {
                "chat_history": [
                    ChatMessage(role="user", content="Hello"),
                    ChatMessage(role="user", content="How?"),
                    said(),
                ]
            },
            "How?",
        ),
        ({"chat_history": [said()]}, "tower"),
        ({"number": 3}, "tower"),
    ],
)
async def test_what_a_workflow_is_started_with(started: Any, question: str, handler: Any, results: list[Any]) -> None:
    """
    A field that names a question, else the user's last message, else what was searched for.
    """
    await Ends(lambda: parts.ANSWER).run(**started)

    assert question == only(results).record.question


class Own(BaseNode):
    """
    A node class of the application's own.
    """

    said: Any = "The gate is red."

    @classmethod
    def get_type(cls) -> str:
        return "own"

    def get_content(self, metadata_mode: MetadataMode = MetadataMode.ALL) -> Any:
        return self.said

    def get_content_blocks(self, *args: Any, **kwargs: Any) -> Any:
        return []

    def set_content(self, value: Any) -> None:
        self.said = value

    @property
    def hash(self) -> str:
        return "own"


NAMED: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "text": (lambda: ["The gate is red."], [("1", "The gate is red.")]),
    "mapping": (lambda: [{"content": "The gate is red.", "id": "gate"}, {"page": 3}], [("gate", "The gate is red.")]),
    "context": (lambda: [Context("gate", "The gate is red.")], [("gate", "The gate is red.")]),
    "node": (lambda: [parts.chunks()[1].node], [("opening", parts.OPENING)]),
    "node of one's own": (lambda: [Own(id_="own")], [("own", "The gate is red.")]),
    "node whose content is no text": (lambda: [Own(id_="own", said=b"red")], [("own", "")]),
    "generator": (lambda: (one for one in parts.chunks()), [("tower", parts.TOWER), ("opening", parts.OPENING)]),
    "nothing": (list, []),
    "what is no document": (lambda: [object(), 7], []),
}


@pytest.mark.parametrize("shape", NAMED)
def test_what_may_be_named_a_context(shape: str, handler: Any, results: list[Any]) -> None:
    """
    Nodes of every class, texts, mappings with a text, contexts; nothing else.
    """
    make, expected = NAMED[shape]

    class Names(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            assert record_contexts(make())
            assert record_answer(parts.ANSWER)
            return "Something else."

    Names().query(parts.QUESTION)

    result = only(results)
    assert ("explicit", parts.ANSWER) == (result.context_source, result.record.answer)
    assert expected == [(context.id, context.text) for context in result.record.contexts]


def test_what_cannot_be_named_is_refused(make: Any, results: list[Any]) -> None:
    """
    It is counted, and the request stays what it was.
    """

    class Names(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Any:
            assert not record_contexts(7)
            return response()

    with make() as handler:
        Names().query(parts.QUESTION)

    assert ("response", 1) == (only(results).context_source, handler.stats["internal_errors"])


def test_a_response_whose_nodes_are_no_list(handler: Any, results: list[Any]) -> None:
    """
    A retriever of another mind costs nothing but its nodes.
    """

    class Returns(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Any:
            return Response(parts.ANSWER, source_nodes=tuple(parts.chunks()))  # type: ignore[arg-type]

    Returns().query(parts.QUESTION)

    assert BOTH == [context.id for context in only(results).record.contexts]


@get_dispatcher("app").span
def by_hand(question: str) -> str:
    """
    Retrieve, and ask a model, in a span of the user's own.
    """
    parts.Docs().retrieve(question)
    return parts.Script().complete(question).text


@get_dispatcher("app").span
def failing(question: str) -> str:
    """
    The same, without a model to ask.
    """
    parts.Docs().retrieve(question)
    raise LookupError(question)


@pytest.mark.parametrize("method", ["begin", "seek", "retrieved", "end", "settle", "start_question", "engine_ended"])
def test_an_error_of_ours_in_any_place(
    method: str, make: Any, monkeypatch: pytest.MonkeyPatch, results: list[Any]
) -> None:
    """
    The user's calls return and raise what they did, the error is counted, and no request stays open for it.
    """

    def broken(*args: Any, **kwargs: Any) -> Any:
        raise KeyError(method)

    with make() as handler, monkeypatch.context() as patch:
        patch.setattr(Tracker, method, broken)
        assert parts.ANSWER == str(parts.engine().query(parts.QUESTION))
        assert parts.ANSWER == str(parts.engine(streaming=True).query(parts.QUESTION))
        assert parts.ANSWER == by_hand(parts.QUESTION)
        with pytest.raises(LookupError):
            failing(parts.QUESTION)
        patch.undo()
        assert 0 == handler.stats["live_requests"]
        parts.engine().query("afterwards")

    assert ("afterwards", "ok") == (results[-1].record.question, results[-1].status)


def test_an_error_of_ours_while_a_model_is_heard(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    The user's function returns, and its request goes without the model's words.
    """
    from rageval_trace_llama_index import modern

    def broken(*args: Any) -> Any:
        raise KeyError

    with make() as handler, monkeypatch.context() as patch:
        patch.setattr(modern.convert, "answer_of", broken)
        assert parts.ANSWER == by_hand(parts.QUESTION)

    assert (1, 0) == (handler.stats["internal_errors"], handler.stats["live_requests"])


def test_requests_that_are_given_up_are_sampled_like_others(make: Any) -> None:
    """
    What the sample leaves out is not counted as evicted.
    """
    with make(sample_rate=0.5) as handler:
        kept = [parts.engine(streaming=True).query(parts.QUESTION) for _ in range(40)]
        handler._tracker.runs._ttl_s = 0.0
        parts.engine().query(parts.QUESTION)
        stats = handler.stats

    assert (40, 41) == (len(kept), sum([stats[name] for name in ("evicted", "not_sampled", "scored")]))
    assert 0 < stats["evicted"] < 40


def test_classes_made_without_end_are_forgotten(handler: Any, results: list[Any], monkeypatch: Any) -> None:
    """
    An application that makes classes as it goes keeps our table of them small.
    """
    monkeypatch.setattr("rageval_trace_llama_index.modern._MAX_KINDS", 20)
    for number in range(30):
        parts.engine(type(f"Docs{number}", (parts.Docs,), {})()).query(parts.QUESTION)

    modern = handler._modern
    assert 30 == len(results)
    assert len(modern._kinds) + len(modern._methods) <= 21
    assert NodeWithScore not in modern._kinds
