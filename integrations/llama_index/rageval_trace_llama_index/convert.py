"""
From LlamaIndex's objects to plain text and contexts.

What a call returns is the user's own object: it is read at once, never printed (`str` of a stream consumes it), never
kept. Types are tested with `isinstance`, for a `PydanticResponse` claims to have every attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import BoundArguments
from typing import Any, Final, TypeAlias

from llama_index.core.agent.workflow.workflow_events import AgentOutput
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, MessageRole
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.workflow import Event, StopEvent

__all__ = [
    "Stream",
    "answer_of",
    "first_argument",
    "query_text",
    "question_of",
    "sources_of",
    "stream_of",
    "tool_outputs",
]

Stream: TypeAlias = "StreamingResponse | AsyncStreamingResponse | StreamingAgentChatResponse"

QUESTION_KEYS: Final = ("user_msg", "question", "query", "user_input", "input", "message", "text", "prompt", "topic")
ANSWER_KEYS: Final = ("answer", "response", "result", "output", "text", "content")
SOURCE_KEYS: Final = ("source_nodes", "sources", "nodes", "contexts", "documents")

_RESPONSES: Final = (Response, StreamingResponse, AsyncStreamingResponse, PydanticResponse)
_CHAT_RESPONSES: Final = (AgentChatResponse, StreamingAgentChatResponse)


def first_argument(bound: BoundArguments) -> Any:
    """
    Return a call's first argument; None without any.
    """
    return next(iter(bound.arguments.values()), None)


def query_text(query: Any) -> str | None:
    """
    Return the text of a query, however it was given.
    """
    if isinstance(query, str):
        return query
    if isinstance(query, QueryBundle):
        return query.query_str
    return _message_text(query)


def question_of(event: Any) -> str | None:
    """
    Return the question in a workflow's start event: an agent's `user_msg`, else a field that names a question, else
    the last message of the user in its history.
    """
    for key in QUESTION_KEYS:
        text = query_text(_field(event, key))
        if text is not None and text.strip():
            return text
    history = _field(event, "chat_history")
    for message in reversed(history) if isinstance(history, list) else ():
        if isinstance(message, ChatMessage) and message.role == MessageRole.USER:
            return message.content
    return None


def answer_of(result: Any) -> str | None:
    """
    Return the answer in what a call returned; None when it holds none, or none yet.
    """
    if result is None or isinstance(result, str):
        return result
    if isinstance(result, (Response, AgentChatResponse)):
        return result.response if isinstance(result.response, str) else None
    if isinstance(result, PydanticResponse):
        return None if result.response is None else result.response.model_dump_json()
    if isinstance(result, (StreamingResponse, AsyncStreamingResponse, StreamingAgentChatResponse)):
        return None
    if type(result) is StopEvent:
        return answer_of(result.result)
    return _plain_answer(result)


def _plain_answer(result: Any) -> str | None:
    if isinstance(result, CompletionResponse):
        return result.text
    if isinstance(result, AgentOutput):
        return _message_text(result.response)
    if isinstance(result, ChatResponse):
        return _message_text(result.message)
    if isinstance(result, ChatMessage):
        return _message_text(result)
    for key in ANSWER_KEYS:
        value = _field(result, key)
        if isinstance(value, (str, Response, ChatMessage)):
            return answer_of(value)
    return None


def sources_of(result: Any) -> list[Any] | None:
    """
    Return the nodes that a response names as its sources; None when it is nothing that could name any.
    """
    if isinstance(result, _RESPONSES):
        return list(result.source_nodes or ())
    if isinstance(result, _CHAT_RESPONSES):
        # Some chat engines fill in only what their inner query returned.
        return list(result.source_nodes or ()) or _of_tools(result.sources)
    if type(result) is StopEvent:
        return sources_of(result.result)
    for key in SOURCE_KEYS:
        value = _field(result, key)
        if isinstance(value, (list, tuple)) and value and all([isinstance(one, NodeWithScore) for one in value]):
            return list(value)
        if isinstance(value, Response):
            return sources_of(value)
    return None


def _of_tools(outputs: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for output in outputs:
        raw = getattr(output, "raw_output", None)
        if isinstance(raw, (*_RESPONSES, *_CHAT_RESPONSES)):
            found.extend(sources_of(raw) or ())
        elif isinstance(raw, list) and raw and all([isinstance(one, NodeWithScore) for one in raw]):
            found.extend(raw)
    return found


def stream_of(result: Any) -> Stream | None:
    """
    Return the response whose text is still to come, as its reader reads it; None when there is none.
    """
    if isinstance(result, (StreamingResponse, AsyncStreamingResponse)):
        return result
    if isinstance(result, StreamingAgentChatResponse):
        return None if result.is_writing_to_memory else result
    return stream_of(result.result) if type(result) is StopEvent else None


def written_chat_of(result: Any) -> StreamingAgentChatResponse | None:
    """
    Return the chat response that a thread or task of its own still writes; None when there is none.
    """
    if isinstance(result, StreamingAgentChatResponse):
        return result if result.is_writing_to_memory else None
    return written_chat_of(result.result) if type(result) is StopEvent else None


def tool_outputs(result: Any) -> list[tuple[str, list[Any], str]]:
    """
    Return name, nodes and text of each tool that an agent called.
    """
    if type(result) is StopEvent:
        return tool_outputs(result.result)
    if not isinstance(result, AgentOutput):
        return []
    found = []
    for call in result.tool_calls:
        output = getattr(call, "tool_output", None)
        if output is not None:
            found.append((call.tool_name, _of_tools([output]), output.content))
    return found


def _message_text(message: Any) -> str | None:
    return message.content if isinstance(message, ChatMessage) else None


def _field(value: Any, key: str) -> Any:
    """
    Return what a mapping or a workflow's event holds under a name; None for anything else.
    """
    if isinstance(value, Mapping):
        return value.get(key)
    return getattr(value, key, None) if isinstance(value, Event) else None
