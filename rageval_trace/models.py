"""
The data that flows through the harness: plain, frozen, free of behaviour.

`EvalRecord` (one question with what was retrieved and answered) goes in, `MetricResult` comes out, `EvalConfig`
says how. None means *not observed* everywhere; an empty tuple or string is an observed emptiness.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rageval_trace.frozen import quick_init
from rageval_trace.stopwords import ENGLISH

if TYPE_CHECKING:
    from rageval_trace.judges.base import Judge

__all__ = [
    "RETRIEVED_IDS",
    "Context",
    "EvalConfig",
    "EvalRecord",
    "Example",
    "MetricResult",
    "RelevantIds",
    "Verdict",
    "parse_timestamp",
]

RelevantIds: TypeAlias = "frozenset[str] | Mapping[str, float]"

# In a record's metadata: the ids in the order in which the retriever ranked them, where a reranker or filter then chose
# which contexts the answer was written from. Ranking metrics look at it instead of the contexts.
RETRIEVED_IDS: Final = "rageval.retrieved_ids"

# Unix seconds reach this value in the year 5138; every millisecond time since 1973 is past it.
_MILLISECONDS_FROM = 1e11
_UNIX_DIGITS = re.compile(r"-?\d{9,13}(\.\d+)?")


def parse_timestamp(value: object) -> datetime:
    """
    Read a point in time.

    Args:
        value: ISO-8601 text (a date alone and `Z` are fine), unix seconds or milliseconds as a number or as text of
            9 to 13 digits, a `datetime` or a `date`. Without an offset, UTC is meant.

    Returns:
        An aware `datetime` in UTC.

    Raises:
        ValueError: if *value* is none of these.
    """
    if isinstance(value, datetime):
        return value if value.tzinfo is timezone.utc else _in_utc(value)
    if type(value) is int or type(value) is float:
        return _from_number(value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=timezone.utc)
    if isinstance(value, str):
        text = value.strip()
        if _UNIX_DIGITS.fullmatch(text):
            return _from_unix(float(text))
        return _from_iso(text)
    if isinstance(value, Real) and not isinstance(value, bool):
        return _from_number(value)
    raise ValueError(f"unreadable timestamp {_short(value)}: {_TIMESTAMP_FORMS}")


_TIMESTAMP_FORMS = "expected ISO-8601 text, unix seconds or milliseconds, a datetime or a date"


def _short(value: object) -> str:
    shown = repr(value) if isinstance(value, (str, int, float, bool, type(None))) else f"of type {type(value).__name__}"
    return shown if len(shown) <= 80 else shown[:77] + "..."


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        return moment.replace(tzinfo=timezone.utc)
    try:
        return moment.astimezone(timezone.utc)
    except OverflowError:
        raise ValueError(f"unreadable timestamp {moment}: out of range") from None


def _from_number(value: Real | float) -> datetime:
    try:
        seconds = float(value)
    except OverflowError:
        raise ValueError("unreadable timestamp: the number is out of range") from None
    return _from_unix(seconds)


def _from_unix(seconds: float) -> datetime:
    if not math.isfinite(seconds):
        raise ValueError(f"unreadable timestamp {seconds}: {_TIMESTAMP_FORMS}")
    if abs(seconds) >= _MILLISECONDS_FROM:
        seconds /= 1000.0
    try:
        return datetime.fromtimestamp(seconds, timezone.utc)
    except (OverflowError, OSError, ValueError):
        raise ValueError(f"unreadable timestamp {seconds}: out of range") from None


def _from_basic_date(text: str) -> datetime:
    return datetime.strptime(text, "%Y%m%d").replace(tzinfo=timezone.utc)


def _from_iso(text: str) -> datetime:
    plain = text[:-1] + "+00:00" if text[-1:] in ("Z", "z") else text
    if "." in plain:
        # Python 3.10 reads only 3 or 6 digits of a second's fraction.
        plain = re.sub(r"\.(\d+)", lambda match: f".{match[1][:6]:0<6}", plain, count=1)
    for read in (datetime.fromisoformat, _from_basic_date):
        try:
            return parse_timestamp(read(plain))
        except ValueError:
            continue
    raise ValueError(f"unreadable timestamp {_short(text)}: {_TIMESTAMP_FORMS}")


@quick_init
@dataclass(frozen=True, slots=True)
class Context:
    """
    One retrieved chunk.

    Args:
        id: Its identifier in the corpus; a number becomes its text. An empty one is replaced by the chunk's 1-based
            rank when the chunk joins a record, and marked in `generated_id`.
        text: What the model was shown.
        score: The retriever's score; any scale. None when the retriever gave none.
        timestamp: When the content was last true: anything that `parse_timestamp` reads. None for undated.
        source: Where it came from (a URL, a file).
        metadata: Whatever else the retriever knew.
        generated_id: The id was made up here; ranking metrics never match it.

    Raises:
        ValueError: if *timestamp* cannot be read.
    """

    id: str
    text: str
    score: float | None = None
    timestamp: datetime | None = None
    source: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    generated_id: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.id, str):
            object.__setattr__(self, "id", "" if self.id is None else str(self.id))
        stamp = self.timestamp
        if stamp is not None and not (type(stamp) is datetime and stamp.tzinfo is timezone.utc):
            object.__setattr__(self, "timestamp", parse_timestamp(stamp))


_TEXT_KEYS = ("text", "page_content", "content")


def _context(value: Any, rank: int) -> Context:
    """
    Coerce a chunk at 1-based *rank*: a Context, a string, or a mapping with its text under a known key.
    """
    if isinstance(value, Context):
        if value.id:
            return value
        chunk = value
    elif isinstance(value, str):
        return Context(str(rank), value, generated_id=True)
    elif isinstance(value, Mapping):
        text = next((value[key] for key in _TEXT_KEYS if value.get(key) is not None), None)
        if not isinstance(text, str):
            raise TypeError(f"context {rank} has no text: expected one of {', '.join(_TEXT_KEYS)} to be a string")
        given = value.get("id")
        chunk = Context(
            "" if given is None else str(given),
            text,
            value.get("score"),
            value.get("timestamp"),
            value.get("source"),
            value.get("metadata") or {},
        )
        if chunk.id:
            return chunk
    else:
        raise TypeError(f"context {rank} is {type(value).__name__}: expected a Context, a string or a mapping")
    return Context(str(rank), chunk.text, chunk.score, chunk.timestamp, chunk.source, chunk.metadata, generated_id=True)


def _contexts(value: Iterable[Any] | None) -> tuple[Context, ...] | None:
    if value is None:
        return None
    if isinstance(value, (str, Mapping, Context)):
        raise TypeError(f"contexts is one {type(value).__name__}: expected a sequence of chunks in rank order")
    chunks = tuple(value)
    if all([type(chunk) is Context and chunk.id for chunk in chunks]):
        return chunks
    return tuple([_context(chunk, rank) for rank, chunk in enumerate(chunks, 1)])


def _relevant(value: Any) -> RelevantIds | None:
    if value is None:
        return None
    if isinstance(value, str):
        raise TypeError("relevant_ids is one string: expected a set of ids, or a mapping from id to grade")
    if isinstance(value, Mapping):
        return {str(key): _grade(key, grade) for key, grade in value.items()}
    return frozenset([str(key) for key in value])


def _grade(key: object, value: Any) -> float:
    grade = float(value)
    if not math.isfinite(grade):
        raise ValueError(f"grade of {key!r} is {grade}: expected a finite number")
    return grade


def _ids(value: Iterable[Any] | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str):
        raise TypeError("citations is one string: expected a sequence of context ids")
    return tuple([str(key) for key in value])


@dataclass(frozen=True, slots=True, init=False)
class EvalRecord:
    """
    One request of a RAG pipeline: what was asked, retrieved and answered, with what is known of the truth.

    Every field but the question may be None, *not observed*; a metric that needs it is then undefined.
    `()` and `""` say that nothing was retrieved or answered.

    Args:
        question: What the user asked.
        contexts: The retrieved chunks in rank order: `Context`, plain strings, or mappings with `text`
            (or `page_content`, `content`). `retrieved_contexts` is a synonym.
        answer: What the pipeline answered.
        ground_truth: A reference answer.
        relevant_ids: Ids of the relevant documents, or a mapping from id to grade (0 is not relevant).
        citations: Ids of the contexts that the answer cites.
        id: The record's own identifier.
        asked_at: When it was asked: the *now* of freshness, unless the config names one.
        metadata: Anything else; never scored, but for `RETRIEVED_IDS`.

    Raises:
        TypeError: if a chunk, the ids or the citations have the wrong shape.
        ValueError: if a timestamp cannot be read, or a grade is not finite.
    """

    question: str
    contexts: tuple[Context, ...] | None
    answer: str | None
    ground_truth: str | None
    relevant_ids: RelevantIds | None
    citations: tuple[str, ...] | None
    id: str | None
    asked_at: datetime | None
    metadata: Mapping[str, Any]

    def __init__(
        self,
        question: str,
        contexts: Iterable[Context | str | Mapping[str, Any]] | None = None,
        answer: str | None = None,
        ground_truth: str | None = None,
        relevant_ids: Iterable[str] | Mapping[str, float] | None = None,
        citations: Iterable[str] | None = None,
        id: str | None = None,
        asked_at: datetime | date | str | float | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        retrieved_contexts: Iterable[Context | str | Mapping[str, Any]] | None = None,
    ) -> None:
        if retrieved_contexts is not None:
            if contexts is not None:
                raise TypeError("contexts and retrieved_contexts are the same field: give one of them")
            contexts = retrieved_contexts
        fill = object.__setattr__
        fill(self, "question", question)
        fill(self, "contexts", _contexts(contexts))
        fill(self, "answer", answer)
        fill(self, "ground_truth", ground_truth)
        fill(self, "relevant_ids", _relevant(relevant_ids))
        fill(self, "citations", _ids(citations))
        fill(self, "id", None if id is None else str(id))
        fill(self, "asked_at", None if asked_at is None else parse_timestamp(asked_at))
        fill(self, "metadata", {} if metadata is None else metadata)

    @property
    def retrieved_contexts(self) -> tuple[Context, ...] | None:
        """
        Return `contexts` under its other name.
        """
        return self.contexts


Example = EvalRecord


@quick_init
@dataclass(frozen=True, slots=True)
class Verdict:
    """
    A judge's word on one claim.

    Args:
        supported: The contexts support the claim.
        score: How surely, in [0, 1]; None when the judge has no scale.
        supporting: 0-based positions, in the contexts given to the judge, of those that support the claim.
        contradicted: The contexts say otherwise (which is more than not supporting it).
        reason: One line for a person.
        error_type: The claim could not be judged: the class name of what went wrong. None when it was.
        judge: Who answered, when it was not the judge that was asked (`lexical_fallback`).
    """

    supported: bool
    score: float | None = None
    supporting: tuple[int, ...] = ()
    contradicted: bool = False
    reason: str = ""
    error_type: str | None = None
    judge: str | None = None


@quick_init
@dataclass(frozen=True, slots=True)
class MetricResult:
    """
    The value of one metric on one record.

    Args:
        name: The metric.
        score: In [0, 1] for every built-in metric; None when undefined or failed.
        reason: One line: what was counted, or why the metric is undefined or failed.
        higher_is_better: The metric's direction.
        judge: Who decided: `none` (a formula), `lexical`, `lexical_fallback`, `claude`, `llm`, or a judge's name.
        details: The evidence, ready for JSON. `counts` maps two words to integers, the part first and the whole
            second: `{"unsupported": 2, "claims": 5}` reads "2 of 5 claims unsupported".
        error_type: The class name of what was raised; None unless the metric failed.
    """

    name: str
    score: float | None
    reason: str = ""
    higher_is_better: bool = True
    judge: str = "none"
    details: Mapping[str, Any] = field(default_factory=dict)
    error_type: str | None = None


@dataclass(frozen=True, slots=True)
class EvalConfig:
    """
    How to score; everything that can move a number.

    Args:
        now: The *now* of freshness for every record. None: the record's `asked_at`, else the wall clock.
        half_life_hours: The age at which a chunk's freshness is down to 1/e; above 0.
        k: Depth of the ranking metrics; at least 1.
        hit_threshold: Share of the question's keywords from which a chunk counts as a hit, in [0, 1].
        stopwords: Tokens without content; replaces the English list.
        claim_threshold: Share of a claim's content tokens that one context must hold for `LexicalJudge` to call
            the claim supported, in [0, 1].
        judge: Who judges claims; None for `LexicalJudge(claim_threshold)`.

    Raises:
        ValueError: if a value is out of its range or *now* cannot be read.
    """

    now: datetime | None = None
    half_life_hours: float = 168.0
    k: int = 5
    hit_threshold: float = 0.1
    stopwords: frozenset[str] = ENGLISH
    claim_threshold: float = 0.7
    judge: Judge | None = None

    def __post_init__(self) -> None:
        fill = object.__setattr__
        if self.now is not None:
            fill(self, "now", parse_timestamp(self.now))
        if self.stopwords is not ENGLISH:
            if isinstance(self.stopwords, str):
                raise ValueError("stopwords is one string: expected a set of words")
            fill(self, "stopwords", frozenset(self.stopwords))
        if not 0 < self.half_life_hours < math.inf:
            raise ValueError(f"half_life_hours must be above 0, not {self.half_life_hours}")
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise ValueError(f"k must be a whole number of at least 1, not {self.k}")
        for name in ("hit_threshold", "claim_threshold"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must lie in [0, 1], not {value}")
