"""
The legacy callbacks, for pipelines that carry a `CallbackManager`.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator
from typing import Any

import llama_parts as parts
import pytest
from llama_index.core import Settings
from llama_index.core.callbacks import CallbackManager
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from rageval_trace_llama_index import record_contexts

pytestmark = pytest.mark.usefixtures("swept")


@pytest.fixture
def legacy(make: Any) -> Iterator[Any]:
    """
    Make a handler that every component made from here on carries.
    """
    handler = make()
    before = Settings.callback_manager
    Settings.callback_manager = CallbackManager([handler])
    yield handler
    Settings.callback_manager = before
    stats = handler.stats
    assert {} == {name: stats[name] for name in ("live_requests", "internal_errors") if stats.get(name)}


def engine(retriever: Any = None, model: Any = None, **kwargs: Any) -> Any:
    manager = Settings.callback_manager
    model = model or parts.Script()
    model.callback_manager = manager
    retriever = retriever or parts.Docs()
    retriever.callback_manager = manager
    made = parts.engine(retriever, model, callback_manager=manager, **kwargs)
    made.callback_manager = manager
    return made


@pytest.mark.parametrize("streaming", [False, True])
def test_a_query(streaming: bool, legacy: Any, results: list[Any]) -> None:
    """
    The same record as from the instrumentation.
    """
    text = str(engine(streaming=streaming).query(parts.QUESTION))

    (result,) = results
    assert parts.ANSWER == text
    assert ("ok", parts.QUESTION, parts.ANSWER) == (result.status, result.record.question, result.record.answer)
    assert ["tower", "opening"] == [context.id for context in result.record.contexts]
    assert ("response", (parts.QUESTION,)) == (result.context_source, result.search_queries)


def test_a_stream_that_is_never_read(legacy: Any, results: list[Any]) -> None:
    """
    It is abandoned.
    """
    engine(streaming=True).query(parts.QUESTION)
    gc.collect()
    legacy.flush()

    assert [("abandoned", None)] == [(one.status, one.record.answer) for one in results]


@pytest.mark.parametrize("call", ["chat", "stream_chat"])
@pytest.mark.parametrize("mode", [ContextChatEngine, CondensePlusContextChatEngine])
def test_a_chat(mode: Any, call: str, legacy: Any, results: list[Any]) -> None:
    """
    Chat engines that synthesize are requests, too.
    """
    retriever = parts.Docs()
    retriever.callback_manager = Settings.callback_manager
    chat = mode.from_defaults(retriever=retriever, llm=parts.Script(), memory=parts.memory())

    response = getattr(chat, call)(parts.QUESTION)
    text = str(response) if call == "chat" else "".join(response.response_gen)

    (result,) = results
    assert parts.ANSWER == text
    assert (parts.QUESTION, parts.ANSWER) == (result.record.question, result.record.answer)
    assert ["tower", "opening"] == [context.id for context in result.record.contexts]


def test_a_bare_synthesizer(legacy: Any, results: list[Any]) -> None:
    """
    It opens no trace, but the model inside does; that is not its end.
    """
    from llama_index.core.response_synthesizers import get_response_synthesizer

    model = parts.Script()
    model.callback_manager = Settings.callback_manager
    synthesizer = get_response_synthesizer(llm=model, callback_manager=Settings.callback_manager)

    synthesizer.synthesize(parts.QUESTION, parts.chunks())

    (result,) = results
    assert (parts.QUESTION, parts.ANSWER) == (result.record.question, result.record.answer)
    assert ["tower", "opening"] == [context.id for context in result.record.contexts]


def test_a_failure_and_the_query_after_it(legacy: Any, results: list[Any]) -> None:
    """
    A failed request leaves nothing behind for the next one.
    """
    with pytest.raises(OSError, match="no model"):
        engine(model=parts.Script(OSError("no model"))).query("first")
    engine().query("second")

    assert [("error", "first", None), ("ok", "second", parts.ANSWER)] == [
        (one.status, one.record.question, one.record.answer) for one in results
    ]


def test_a_model_alone_is_no_request(legacy: Any, results: list[Any]) -> None:
    """
    A trace without retrieval is not reported.
    """
    model = parts.Script()
    model.callback_manager = Settings.callback_manager
    model.complete("Hello")

    assert [] == results


def test_contexts_may_be_named(legacy: Any, results: list[Any]) -> None:
    """
    From inside a component, as with the instrumentation.
    """

    class Names(parts.Docs):
        def _retrieve(self, query_bundle: Any) -> Any:
            assert record_contexts(["The gate is red."])
            return super()._retrieve(query_bundle)

    engine(Names()).query(parts.QUESTION)

    (result,) = results
    assert "explicit" == result.context_source
    assert ["The gate is red."] == [context.text for context in result.record.contexts]


async def test_gathered_queries(legacy: Any, results: list[Any]) -> None:
    """
    Tasks do not mix.
    """
    one = engine(parts.Echo(), parts.Script(None, delay_s=0.001))
    questions = [f"question {number}" for number in range(20)]

    await asyncio.gather(*[one.aquery(question) for question in questions])

    _assert_no_cross_talk(results, questions)


def test_threads(legacy: Any, results: list[Any]) -> None:
    """
    Threads do not mix.
    """
    one = engine(parts.Echo(), parts.Script(None))

    def work(first: int) -> None:
        for number in range(first, first + 25):
            one.query(f"question {number}")

    threads = [threading.Thread(target=work, args=(25 * number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    _assert_no_cross_talk(results, [f"question {number}" for number in range(100)])


def _assert_no_cross_talk(results: list[Any], questions: list[str]) -> None:
    assert sorted(questions) == sorted([result.record.question for result in results])
    for result in results:
        question = result.record.question
        assert [f"doc of {question}"] == [context.id for context in result.record.contexts]
        assert f"It is {question}" == result.record.answer


def test_errors_of_our_own_do_not_reach_the_user(legacy: Any, monkeypatch: Any) -> None:
    """
    Here LlamaIndex would let them through.
    """
    from rageval_trace_llama_index.legacy import Legacy

    def broken(*args: Any, **kwargs: Any) -> Any:
        raise KeyError

    with monkeypatch.context() as patch:
        for name in ("start_trace", "end_trace", "started", "ended"):
            patch.setattr(Legacy, name, broken)
        assert parts.ANSWER == str(engine().query(parts.QUESTION))

    assert legacy.stats["internal_errors"] > 0
    legacy._monitor.tally._counts.clear()
