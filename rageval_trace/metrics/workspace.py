"""
What the metrics of one record share: tokens, claims and verdicts, each made once and only when asked for.

`evaluate_record` opens a workspace; a metric called alone makes its own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from datetime import datetime, timezone
from itertools import pairwise
from typing import Any, Generic, TypeVar, overload

from rageval_trace.claims import Claim, is_abstention, read_citations, split_claims
from rageval_trace.judges.base import Judge, judge_name
from rageval_trace.judges.lexical import LexicalJudge
from rageval_trace.models import Context, EvalConfig, EvalRecord, Verdict
from rageval_trace.overlap import count_found
from rageval_trace.text import tokenize
from rageval_trace.tokenized import TokenCache, TokenizedText

__all__ = ["Workspace", "open_workspace", "workspace"]

_DEFAULT_CONFIG = EvalConfig()
_cache = TokenCache()
T = TypeVar("T")


class _Lazy(Generic[T]):
    """
    Compute an attribute at its first use; `functools.cached_property` without the lock it takes before 3.12.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> _Lazy[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> _Lazy[T] | T:
        if instance is None:
            return self
        value = self.compute(instance)
        instance.__dict__[self.name] = value
        return value


class Workspace:
    """
    Hold what the metrics of one record share.

    Args:
        record: The record to score.
        config: How to score it.

    Attributes:
        contexts: The chunks in rank order; empty when none was observed.
    """

    def __init__(self, record: EvalRecord, config: EvalConfig) -> None:
        self.record = record
        self.config = config
        self.contexts: tuple[Context, ...] = record.contexts or ()

    def once(self, key: str, compute: Callable[[Workspace], T]) -> T:
        """
        Return what *compute* made of this workspace, made at the first call with this *key*.
        """
        made: dict[str, Any] = self.__dict__
        if key not in made:
            made[key] = compute(self)
        value: T = made[key]
        return value

    @_Lazy
    def tokenized_contexts(self) -> list[TokenizedText]:
        """
        Each chunk with its tokens.
        """
        return [_cache.get(context.text) for context in self.contexts]

    @_Lazy
    def context_tokens(self) -> list[list[str]]:
        """
        The tokens of each chunk.
        """
        return [text.tokens for text in self.tokenized_contexts]

    @_Lazy
    def answer_tokens(self) -> list[str]:
        """
        The tokens of the answer; empty when it was not observed.
        """
        return tokenize(self.record.answer or "")

    @_Lazy
    def truth_tokens(self) -> list[str]:
        """
        The tokens of the reference answer; empty when there is none.
        """
        return tokenize(self.record.ground_truth or "")

    @_Lazy
    def keywords(self) -> frozenset[str]:
        """
        The distinct content tokens of the question.
        """
        return frozenset(tokenize(self.record.question)) - self.config.stopwords

    @_Lazy
    def context_words(self) -> list[frozenset[str]]:
        """
        The distinct tokens of each chunk.
        """
        return [text.words for text in self.tokenized_contexts]

    @_Lazy
    def answer_words(self) -> frozenset[str]:
        """
        The distinct tokens of the answer.
        """
        return frozenset(self.answer_tokens)

    @_Lazy
    def answer_words_held(self) -> list[frozenset[str]]:
        """
        For each chunk, the answer's words that it holds.
        """
        words = self.answer_words
        return [words & chunk for chunk in self.context_words]

    @_Lazy
    def all_words(self) -> frozenset[str]:
        """
        The distinct tokens of all chunks together.
        """
        return frozenset().union(*self.context_words)

    def found(self, words: frozenset[str]) -> frozenset[str]:
        """
        Return those of these words that any chunk holds, without putting all chunks together.
        """
        if words is self.answer_words:
            return frozenset().union(*self.answer_words_held)
        return frozenset().union(*[words & held for held in self._where_to_look(words)])

    @_Lazy
    def answer_pairs(self) -> list[tuple[str, str]]:
        """
        The neighbouring answer tokens, in order, repeats included.
        """
        return list(pairwise(self.answer_tokens))

    @_Lazy
    def answer_pairs_found(self) -> set[tuple[str, str]]:
        """
        The neighbouring answer tokens that also stand next to each other inside one chunk.
        """
        wanted = set(self.answer_pairs)
        found: set[tuple[str, str]] = set()
        for text in self.tokenized_contexts:
            found.update(text.shared_pairs(wanted))
        return found

    def count_answer_pairs(self) -> int:
        """
        Count the occurrences of `answer_pairs_found`. The plain definition is `overlap.count_pairs_found`.
        """
        return count_found(self.answer_pairs, self.answer_pairs_found)

    def held(self, words: frozenset[str]) -> list[int]:
        """
        Count, for each chunk, how many of these words it holds.
        """
        return [len(words & held) for held in self._where_to_look(words)]

    def _where_to_look(self, words: frozenset[str]) -> list[frozenset[str]]:
        # A claim's words are the answer's, as a rule: then a chunk of hundreds of words need not be searched again.
        return self.answer_words_held if self.answer_words.issuperset(words) else self.context_words

    # --------------------------------------------------------------------------------- claims, verdicts

    @_Lazy
    def claims(self) -> tuple[Claim, ...]:
        """
        The claims of the answer; empty when it is blank, not observed or only declines.
        """
        answer = self.record.answer or ""
        # Ids tell marks from other brackets; most answers hold none.
        named = self.contexts if "[" in answer else ()
        ids = frozenset([context.id for context in named if not context.generated_id])
        return split_claims(answer, stopwords=self.config.stopwords, ids=ids)

    @_Lazy
    def abstained(self) -> bool | None:
        """
        The answer only declines; None when it was not observed or is blank.
        """
        answer = self.record.answer
        if answer is None or not answer.strip():
            return None
        return not self.claims and is_abstention(answer)

    @_Lazy
    def claim_words(self) -> list[frozenset[str]]:
        """
        The distinct content tokens of each claim.
        """
        stopwords = self.config.stopwords
        return [frozenset(claim.tokens) - stopwords for claim in self.claims]

    @_Lazy
    def judge(self) -> Judge:
        """
        The judge to ask.
        """
        config = self.config
        return config.judge or LexicalJudge(config.claim_threshold, stopwords=config.stopwords)

    @_Lazy
    def judge_name(self) -> str:
        """
        The name under which the judge's results are reported.
        """
        return judge_name(self.judge)

    @_Lazy
    def verdicts(self) -> list[Verdict]:
        """
        One verdict a claim, in order.

        Raises:
            ValueError: if the judge gives another number of verdicts, or a position outside the contexts.
        """
        if not self.claims:
            return []
        judge = self.judge
        if type(judge) is LexicalJudge and _same(judge.stopwords, self.config.stopwords):
            return self._overlap_verdicts(judge)
        return self._ask(judge)

    def _overlap_verdicts(self, judge: LexicalJudge) -> list[Verdict]:
        """
        Give the judge what it would count itself. The plain definition is `LexicalJudge.judge_claims`.
        """
        claims = self.claim_words
        within = self._where_to_look(frozenset().union(*claims))
        return [judge.verdict(len(words), [len(words & held) for held in within]) for words in claims]

    def _ask(self, judge: Judge) -> list[Verdict]:
        """
        Ask another judge, once: a failure is kept and raised again, since each question may cost money and time.
        """
        failure: Exception | None = self.__dict__.get("failure")
        if failure is not None:
            raise failure
        try:
            return self._checked(list(judge.judge_claims([claim.text for claim in self.claims], self.contexts)))
        except Exception as error:
            self.__dict__["failure"] = error
            raise

    def _checked(self, verdicts: list[Verdict]) -> list[Verdict]:
        if len(verdicts) != len(self.claims):
            raise ValueError(f"judge gave {len(verdicts)} verdicts on {len(self.claims)} claims")
        ranks = range(len(self.contexts))
        if any([position not in ranks for verdict in verdicts for position in verdict.supporting]):
            raise ValueError("judge named a context that was not given")
        return verdicts

    @_Lazy
    def supporting(self) -> list[int]:
        """
        The 0-based positions of the contexts that support at least one claim, ascending.
        """
        return sorted({position for verdict in self.verdicts if verdict.supported for position in verdict.supporting})

    @_Lazy
    def citations(self) -> tuple[str, ...] | None:
        """
        The ids that the answer cites, each once: the record's, else read from the answer's citation marks.
        """
        given = self.record.citations
        if given is not None:
            return tuple(dict.fromkeys(given))
        marks = [mark for claim in self.claims for mark in claim.marks]
        return read_citations(marks, [context.id for context in self.contexts])

    # --------------------------------------------------------------------------------------- freshness

    @_Lazy
    def now(self) -> datetime:
        """
        The *now* of freshness: the config's, else when the record was asked, else the wall clock.
        """
        return self.config.now or self.record.asked_at or datetime.now(timezone.utc)


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    # Sets look up each member to compare, even with themselves.
    return one is other or one == other


_current: ContextVar[Workspace | None] = ContextVar("rageval_trace_workspace", default=None)


def workspace(record: EvalRecord, config: EvalConfig | None) -> Workspace:
    """
    Return the open workspace when it is this record's, else a new one.
    """
    current = _current.get()
    wanted = config or _DEFAULT_CONFIG
    if current is not None and current.record is record and current.config is wanted:
        return current
    return Workspace(record, wanted)


class open_workspace:  # noqa: N801 - a context manager, written as a class since a generator costs three times as much
    """
    Share one workspace among the metrics called inside the block.
    """

    __slots__ = ("_opened", "_token")

    def __init__(self, record: EvalRecord, config: EvalConfig | None) -> None:
        self._opened = Workspace(record, config or _DEFAULT_CONFIG)

    def __enter__(self) -> Workspace:
        self._token = _current.set(self._opened)
        return self._opened

    def __exit__(self, *exception: object) -> None:
        _current.reset(self._token)
