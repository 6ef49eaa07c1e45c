"""
Snapshots of nodes: taken again only where a node is as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import llama_parts as parts
import pytest
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode
from rageval_trace_llama_index.nodes import contexts_of

from rageval_trace.live.documents import DocumentKeys, DocumentReader
from rageval_trace.live.tally import Tally


def _reader(max_chars: int = 1_000) -> DocumentReader:
    return DocumentReader(DocumentKeys(), max_chars=max_chars, count=Tally().add)


def _replace_text(found: NodeWithScore) -> None:
    found.node.text = "The tower closes at noon."  # type: ignore[attr-defined]


def _replace_source(found: NodeWithScore) -> None:
    found.node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id="elsewhere")


CHANGES: dict[str, tuple[Callable[[NodeWithScore], object], str, Any]] = {
    "text": (_replace_text, "text", "The tower closes at noon."),
    "score": (lambda found: setattr(found, "score", 0.1), "score", 0.1),
    "score taken away": (lambda found: setattr(found, "score", None), "score", None),
    "document": (_replace_source, "id", "elsewhere"),
    "source": (lambda found: found.node.metadata.update(file_name="other.md"), "source", "other.md"),
    "a new key": (lambda found: found.node.metadata.update(window="w"), "metadata", "w"),
    "a date": (
        lambda found: found.node.metadata.update(last_modified_date="2026-11-02"),
        "timestamp",
        datetime(2026, 11, 2, tzinfo=timezone.utc),
    ),
    "a key in place of another": (
        lambda found: (found.node.metadata.pop("last_modified_date"), found.node.metadata.update(window="w")),
        "timestamp",
        None,
    ),
}


class Changing(BaseNodePostprocessor):
    """
    Change each node in place, after the retriever has returned it.
    """

    change: Any

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: Any = None) -> list[NodeWithScore]:
        self.change(nodes[0])
        return nodes


@pytest.mark.parametrize("what", CHANGES)
def test_what_a_postprocessor_changed_is_read_again(what: str, handler: Any, results: list[Any]) -> None:
    """
    The record holds the node as the model read it, not as the retriever left it.
    """
    change, field, expected = CHANGES[what]

    parts.engine(postprocessors=[Changing(change=change)]).query(parts.QUESTION)

    (result,) = results
    seen = getattr(result.record.contexts[0], field)
    assert expected == (seen["window"] if field == "metadata" else seen)


def test_a_node_that_did_not_change_is_read_once() -> None:
    """
    The same snapshot serves the retriever's list and the response's.
    """
    nodes = parts.chunks()
    first = contexts_of(nodes, _reader())

    again = contexts_of(nodes[::-1], _reader(), earlier=first)

    assert [id(context) for context in first[::-1]] == [id(context) for context in again]


@pytest.mark.parametrize(
    "node",
    [
        TextNode(text="long " * 1_000, id_="n"),
        TextNode(text="short", id_="n", metadata={"long": "word " * 1_000}),
        TextNode(text="short", id_="n", metadata={"nested": {"a": 1}}),
        TextNode(text="short", id_="n", metadata={"node_id": "its own"}),
    ],
    ids=["text cut", "value cut", "value left out", "key of ours"],
)
def test_what_was_not_kept_whole_is_read_again(node: TextNode) -> None:
    """
    What was cut or left out cannot be compared; reading again gives the same.
    """
    first = contexts_of([node], _reader(100))

    again = contexts_of([node], _reader(100), earlier=first)

    assert first == again
    assert first[0] is not again[0]


def test_numbered_sources_are_never_taken_from_before() -> None:
    """
    An engine that numbers its sources has its numbers stripped, whatever was seen of the node earlier.
    """
    node = TextNode(text="Source 1:\nThe tower is tall.\n", id_="n")
    first = contexts_of([node], _reader())

    again = contexts_of([node], _reader(), cites=True, earlier=first)

    assert ["Source 1:\nThe tower is tall.\n"] == [context.text for context in first]
    assert ["The tower is tall."] == [context.text for context in again]


@pytest.mark.parametrize(
    "text", ["\nQuestion: how tall\nAnswer: 82 metres", "Sub question: how tall\nResponse: 82 metres"]
)
@pytest.mark.parametrize(
    ("known", "kept"), [({}, False), ({"score": 0.5}, True), ({"doc": "faq"}, True), ({"page": 3}, True)]
)
def test_a_page_of_questions_and_answers_is_a_source(known: dict[str, Any], kept: bool, text: str) -> None:
    """
    Only a pair that comes from nowhere is the pipeline's own: no document, no score, no metadata.
    """
    metadata = {key: value for key, value in known.items() if key == "page"}
    pair = parts.node(text, known.get("doc"), known.get("score"), **metadata)

    found = contexts_of([pair, *parts.chunks()], _reader())

    assert [text] * kept + [parts.TOWER, parts.OPENING] == [context.text for context in found]
