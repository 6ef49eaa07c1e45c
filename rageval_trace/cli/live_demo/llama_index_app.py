"""
The demo's pipeline in LlamaIndex: a query engine over the corpus, called in each of the ways there are.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
from llama_index_instrumentation.dispatcher import instrument_tags

from rageval_trace.cli.live_demo.corpus import search
from rageval_trace.cli.live_demo.script import TOP_K, Request

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from rageval_trace.live.result import LiveResult

__all__ = ["answers"]


def answers(
    requests: Sequence[Request], *, now: datetime, tracer: Tracer, options: Mapping[str, Any]
) -> Iterator[LiveResult | None]:
    """
    Run each request through the pipeline, as a web application would: inside a span of its own.

    Args:
        requests: What to ask, in order.
        now: The moment from which the pages' ages count back.
        tracer: Makes the application's span.
        options: Arguments of the handler.

    Yields:
        What the handler made of each request; None if it made nothing.
    """
    # By name: the core imports no adapter.
    handler = importlib.import_module("rageval_trace_llama_index").RagEvalHandler(**options)
    with handler:
        for request in requests:
            engine = _engine(request, now)
            with instrument_tags(dict(request.labels)), tracer.start_as_current_span("POST /ask"):
                _ask(engine, request)
            yield handler.last
    handler.close()


class _HelpCentreRetriever(BaseRetriever):
    def __init__(self, now: datetime) -> None:
        self._now = now
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = []
        for page, score in search(query_bundle.query_str, TOP_K):
            node = TextNode(text=page.text, metadata={"updated_at": page.updated_at(self._now).isoformat()})
            node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=page.id)
            found.append(NodeWithScore(node=node, score=score))
        return found


class _Scripted(CustomLLM):
    answer: str

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="scripted", context_window=100_000)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ARG002  # the base class's shape
        return CompletionResponse(text=self.answer)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:  # noqa: ARG002  # as above
        def words() -> CompletionResponseGen:
            text = ""
            for word in self.answer.split(" "):
                delta = f" {word}" if text else word
                text += delta
                yield CompletionResponse(text=text, delta=delta)

        return words()


def _engine(request: Request, now: datetime) -> RetrieverQueryEngine:
    model = _Scripted(answer=request.answer)
    streaming = request.call in ("stream", "astream")
    return RetrieverQueryEngine(_HelpCentreRetriever(now), get_response_synthesizer(llm=model, streaming=streaming))


def _ask(engine: RetrieverQueryEngine, request: Request) -> None:
    """
    Call the engine as the request says; LlamaIndex has no batches, so they are single calls.
    """
    if request.call.startswith("a"):
        asyncio.run(_aask(engine, request.question))
    else:
        str(engine.query(request.question))


async def _aask(engine: RetrieverQueryEngine, question: str) -> None:
    response: Any = await engine.aquery(question)
    if hasattr(response, "async_response_gen"):
        async for _ in response.async_response_gen():
            pass
