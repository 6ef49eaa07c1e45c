"""
ClaudeJudge behind a LangChain handler: when the SDK is loaded, on which thread, and what comes of it.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from messages_server import MessagesServer, structured

_APP = """
import sys, threading
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

import rageval_trace
from rageval_trace import ClaudeJudge
from rageval_trace_langchain import RagEvalHandler

class Shelf(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [Document("The mill has four sails.", id="mill")]

def prompt(given):
    return f"{given['docs'][0].page_content} {given['question']}"

def ask(handler, answer):
    model = FakeListChatModel(responses=[answer])
    chain = {"docs": Shelf(), "question": RunnablePassthrough()} | RunnableLambda(prompt) | model
    chain.invoke("How many sails has the mill?", config={"callbacks": [handler]})

def loaded():
    return "anthropic" in sys.modules

told = []
judge = ClaudeJudge(api_key="key", base_url=sys.argv[1], max_retries=0)
handler = RagEvalHandler(
    judge=judge, judge_sample_rate=0.0, thresholds={"groundedness": 0.5}, metrics=["groundedness"],
    on_result=lambda result: told.append((result.judge, result.scores, threading.current_thread().name)),
)
ask(handler, "The mill has four sails.")
handler.flush(10)
assert not loaded(), "a request that nobody judges loads the SDK"
ask(handler, "A windmill with a quartet of blades.")
assert told[1][2] == "MainThread"
assert handler.flush(60)
assert loaded()
for judge, scores, thread in told:
    print(judge, scores, thread)
"""


@pytest.mark.slow
def test_the_sdk_is_loaded_by_the_first_judgement_that_is_due(server: MessagesServer) -> None:
    """
    Imports, construction and unjudged requests load no SDK; the judge's answer comes from the worker.
    """
    pytest.importorskip("anthropic")
    pytest.importorskip("langchain_core")
    verdict = {"claim": 1, "reason": "", "verdict": "supported", "contexts": [1]}
    server.default = structured({"verdicts": [verdict]})
    command = [sys.executable, "-W", "ignore", "-c", _APP, server.url]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert [
        "lexical {'groundedness': 1.0} MainThread",
        "lexical {'groundedness': 0.0} MainThread",
        "claude {'groundedness': 1.0} rageval-trace",
    ] == done.stdout.splitlines()
    assert len(server.seen) == 1
