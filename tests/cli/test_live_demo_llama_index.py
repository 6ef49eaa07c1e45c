"""
The live demo in LlamaIndex.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="this demo runs LlamaIndex")
pytest.importorskip("langchain_core", reason="it is held against LangChain's")

from rageval_trace.cli import main


def _verdicts(framework: str, capsys: Any) -> list[Any]:
    assert 0 == main(["demo", "--live", "--json", "--framework", framework])
    return [
        (one["verdict"], one["breached"], one["contexts"]) for one in json.loads(capsys.readouterr().out)["requests"]
    ]


def test_both_frameworks_tell_the_same(capsys: Any) -> None:
    """
    The same requests over the same pages give the same contexts and verdicts, whatever the pipeline is built in.
    """
    assert _verdicts("langchain", capsys) == _verdicts("llama-index", capsys)
