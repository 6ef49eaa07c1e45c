"""
RAG evaluation as a LangChain callback.
"""
