"""
From LangChain's objects to plain text and contexts.

Inputs and outputs are whatever an application passes: types are tested before anything is compared, called or
printed, nothing is consumed, and nothing is followed deeper than two levels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from typing import Any, Final, TypeGuard

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage

from rageval_trace.live.documents import DocumentReader
from rageval_trace.models import Context

__all__ = [
    "ANSWER_KEYS",
    "CONTEXT_KEYS",
    "QUESTION_KEYS",
    "answer_of",
    "content_text",
    "context_of",
    "contexts_of",
    "documents_in",
    "has_tool_calls",
    "is_message",
    "message_text",
    "question_of",
]

QUESTION_KEYS: Final = (
    "question",
    "input",
    "query",
    "user_input",
    "user_question",
    "user_query",
    "prompt",
    "text",
    "topic",
)
ANSWER_KEYS: Final = (
    "answer",
    "result",
    "output",
    "response",
    "output_text",
    "generation",
    "final_answer",
    "text",
    "content",
)
CONTEXT_KEYS: Final = (
    "context",
    "contexts",
    "documents",
    "docs",
    "source_documents",
    "retrieved_docs",
    "retrieved_documents",
    "retrieved_contexts",
    "chunks",
    "passages",
)

_TEXT_KEYS: Final = ("page_content", "text", "content")
_MAX_SCANNED: Final = 1_000
_HUMAN: Final = frozenset({"human", "user"})
_AI: Final = frozenset({"ai", "assistant", "AIMessageChunk"})


def fields_of(value: Any) -> Mapping[str, Any] | None:
    """
    Return a mapping's, model's or dataclass's fields by name; None for anything else.
    """
    if isinstance(value, Mapping):
        return value
    if is_message(value) or is_document(value):
        return None
    # Pydantic models of both generations, and dataclasses; only what the instance itself holds is read.
    if hasattr(type(value), "model_fields") or hasattr(type(value), "__fields__") or is_dataclass(type(value)):
        held = getattr(value, "__dict__", None)
        return held if isinstance(held, dict) else None
    return None


def is_document(value: Any) -> bool:
    """
    Return whether *value* is a document, or another object that holds its text as one does.
    """
    if isinstance(value, Document):
        return True
    held = getattr(value, "__dict__", None)
    return isinstance(held, dict) and isinstance(held.get("page_content"), str)


def is_message(value: Any) -> TypeGuard[BaseMessage]:
    """
    Return whether *value* is a chat message object.
    """
    return isinstance(value, BaseMessage)


def content_text(content: Any) -> str | None:
    """
    Return the text of a message's content: a string, or its text blocks joined; reasoning and tool calls left out.
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, (list, tuple)):
        return None
    parts: list[str] = []
    for block in content[:_MAX_SCANNED]:
        if isinstance(block, str):
            parts.append(block)
        elif isinstance(block, Mapping) and block.get("type") in ("text", "output_text", None):
            text = block.get("text")
            if isinstance(text, str):
                parts.append(text)
    return "".join(parts) if parts else None


def message_text(message: Any) -> str | None:
    """
    Return the text of a message: an object, a mapping with `content`, or a `(role, text)` pair.
    """
    found = role_and_content(message)
    return None if found is None else content_text(found[1])


def role_and_content(message: Any) -> tuple[str, Any] | None:
    """
    Return a message's role and content; None when it is no message.
    """
    if is_message(message):
        return message.type, message.content
    if isinstance(message, Mapping) and "content" in message:
        role = message.get("role", message.get("type"))
        return (role, message["content"]) if isinstance(role, str) else None
    if isinstance(message, (list, tuple)) and len(message) == 2 and isinstance(message[0], str):
        return message[0], message[1]
    return None


def has_tool_calls(message: Any) -> bool:
    """
    Return whether a message asks for tools, and so is no answer.
    """
    calls = message.get("tool_calls") if isinstance(message, Mapping) else getattr(message, "tool_calls", None)
    return isinstance(calls, (list, tuple)) and len(calls) > 0


def question_of(value: Any) -> str | None:
    """
    Return what was asked: a string, the last human message, or the text under a known key; None if unclear.
    """
    if isinstance(value, str):
        return str(value) or None
    if isinstance(value, (list, tuple)):
        return _last_human(value)
    if is_message(value):
        return content_text(value.content)
    fields = fields_of(value)
    return None if fields is None else _question_in(fields)


def _question_in(fields: Mapping[str, Any]) -> str | None:
    for key in QUESTION_KEYS:
        found = _question_under(fields.get(key))
        if found:
            return found
    for key in ("messages", "chat_history"):
        found = _question_under(fields.get(key))
        if found:
            return found
    texts = [text for text in fields.values() if isinstance(text, str)]
    return (texts[0] or None) if len(texts) == 1 and len(fields) == 1 else None


def _question_under(value: Any) -> str | None:
    if isinstance(value, str):
        return value or None
    if isinstance(value, (list, tuple)):
        return _last_human(value)
    return message_text(value) if value is not None else None


def _last_human(messages: Sequence[Any]) -> str | None:
    for message in reversed(messages[-_MAX_SCANNED:]):
        found = role_and_content(message)
        if found is not None and found[0] in _HUMAN:
            return content_text(found[1])
    only = messages[-1] if len(messages) else None
    return only if isinstance(only, str) else None


def answer_of(value: Any) -> str | None:
    """
    Return what was answered: a string, a message's text, the text under a known key, or the last AI message that
    asks for no tools; None if unclear.
    """
    if isinstance(value, str):
        return str(value)
    if is_message(value):
        return None if has_tool_calls(value) else content_text(value.content)
    if isinstance(value, (list, tuple)):
        return _last_ai(value)
    fields = fields_of(value)
    return None if fields is None else _answer_in(fields)


def _answer_in(fields: Mapping[str, Any]) -> str | None:
    for key in ANSWER_KEYS:
        value = fields.get(key)
        if isinstance(value, str):
            return value
        if is_message(value) and not has_tool_calls(value):
            return content_text(value.content)
    structured = fields.get("structured_response")
    if structured is not None and structured is not fields:
        found = answer_of(structured)
        if found is not None:
            return found
    messages = fields.get("messages")
    if isinstance(messages, (list, tuple)):
        return _last_ai(messages)
    if is_message(messages):
        return answer_of(messages)
    return None


def _last_ai(messages: Sequence[Any]) -> str | None:
    """
    Return the text of the last AI message after the last human one; an unanswered turn has no answer.
    """
    for message in reversed(messages[-_MAX_SCANNED:]):
        found = role_and_content(message)
        if found is None:
            continue
        if found[0] in _HUMAN:
            return None
        if found[0] in _AI and not has_tool_calls(message):
            return content_text(found[1])
    return None


def documents_in(value: Any, depth: int = 2) -> list[Any] | None:
    """
    Return the documents in an output: a list of documents or of (document, score) pairs, at the top, under a key, or
    in a graph command's update; strings only under a key that names contexts. None when there are none.
    """
    if value is None or isinstance(value, (str, bytes, int, float)):
        return None
    if isinstance(value, (list, tuple)):
        return _documents_in_list(value, depth)
    fields = getattr(value, "update", None) if type(value).__name__ == "Command" else fields_of(value)
    if not isinstance(fields, Mapping) or depth <= 0:
        return None
    for key in CONTEXT_KEYS:
        named = fields.get(key)
        if isinstance(named, (list, tuple)) and named and all(_like_document(one) for one in named[:_MAX_SCANNED]):
            return list(named)
    for one in list(fields.values())[:_MAX_SCANNED]:
        found = documents_in(one, depth - 1)
        if found is not None:
            return found
    return None


def _documents_in_list(value: Sequence[Any], depth: int) -> list[Any] | None:
    head = value[:_MAX_SCANNED]
    if not head:
        return None
    if all(is_document(one) or _scored_document(one) for one in head):
        return list(head)
    if depth > 0 and type(head[0]).__name__ == "Command":
        for one in head:
            found = documents_in(one, depth - 1)
            if found is not None:
                return found
    return None


def _scored_document(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and is_document(value[0])


def _like_document(value: Any) -> bool:
    return isinstance(value, str) or is_document(value) or _scored_document(value)


def contexts_of(documents: Iterable[Any] | None, reader: DocumentReader) -> tuple[Context, ...]:
    """
    Snapshot documents; strings, mappings and pairs are coerced, and what holds no text is left out, both counted.
    """
    if documents is None:
        reader.coerced()
        return ()
    found: list[Context] = []
    for document in documents:
        context = context_of(document, reader)
        if context is not None:
            found.append(context)
    return tuple(found)


def context_of(document: Any, reader: DocumentReader, score: Any = None) -> Context | None:
    """
    Snapshot one document; None when it holds no text.
    """
    if type(document) is Document:
        held = document.__dict__  # plain fields, so that nothing of them can raise
        text, metadata = held.get("page_content"), held.get("metadata")
        if type(text) is str and type(metadata) is dict:
            return reader.context(text, metadata, id=held.get("id"), score=score)
    if isinstance(document, tuple) and len(document) == 2 and not isinstance(document[0], str):
        return context_of(document[0], reader, document[1])
    text = _attribute(document, "page_content")
    if isinstance(text, str):
        metadata = _attribute(document, "metadata")
        plain = metadata if isinstance(metadata, Mapping) else {}
        return reader.context(text, plain, id=_attribute(document, "id"), score=score)
    reader.coerced()
    if isinstance(document, Context):
        return document
    if isinstance(document, str):
        return reader.context(document, {}, score=score)
    if isinstance(document, Mapping):
        return _context_of_mapping(document, reader, score)
    text = message_text(document)
    return None if text is None else reader.context(text, {}, score=score)


def _attribute(value: Any, name: str) -> Any:
    """
    Return an attribute of an object that may be of any kind; None when it has none, or raises.
    """
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def _context_of_mapping(document: Mapping[str, Any], reader: DocumentReader, score: Any) -> Context | None:
    texts = [document[key] for key in _TEXT_KEYS if isinstance(document.get(key), str)]
    if not texts:
        return None
    metadata = document.get("metadata")
    merged = {**document, **metadata} if isinstance(metadata, Mapping) else dict(document)
    for key in (*_TEXT_KEYS, "metadata"):
        merged.pop(key, None)
    text = texts[0]
    return reader.context(text, merged, score=score)


def prompt_contexts(variables: Any, reader: DocumentReader) -> tuple[Context, ...]:
    """
    Return what a prompt's variables hold under a key that names contexts; one joined string is one context.
    """
    if not isinstance(variables, Mapping):
        return ()
    for key in CONTEXT_KEYS:
        value = variables.get(key)
        if isinstance(value, str) and value.strip():
            return (reader.context(value, {}),)
        if isinstance(value, (list, tuple)) and value and all([_like_document(one) for one in value[:_MAX_SCANNED]]):
            return contexts_of(value, reader)
    return ()


def graph_place(metadata: Mapping[str, Any] | None) -> tuple[tuple[str, ...] | None, int | None]:
    """
    Return which LangGraph node a run belongs to, as the names of the node and of the subgraphs around it, and in
    which step; Nones outside a graph.
    """
    if not metadata:
        return None, None
    node = metadata.get("langgraph_node")
    step = metadata.get("langgraph_step")
    if not isinstance(node, str) or not isinstance(step, int):
        return None, None
    namespace = metadata.get("langgraph_checkpoint_ns")
    path = [part.partition(":")[0] for part in namespace.split("|")] if isinstance(namespace, str) else []
    return (*path, node), step


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """
    What a model returned.

    Args:
        text: Its text; None when it asked for tools.
        facts: `response_id`, `request_model`, `provider_name`, as far as the response names them.
        content: The message's content, for what else it holds.
    """

    text: str | None
    facts: Mapping[str, str]
    content: Any = None


def model_answer(response: Any) -> ModelAnswer | None:
    """
    Read the first generation of a model's response; None when there is none.
    """
    generations = getattr(response, "generations", None)
    if not generations or not generations[0]:
        return None
    first = generations[0][0]
    message = getattr(first, "message", None)
    if not is_message(message):
        text = getattr(first, "text", None)
        return ModelAnswer(text if isinstance(text, str) else None, {})
    text = None if has_tool_calls(message) else content_text(message.content)
    return ModelAnswer(text, _response_facts(message), message.content)


def _response_facts(message: BaseMessage) -> Mapping[str, str]:
    about = message.response_metadata
    if not isinstance(about, Mapping):
        return {}
    found = {
        "response_id": about.get("id") or _provider_id(message.id),
        "request_model": about.get("model_name") or about.get("model"),
        "provider_name": about.get("model_provider"),
    }
    return {name: value for name, value in found.items() if isinstance(value, str) and value}


def _provider_id(message_id: Any) -> str | None:
    """
    Return a message's id unless LangChain made it up.
    """
    if not isinstance(message_id, str) or message_id.startswith(("run-", "run--", "lc_")):
        return None
    return message_id


def control_flow(error: BaseException) -> str | None:
    """
    Return `interrupt` or `jump` for the exceptions by which LangGraph turns its flow; None for real errors.

    They are told by their base class and its module, so that langgraph need not be imported.
    """
    for kind in type(error).__mro__:
        if kind.__name__ == "GraphBubbleUp" and kind.__module__.startswith("langgraph."):
            names = [one.__name__ for one in type(error).__mro__]
            return "jump" if "ParentCommand" in names else "interrupt"
    return None
