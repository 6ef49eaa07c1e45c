"""
From LlamaIndex's nodes to contexts: a snapshot each, for rerankers and replacers change nodes in place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from llama_index.core.schema import BaseNode, Node, NodeRelationship, NodeWithScore, TextNode

from rageval_trace.live.documents import DocumentReader
from rageval_trace.models import Context

__all__ = ["contexts_of"]

_TEXT_KEYS: Final = ("text", "page_content", "content")
_CITED: Final = re.compile(r"\ASource \d+:\n")
# How an engine that asks sub-questions, or one after the other, passes on what it was answered.
_PAIR: Final = re.compile(r"\A(Sub question: .*\nResponse: |\nQuestion: .*\nAnswer: )", re.DOTALL)


def contexts_of(
    nodes: Any, reader: DocumentReader, *, cites: bool = False, earlier: Iterable[Context] = ()
) -> tuple[Context, ...]:
    """
    Snapshot nodes; strings and mappings are coerced, and what holds no text at all is left out, both counted.

    Args:
        nodes: In rank order.
        reader: Makes contexts within limits.
        cites: They come from an engine that numbers its sources inside their texts.
        earlier: Snapshots made of the request's nodes before; taken again where a node is as it was.
    """
    if not isinstance(nodes, (list, tuple)):
        reader.coerced()
        return ()
    known = {} if cites else {context.metadata.get("node_id"): context for context in earlier}
    found = [context for node in nodes if (context := _read(node, reader, cites, known)) is not None]
    # A question and its answer are passed on as a node; they are the pipeline's own words, not a source.
    real = [context for context in found if context.score is not None or not _is_pair(context)]
    return tuple(real or found)


def _is_pair(context: Context) -> bool:
    """
    Return whether a context is a question and answer of the pipeline's own: it comes from nowhere, unlike a FAQ's page.
    """
    said = context.metadata
    return len(said) == 1 and context.id == said.get("node_id") and _PAIR.match(context.text) is not None


def _read(item: Any, reader: DocumentReader, cites: bool, known: Mapping[Any, Context]) -> Context | None:
    """
    Return a node's context; None, and count it, for one that cannot be read, so that it costs the others nothing.
    """
    try:
        return _context_of(item, reader, cites, known)
    except Exception:
        reader.coerced()
        return None


def _context_of(item: Any, reader: DocumentReader, cites: bool, known: Mapping[Any, Context]) -> Context | None:
    # Most are exactly this type; for a model's class, `isinstance` costs as much as all the rest.
    node, score = (item.node, item.score) if type(item) is NodeWithScore else _parts(item)
    if type(node) is TextNode or isinstance(node, BaseNode):
        return _context_of_node(node, score, reader, cites, known)
    reader.coerced()
    if isinstance(node, Context):
        return node
    if isinstance(node, str):
        return reader.context(node, {}, score=score)
    if isinstance(node, Mapping):
        texts = [node[key] for key in _TEXT_KEYS if isinstance(node.get(key), str)]
        rest = {key: value for key, value in node.items() if key not in _TEXT_KEYS}
        return reader.context(texts[0], rest, score=score) if texts else None
    return None


def _parts(item: Any) -> tuple[Any, Any]:
    return (item.node, item.score) if isinstance(item, NodeWithScore) else (item, None)


def _context_of_node(
    node: BaseNode, score: Any, reader: DocumentReader, cites: bool, known: Mapping[Any, Context]
) -> Context:
    node_id, related, said = node.node_id, node.relationships, node.metadata
    source = related.get(NodeRelationship.SOURCE) if related else None
    id_ = getattr(source, "node_id", None) or node_id
    text = _node_text(node)
    before = known.get(node_id)
    if before is not None and _is_unchanged(before, id_, text, score, said):
        return before
    metadata: dict[str, Any] = {"node_id": node_id}
    metadata.update(said)
    metadata["node_id"] = node_id
    if cites:
        text = _CITED.sub("", text).strip()
    return reader.context(text, metadata, id=id_, score=score)


def _is_unchanged(before: Context, id_: str, text: str, score: Any, metadata: Mapping[str, Any]) -> bool:
    """
    Return whether a node is as it was when it was read: by identity, which a value that is kept cannot lose.

    What was cut or left out then is another object, or of another number, and is read again.
    """
    if before.text is not text or before.id != id_:
        return False
    if before.score is not score and not (type(score) is float and before.score == score):
        return False
    kept = before.metadata
    if len(kept) != len(metadata) + 1:
        return False
    return all([kept.get(key) is value for key, value in metadata.items()])


def _node_text(node: BaseNode) -> str:
    """
    Return a node's text as it is, for `get_content` formats its metadata each time.
    """
    if type(node) is TextNode or isinstance(node, TextNode):
        text: Any = node.text
    elif isinstance(node, Node):
        text = node.text_resource.text if node.text_resource is not None else ""
    else:
        text = node.get_content()
    return text if isinstance(text, str) else ""
