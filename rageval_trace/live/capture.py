"""
From a request that ended to one record: which contexts count, in which order, and what the user said about it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Final

from rageval_trace.live.citations import resolve
from rageval_trace.live.runs import REPLACED, Request, Retrieval
from rageval_trace.models import RETRIEVED_IDS, Context, EvalRecord
from rageval_trace.telemetry.anchor import Anchor
from rageval_trace.telemetry.payload import RetrievalSpan

__all__ = ["OVERRIDES", "Capture", "Limits", "build"]

# What a user may say of one request, in the framework's own per-request metadata.
OVERRIDES: Final = (
    "rageval.question",
    "rageval.relevant_ids",
    "rageval.ground_truth",
    "rageval.citations",
    "rageval.pipeline",
)

# A retrieval that ran is believed before what its documents were turned into later.
_SOURCES: Final = (
    "explicit",
    "response",
    "synthesizer",
    "retriever",
    "tool",
    "chain_output",
    "tool_text",
    "prompt",
    "output",
)
_MAX_QUERIES: Final = 20
_MAX_SPANS: Final = 20
_MAX_RANKED: Final = 1_000


@dataclass(slots=True)  # not frozen: one is made for every request, and freezing its fields doubles the price
class Capture:
    """
    One request that ended.

    Args:
        record: What was asked, retrieved and answered.
        status: How it ended; see `LiveResult`.
        run_id: The root run's id.
        anchor: Where its scores belong.
        started_ns: Unix nanoseconds.
        ended_ns: Unix nanoseconds.
        pipeline: The name the user gave for this request; None for the handler's.
        context_source: Where the contexts were seen; None when none were.
        search_queries: What was searched for, in start order.
        retrievals: The retrievals that ran, in start order.
        response: `response_id`, `request_model`, `provider_name`, `conversation_id`, as far as captured.
        sample_rate: The probability with which it was taken.
        seen: Requests that this stands for: more than one when several ran under one id.
        tags: What the application labelled it with.
        selection: `random`, `rule`, or `undecided` while a rule on a score may still take it.
        timed: The times are the request's own; not those of a record that was handed in later.
    """

    record: EvalRecord
    status: str
    run_id: str
    anchor: Anchor
    started_ns: int
    ended_ns: int
    pipeline: str | None = None
    context_source: str | None = None
    search_queries: tuple[str, ...] = ()
    retrievals: tuple[RetrievalSpan, ...] = ()
    response: Mapping[str, str] | None = None
    sample_rate: float = 1.0
    seen: int = 1
    tags: tuple[str, ...] = ()
    selection: str = "random"
    timed: bool = True

    @property
    def chars(self) -> int:
        """
        Return the number of characters in all texts.
        """
        record = self.record
        contexts = sum([len(context.text) for context in record.contexts or ()])
        return len(record.question) + contexts + len(record.answer or "")


@dataclass(frozen=True, slots=True)
class Limits:
    """
    What is kept of one request.

    Args:
        max_contexts: Contexts.
        max_chars: Characters of one text.
        count: Called with `dropped_contexts`, `truncated_texts` or `unreadable_overrides`, and how many.
    """

    max_contexts: int
    max_chars: int
    count: Callable[[str, int], None]

    def cut(self, text: str | None) -> str | None:
        """
        Return *text*, cut to the limit.
        """
        if text is None or len(text) <= self.max_chars:
            return text
        self.count("truncated_texts", 1)
        return text[: self.max_chars]


def build(request: Request, status: str, limits: Limits, *, sample_rate: float = 1.0) -> Capture:
    """
    Make the record of a request that ended.

    Args:
        request: With everything that was seen of it.
        status: How it ended; `ok` turns into `answer_only` without any retrieval, into `retrieval_only` without an
            answer.
        limits: What is kept.
        sample_rate: The probability with which it was taken.
    """
    retrievals = request.retrievals
    if len(retrievals) > 1:
        retrievals = sorted(retrievals, key=lambda one: one.started_ns)
    # What a retry or fallback replaced does not count; in a request that failed itself, everything is evidence.
    standing = [one for one in retrievals if one.contexts is not None and not (status == "ok" and one.failed)]
    source, used = _effective(standing)
    contexts = _union(used, limits) if source is not None else None
    answer = limits.cut(request.answer if request.explicit_answer is None else request.explicit_answer)
    if status == "ok" and contexts is None:
        status = "answer_only"
    elif status == "ok" and answer is None:
        status = "retrieval_only"
    ran = _ran(retrievals)
    queries = _queries(used) or _queries(ran)
    question = _text(request.overrides.get("rageval.question")) or request.question or next(iter(queries), "")
    pipeline = _text(request.overrides.get("rageval.pipeline"))
    run_id = str(request.id)
    ranking = _ranking(retrievals, contexts)
    return Capture(
        record=_record(request, run_id, limits.cut(question) or "", contexts, answer, limits, ranking),
        status=status,
        run_id=run_id,
        anchor=request.anchor,
        started_ns=request.started_ns,
        ended_ns=time.time_ns(),
        pipeline=pipeline,
        context_source=source,
        search_queries=queries,
        retrievals=_spans(ran),
        response=request.response,
        sample_rate=sample_rate,
        seen=request.starts,
        tags=request.tags,
    )


def _record(
    request: Request,
    run_id: str,
    question: str,
    contexts: Sequence[Context] | None,
    answer: str | None,
    limits: Limits,
    metadata: Mapping[str, Any],
) -> EvalRecord:
    asked_at = datetime.fromtimestamp(request.started_ns / 1e9, timezone.utc)
    cited = resolve(request.citations, contexts or ()) if request.citations else None
    known: dict[str, Any] = {"id": run_id, "asked_at": asked_at, "citations": cited, "metadata": metadata}
    said = {name.removeprefix("rageval."): value for name, value in request.overrides.items() if name in _LABELS}
    if said:
        try:
            return EvalRecord(question, contexts, answer, **{**known, **said})
        except (TypeError, ValueError):
            limits.count("unreadable_overrides", 1)
    return EvalRecord(question, contexts, answer, **known)


_LABELS: Final = frozenset({"rageval.relevant_ids", "rageval.ground_truth", "rageval.citations"})


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _effective(retrievals: Sequence[Retrieval]) -> tuple[str | None, list[Retrieval]]:
    """
    Return the first source that found something with its retrievals; else the first that looked and found nothing.
    """
    groups: dict[str, list[Retrieval]] = {}
    for one in retrievals:
        groups.setdefault(one.source, []).append(one)
    observed = [source for source in _SOURCES if source in groups]
    for source in observed:
        if any([one.contexts for one in groups[source]]):
            return source, _latest(groups[source])
    return (observed[0], groups[observed[0]]) if observed else (None, [])


def _latest(group: list[Retrieval]) -> list[Retrieval]:
    """
    Leave out what a later run of the same graph node replaced: a corrective loop retrieves again, it does not add.
    """
    if len(group) == 1:
        return group
    last: dict[Any, int] = {}
    for one in group:
        if one.node is not None and one.step is not None:
            last[one.node] = max(one.step, last.get(one.node, one.step))
    return [one for one in group if one.step is None or one.step == last.get(one.node, one.step)]


def _union(used: Iterable[Retrieval], limits: Limits) -> list[Context]:
    seen: dict[tuple[str, str], Context] = {}
    for one in used:
        for context in one.contexts or ():
            seen.setdefault((context.id, context.text), context)
    if len(seen) > limits.max_contexts:
        limits.count("dropped_contexts", len(seen) - limits.max_contexts)
    return list(seen.values())[: limits.max_contexts]


def _queries(used: Iterable[Retrieval]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([one.query for one in used if one.query]))[:_MAX_QUERIES]


def _ran(retrievals: Iterable[Retrieval]) -> list[Retrieval]:
    return [one for one in retrievals if one.source in ("retriever", REPLACED) and one.contexts is not None]


def _ranking(retrievals: Iterable[Retrieval], contexts: Iterable[Context] | None) -> Mapping[str, Any]:
    """
    Return, as metadata of the record, how the retrievers ranked where the contexts come in another order.
    """
    replaced = [one for one in retrievals if one.source == REPLACED and not one.failed]
    if not replaced:
        return {}
    ids = _distinct_ids([context for one in replaced for context in one.contexts or ()])
    return {RETRIEVED_IDS: ids[:_MAX_RANKED]} if ids and ids != _distinct_ids(contexts or ()) else {}


def _distinct_ids(contexts: Iterable[Context]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([context.id for context in contexts if context.id]))


def _spans(ran: Sequence[Retrieval]) -> tuple[RetrievalSpan, ...]:
    return tuple(
        [
            RetrievalSpan(one.query or "", one.started_ns, one.ended_ns, one.contexts or (), one.top_k)
            for one in ran[:_MAX_SPANS]
        ]
    )
