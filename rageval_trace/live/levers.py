"""
What a user can tell about an application whose shape says too little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from rageval_trace.live.documents import DocumentKeys
from rageval_trace.live.tally import Tally

__all__ = ["Extractor", "Levers"]

Extractor: TypeAlias = Callable[[Any], Any]


class Levers:
    """
    Read questions, contexts and answers, first as the user says, then as usual.

    Args:
        question: Called with a request's input; returns the question, or None to leave it to the usual way.
        contexts: Called with a request's output; returns documents, or None.
        answer: Called with a request's output; returns the answer, or None.
        retrieval_tools: Names, or patterns that match whole names, of tools whose text is a context.
        keys: Where documents keep their ids, scores, sources and timestamps.
        read_question: The usual way.
        read_answer: The usual way.
        tally: Counts extractors that raise.

    Raises:
        TypeError: for an extractor that is no function, or tools that are no names.
    """

    def __init__(
        self,
        *,
        question: Extractor | None,
        contexts: Extractor | None,
        answer: Extractor | None,
        retrieval_tools: Iterable[str | re.Pattern[str]],
        keys: DocumentKeys,
        read_question: Extractor,
        read_answer: Extractor,
        tally: Tally,
    ) -> None:
        for name, value in (("question", question), ("contexts", contexts), ("answer", answer)):
            if value is not None and not callable(value):
                raise TypeError(f"{name} is {type(value).__name__}: expected a function")
        if isinstance(retrieval_tools, (str, re.Pattern)):
            raise TypeError(f"retrieval_tools is one {type(retrieval_tools).__name__}: expected a sequence of names")
        if not isinstance(keys, DocumentKeys):
            raise TypeError(f"document_keys is {type(keys).__name__}: expected DocumentKeys")
        self.keys = keys
        self._question = question
        self._contexts = contexts
        self._answer = answer
        self._read_question = read_question
        self._read_answer = read_answer
        self._tools = [_pattern(one) for one in retrieval_tools]
        self._tally = tally

    def question(self, inputs: Any) -> str | None:
        """
        Return the question in a request's input.
        """
        found = self._ask("question extractor", self._question, inputs)
        return _text(found if isinstance(found, str) else self._read_question(inputs))

    def answer(self, outputs: Any, fallback: str | None) -> str | None:
        """
        Return the answer in a request's output, else *fallback*.
        """
        found = self._ask("answer extractor", self._answer, outputs)
        if isinstance(found, str):
            return found
        usual = _text(self._read_answer(outputs))
        return fallback if usual is None else usual

    def contexts(self, outputs: Any) -> Iterable[Any] | None:
        """
        Return the documents that the user's extractor finds in a request's output; None without them.
        """
        found = self._ask("contexts extractor", self._contexts, outputs)
        return None if found is None or isinstance(found, (str, bytes)) else list(found)

    def is_retrieval_tool(self, name: Any) -> bool:
        """
        Return whether the text that this tool returns is a context.
        """
        return isinstance(name, str) and any([pattern.fullmatch(name) is not None for pattern in self._tools])

    def _ask(self, place: str, extractor: Extractor | None, value: Any) -> Any:
        if extractor is None or value is None:
            return None
        try:
            return extractor(value)
        except Exception as error:
            self._tally.fault(place, error)
            return None


def _pattern(tool: object) -> re.Pattern[str]:
    if isinstance(tool, str):
        return re.compile(re.escape(tool))
    if isinstance(tool, re.Pattern):
        return tool
    raise TypeError(f"retrieval_tools holds {tool!r}: expected names or compiled patterns")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
