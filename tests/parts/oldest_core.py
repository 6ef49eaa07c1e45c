"""
Everyday shapes that need langchain-core alone, for the oldest release that is supported.

    python oldest_core.py

Prints a JSON object: the core's version, and for each way of calling what was captured.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

import langchain_core
import langchain_parts as parts
from langchain_core.runnables import RunnableLambda
from rageval_trace_langchain import RagEvalHandler, record_contexts


async def drain(stream: Any) -> None:
    """
    Read a stream to its end.
    """
    async for _ in stream:
        pass


async def close_early(stream: Any) -> None:
    """
    Read one chunk of a stream, and close it.
    """
    await stream.__anext__()
    await stream.aclose()
    await asyncio.sleep(0.05)


def swallow(call: Callable[[], Any]) -> None:
    """
    Call what is going to fail.
    """
    try:
        call()
    except ValueError:
        return
    raise AssertionError("it did not fail")


def explicit(question: str) -> str:
    """
    Name the contexts from inside a step.
    """
    assert record_contexts([parts.TOWER, parts.OPENING])
    return parts.ANSWER


def one_chunk(stream: Any) -> None:
    """
    Read one chunk of a stream, and close it.
    """
    next(stream)
    stream.close()


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "invoke": lambda chain, config: chain.invoke(parts.QUESTION, config),
    "ainvoke": lambda chain, config: asyncio.run(chain.ainvoke(parts.QUESTION, config)),
    "stream": lambda chain, config: list(chain.stream(parts.QUESTION, config)),
    "astream": lambda chain, config: asyncio.run(drain(chain.astream(parts.QUESTION, config))),
    "astream_events": lambda chain, config: asyncio.run(
        drain(chain.astream_events(parts.QUESTION, config, version="v2"))
    ),
    "batch": lambda chain, config: chain.batch([parts.QUESTION], config),
    "abatch": lambda chain, config: asyncio.run(chain.abatch([parts.QUESTION], config)),
    "bound": lambda chain, config: chain.with_config(callbacks=config["callbacks"]).invoke(parts.QUESTION, config),
    "closed stream": lambda chain, config: one_chunk(chain.stream(parts.QUESTION, config)),
    "closed astream": lambda chain, config: asyncio.run(close_early(chain.astream(parts.QUESTION, config))),
    "failed": lambda chain, config: swallow(
        lambda: parts.lcel(parts.Docs(error=ValueError("x"))).invoke(parts.QUESTION, config)
    ),
    "fallback": lambda chain, config: (
        parts.lcel(parts.Docs(error=ValueError("x"))).with_fallbacks([chain]).invoke(parts.QUESTION, config)
    ),
    "explicit": lambda chain, config: RunnableLambda(explicit).invoke(parts.QUESTION, config),
}


def main() -> dict[str, Any]:
    """
    Return what was captured, one result for each way of calling.
    """
    found: dict[str, Any] = {}
    for name, call in CALLS.items():
        results: list[Any] = []
        handler = RagEvalHandler(on_result=results.append)
        call(parts.lcel(), {"callbacks": [handler]})
        (result,) = results
        contexts = result.record.contexts
        found[name] = {
            "status": result.status,
            "question": result.record.question,
            "answer": result.record.answer,
            "contexts": None if contexts is None else [context.id for context in contexts],
            "scored": bool(result.scores),
            "left": handler.stats["live_requests"],
            "errors": handler.stats.get("internal_errors", 0),
        }
    return {"version": langchain_core.__version__ if hasattr(langchain_core, "__version__") else "", "found": found}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main()))
