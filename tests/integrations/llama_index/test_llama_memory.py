"""
Memory stays flat, whatever becomes of the requests.
"""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import llama_parts as parts
import pytest

ROUNDS = 5
RUNS_PER_ROUND = 2_000


def _work(plain: Any, streamed: Any, failing: Any) -> None:
    """
    Run a fifth each: plain, read, read in part, never read, failed.
    """
    for number in range(RUNS_PER_ROUND):
        kind = number % 5
        if kind == 0:
            plain.query(parts.QUESTION)
        elif kind == 1:
            str(streamed.query(parts.QUESTION))
        elif kind == 2:
            next(streamed.query(parts.QUESTION).response_gen)
        elif kind == 3:
            streamed.query(parts.QUESTION)
        else:
            with pytest.raises(OSError, match="no disk"):
                failing.query(parts.QUESTION)


def _objects(model: Any) -> int:
    """
    Count what the garbage collector knows, but for the fake model's notes.
    """
    model.calls.clear()
    gc.collect()
    return len(gc.get_objects())


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_ten_thousand_requests(make: Any) -> None:
    """
    Nothing of a request stays once it has ended: not of streams that were read in part, never, or by nobody.

    LlamaIndex itself keeps an object a query, with or without a handler; that much is measured first and taken off.
    """
    model = parts.Script("It is 82 metres tall.")
    engines = (
        parts.engine(model=model),
        parts.engine(model=model, streaming=True),
        parts.engine(parts.Docs(error=OSError("no disk"))),
    )
    _work(*engines)
    before = _objects(model)
    _work(*engines)
    kept_by_core = _objects(model) - before
    counts = []
    with make(on_result=None, metrics=["faithfulness"], tracer_provider=None, meter_provider=None) as handler:
        for _ in range(ROUNDS):
            _work(*engines)
            stats = handler.stats
            counts.append(_objects(model))
            assert 0 == stats["live_requests"]
    total = ROUNDS * RUNS_PER_ROUND // 5

    assert (2 * total, 2 * total, total) == (stats["scored"], stats["incomplete"], stats["request_error"])
    assert 0 == stats.get("internal_errors", 0)
    assert counts[-1] - counts[1] - (ROUNDS - 2) * kept_by_core < 500, (counts, kept_by_core)


@pytest.mark.slow
async def test_closed_asynchronous_streams(make: Any) -> None:
    """
    The same for streams whose tasks are cancelled.
    """
    engine = parts.engine(model=parts.Script("It is 82 metres tall."), streaming=True)

    async def read(limit: int) -> None:
        response = await engine.aquery(parts.QUESTION)
        number = 0
        async for _ in response.response_gen:
            number += 1
            if number == limit:
                break

    with make(on_result=None) as handler:
        sizes = []
        for _ in range(3):
            await asyncio.gather(*[read(number % 3) for number in range(200)])
            await asyncio.sleep(0.05)
            gc.collect()
            sizes.append(handler.stats["live_requests"])

    assert [0, 0, 0] == sizes


def test_a_request_keeps_no_object_of_the_users(make: Any) -> None:
    """
    A stream's response, generator and nodes can be collected while the request still waits for its end.
    """
    import weakref

    with make() as handler:
        nodes = parts.chunks()
        response = parts.engine(parts.Docs(nodes=nodes), streaming=True).query(parts.QUESTION)
        watched = [weakref.ref(response.response_gen), weakref.ref(nodes[0].node)]
        generator = response.response_gen
        del response, nodes
        gc.collect()
        assert 1 == handler.stats["live_requests"]
        del generator
        gc.collect()
        assert [None, None] == [one() for one in watched]
        assert 0 == handler.stats["live_requests"]
