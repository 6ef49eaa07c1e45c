"""
Pieces of real LangChain applications: a local retriever, scripted models, and the chains people build of them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from pydantic import ConfigDict, Field

TOWER = Document(
    page_content="The Harbour Tower is 82 metres tall and has 300 steps.",
    metadata={"id": "tower", "updated_at": "2026-11-01T00:00:00Z", "source": "guide.md"},
)
OPENING = Document(page_content="The tower opens at nine on weekdays.", metadata={"id": "opening"})
QUESTION = "How tall is the Harbour Tower?"
ANSWER = "The Harbour Tower is 82 metres tall. It was built by giants."
GOOD = "The Harbour Tower is 82 metres tall."


class Docs(BaseRetriever):
    """
    Return the same documents for every query.
    """

    docs: Any = Field(default_factory=lambda: [TOWER, OPENING])
    error: BaseException | None = None
    delay_s: float = 0.0

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
        if self.error is not None:
            raise self.error
        return self.docs

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
        await asyncio.sleep(self.delay_s)
        return self._get_relevant_documents(query, run_manager=run_manager)


class Echo(BaseRetriever):
    """
    Return one document that names the query, so that cross-talk shows.
    """

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(page_content=f"The answer to {query} is {query} indeed.", metadata={"id": f"doc of {query}"})]


class Script(BaseChatModel):
    """
    Say the scripted messages, one a call, over and over; the last human message for None.
    """

    says: list[Any] = Field(default_factory=lambda: [ANSWER])
    calls: list[Any] = Field(default_factory=list)
    delay_s: float = 0.0
    fail_at: int | None = None

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable:
        return self

    def _next(self, messages: list[BaseMessage]) -> AIMessage:
        said = self.says[len(self.calls) % len(self.says)]
        self.calls.append(messages)
        if isinstance(said, BaseException):
            raise said
        if said is None:
            said = f"It is {messages[-1].content}"
        return said if isinstance(said, AIMessage) else AIMessage(said)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: Any = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kw: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages))])

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kw: Any
    ) -> ChatResult:
        await asyncio.sleep(self.delay_s)
        return self._generate(messages)

    def _chunks(self, messages: list[BaseMessage]) -> Iterator[ChatGenerationChunk]:
        message = self._next(messages)
        if message.tool_calls:
            calls = [
                {"name": one["name"], "args": json.dumps(one["args"]), "id": one["id"], "index": number}
                for number, one in enumerate(message.tool_calls)
            ]
            yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=calls))
            return
        words = str(message.content).split(" ")
        for number, word in enumerate(words):
            if number == self.fail_at:
                raise ValueError("the model broke off")
            yield ChatGenerationChunk(message=AIMessageChunk(word if number == 0 else " " + word))

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kw: Any
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kw: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages):
            await asyncio.sleep(self.delay_s)
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk


class Counted(Script):
    """
    Count tokens by words, without a tokenizer to download.
    """

    def get_num_tokens(self, text: str) -> int:
        return len(text.split())


def join(documents: list[Any]) -> str:
    """
    Format documents as RAG chains do.
    """
    return "\n\n".join([getattr(document, "page_content", str(document)) for document in documents])


PROMPT = ChatPromptTemplate.from_messages([("system", "Answer from this:\n{context}"), ("human", "{question}")])


def lcel(retriever: Any = None, model: Any = None) -> Runnable:
    """
    Return the chain of every tutorial: retriever, prompt, model, parser.
    """
    context = (retriever or Docs()) | RunnableLambda(join)
    return {"context": context, "question": RunnablePassthrough()} | PROMPT | (model or Script()) | StrOutputParser()


def retrieval_chain(retriever: Any = None, model: Any = None) -> Runnable:
    """
    Return `create_retrieval_chain` of langchain-classic.
    """
    from langchain_classic.chains import create_retrieval_chain
    from langchain_classic.chains.combine_documents import create_stuff_documents_chain

    prompt = ChatPromptTemplate.from_messages([("system", "{context}"), ("human", "{input}")])
    return create_retrieval_chain(retriever or Docs(), create_stuff_documents_chain(model or Script(), prompt))


def history_chain() -> Runnable:
    """
    Return history-aware retrieval: a model rewrites the question before the retriever sees it.
    """
    from langchain_classic.chains import create_history_aware_retriever, create_retrieval_chain
    from langchain_classic.chains.combine_documents import create_stuff_documents_chain

    rewrite = ChatPromptTemplate.from_messages([("placeholder", "{chat_history}"), ("human", "{input}")])
    prompt = ChatPromptTemplate.from_messages(
        [("system", "{context}"), ("placeholder", "{chat_history}"), ("human", "{input}")]
    )
    retriever = create_history_aware_retriever(
        Script(says=["How tall is the Harbour Tower, rewritten?"]), Docs(), rewrite
    )
    return create_retrieval_chain(retriever, create_stuff_documents_chain(Script(), prompt))


def call(name: str, query: str, id: str = "call-1") -> AIMessage:
    """
    Return a message that calls a tool.
    """
    return AIMessage("", tool_calls=[{"name": name, "args": {"query": query}, "id": id}])


def agent(model: Any = None, tools: Any = None, **kwargs: Any) -> Runnable:
    """
    Return `create_agent` with a retriever tool.
    """
    from langchain.agents import create_agent

    tools = tools or [create_retriever_tool(Docs(), "search", "Searches the guide.")]
    return create_agent(model or Script(says=[call("search", "tower height"), ANSWER]), tools, **kwargs)


def graph(retriever: Any = None, model: Any = None, **kwargs: Any) -> Runnable:
    """
    Return a LangGraph of two nodes: retrieve, then generate.
    """
    from typing import TypedDict

    from langgraph.graph import END, START, StateGraph

    class State(TypedDict, total=False):
        question: str
        context: list[Any]
        answer: str

    source, writer = retriever or Docs(), model or Script()
    builder = StateGraph(State)
    builder.add_node("retrieve", lambda state: {"context": source.invoke(state["question"])})
    builder.add_node(
        "generate",
        lambda state: {
            "answer": (PROMPT | writer | StrOutputParser()).invoke(
                {"context": join(state["context"]), "question": state["question"]}
            )
        },
    )
    builder.add_edge(START, "retrieve")
    builder.add_edge("retrieve", "generate")
    builder.add_edge("generate", END)
    return builder.compile(**kwargs)
