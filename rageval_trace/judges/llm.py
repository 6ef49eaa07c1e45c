"""
Claude over a whole record, in a loop of tool calls: it reads the record, may look at the keyless scores, and submits.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from typing import Any

from rageval_trace.judges.budget import TokenBudget
from rageval_trace.judges.cache import Cache, MemoryCache, cache_key
from rageval_trace.judges.client import ClaudeClient
from rageval_trace.judges.failures import MalformedReplyError
from rageval_trace.judges.observe import JudgeStats, Tally
from rageval_trace.judges.prompts import DATA_RULE, data_block
from rageval_trace.judges.proxies import JUDGED, proxy_results
from rageval_trace.models import EvalRecord, MetricResult
from rageval_trace.stopwords import ENGLISH

__all__ = ["DEFAULT_MODEL", "LLMJudge"]

DEFAULT_MODEL = "claude-opus-5"
"""The model that `LLMJudge` asks."""

_PROMPT_VERSION = "1"
_TOKENS_A_TURN = 700  # a guess for the reservation in the budget, thinking included

_SYSTEM = f"""\
You judge one record of a retrieval-augmented system: a question, the contexts that were retrieved, and the answer.
{DATA_RULE}
Call get_record first. get_proxy_scores gives word-overlap scores, which are blind to paraphrase. Then call
submit_judgment once:
- faithfulness, from 0 to 1: the share of the answer's claims that the contexts back; use the contexts alone, never what
  you know otherwise; a paraphrase counts, a contradicted or invented detail does not. An answer that only declines
  claims nothing and scores 1.
- answer_relevance, from 0 to 1: how far the answer addresses the question, true or not.
Give each a reason of one short sentence.\
"""

_NOTHING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
_TOOLS: list[dict[str, Any]] = [
    {
        "name": "get_record",
        "description": "Return the record to judge: question, numbered contexts, answer.",
        "input_schema": _NOTHING,
        "strict": True,
    },
    {
        "name": "get_proxy_scores",
        "description": "Return the word-overlap scores of the record, null where undefined.",
        "input_schema": _NOTHING,
        "strict": True,
    },
    {
        "name": "submit_judgment",
        "description": "Submit the judgment. This ends the task.",
        "input_schema": {
            "type": "object",
            "properties": {
                "faithfulness_reason": {"type": "string"},
                "faithfulness": {"type": "number"},
                "answer_relevance_reason": {"type": "string"},
                "answer_relevance": {"type": "number"},
            },
            "required": ["faithfulness_reason", "faithfulness", "answer_relevance_reason", "answer_relevance"],
            "additionalProperties": False,
        },
        "strict": True,
    },
]
_EXPECTED = "not accepted: faithfulness and answer_relevance must be numbers from 0 to 1"


class LLMJudge:
    """
    Judge faithfulness and answer relevance of a whole record (RAGEval's judge).

    Each record takes two to four calls, within one time limit; a record judged before is not asked again. The record
    leaves the process for the API: constructing this judge is the consent. Without SDK, key, network or budget, when
    the model declines, or whatever else fails, both values are the word-overlap ones, marked `lexical_fallback`,
    counted in `stats`, with what mends it said once in the log.

    Args:
        model: The model's id.
        force_proxy: Never ask the model; every value is the fallback's.
        api_key: The key; None for what the SDK finds (`ANTHROPIC_API_KEY`, a profile, ...).
        base_url: The API's address; None for the SDK's default or `ANTHROPIC_BASE_URL`.
        client: A ready `anthropic.Anthropic` client (or its Bedrock or Vertex kin), used instead of making one.
        timeout_s: Seconds for one record, all calls and retries included; above 0.
        max_retries: Further attempts of a call after a failure that may pass; at least 0.
        max_turns: Calls for one record; at least 1.
        max_tokens: Cap of one reply, thinking included.
        effort: How much the model shall think (`low` to `max`); None for the model's own default.
        cache: Where judgments are kept; None for 10,000 entries in memory. `DiskCache(path)` outlives the process.
        budget: Tokens it may spend; None for the budget shared by this process (`shared_budget`).
        stopwords: Tokens without content, for the fallback's answer relevance.
    """

    name = "llm"

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        force_proxy: bool = False,
        api_key: str | None = None,
        base_url: str | None = None,
        client: Any = None,
        timeout_s: float = 60.0,
        max_retries: int = 2,
        max_turns: int = 6,
        max_tokens: int = 8192,
        effort: str | None = None,
        cache: Cache | None = None,
        budget: TokenBudget | None = None,
        stopwords: frozenset[str] = ENGLISH,
    ) -> None:
        if max_turns < 1:
            raise ValueError(f"max_turns must be at least 1, not {max_turns}")
        self.model = model
        self.version = f"{model}/{_PROMPT_VERSION}"
        self.force_proxy = force_proxy
        self.cache: Cache = cache if cache is not None else MemoryCache()
        self._max_turns = max_turns
        self._max_tokens = max_tokens
        self._effort = effort
        self._stopwords = stopwords
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

    def judge(self, record: EvalRecord) -> Mapping[str, MetricResult]:
        """
        Judge one record.

        Returns:
            Results for faithfulness and answer_relevance: of this judge, or both of the fallback. Without an answer
            both are undefined; without observed contexts faithfulness is; nothing is asked for a blank answer.
        """
        proxies = proxy_results(record, self._stopwords)
        if self.force_proxy or not (record.answer or "").strip():
            return proxies
        key = self._key(record)
        known = _accepted(self.cache.get([key]).get(key))
        if known is not None:
            self._tally.add(cache_hits=1)
            return self._results(known, proxies)
        try:
            submitted = self._loop(record, proxies)
        except Exception as error:
            self._client.fell_back(error, 1)
            return proxies
        self._client.succeeded()
        self.cache.put({key: submitted})
        return self._results(submitted, proxies)

    async def ajudge(self, record: EvalRecord) -> Mapping[str, MetricResult]:
        """
        Judge one record, as `judge` does, in a worker thread, without holding up the event loop.
        """
        return await asyncio.to_thread(self.judge, record)

    def close(self) -> None:
        """
        Close idle connections; the judge stays usable.
        """
        self._client.close()

    def _loop(self, record: EvalRecord, proxies: Mapping[str, MetricResult]) -> dict[str, Any]:
        """
        Call until a judgment is submitted.

        The choice of tools is left to the model: newer ones reject forced tool use. What the model said goes back as
        it came, thinking included, which they insist on too.
        """
        deadline = self._client.deadline()
        messages: list[dict[str, Any]] = [{"role": "user", "content": "Judge the record."}]
        for _ in range(self._max_turns):
            reply = self._client.ask(self._request(messages), expected_output=_TOKENS_A_TURN, deadline=deadline)
            calls = [block for block in reply.content if block.type == "tool_use"]
            submitted = next((read for call in calls if (read := _submission(call)) is not None), None)
            if submitted is not None:
                return submitted
            if not calls:
                raise MalformedReplyError
            messages.append({"role": "assistant", "content": reply.content})
            messages.append({"role": "user", "content": [_tool_result(call, record, proxies) for call in calls]})
        raise MalformedReplyError

    def _request(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        request: dict[str, Any] = {
            "max_tokens": self._max_tokens,
            "system": _SYSTEM,
            "tools": _TOOLS,
            "messages": messages,
        }
        if self._effort is not None:
            request["output_config"] = {"effort": self._effort}
        return request

    def _results(self, submitted: Mapping[str, Any], proxies: Mapping[str, MetricResult]) -> dict[str, MetricResult]:
        results = {
            name: MetricResult(name, submitted[name], submitted[f"{name}_reason"], judge=self.name) for name in JUDGED
        }
        if proxies["faithfulness"].score is None:
            results["faithfulness"] = proxies["faithfulness"]
        return results

    def _key(self, record: EvalRecord) -> str:
        contexts = [context.text for context in record.contexts or ()]
        asked = (record.question, record.answer or "", "0" if record.contexts is None else "1")
        return cache_key("record", self.model, _PROMPT_VERSION, self._effort or "", asked, contexts)


def _submission(call: Any) -> dict[str, Any] | None:
    return _accepted(call.input) if call.name == "submit_judgment" else None


def _accepted(given: Any) -> dict[str, Any] | None:
    """
    Return a judgment in its plain form; None for anything that is none, from a model or a cache.
    """
    if not isinstance(given, Mapping):
        return None
    plain: dict[str, Any] = {}
    for name in JUDGED:
        score = given.get(name)
        if isinstance(score, bool) or not isinstance(score, (int, float)):
            return None
        if not (math.isfinite(score) and 0 <= score <= 1):
            return None
        plain[name] = float(score)
        plain[f"{name}_reason"] = " ".join(str(given.get(f"{name}_reason", "")).split())[:500]
    return plain


def _tool_result(call: Any, record: EvalRecord, proxies: Mapping[str, MetricResult]) -> dict[str, Any]:
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": call.id}
    if call.name == "get_record":
        text = {"type": "text", "text": data_block("record", _shown(record)), "cache_control": {"type": "ephemeral"}}
        return {**result, "content": [text]}
    if call.name == "get_proxy_scores":
        scores = {name: proxy.score for name, proxy in proxies.items()}
        return {**result, "content": data_block("scores", scores)}
    words = _EXPECTED if call.name == "submit_judgment" else "there is no such tool"
    return {**result, "content": words, "is_error": True}


def _shown(record: EvalRecord) -> dict[str, Any]:
    contexts = record.contexts
    return {
        "question": record.question,
        "contexts": None
        if contexts is None
        else [{"context": number, "text": context.text} for number, context in enumerate(contexts, 1)],
        "answer": record.answer,
    }
