"""
What a streamed token costs: a step of the generator around the user's own, and one event that is passed over.

Measured apart from the core, whose own work on a token takes ten times as long and drowns the difference.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from queue import SimpleQueue
from statistics import median
from typing import Any

import pytest
from llama_index.core.base.llms.types import CompletionResponse
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.instrumentation.events.llm import LLMCompletionInProgressEvent
from rageval_trace_llama_index.streams import Listener, wrap

TOKENS = [f"token {number} " for number in range(10_000)]
ROUNDS = 9
BOUND_NS = 1_000


def _tokens() -> Any:
    yield from TOKENS


async def _async_tokens() -> Any:
    for token in TOKENS:
        yield token


def _listener() -> Listener:
    return Listener(object(), 200_001, lambda *_: None, SimpleQueue())


def _heard(response: Any) -> Any:
    wrap(response, _listener())
    return response.response_gen


def _read(stream: Any) -> None:
    for _ in stream:
        pass


def _read_async(stream: Any) -> None:
    async def read() -> None:
        async for _ in stream:
            pass

    asyncio.run(read())


def _ns(work: Callable[[], object]) -> float:
    began = time.process_time_ns()
    work()
    return (time.process_time_ns() - began) / len(TOKENS)


@pytest.mark.slow
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_token_costs_less_than_a_microsecond(asynchronous: bool, make: Any) -> None:
    """
    Ten thousand tokens, bare and heard in turn; of every round the difference, of the differences the median.
    """
    hear = make()._modern.hear
    event = LLMCompletionInProgressEvent(prompt="", response=CompletionResponse(text="", delta=""))
    read, bare, response = (
        (_read_async, _async_tokens, AsyncStreamingResponse) if asynchronous else (_read, _tokens, StreamingResponse)
    )
    added = []
    for _ in range(ROUNDS):
        alone = _ns(lambda: read(bare()))
        heard = _ns(lambda: read(_heard(response(bare()))))
        events = _ns(lambda: [hear(event) for _ in TOKENS])
        added.append(heard - alone + events)

    assert median(added) < BOUND_NS
