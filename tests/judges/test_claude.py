"""
ClaudeJudge against a scripted Messages API, through the real SDK.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from claims_case import ALL_THREE, CLAIMS, CONTEXTS, entry
from messages_server import MessagesServer, Reply, failure, structured

from rageval_trace.judges.base import Judge, Rating
from rageval_trace.judges.claude import ClaudeJudge
from rageval_trace.judges.observe import JudgeStats
from rageval_trace.models import Verdict

anthropic = pytest.importorskip("anthropic")


def test_one_call_judges_all_claims(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    The claims of an answer cost one call, and each gets its own verdict, contradiction told from lack of support.
    """
    server.script.append(ALL_THREE)
    judge = make()
    expected = [
        Verdict(supported=True, supporting=(0,), reason="because"),
        Verdict(supported=False, contradicted=True, reason="because"),
        Verdict(supported=False, reason="because"),
    ]
    assert expected == judge.judge_claims(CLAIMS, CONTEXTS)
    assert JudgeStats(calls=1, claims=3, input_tokens=1000, output_tokens=50) == judge.stats
    assert isinstance(judge, Judge)


def test_invented_contexts_are_dropped_and_counted(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    Context numbers that were never given, or are no numbers, do not reach the metrics.
    """
    server.script.append(structured({"verdicts": [entry(1, "supported", [2, 3, 0, -1, "1", True, 1.0, 1, 1])]}))
    judge = make()
    assert [(0, 1)] == [verdict.supporting for verdict in judge.judge_claims(CLAIMS[:1], CONTEXTS)]
    assert judge.stats.invented == 6


def test_a_claim_left_out_falls_back_alone(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    Verdicts on unknown claims are ignored, the first of two counts, and what is missing is judged lexically.
    """
    entries = [entry(1, "supported", [1]), entry(1, "unsupported"), entry(9, "supported"), entry(0, "supported"), 7]
    server.script.append(structured({"verdicts": [*entries, {"claim": 2}, entry(3, "perhaps")]}))
    judge = make()
    verdicts = judge.judge_claims(CLAIMS, CONTEXTS)
    assert [None, "lexical_fallback", "lexical_fallback"] == [verdict.judge for verdict in verdicts]
    assert verdicts[0].supported
    assert (2, {"MalformedReplyError": 1}) == (judge.stats.fallbacks, judge.stats.errors)


def test_nothing_retrieved_asks_nothing(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    Without contexts no claim is supported; without claims there is nothing to judge.
    """
    judge = make()
    assert [Verdict(supported=False, reason="nothing was retrieved")] == judge.judge_claims(["A claim."], ())
    assert [] == judge.judge_claims([], CONTEXTS)
    assert [] == server.seen


def test_many_claims_go_in_few_calls(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    Beyond 40 claims a further call is made; a claim said twice is judged once.
    """

    def all_supported(seen: Any) -> Reply:
        asked = json.loads(seen.body["messages"][0]["content"][1]["text"].split("\n")[1])
        return structured({"verdicts": [entry(claim["claim"], "supported", [1]) for claim in asked]})

    server.default = all_supported
    judge = make()
    claims = [f"Claim number {number}." for number in range(45)] + ["Claim number 0."]
    assert [True] * 46 == [verdict.supported for verdict in judge.judge_claims(claims, CONTEXTS)]
    assert (2, 46) == (judge.stats.calls, judge.stats.claims)


@pytest.mark.parametrize(("rating", "expected"), [(0, 0.0), (0.75, 0.75), (1, 1.0)])
def test_relevance_is_rated(
    server: MessagesServer, make: Callable[..., ClaudeJudge], rating: float, expected: float
) -> None:
    """
    A rating comes back as it is, and is not asked for again.
    """
    server.script.append(structured({"rating": rating}))
    judge = make()
    assert [expected, expected] == [judge.judge_relevance("Q?", "A.") for _ in range(2)]
    assert (1, 1) == (judge.stats.calls, judge.stats.cache_hits)


@pytest.mark.parametrize("rating", [-0.1, 1.5, True, "0.5", None, [], float("nan")])
def test_a_rating_out_of_range_falls_back(
    server: MessagesServer, make: Callable[..., ClaudeJudge], rating: Any
) -> None:
    """
    What is no number in [0, 1] gives the keyword share instead, marked and counted.
    """
    server.script.append(structured({"rating": rating}))
    judge = make()
    stand_in = judge.judge_relevance("What is red wine?", "Red.")
    assert isinstance(stand_in, Rating)
    assert (0.5, "lexical_fallback") == (stand_in, stand_in.judge)
    assert (1, {"MalformedReplyError": 1}) == (judge.stats.fallbacks, judge.stats.errors)


async def test_async_does_the_same(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    The awaitable twins give what the plain methods give.
    """
    server.script.extend([ALL_THREE, structured({"rating": 0.5})])
    judge = make()
    verdicts = await judge.ajudge_claims(CLAIMS, CONTEXTS)
    assert [True, False, False] == [verdict.supported for verdict in verdicts]
    assert await judge.ajudge_relevance("Q?", "A.") == 0.5


# ------------------------------------------------------------------------------------------ the SDK


def test_a_ready_client_is_used_and_left_open(server: MessagesServer) -> None:
    """
    A client of the user's own is asked without its own retries, and closing the judge does not close it.
    """
    server.script.extend([failure(500), ALL_THREE])
    with anthropic.Anthropic(api_key="own", base_url=server.url) as own:
        judge = ClaudeJudge(client=own, max_retries=0)
        judge.judge_claims(CLAIMS, CONTEXTS)
        judge.close()
        assert len(server.seen) == 1
        assert [None] * 3 == [verdict.judge for verdict in judge.judge_claims(CLAIMS, CONTEXTS)]
    assert server.seen[0].headers["authorization"] == "Bearer own"


def test_closing_keeps_the_judge_usable(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    After `close` the next call opens a new connection.
    """
    server.default = structured({"rating": 1})
    judge = make()
    judge.judge_relevance("Q?", "A.")
    judge.close()
    judge.close()
    assert judge.judge_relevance("Q?", "B.") == 1.0


def test_a_forked_child_makes_its_own_client(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    The client belongs to the process that made it.
    """
    server.default = structured({"rating": 1})
    judge = make()
    judge.judge_relevance("Q?", "A.")
    parents = judge._client._made
    assert parents is not None
    judge._client._made = (parents[0] + 1, parents[1])
    judge.judge_relevance("Q?", "B.")
    assert judge._client._made[1] is not parents[1]
    parents[1].close()


_QUIET = """
import sys, threading
import rageval_trace
import rageval_trace.judges
from rageval_trace.judges.claude import ClaudeJudge
from rageval_trace.models import Context
judge = ClaudeJudge(api_key="k", base_url=sys.argv[1], max_retries=0)
judge.judge_claims(["A claim."], ())
assert "anthropic" not in sys.modules
judge.judge_claims(["A claim."], [Context("a", "A chunk.")])
assert "anthropic" in sys.modules
"""


@pytest.mark.slow
def test_the_sdk_is_imported_by_the_first_call(server: MessagesServer) -> None:
    """
    Importing the package and making a judge do not import `anthropic`; the first due call does.
    """
    subprocess.run([sys.executable, "-W", "ignore", "-c", _QUIET, server.url], check=True, timeout=60)
