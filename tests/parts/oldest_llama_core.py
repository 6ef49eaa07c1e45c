"""
Ask once in each common way, on whatever llama-index-core is there, and print what was captured.

    python oldest_llama_core.py
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import llama_parts as parts
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.chat_engine import CondensePlusContextChatEngine, CondenseQuestionChatEngine, ContextChatEngine
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.tools import QueryEngineTool
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from rageval_trace_llama_index import RagEvalHandler

MODES: dict[str, Callable[[], Any]] = {
    "context": lambda: ContextChatEngine.from_defaults(
        retriever=parts.Docs(), llm=parts.Script(), memory=parts.memory()
    ),
    "condense_plus_context": lambda: CondensePlusContextChatEngine.from_defaults(
        retriever=parts.Docs(), llm=parts.Script(), memory=parts.memory()
    ),
    "condense_question": lambda: CondenseQuestionChatEngine.from_defaults(
        query_engine=parts.engine(), llm=parts.Script(parts.QUESTION), memory=parts.memory()
    ),
}


class Rag(Workflow):
    """
    Ask an engine in a step.
    """

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=await parts.engine().aquery(ev.question))


async def _astream() -> str:
    response = await parts.engine(streaming=True).aquery(parts.QUESTION)
    return "".join([text async for text in response.async_response_gen()])


async def _astream_chat(mode: str) -> str:
    chat = MODES[mode]()
    if mode == "condense_question":
        chat._query_engine = parts.engine(streaming=True)
    response = await chat.astream_chat(parts.QUESTION)
    text = "".join([text async for text in response.async_response_gen()])
    if response.awrite_response_to_history_task is not None:
        await response.awrite_response_to_history_task
    return text


def _stream_chat(mode: str) -> str:
    chat = MODES[mode]()
    if mode == "condense_question":
        chat._query_engine = parts.engine(streaming=True)
    return "".join(chat.stream_chat(parts.QUESTION).response_gen)


async def _agent() -> str:
    tool = QueryEngineTool.from_defaults(query_engine=parts.engine(), name="ask", description="Answers.")
    agent = FunctionAgent(tools=[tool], llm=parts.Caller(tools=[("ask", "tower height")]))
    return str(await agent.run(parts.QUESTION, memory=parts.memory()))


async def _workflow() -> str:
    return str(await Rag().run(question=parts.QUESTION))


def _left() -> None:
    next(parts.engine(streaming=True).query(parts.QUESTION).response_gen)


def _fails() -> None:
    try:
        parts.engine(model=parts.Script(OSError("down"))).query(parts.QUESTION)
    except OSError:
        return


CALLS: dict[str, Callable[[], str | None]] = {
    "query": lambda: str(parts.engine().query(parts.QUESTION)),
    "aquery": lambda: str(asyncio.run(parts.engine().aquery(parts.QUESTION))),
    "stream": lambda: "".join(parts.engine(streaming=True).query(parts.QUESTION).response_gen),
    "astream": lambda: asyncio.run(_astream()),
    "index": lambda: str(parts.engine(parts.index().as_retriever(similarity_top_k=2)).query(parts.QUESTION)),
    "citations": lambda: str(
        CitationQueryEngine(parts.Docs(), llm=parts.Script(), citation_chunk_size=512).query(parts.QUESTION)
    ),
    "agent": lambda: asyncio.run(_agent()),
    "workflow": lambda: asyncio.run(_workflow()),
    **{f"{mode} chat": lambda mode=mode: str(MODES[mode]().chat(parts.QUESTION)) for mode in MODES},  # type: ignore[misc]
    **{f"{mode} stream_chat": lambda mode=mode: _stream_chat(mode) for mode in MODES},  # type: ignore[misc]
    **{f"{mode} astream_chat": lambda mode=mode: asyncio.run(_astream_chat(mode)) for mode in MODES},  # type: ignore[misc]
    "left": _left,
    "failed": _fails,
}


def main() -> dict[str, Any]:
    """
    Return the core's version, and what was captured of each call.
    """
    results: list[Any] = []
    found = {}
    with RagEvalHandler(on_result=results.append) as handler:
        for name, ask in CALLS.items():
            text = ask()
            gc.collect()
            handler.flush()
            # A thread of LlamaIndex's own may still be about to end what it has written.
            for _ in range(100):
                if results:
                    break
                gc.collect()
                handler.flush()
                asyncio.run(asyncio.sleep(0.01))
            captured = [
                (
                    one.status,
                    one.record.question,
                    one.record.answer,
                    sorted([chunk.id for chunk in one.record.contexts or ()]),
                )
                for one in results
            ]
            found[name] = {"read": text, "captured": [list(one) for one in captured]}
            results.clear()
        stats = handler.stats
    found["left over"] = {name: stats.get(name, 0) for name in ("live_requests", "internal_errors")}
    return {"version": version("llama-index-core"), "found": found}


if __name__ == "__main__":
    json.dump(main(), sys.stdout)
