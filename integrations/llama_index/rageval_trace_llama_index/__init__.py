"""
RAG evaluation as a LlamaIndex instrumentation handler.
"""
