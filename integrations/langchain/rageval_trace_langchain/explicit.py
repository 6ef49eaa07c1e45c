"""
For steps that callbacks cannot see into: name the contexts or the answer from inside the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import UUID

from langchain_core.runnables.config import var_child_runnable_config

from rageval_trace.live.tally import say_once
from rageval_trace_langchain.handler import RagEvalHandler

__all__ = ["record_answer", "record_contexts"]


def record_contexts(documents: Any, *, config: Mapping[str, Any] | None = None) -> bool:
    """
    Name the contexts of the current request, from inside a RunnableLambda, tool, graph node or dynamic prompt.

    They take the place of whatever else was observed; several calls add up. Never raises.

    Args:
        documents: Documents, strings or mappings with a text, in rank order; empty for a retrieval that found nothing.
        config: The step's own config; None for the current one (before Python 3.11, asynchronous steps must give it).

    Returns:
        True when a handler took them; False outside a request that a `RagEvalHandler` follows.
    """
    return _hand_over(lambda handler, run_id: handler.take_contexts(run_id, documents), config)


def record_answer(text: str, *, config: Mapping[str, Any] | None = None) -> bool:
    """
    Name the answer of the current request; see `record_contexts`.
    """
    return _hand_over(lambda handler, run_id: handler.take_answer(run_id, text), config)


def _hand_over(give: Callable[[RagEvalHandler, UUID], bool], config: Mapping[str, Any] | None) -> bool:
    taken = [give(handler, run_id) for handler, run_id in _following(config)]
    if not any(taken):
        say_once("explicit", "nothing was recorded: no RagEvalHandler follows the current run")
    return any(taken)


def _following(config: Mapping[str, Any] | None) -> Iterator[tuple[RagEvalHandler, UUID]]:
    current = var_child_runnable_config.get() if config is None else config
    manager = current.get("callbacks") if isinstance(current, Mapping) else None
    run_id = getattr(manager, "parent_run_id", None)
    if run_id is None:
        return
    for handler in getattr(manager, "handlers", ()):
        if isinstance(handler, RagEvalHandler):
            yield handler, run_id
