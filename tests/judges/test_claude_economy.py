"""
What ClaudeJudge does not ask twice, what it may spend, and what it tells of it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from claims_case import ALL_THREE, CLAIMS, CONTEXTS, entry
from messages_server import MessagesServer, Reply, failure, refusal, structured, text

from rageval_trace.judges import prompts
from rageval_trace.judges.budget import TokenBudget
from rageval_trace.judges.cache import DiskCache
from rageval_trace.judges.claude import ClaudeJudge
from rageval_trace.judges.observe import JudgeEvent, ModelCall, observing

pytest.importorskip("anthropic")


def test_a_repeated_run_asks_nothing(server: MessagesServer, make: Callable[..., ClaudeJudge], tmp_path: Path) -> None:
    """
    The same judge, and a new one over the same file, answer a repeated run without a call.
    """
    server.script.extend([ALL_THREE, structured({"rating": 0.5})])
    path = tmp_path / "verdicts.sqlite"
    first = make(cache=DiskCache(path))
    expected = (first.judge_claims(CLAIMS, CONTEXTS), first.judge_relevance("Q?", "A."))
    again = make(cache=DiskCache(path))
    for judge in (first, again):
        assert expected == (judge.judge_claims(CLAIMS, CONTEXTS), judge.judge_relevance("Q?", "A."))
        assert judge.stats.cache_hits == 4
    assert len(server.seen) == 2
    assert again.stats.calls == 0


def test_only_new_claims_are_asked(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    An answer that shares claims with an earlier one asks about the others alone.
    """
    server.script.extend([ALL_THREE, structured({"verdicts": [entry(1, "supported", [2])]})])
    judge = make()
    judge.judge_claims(CLAIMS, CONTEXTS)
    verdicts = judge.judge_claims([CLAIMS[0], "A new claim."], CONTEXTS)
    assert [(0,), (1,)] == [verdict.supporting for verdict in verdicts]
    assert '[{"claim": 1, "text": "A new claim."}]' in server.seen[1].body["messages"][0]["content"][1]["text"]


@pytest.mark.parametrize(
    "other",
    [{"model": "claude-opus-5"}, {"effort": "high"}, {"contexts": CONTEXTS[::-1]}, {"version": "2"}],
)
def test_a_verdict_is_kept_for_what_it_was_given_on(
    server: MessagesServer,
    make: Callable[..., ClaudeJudge],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    other: Any,
) -> None:
    """
    Another model, effort, prompt version or order of contexts is another question.
    """
    server.default = ALL_THREE
    path = tmp_path / "verdicts.sqlite"
    make(cache=DiskCache(path)).judge_claims(CLAIMS, CONTEXTS)
    if "version" in other:
        monkeypatch.setattr(prompts, "PROMPT_VERSION", other.pop("version"))
    contexts = other.pop("contexts", CONTEXTS)
    make(cache=DiskCache(path), **other).judge_claims(CLAIMS, contexts)
    assert len(server.seen) == 2


def test_fallback_verdicts_are_not_kept(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    After a failure the next run asks again.
    """
    server.script.extend([refusal(), ALL_THREE])
    judge = make()
    marks = [[verdict.judge for verdict in judge.judge_claims(CLAIMS, CONTEXTS)] for _ in range(2)]
    assert [["lexical_fallback"] * 3, [None] * 3] == marks


def test_nonsense_in_the_cache_is_asked_anew(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    A cache that holds something else under a key is not believed.
    """
    server.default = ALL_THREE

    class Odd:
        def get(self, keys: Any) -> dict[str, Any]:
            return {key: {"supporting": [], "unknown": 1} for key in keys}

        def put(self, values: Any) -> None:
            pass

    assert [None] * 3 == [verdict.judge for verdict in make(cache=Odd()).judge_claims(CLAIMS, CONTEXTS)]
    assert len(server.seen) == 1


def test_tokens_are_booked_as_billed(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    The budget holds what `usage` reports, cached input included, and two judges can share one.
    """
    usage = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 200,
        "cache_read_input_tokens": 3000,
        "output_tokens": 7,
    }
    verdicts = {"verdicts": [entry(1, "supported")]}
    server.default = structured(verdicts, usage=usage)
    budget = TokenBudget(20_000, 20_000)
    judges = [make(budget=budget), make(budget=budget)]
    for judge in judges:
        judge.judge_claims(["A claim."], CONTEXTS)
    assert (3210, 7) == (judges[0].stats.input_tokens, judges[0].stats.output_tokens)
    assert budget.spent_last_hour == 2 * 3217


def test_a_spent_budget_stops_calls_and_says_so_once(
    server: MessagesServer, make: Callable[..., ClaudeJudge], caplog: pytest.LogCaptureFixture
) -> None:
    """
    When the hour's tokens are gone the rest is lexical, marked and counted, with one warning.
    """
    server.default = structured({"verdicts": [entry(1, "supported", [1])]}, tokens=(4000, 100))
    judge = make(budget=TokenBudget(5000, 50_000))
    with caplog.at_level(logging.WARNING, "rageval_trace"):
        marks = [judge.judge_claims([f"Claim {number}."], CONTEXTS)[0].judge for number in range(5)]
    assert [None, *["lexical_fallback"] * 4] == marks
    assert {"BudgetSpentError": 4} == judge.stats.errors
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("reply", "options", "booked"),
    [
        (failure(400), {}, False),
        (failure(529), {}, False),
        (ALL_THREE, {"api_key": None}, False),
        (ALL_THREE, {"base_url": "http://127.0.0.1:9"}, False),
        (text("late", delay_s=3), {}, True),
        (Reply(b"<html>", headers={"content-type": "text/html"}), {}, True),
        (structured({"verdicts": []}, tokens=(0, 0)), {}, True),
    ],
)
def test_what_may_have_been_billed_stays_booked(
    server: MessagesServer, make: Callable[..., ClaudeJudge], reply: Reply, options: dict[str, Any], booked: bool
) -> None:
    """
    What was rejected or never sent costs nothing; a call that ran out of time, or whose usage nobody reports, keeps
    its estimate booked, so that no proxy makes the budget endless.
    """
    server.default = reply
    budget = TokenBudget()
    make(budget=budget, timeout_s=0.5, **options).judge_claims(CLAIMS, CONTEXTS)
    assert booked == (budget.spent_last_hour > 500)
    assert booked or budget.spent_last_hour == 0


def test_observers_hear_of_each_call(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    A call's event names model, tokens, duration and what went wrong.
    """
    server.script.extend([ALL_THREE, refusal(), failure(500)])
    judge = make(model="claude-opus-5")
    heard: list[JudgeEvent] = []
    with observing(heard.append):
        for number in range(3):
            judge.judge_claims([f"Claim {number}."], CONTEXTS)
    assert all(isinstance(event, ModelCall) and 0 < event.duration_s < 5 for event in heard)
    seen = [
        (e.judge, e.model, e.input_tokens, e.output_tokens, e.error_type) for e in heard if isinstance(e, ModelCall)
    ]
    assert [
        ("claude", "claude-opus-5", 1000, 50, None),
        ("claude", "claude-opus-5", 1000, 50, "RefusalError"),
        ("claude", "claude-opus-5", 0, 0, "InternalServerError"),
    ] == seen
