"""
Pieces of real LlamaIndex applications: real indices over a few texts, scripted models, the engines people build.
"""

from __future__ import annotations

import asyncio
import contextlib
import warnings
from typing import Any

from llama_index.core import Document, MockEmbedding, Settings, VectorStoreIndex
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
)
from llama_index.core.llms import CustomLLM, MockLLM
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
from pydantic import Field

# LlamaIndex's embeddings import LangChain's community package where it is installed, and that warns of its age.
with warnings.catch_warnings(), contextlib.suppress(ImportError):
    warnings.simplefilter("ignore")
    import llama_index.core.bridge.langchain  # noqa: F401 - imported once, here

Settings.llm = MockLLM()

QUESTION = "How tall is the Harbour Tower?"
ANSWER = "The Harbour Tower is 82 metres tall. It was built by giants."
TOWER = "The Harbour Tower is 82 metres tall and has 300 steps."
OPENING = "The tower opens at nine on weekdays."


def node(text: str, doc: str | None, score: float | None = 0.5, **metadata: Any) -> NodeWithScore:
    """
    Return a retrieved chunk of the document *doc*.
    """
    one = TextNode(text=text, id_=f"chunk of {doc}", metadata=metadata)
    if doc is not None:
        one.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=doc)
    return NodeWithScore(node=one, score=score)


def chunks() -> list[NodeWithScore]:
    """
    Return the two chunks that every question gets, made anew.
    """
    return [
        node(TOWER, "tower", 0.9, last_modified_date="2026-11-01", file_name="guide.md"),
        node(OPENING, "opening", 0.4),
    ]


class Docs(BaseRetriever):
    """
    Return the same chunks for every query; raise instead when told to.
    """

    def __init__(self, nodes: Any = None, error: BaseException | None = None, delay_s: float = 0.0) -> None:
        self.nodes = nodes
        self.error = error
        self.delay_s = delay_s
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self.error is not None:
            # A new one each time: an exception raised again collects the frames of every raise.
            raise type(self.error)(*self.error.args)
        return chunks() if self.nodes is None else self.nodes

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(self.delay_s)
        return self._retrieve(query_bundle)


class Echo(BaseRetriever):
    """
    Return one chunk that names the query, so that cross-talk shows.
    """

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = query_bundle.query_str
        return [node(f"The answer to {query} is {query} indeed.", f"doc of {query}")]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(0.001)
        return self._retrieve(query_bundle)


class Script(CustomLLM):
    """
    Say the scripted texts, one a call, over and over; word by word when streaming.

    `None` says what the prompt asks for after "Query: ", so that cross-talk shows.
    """

    says: list[Any] = Field(default_factory=list)
    calls: list[str] = Field(default_factory=list)
    fail_at: int | None = None
    delay_s: float = 0.0

    def __init__(self, *says: Any, **kwargs: Any) -> None:
        super().__init__(says=list(says) or [ANSWER], calls=[], **kwargs)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=100_000, num_output=256, model_name="script-1")

    def _next(self, prompt: str) -> str:
        said = self.says[len(self.calls) % len(self.says)]
        self.calls.append(prompt)
        if isinstance(said, BaseException):
            raise said
        if said is None:
            asked = prompt.rpartition("Query: ")[2].partition("\n")[0]
            return f"It is {asked}"
        return str(said)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self._next(prompt))

    @llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        await asyncio.sleep(self.delay_s)
        return CompletionResponse(text=self._next(prompt))

    def _words(self, prompt: str) -> Any:
        text = ""
        for number, word in enumerate(self._next(prompt).split(" ")):
            if number == self.fail_at:
                raise ValueError("the model broke off")
            delta = word if number == 0 else " " + word
            text += delta
            yield CompletionResponse(text=text, delta=delta)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return self._words(prompt)

    @llm_completion_callback()
    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        async def words() -> Any:
            for response in self._words(prompt):
                await asyncio.sleep(self.delay_s)
                yield response

        return words()


class Caller(FunctionCallingLLM):
    """
    Call each tool of a list in turn, as `(name, question)`, then answer.
    """

    tools: list[Any] = Field(default_factory=list)
    answer: str = ANSWER
    turn: int = 0

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, is_chat_model=True, model_name="caller-1")

    def _message(self) -> ChatMessage:
        if self.turn < len(self.tools):
            name, question = self.tools[self.turn]
            self.turn += 1
            call = {"tool_name": name, "tool_kwargs": {"input": question}, "tool_id": f"call-{self.turn}"}
            return ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [call]})
        return ChatMessage(role="assistant", content=self.answer)

    def _prepare_chat_with_tools(self, tools: Any, user_msg: Any = None, chat_history: Any = None, **kw: Any) -> Any:
        return {"messages": chat_history or []}

    def get_tool_calls_from_response(self, response: Any, error_on_no_tool_call: bool = False, **kw: Any) -> Any:
        calls = response.message.additional_kwargs.get("tool_calls", [])
        return [ToolSelection(**call) for call in calls]

    def chat(self, messages: Any, **kw: Any) -> ChatResponse:
        return ChatResponse(message=self._message())

    async def achat(self, messages: Any, **kw: Any) -> ChatResponse:
        return ChatResponse(message=self._message())

    def stream_chat(self, messages: Any, **kw: Any) -> Any:
        raise NotImplementedError

    async def astream_chat(self, messages: Any, **kw: Any) -> Any:
        async def one() -> Any:
            message = self._message()
            yield ChatResponse(message=message, delta=message.content)

        return one()

    def complete(self, prompt: str, **kw: Any) -> Any:
        raise NotImplementedError

    async def acomplete(self, prompt: str, **kw: Any) -> Any:
        raise NotImplementedError

    def stream_complete(self, prompt: str, **kw: Any) -> Any:
        raise NotImplementedError

    async def astream_complete(self, prompt: str, **kw: Any) -> Any:
        raise NotImplementedError


def engine(
    retriever: Any = None,
    model: Any = None,
    *,
    mode: str = "compact",
    streaming: bool = False,
    postprocessors: Any = None,
    **kwargs: Any,
) -> RetrieverQueryEngine:
    """
    Return the query engine of every tutorial.
    """
    synthesizer = get_response_synthesizer(llm=model or Script(), response_mode=mode, streaming=streaming, **kwargs)
    return RetrieverQueryEngine(
        retriever=retriever or Docs(), response_synthesizer=synthesizer, node_postprocessors=postprocessors
    )


def memory(history: Any = None) -> ChatMemoryBuffer:
    """
    Return a memory that opens no database.
    """
    return ChatMemoryBuffer.from_defaults(chat_history=history, token_limit=10_000)


def index() -> VectorStoreIndex:
    """
    Return a real vector index of two documents, with an embedding that knows nothing.
    """
    documents = [
        Document(text=TOWER, doc_id="tower", metadata={"last_modified_date": "2026-11-01"}),
        Document(text=OPENING, doc_id="opening"),
    ]
    return VectorStoreIndex.from_documents(documents, embed_model=MockEmbedding(embed_dim=4))
