"""
Many requests at once: none of them mix.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import llama_parts as parts


def _assert_no_cross_talk(results: list[Any], questions: list[str]) -> None:
    assert sorted(questions) == sorted([result.record.question for result in results])
    for result in results:
        question = result.record.question
        assert [f"doc of {question}"] == [context.id for context in result.record.contexts]
        assert f"It is {question}" == result.record.answer


async def test_gathered_queries(handler: Any, results: list[Any]) -> None:
    """
    Twenty tasks on one loop.
    """
    engine = parts.engine(parts.Echo(), parts.Script(None, delay_s=0.001))
    questions = [f"question {number}" for number in range(20)]

    await asyncio.gather(*[engine.aquery(question) for question in questions])

    _assert_no_cross_talk(results, questions)


def test_threads(handler: Any, results: list[Any]) -> None:
    """
    Two hundred queries on eight threads, half of them streams.
    """
    plain, streamed = [parts.engine(parts.Echo(), parts.Script(None), streaming=one) for one in (False, True)]

    def work(first: int) -> None:
        for number in range(first, first + 25):
            str((streamed if number % 2 else plain).query(f"question {number}"))

    threads = [threading.Thread(target=work, args=(25 * number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    _assert_no_cross_talk(results, [f"question {number}" for number in range(200)])
