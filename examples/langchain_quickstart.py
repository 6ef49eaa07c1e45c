"""
Score a LangChain pipeline while it runs. The model is a fake one, so that this needs no key and no network.

    pip install "rageval-trace[langchain,otlp]"
    python langchain_quickstart.py
"""

from __future__ import annotations

from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from rageval_trace_langchain import RagEvalHandler

PAGES = [
    Document("Items may be returned within 30 days.", id="returns", metadata={"updated_at": "2026-11-02"}),
    Document("Standard delivery takes three to five working days.", id="delivery"),
]


class HelpPages(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [page for page in PAGES if set(query.lower().split()) & set(page.page_content.lower().split())]


def pipeline():
    """
    Build an everyday chain: retrieve, fill the prompt, ask the model, keep the text.
    """
    prompt = ChatPromptTemplate.from_template("Answer from these pages: {pages}\n\n{question}")
    model = FakeListChatModel(responses=["Items may be returned within 30 days. Shipping back is free of charge."])
    return {"pages": HelpPages(), "question": RunnablePassthrough()} | prompt | model | StrOutputParser()


def main() -> None:
    provider = TracerProvider()  # your application has one already
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(formatter=lambda span: f"span: {span.name}\n")))
    trace.set_tracer_provider(provider)

    handler = RagEvalHandler(pipeline="quickstart")
    answer = pipeline().invoke("May items be returned after two weeks?", config={"callbacks": [handler]})
    print(answer)
    print(handler.last)


if __name__ == "__main__":
    main()
