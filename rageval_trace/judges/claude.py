"""
Claude as a judge of claims and of relevance.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rageval_trace.judges import prompts
from rageval_trace.judges.base import FALLBACK, Judge, Rating
from rageval_trace.judges.budget import TokenBudget
from rageval_trace.judges.cache import Cache, MemoryCache, cache_key
from rageval_trace.judges.client import ClaudeClient
from rageval_trace.judges.failures import MalformedReplyError
from rageval_trace.judges.lexical import LexicalJudge
from rageval_trace.judges.observe import JudgeStats, Tally
from rageval_trace.models import Context, Verdict

__all__ = ["CLAUDE_JUDGE_MODEL", "ClaudeJudge"]

CLAUDE_JUDGE_MODEL = "claude-haiku-5-5"

# A reply takes about 60 tokens a claim; the cap leaves room for thinking, which newer models do before they answer.
_CLAIMS_A_CALL = 40
_TOKENS_A_CLAIM = 60
_TOKENS_OF_THOUGHT = 500


class ClaudeJudge:
    """
    Ask Claude whether contexts support claims, and how far an answer addresses its question.

    The claims of one answer go in one call (up to 40 of them) under a JSON schema. A claim once judged against the
    same contexts is never asked again. Contexts, claims, questions and answers leave the process for the API:
    constructing this judge is the consent.

    It never raises for a failed call. Without SDK, key, network, budget or a usable reply, `LexicalJudge` answers,
    every such verdict carries `judge="lexical_fallback"`, `stats` counts it and the log says once what would mend it.
    After three failures in a row, or one that only a person can mend, calls pause for 30 seconds.

    Args:
        model: The model's id. The default is the cheapest current one.
        api_key: The key; None for what the SDK finds (`ANTHROPIC_API_KEY`, a profile, ...).
        base_url: The API's address; None for the SDK's default or `ANTHROPIC_BASE_URL`.
        client: A ready `anthropic.Anthropic` client (or its Bedrock or Vertex kin), used instead of making one.
        timeout_s: Seconds for one call, retries included; above 0.
        max_retries: Further attempts after a failure that may pass; at least 0.
        max_tokens: Cap of one reply, thinking included.
        effort: How much the model shall think (`low` to `max`); None for the model's own default.
        prompt_caching: Mark the contexts for the API's prompt cache: a later call with the same contexts within five
            minutes reads them at a tenth of the price, and the first one pays a quarter more for them.
        cache: Where verdicts are kept; None for 10,000 entries in memory. `DiskCache(path)` outlives the process.
        budget: Tokens it may spend; None for the budget shared by this process (`shared_budget`).
        fallback: Who answers when Claude does not; None for `LexicalJudge()`.
    """

    name = "claude"

    def __init__(
        self,
        model: str = CLAUDE_JUDGE_MODEL,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        client: Any = None,
        timeout_s: float = 20.0,
        max_retries: int = 2,
        max_tokens: int = 8192,
        effort: str | None = None,
        prompt_caching: bool = True,
        cache: Cache | None = None,
        budget: TokenBudget | None = None,
        fallback: Judge | None = None,
    ) -> None:
        self.model = model
        self.version = f"{model}/{prompts.PROMPT_VERSION}"
        self.cache: Cache = cache if cache is not None else MemoryCache()
        self.fallback: Judge = fallback if fallback is not None else LexicalJudge()
        self._max_tokens = max_tokens
        self._effort = effort
        self._prompt_caching = prompt_caching
        self._tally = Tally()
        self._client = ClaudeClient(
            self.name,
            self._tally,
            model=model,
            api_key=api_key,
            base_url=base_url,
            client=client,
            timeout_s=timeout_s,
            max_retries=max_retries,
            budget=budget,
        )

    @property
    def stats(self) -> JudgeStats:
        """
        Return what this judge did so far.
        """
        return self._tally.stats()

    def judge_claims(self, claims: Sequence[str], contexts: Sequence[Context]) -> list[Verdict]:
        """
        Judge each claim against the contexts.

        Returns:
            One verdict a claim, in the claims' order. Without contexts nothing is supported, and nothing is asked.
        """
        self._tally.add(claims=len(claims))
        if not contexts:
            return [Verdict(supported=False, reason="nothing was retrieved") for _ in claims]
        # Hashed once, for the contexts are long and the same for every claim.
        given = self._key("claim", *[context.text for context in contexts])
        keys = {claim: cache_key(given, claim) for claim in claims}
        verdicts = self._remembered(keys)
        self._tally.add(cache_hits=len([claim for claim in claims if claim in verdicts]))
        open_claims = [claim for claim in keys if claim not in verdicts]
        for start in range(0, len(open_claims), _CLAIMS_A_CALL):
            batch = open_claims[start : start + _CLAIMS_A_CALL]
            verdicts.update(self._judge_batch(batch, contexts, keys))
        return [verdicts[claim] for claim in claims]

    def judge_relevance(self, question: str, answer: str) -> float | None:
        """
        Rate how far the answer addresses the question.

        Returns:
            A rating in [0, 1]. When Claude could not be asked, the fallback's `Rating`, marked so; None when it has
            none either.
        """
        key = self._key("relevance", question, answer)
        known = self.cache.get([key]).get(key)
        if isinstance(known, float):
            self._tally.add(cache_hits=1)
            return known
        try:
            message = self._ask(prompts.relevance_request(question, answer), _TOKENS_A_CLAIM)
            rating = prompts.read_rating(message)
        except Exception as error:
            self._client.fell_back(error, 1)
            stand_in = self.fallback.judge_relevance(question, answer)
            return None if stand_in is None else Rating(stand_in, FALLBACK)
        self._client.succeeded()
        self.cache.put({key: rating})
        return rating

    async def ajudge_claims(self, claims: Sequence[str], contexts: Sequence[Context]) -> list[Verdict]:
        """
        Judge each claim, as `judge_claims` does, without holding up the event loop.

        A worker thread does the work, so that the first import of the SDK does not stall the loop either.
        """
        return await asyncio.to_thread(self.judge_claims, claims, contexts)

    async def ajudge_relevance(self, question: str, answer: str) -> float | None:
        """
        Rate relevance, as `judge_relevance` does, without holding up the event loop.
        """
        return await asyncio.to_thread(self.judge_relevance, question, answer)

    def close(self) -> None:
        """
        Close idle connections; the judge stays usable.
        """
        self._client.close()

    def _judge_batch(self, claims: list[str], contexts: Sequence[Context], keys: dict[str, str]) -> dict[str, Verdict]:
        request = prompts.claims_request(claims, contexts, prompt_caching=self._prompt_caching)
        try:
            message = self._ask(request, len(claims) * _TOKENS_A_CLAIM)
            read, invented = prompts.read_verdicts(message, len(claims), len(contexts))
        except Exception as error:
            return self._fall_back(claims, contexts, error)
        self._client.succeeded()
        self._tally.add(invented=invented)
        judged = {claims[index]: verdict for index, verdict in read.items()}
        self.cache.put({keys[claim]: _to_store(verdict) for claim, verdict in judged.items()})
        left_out = [claim for claim in claims if claim not in judged]
        if left_out:
            judged.update(self._fall_back(left_out, contexts, MalformedReplyError()))
        return judged

    def _ask(self, request: dict[str, Any], expected_output: int) -> Any:
        if self._effort is not None:
            request["output_config"]["effort"] = self._effort
        request["max_tokens"] = self._max_tokens
        return self._client.ask(request, expected_output=expected_output + _TOKENS_OF_THOUGHT)

    def _fall_back(self, claims: list[str], contexts: Sequence[Context], error: Exception) -> dict[str, Verdict]:
        self._client.fell_back(error, len(claims))
        verdicts = self.fallback.judge_claims(claims, contexts)
        return {claim: replace(verdict, judge=FALLBACK) for claim, verdict in zip(claims, verdicts, strict=True)}

    def _key(self, kind: str, *texts: str) -> str:
        return cache_key(kind, self.model, prompts.PROMPT_VERSION, self._effort or "", texts)

    def _remembered(self, keys: dict[str, str]) -> dict[str, Verdict]:
        known = self.cache.get(keys.values())
        return {claim: read for claim, key in keys.items() if (read := _stored(known.get(key))) is not None}


def _to_store(verdict: Verdict) -> dict[str, Any]:
    return {
        "supported": verdict.supported,
        "supporting": list(verdict.supporting),
        "contradicted": verdict.contradicted,
        "reason": verdict.reason,
    }


def _stored(value: Any) -> Verdict | None:
    """
    Rebuild a verdict from a cache's JSON; None for anything else, as a file may hold.
    """
    try:
        return Verdict(**{**value, "supporting": tuple(value["supporting"])})
    except (TypeError, KeyError):
        return None
