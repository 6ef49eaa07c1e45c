"""
Judges by the words that stand for them on a command line.
"""

from __future__ import annotations

import importlib
from typing import Any

from rageval_trace.errors import RagEvalError, closest
from rageval_trace.judges.base import Judge, RecordJudge

__all__ = ["NAMES", "make_judge"]

_CLASSES = {
    "llm": ("rageval_trace.judges.llm", "LLMJudge"),
    "claude": ("rageval_trace.judges.claude", "ClaudeJudge"),
    "cascade": ("rageval_trace.judges.cascade", "CascadeJudge"),
    "risk": ("rageval_trace.metrics.risk_judge", "RiskJudge"),
    "lexical": ("rageval_trace.judges.lexical", "LexicalJudge"),
}

NAMES = tuple(_CLASSES)


def make_judge(word: str) -> Judge | RecordJudge:
    """
    Make the judge that *word* names: one of `NAMES`, or `module:Class` for a judge of your own.

    Raises:
        RagEvalError: if the word names nothing that can be imported and made, or nothing that judges.
    """
    if ":" in word:
        module, _, name = word.partition(":")
    elif word in _CLASSES:
        module, name = _CLASSES[word]
    else:
        known = f"known: {', '.join(NAMES)}, or module:Class"
        raise RagEvalError(f"unknown judge {word!r}{closest(word, NAMES)}; {known}")
    try:
        made: Any = getattr(importlib.import_module(module), name)()
    except Exception as error:
        raise RagEvalError(f"judge {word!r} cannot be made: {type(error).__name__}: {error}") from error
    if not isinstance(made, (Judge, RecordJudge)):
        raise RagEvalError(f"{word!r} does not judge: expected the methods judge_claims and judge_relevance, or judge")
    return made
