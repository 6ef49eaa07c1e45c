"""
Score a LlamaIndex query engine, its stream too: offline, with a scripted model.

    pip install "rageval-trace[llama-index]"
    python examples/llama_index_quickstart.py
"""

from __future__ import annotations

from llama_index.core import get_response_synthesizer
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from rageval_trace_llama_index import RagEvalHandler

TEXT = "The Harbour Tower is 82 metres tall and opens at nine on weekdays."
ANSWER = "The Harbour Tower is 82 metres tall. It was built by giants."


class Guide(BaseRetriever):
    """Find the one page there is."""

    def _retrieve(self, query_bundle):
        page = TextNode(text=TEXT, id_="tower", metadata={"last_modified_date": "2026-11-01"})
        return [NodeWithScore(node=page, score=0.9)]


class Scripted(CustomLLM):
    """Answer always the same; put your own model here."""

    @property
    def metadata(self):
        return LLMMetadata(model_name="scripted")

    def complete(self, prompt, formatted=False, **kwargs):
        return CompletionResponse(text=ANSWER)

    def stream_complete(self, prompt, formatted=False, **kwargs):
        words = [f"{word} " for word in ANSWER.split()]
        return (CompletionResponse(text="".join(words[: n + 1]), delta=word) for n, word in enumerate(words))


handler = RagEvalHandler(pipeline="city-guide", thresholds={"groundedness": 0.8}).install()

engine = RetrieverQueryEngine(Guide(), get_response_synthesizer(llm=Scripted(), streaming=True))
for token in engine.query("How tall is the Harbour Tower?").response_gen:
    print(token, end="")

print()
print(handler.last)
handler.close()
