"""
Where contexts come from: retrievers of every kind, tools, step outputs, prompts, and nowhere at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("langgraph")

import langchain_parts as parts
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import tool
from langchain_core.vectorstores import InMemoryVectorStore

TEXTS = [parts.TOWER.page_content, parts.OPENING.page_content]


def store() -> InMemoryVectorStore:
    made = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    made.add_documents([parts.TOWER, parts.OPENING], ids=["tower", "opening"])
    return made


def run(chain: Any, handler: Any, value: Any = parts.QUESTION) -> None:
    chain.invoke(value, {"callbacks": [handler]})


def only(results: list[Any]) -> Any:
    (result,) = results
    return result


def multi_query() -> Any:
    from langchain_classic.retrievers import MultiQueryRetriever

    return MultiQueryRetriever.from_llm(parts.Docs(), parts.Script(says=["one\ntwo\nthree"]))


def ensemble() -> Any:
    from langchain_classic.retrievers import EnsembleRetriever

    return EnsembleRetriever(retrievers=[parts.Docs(docs=[parts.TOWER]), parts.Docs(docs=[parts.OPENING])])


def compression() -> Any:
    from langchain_classic.retrievers import ContextualCompressionRetriever
    from langchain_classic.retrievers.document_compressors import LLMChainExtractor

    extractor = LLMChainExtractor.from_llm(parts.Script(says=TEXTS))
    return ContextualCompressionRetriever(base_compressor=extractor, base_retriever=parts.Docs())


def all_nested() -> Any:
    from langchain_classic.retrievers import ContextualCompressionRetriever, EnsembleRetriever
    from langchain_classic.retrievers.document_compressors import LLMChainExtractor

    inner = EnsembleRetriever(retrievers=[multi_query(), ensemble()])
    extractor = LLMChainExtractor.from_llm(parts.Script(says=TEXTS))
    return ContextualCompressionRetriever(base_compressor=extractor, base_retriever=inner)


def parent_documents() -> Any:
    from langchain_classic.retrievers import ParentDocumentRetriever
    from langchain_classic.storage import InMemoryStore
    from langchain_text_splitters import CharacterTextSplitter

    retriever = ParentDocumentRetriever(
        vectorstore=InMemoryVectorStore(DeterministicFakeEmbedding(size=8)),
        docstore=InMemoryStore(),
        child_splitter=CharacterTextSplitter(chunk_size=20, chunk_overlap=0, separator=" "),
    )
    retriever.add_documents([parts.TOWER, parts.OPENING], ids=["tower", "opening"])
    return retriever


@pytest.mark.parametrize(
    "make_retriever", [multi_query, ensemble, compression, all_nested, parent_documents, lambda: store().as_retriever()]
)
def test_of_nested_retrievers_the_outermost_counts(
    make_retriever: Callable[[], Any], handler: Any, results: list[Any]
) -> None:
    """
    Retrievers, and models, below a retriever are its parts: their documents and words are neither contexts nor answer.
    """
    run(parts.lcel(make_retriever()), handler)

    result = only(results)
    assert ("ok", "retriever", parts.ANSWER) == (result.status, result.context_source, result.record.answer)
    assert sorted(TEXTS) == sorted([context.text for context in result.record.contexts])
    assert {"tower", "opening"} == {context.id for context in result.record.contexts}
    assert (parts.QUESTION,) == result.search_queries


def test_two_retrievals_are_joined(handler: Any, results: list[Any]) -> None:
    """
    Retrievals side by side are joined in start order, without repeats.
    """
    both = {"a": parts.Docs(docs=[parts.TOWER]), "b": parts.Docs(docs=[parts.OPENING, parts.TOWER])}
    chain = (
        {"found": both, "question": RunnablePassthrough()}
        | RunnableLambda(
            lambda x: {"context": parts.join(x["found"]["a"] + x["found"]["b"]), "question": x["question"]}
        )
        | parts.PROMPT
        | parts.Script()
        | StrOutputParser()
    )

    run(chain, handler)

    assert {"tower", "opening"} == {context.id for context in only(results).record.contexts}
    assert 2 == len(only(results).record.contexts)


def test_a_retriever_called_inside_a_function_is_found(handler: Any, results: list[Any]) -> None:
    """
    The config reaches it by context variable.
    """
    retriever = parts.Docs()
    chain = (
        RunnableLambda(lambda q: {"context": parts.join(retriever.invoke(q)), "question": q})
        | parts.PROMPT
        | parts.Script()
    )

    run(chain, handler)

    assert ("retriever", parts.ANSWER) == (only(results).context_source, only(results).record.answer)


def test_a_vector_store_called_directly_shows_in_the_prompt_alone(handler: Any, results: list[Any]) -> None:
    """
    Without any retriever event, the joined string in the prompt's variables is taken as one context.
    """
    documents = store()
    chain = (
        {
            "context": RunnableLambda(lambda q: parts.join(documents.similarity_search(q))),
            "question": RunnablePassthrough(),
        }
        | parts.PROMPT
        | parts.Script()
    )

    run(chain, handler)

    assert ("ok", "prompt", 1) == (
        only(results).status,
        only(results).context_source,
        len(only(results).record.contexts),
    )


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda: [parts.TOWER, parts.OPENING], [("tower", None), ("opening", None)]),
        (lambda: [(parts.TOWER, 0.75), (parts.OPENING, 0.5)], [("tower", 0.75), ("opening", 0.5)]),
        (lambda: list(TEXTS), [("1", None), ("2", None)]),
    ],
)
def test_documents_in_a_nodes_state_are_found(
    found: Callable[[], Any], expected: list[Any], handler: Any, results: list[Any]
) -> None:
    """
    Documents, pairs of document and score, and strings under a key that names contexts.
    """
    from typing import TypedDict

    from langgraph.graph import START, StateGraph

    class State(TypedDict, total=False):
        question: str
        context: list[Any]
        answer: str

    graph = StateGraph(State)
    graph.add_node("search", lambda state: {"context": found()})
    graph.add_node("write", lambda state: {"answer": parts.Script().invoke(state["question"]).content})
    graph.add_edge(START, "search")
    graph.add_edge("search", "write")

    run(graph.compile(), handler, {"question": parts.QUESTION})

    contexts = only(results).record.contexts
    assert "chain_output" == only(results).context_source
    assert expected == [(context.id, context.score) for context in contexts]
    assert TEXTS == [context.text for context in contexts]


@tool(response_format="content_and_artifact")
def search_with_artifact(query: str) -> tuple[str, list[Document]]:
    """Search the guide."""
    return "found", [parts.TOWER, parts.OPENING]


@tool
def search_text(query: str) -> str:
    """Search the guide."""
    return parts.TOWER.page_content


@tool
def add(a: int, b: int) -> int:
    """Add numbers."""
    return a + b


def test_a_tools_artifact_holds_the_documents(handler: Any, results: list[Any]) -> None:
    """
    Documents as the artifact of a tool call.
    """
    model = parts.Script(says=[parts.call("search_with_artifact", "tower"), parts.ANSWER])

    run(parts.agent(model, [search_with_artifact]), handler, {"messages": [("human", parts.QUESTION)]})

    assert ("ok", "tool") == (only(results).status, only(results).context_source)
    assert ["tower", "opening"] == [context.id for context in only(results).record.contexts]


@pytest.mark.parametrize(
    ("tools", "status", "source"),
    [
        ((), "answer_only", None),
        (("search_text",), "ok", "tool_text"),
        ((__import__("re").compile("search.*"),), "ok", "tool_text"),
    ],
)
def test_the_text_of_a_named_tool_is_a_context(
    tools: Any, status: str, source: str | None, make: Callable[..., Any], results: list[Any]
) -> None:
    """
    A tool that returns text may be a calculator: only tools that are named, or match, count.
    """
    model = parts.Script(says=[parts.call("search_text", "tower"), parts.ANSWER])

    run(parts.agent(model, [search_text]), make(retrieval_tools=tools), {"messages": [("human", parts.QUESTION)]})

    assert (status, source) == (only(results).status, only(results).context_source)


def test_an_answer_without_retrieval_is_not_scored_as_if_it_found_nothing(handler: Any, results: list[Any]) -> None:
    """
    An agent that answers at once, or uses a tool that retrieves nothing, is no RAG request.
    """
    at_once = parts.agent(parts.Script(says=["Hello."]))
    calculating = AIMessage("", tool_calls=[{"name": "add", "args": {"a": 1, "b": 2}, "id": "1"}])
    for chain in (at_once, parts.agent(parts.Script(says=[calculating, "Three."]), [add])):
        run(chain, handler, {"messages": [("human", "Hello?")]})

    assert [("answer_only", None, {})] * 2 == [(r.status, r.record.contexts, r.results) for r in results]
    assert 2 == handler.stats["not_rag"]


def test_a_retrieval_that_found_nothing_is_scored(handler: Any, results: list[Any]) -> None:
    """
    An observed emptiness is not the absence of a retrieval.
    """
    run(parts.lcel(parts.Docs(docs=[])), handler)

    assert ((), 0.0) == (only(results).record.contexts, only(results).scores["faithfulness"])


@pytest.mark.parametrize(
    "calls",
    [
        [AIMessage("", tool_calls=[{"name": "search", "args": {"query": q}, "id": q} for q in ("one", "two")])],
        [parts.call("search", "one", "1"), parts.call("search", "two", "2")],
    ],
    ids=["parallel", "one after another"],
)
def test_several_searches_of_an_agent_add_up(calls: list[Any], handler: Any, results: list[Any]) -> None:
    """
    Parallel calls and hops one after another are one request with all their documents.
    """
    from langchain_core.tools import create_retriever_tool

    search = create_retriever_tool(parts.Echo(), "search", "Searches.")

    run(parts.agent(parts.Script(says=[*calls, parts.ANSWER]), [search]), handler, {"messages": [("human", "both?")]})

    assert {"doc of one", "doc of two"} == {context.id for context in only(results).record.contexts}
    assert {"one", "two"} == set(only(results).search_queries)


def test_of_a_conversation_only_the_last_turn_counts(handler: Any, results: list[Any]) -> None:
    """
    With a checkpointer the state holds earlier turns with their documents and answers.
    """
    from langgraph.checkpoint.memory import InMemorySaver

    model = parts.Script(says=[parts.call("search", "a"), "First answer.", parts.call("search", "b"), "Second answer."])
    from langchain_core.tools import create_retriever_tool

    agent = parts.agent(
        model, [create_retriever_tool(parts.Echo(), "search", "Searches.")], checkpointer=InMemorySaver()
    )
    config = {"callbacks": [handler], "configurable": {"thread_id": "thread-1"}}

    agent.invoke({"messages": [("human", "first?")]}, config)
    agent.invoke({"messages": [("human", "second?")]}, config)

    assert [("first?", "First answer.", ["doc of a"]), ("second?", "Second answer.", ["doc of b"])] == [
        (r.record.question, r.record.answer, [context.id for context in r.record.contexts]) for r in results
    ]


@pytest.mark.parametrize(
    ("found", "texts", "coerced"),
    [
        (["plain", {"page_content": "mapped", "metadata": {"id": "m"}}, None], ["plain", "mapped"], 3),
        (None, [], 1),
        ([{"no": "text"}, object()], [], 2),
    ],
)
def test_odd_documents_are_coerced_and_counted(
    found: Any, texts: list[str], coerced: int, handler: Any, results: list[Any]
) -> None:
    """
    Retrievers return strings, mappings, None, or None altogether; none of it raises.
    """
    chain = parts.Docs(docs=found) | RunnableLambda(lambda docs: "the answer")

    run(chain, handler)

    assert texts == [context.text for context in only(results).record.contexts]
    assert (coerced, 0) == (handler.stats["coerced_documents"], handler.stats.get("internal_errors", 0))


def test_an_unreadable_time_is_counted(handler: Any, results: list[Any]) -> None:
    """
    The document stays, undated.
    """
    run(parts.lcel(parts.Docs(docs=[Document(page_content="x", metadata={"timestamp": "someday"})])), handler)

    assert only(results).record.contexts[0].timestamp is None
    assert 1 == handler.stats["unreadable_timestamps"]


def test_a_huge_document_is_cut(make: Callable[..., Any], results: list[Any]) -> None:
    """
    No text is kept beyond the limit.
    """
    from rageval_trace.live.settings import Settings

    handler = make(settings=Settings(max_chars=1000))

    run(parts.lcel(parts.Docs(docs=[Document(page_content="word " * 200_000)])), handler)

    assert 1000 == len(only(results).record.contexts[0].text)
    assert 1 == handler.stats["truncated_texts"]


def test_classic_chains_are_read(handler: Any, results: list[Any]) -> None:
    """
    RetrievalQA asks under `query` and answers under `result`.
    """
    from langchain_classic.chains import RetrievalQA
    from langchain_classic.chains.combine_documents import create_stuff_documents_chain  # noqa: F401 - same extra

    chain = RetrievalQA.from_chain_type(parts.Script(), retriever=parts.Docs(), return_source_documents=True)

    run(chain, handler, {"query": parts.QUESTION})

    record = only(results).record
    assert (parts.QUESTION, parts.ANSWER, 2) == (record.question, record.answer, len(record.contexts))


def test_a_conversational_chain_is_read(handler: Any, results: list[Any]) -> None:
    """
    The first model call rewrites the question: neither the question nor the answer.
    """
    from langchain_classic.chains import ConversationalRetrievalChain

    chain = ConversationalRetrievalChain.from_llm(parts.Script(says=["rewritten?", parts.ANSWER]), parts.Docs())

    run(chain, handler, {"question": "And how tall?", "chat_history": [("Which?", "The tower.")]})

    record = only(results).record
    assert ("And how tall?", parts.ANSWER, ("rewritten?",)) == (
        record.question,
        record.answer,
        only(results).search_queries,
    )


def test_messages_of_tools_are_no_answers(handler: Any, results: list[Any]) -> None:
    """
    A graph that stops after its tool has not answered.
    """
    from langgraph.graph import START, MessagesState, StateGraph

    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [parts.call("search", "x")]})
    graph.add_node(
        "tool",
        lambda state: {"messages": [ToolMessage(parts.Docs().invoke("x")[0].page_content, tool_call_id="call-1")]},
    )
    graph.add_edge(START, "model")
    graph.add_edge("model", "tool")

    run(graph.compile(), handler, {"messages": [("human", parts.QUESTION)]})

    assert ("retrieval_only", None) == (only(results).status, only(results).record.answer)
