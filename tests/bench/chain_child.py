"""
Run one LangChain RAG chain under one watcher, and print what a run and a token cost as JSON. `table.py` starts this,
a fresh process for each watcher, since instrumentations patch the process.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from bench_cost import Nowhere, cost
from langchain_core.callbacks.base import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from prose import SIXTEEN, pages

PAGES = pages(400)
QUESTION = PAGES[0]["question"]
TOKENS = 400
Handlers = list[Any]


class Retriever(BaseRetriever):
    """Give the next page, so that no passage is seen twice in a while."""

    turn: int = 0

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self.turn = (self.turn + 1) % len(PAGES)
        found = PAGES[self.turn]["retrieved_contexts"]
        return [Document(page_content=one["text"], metadata={"id": one["id"]}) for one in found]

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self._get_relevant_documents(query, run_manager=run_manager)


class Model(BaseChatModel):
    """Answer at once, or in tokens."""

    turn: int = 0

    @property
    def _llm_type(self) -> str:
        return "bench"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        self.turn = (self.turn + 1) % len(PAGES)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(PAGES[self.turn]["answer"]))])

    async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return self._generate(messages)

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        for _ in range(kwargs.get("tokens", TOKENS)):
            chunk = ChatGenerationChunk(message=AIMessageChunk("fee "))
            if run_manager is not None:
                run_manager.on_llm_new_token("fee ", chunk=chunk)
            yield chunk


class Inline(BaseCallbackHandler):
    """Do nothing, on the event loop itself: the least that a handler costs."""

    run_inline = True


def chain() -> Any:
    """
    Return the chain of LangChain's own tutorials.
    """
    prompt = ChatPromptTemplate.from_template("Context: {context}\nQuestion: {question}")
    filled = {"context": Retriever() | _join, "question": RunnablePassthrough()}
    return filled | prompt | Model() | StrOutputParser()


def _join(documents: list[Document]) -> str:
    return "\n\n".join([one.page_content for one in documents])


def ours(**options: Any) -> Handlers:
    from rageval_trace_langchain import RagEvalHandler

    from rageval_trace import Settings

    spans = options.pop("spans", "auto")
    return [RagEvalHandler(settings=Settings.from_env(spans=spans), **options)]


def instrumented(module: str, name: str) -> Handlers:
    getattr(importlib.import_module(module), name)().instrument(skip_dep_check=True)
    return []


def langfuse() -> Handlers:
    client = importlib.import_module("langfuse")
    client.Langfuse(public_key="pk-bench", secret_key="sk-bench", span_exporter=Nowhere())  # noqa: S106 - no key
    return [importlib.import_module("langfuse.langchain").CallbackHandler()]


WATCHERS: dict[str, Callable[[], Handlers]] = {
    "none": list,
    "inline no-op": lambda: [Inline()],
    "scores": lambda: ours(spans="never", metrics=SIXTEEN, meter_provider=metrics.NoOpMeterProvider()),
    "scores and risk": lambda: ours(spans="never", meter_provider=metrics.NoOpMeterProvider()),
    "full": lambda: ours(metrics=SIXTEEN),
    "unsampled": lambda: ours(sample_rate=0.0),
    "openinference": lambda: instrumented("openinference.instrumentation.langchain", "LangChainInstrumentor"),
    "traceloop": lambda: instrumented("opentelemetry.instrumentation.langchain", "LangchainInstrumentor"),
    "langfuse": langfuse,
}


async def at_once(app: Any, config: Any, count: int) -> None:
    for _ in range(0, count, 50):
        await asyncio.gather(*[app.ainvoke(QUESTION, config) for _ in range(50)])


def stream(app: Any, config: Any, count: int) -> None:
    for _ in range(count):
        for _ in app.stream(QUESTION, config):
            pass


def main(watcher: str, count: int) -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Nowhere(), max_queue_size=100_000))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([InMemoryMetricReader()]))
    config = {"callbacks": WATCHERS[watcher]()}
    app = chain()
    for _ in range(20):
        app.invoke(QUESTION, config)
    asyncio.run(at_once(app, config, 50))
    stream(app, config, 1)
    found = {
        "sync": cost(provider, lambda: [app.invoke(QUESTION, config) for _ in range(count)], count),
        "async": cost(provider, lambda: asyncio.run(at_once(app, config, count)), count),
    }
    # What a request costs however it is answered is no token's.
    found["token"] = (cost(provider, lambda: stream(app, config, 10), 10) - found["sync"]) / TOKENS
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
