"""
Score RAG answers with one harness, live and in CI.
"""
