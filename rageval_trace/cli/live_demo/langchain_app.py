"""
The demo's pipeline in LangChain: retriever, prompt, chat model, parser, called in each of the ways there are.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnablePassthrough
from langsmith import tracing_context

from rageval_trace.cli.live_demo.corpus import search
from rageval_trace.cli.live_demo.script import TOP_K, Call, Request

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
    handler = importlib.import_module("rageval_trace_langchain").RagEvalHandler(**options)
    for request in requests:
        chain = _chain(request.answer, now)
        config: RunnableConfig = {"callbacks": [handler], "metadata": dict(request.labels)}
        # Nothing is sent anywhere, whatever this machine's LangSmith settings say.
        with tracing_context(enabled=False), tracer.start_as_current_span("POST /ask"):
            _CALLS[request.call](chain, request.question, config)
        yield handler.last
    handler.close()


class _HelpCentreRetriever(BaseRetriever):
    now: datetime

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  # the base class passes it by name
    ) -> list[Document]:
        return [
            Document(
                page.text, id=page.id, metadata={"score": score, "updated_at": page.updated_at(self.now).isoformat()}
            )
            for page, score in search(query, TOP_K)
        ]


_PROMPT = ChatPromptTemplate.from_messages(
    [("system", "Answer from these pages alone:\n\n{pages}"), ("human", "{question}")]
)


def _chain(answer: str, now: datetime) -> Runnable[str, str]:
    retriever = _HelpCentreRetriever(now=now)
    model = GenericFakeChatModel(messages=iter([AIMessage(answer)]))
    return {"pages": retriever | _join, "question": RunnablePassthrough()} | _PROMPT | model | StrOutputParser()


def _join(documents: list[Document]) -> str:
    return "\n\n".join([document.page_content for document in documents])


async def _read(chain: Runnable[str, str], question: str, config: RunnableConfig) -> None:
    async for _ in chain.astream(question, config):
        pass


_CALLS: Mapping[Call, Callable[[Runnable[str, str], str, RunnableConfig], object]] = {
    "invoke": lambda chain, question, config: chain.invoke(question, config),
    "ainvoke": lambda chain, question, config: asyncio.run(_awaited(chain.ainvoke(question, config))),
    "stream": lambda chain, question, config: list(chain.stream(question, config)),
    "astream": lambda chain, question, config: asyncio.run(_read(chain, question, config)),
    "batch": lambda chain, question, config: chain.batch([question], config),
    "abatch": lambda chain, question, config: asyncio.run(_awaited(chain.abatch([question], config))),
}


async def _awaited(call: Any) -> Any:
    return await call
