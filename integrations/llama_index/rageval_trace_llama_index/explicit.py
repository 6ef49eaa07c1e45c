"""
For steps that LlamaIndex's instrumentation cannot see into: name the contexts or the answer from inside the step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rageval_trace.live.tally import say_once
from rageval_trace_llama_index.handler import RagEvalHandler, handlers

__all__ = ["record_answer", "record_contexts"]


def record_contexts(documents: Any) -> bool:
    """
    Name the contexts of the current request, from inside a workflow's step, a tool or a custom engine.

    They take the place of whatever else was observed; several calls add up. Never raises.

    Args:
        documents: Nodes, strings or mappings with a text, in rank order; empty for a retrieval that found nothing.

    Returns:
        True when a handler took them; False outside a request that a `RagEvalHandler` follows.
    """
    return _hand_over(lambda handler: handler.take_contexts(documents))


def record_answer(text: str) -> bool:
    """
    Name the answer of the current request; see `record_contexts`.
    """
    return _hand_over(lambda handler: handler.take_answer(text))


def _hand_over(give: Callable[[RagEvalHandler], bool]) -> bool:
    taken = [give(handler) for handler in handlers()]
    if not any(taken):
        say_once("explicit", "nothing was recorded: no RagEvalHandler follows the current call")
    return any(taken)
