"""
Run one LlamaIndex query engine under one watcher, and print what a query and a token cost as JSON; see `chain_child`.
"""

from __future__ import annotations

import importlib
import json
import statistics
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
warnings.simplefilter("ignore")
from bench_cost import Nowhere, cost
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from opentelemetry import metrics, trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from prose import SIXTEEN, pages

PAGES = pages(400)
QUESTION = PAGES[0]["question"]
FEW, MANY = 400, 2400


class Retriever(BaseRetriever):
    """Give the next page, so that no passage is seen twice in a while."""

    turn = 0

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.turn = (self.turn + 1) % len(PAGES)
        found = PAGES[self.turn]["retrieved_contexts"]
        return [NodeWithScore(node=TextNode(text=one["text"], id_=one["id"]), score=0.5) for one in found]


class Model(CustomLLM):
    """Answer at once, or in tokens."""

    turn: int = 0
    tokens: int = FEW

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="bench")

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self.turn = (self.turn + 1) % len(PAGES)
        return CompletionResponse(text=PAGES[self.turn]["answer"])

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        def tokens() -> Any:
            for _ in range(self.tokens):
                yield CompletionResponse(text="fee ", delta="fee ")

        return tokens()


def ours(names: list[str]) -> Any:
    from rageval_trace_llama_index import RagEvalHandler

    from rageval_trace import Settings

    settings, metering = Settings.from_env(spans="never"), metrics.NoOpMeterProvider()
    return RagEvalHandler(settings=settings, metrics=names, meter_provider=metering).install()


def openinference() -> None:
    module = importlib.import_module("openinference.instrumentation.llama_index")
    module.LlamaIndexInstrumentor().instrument(skip_dep_check=True)


WATCHERS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "scores": lambda: ours(SIXTEEN),
    # Captures the answer, and scores nothing of it: a longer one is dearer to score, however it comes.
    "following": lambda: ours(["freshness"]),
    "openinference": openinference,
}


def _token(provider: TracerProvider, handler: Any, stream: Callable[[int, int], None]) -> float:
    """
    Return what a token costs more with the handler than without, both in this process: the core's own work on a token
    varies more from one process to another. Only more tokens count, not the request that they belong to.
    """
    each = []
    for listen in (handler.uninstall, handler.install):
        listen()
        few, many = [cost(provider, lambda tokens=tokens: stream(tokens, 2), 2) for tokens in (FEW, MANY)]  # type: ignore[misc]
        each.append((many - few) / (MANY - FEW))
    return each[1] - each[0]


def main(watcher: str, count: int) -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Nowhere(), max_queue_size=100_000))
    trace.set_tracer_provider(provider)
    handler = WATCHERS[watcher]()
    model = Model()
    whole, streamed = [
        RetrieverQueryEngine(Retriever(), get_response_synthesizer(llm=model, streaming=streaming))
        for streaming in (False, True)
    ]

    def stream(tokens: int, times: int) -> None:
        model.tokens = tokens
        for _ in range(times):
            for _ in streamed.query(QUESTION).response_gen:
                pass

    for _ in range(20):
        whole.query(QUESTION)
    stream(FEW, 1)
    found = {"sync": cost(provider, lambda: [whole.query(QUESTION) for _ in range(count)], count)}
    if handler is not None:
        found["token"] = statistics.median([_token(provider, handler, stream) for _ in range(7)])
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
