"""
RAG evaluation as a LlamaIndex instrumentation handler.
"""

from __future__ import annotations

from importlib.util import find_spec

from rageval_trace.errors import MissingExtraError

# `llama_index` is a namespace that several distributions share; only its core holds what is needed.
if find_spec("llama_index") is None or find_spec("llama_index.core") is None:
    raise MissingExtraError("llama-index", "rageval_trace_llama_index")

from rageval_trace.live.documents import DocumentKeys
from rageval_trace_llama_index.explicit import record_answer, record_contexts
from rageval_trace_llama_index.handler import RagEvalHandler

__all__ = ["DocumentKeys", "RagEvalHandler", "record_answer", "record_contexts"]
