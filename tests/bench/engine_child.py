"""
Run one LlamaIndex query engine under one watcher, and print what a query and a token cost as JSON; see `chain_child`.
"""

from __future__ import annotations

import importlib
import json
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
TOKENS = 400


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
            for number in range(1, TOKENS + 1):
                yield CompletionResponse(text="fee " * number, delta="fee ")

        return tokens()


def ours() -> None:
    from rageval_trace_llama_index import RagEvalHandler

    from rageval_trace import Settings

    settings, metering = Settings.from_env(spans="never"), metrics.NoOpMeterProvider()
    RagEvalHandler(settings=settings, metrics=SIXTEEN, meter_provider=metering).install()


def openinference() -> None:
    module = importlib.import_module("openinference.instrumentation.llama_index")
    module.LlamaIndexInstrumentor().instrument(skip_dep_check=True)


WATCHERS: dict[str, Callable[[], None]] = {"none": lambda: None, "scores": ours, "openinference": openinference}


def main(watcher: str, count: int) -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Nowhere(), max_queue_size=100_000))
    trace.set_tracer_provider(provider)
    WATCHERS[watcher]()
    model = Model()
    whole, streamed = [
        RetrieverQueryEngine(Retriever(), get_response_synthesizer(llm=model, streaming=streaming))
        for streaming in (False, True)
    ]

    def stream(times: int) -> None:
        for _ in range(times):
            for _ in streamed.query(QUESTION).response_gen:
                pass

    for _ in range(20):
        whole.query(QUESTION)
    stream(1)
    found = {"sync": cost(provider, lambda: [whole.query(QUESTION) for _ in range(count)], count)}
    found["token"] = (cost(provider, lambda: stream(10), 10) - found["sync"]) / TOKENS
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
