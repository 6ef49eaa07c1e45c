"""
RAG evaluation as a LangChain callback.
"""

from __future__ import annotations

from importlib.util import find_spec

from rageval_trace.errors import MissingExtraError

if find_spec("langchain_core") is None:
    raise MissingExtraError("langchain", "rageval_trace_langchain")

from rageval_trace.live.documents import DocumentKeys
from rageval_trace_langchain.explicit import record_answer, record_contexts
from rageval_trace_langchain.handler import RagEvalHandler

__all__ = ["DocumentKeys", "RagEvalHandler", "record_answer", "record_contexts"]
