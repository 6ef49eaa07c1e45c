"""
Whatever keeps Claude from judging: the fallback, in time, marked, counted and said once.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from claims_case import ALL_THREE, CLAIMS, CONTEXTS, entry
from messages_server import MessagesServer, Reply, failure, message, refusal, structured, text

from rageval_trace.evaluation import evaluate_record
from rageval_trace.judges import client as client_module
from rageval_trace.judges.budget import TokenBudget
from rageval_trace.judges.claude import ClaudeJudge
from rageval_trace.judges.lexical import LexicalJudge
from rageval_trace.models import EvalRecord

pytest.importorskip("anthropic")


HTML = Reply(b"<html>Bad gateway</html>", headers={"content-type": "text/html"})
FAILURES: dict[str, tuple[Reply, set[str]]] = {
    "refusal": (refusal(), {"RefusalError"}),
    "cut": (text('{"verdicts": [{"claim": 1', "max_tokens"), {"TruncatedReplyError"}),
    "context window": (text("", "model_context_window_exceeded"), {"TruncatedReplyError"}),
    "paused turn": (text("", "pause_turn"), {"TruncatedReplyError"}),
    "malformed json": (text('{"verdicts": ['), {"MalformedReplyError"}),
    "deep json": (text("[" * 100_000), {"MalformedReplyError"}),
    "another shape": (structured([1, 2]), {"MalformedReplyError"}),
    "no verdicts": (structured({"verdicts": "none"}), {"MalformedReplyError"}),
    "empty content": (message([]), {"MalformedReplyError"}),
    "html body": (HTML, {"JSONDecodeError", "MalformedReplyError", "AttributeError", "APIResponseValidationError"}),
    "empty body": (Reply(b""), {"JSONDecodeError"}),
    "another json": (Reply(b'{"hello": 1}'), {"AttributeError", "TruncatedReplyError", "TypeError"}),
    "wrong key": (failure(401, "authentication_error"), {"AuthenticationError"}),
    "forbidden": (failure(403, "permission_error"), {"PermissionDeniedError"}),
    "unknown model": (failure(404, "not_found_error"), {"NotFoundError"}),
    "bad request": (failure(400, "invalid_request_error"), {"BadRequestError"}),
    "rate limited": (failure(429, "rate_limit_error", retry_after="1"), {"RateLimitError"}),
    "server error": (failure(500), {"InternalServerError"}),
    "overloaded": (failure(529, "overloaded_error"), {"OverloadedError"}),
    "slow": (text("late", delay_s=5.0), {"APITimeoutError"}),
}


@pytest.mark.parametrize("case", FAILURES)
def test_every_failure_falls_back(
    server: MessagesServer, make: Callable[..., ClaudeJudge], caplog: pytest.LogCaptureFixture, case: str
) -> None:
    """
    Whatever goes wrong, the lexical verdicts come in time, marked, counted, and the log says once what mends it
    without a word of what was sent or received.
    """
    reply, kinds = FAILURES[case]
    server.default = reply
    judge = make(timeout_s=0.5)
    started = time.monotonic()
    with caplog.at_level(logging.WARNING, "rageval_trace"):
        verdicts = judge.judge_claims(CLAIMS, CONTEXTS)
        judge.judge_claims(["Another claim."], CONTEXTS)
        assert getattr(judge.judge_relevance("SECRET question?", "SECRET answer."), "judge", None) == "lexical_fallback"
    assert time.monotonic() - started < 4.0
    assert ["lexical_fallback"] * 3 == [verdict.judge for verdict in verdicts]
    lexical = LexicalJudge().judge_claims(CLAIMS, CONTEXTS)
    assert [verdict.supported for verdict in lexical] == [verdict.supported for verdict in verdicts]
    assert judge.stats.fallbacks == 5
    assert set(judge.stats.errors) <= kinds | {"PausedError"}
    assert kinds & set(judge.stats.errors)
    [line] = [record.getMessage() for record in caplog.records if record.name == "rageval_trace"]
    assert "judge 'claude' falls back to lexical scoring" in line
    assert "SECRET" not in caplog.text
    assert CLAIMS[0] not in caplog.text


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"api_key": None}, "MissingKeyError", "set ANTHROPIC_API_KEY"),
        ({"base_url": "http://127.0.0.1:9"}, "APIConnectionError", "check the network"),
        ({"budget": TokenBudget(10, 10)}, "BudgetSpentError", "TokenBudget(per_hour=, per_day=)"),
    ],
)
def test_what_never_reaches_the_api_falls_back_too(
    server: MessagesServer,
    make: Callable[..., ClaudeJudge],
    caplog: pytest.LogCaptureFixture,
    options: dict[str, Any],
    kind: str,
    words: str,
) -> None:
    """
    No key, no network, no budget: nothing is sent, and the log says what to do.
    """
    judge = make(**options)
    with caplog.at_level(logging.WARNING, "rageval_trace"):
        verdicts = judge.judge_claims(CLAIMS, CONTEXTS)
        judge.judge_claims(["Another claim."], CONTEXTS)
    assert ["lexical_fallback"] * 3 == [verdict.judge for verdict in verdicts]
    assert kind in judge.stats.errors
    assert [words in record.getMessage() for record in caplog.records if record.name == "rageval_trace"] == [True]
    assert [] == server.seen


def test_a_profile_that_cannot_be_used_falls_back(
    make: Callable[..., ClaudeJudge], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """
    Credentials that the SDK was told to find and cannot read are a lasting failure with its own mend.
    """
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path / "nowhere"))
    judge = make(api_key=None)
    with caplog.at_level(logging.WARNING, "rageval_trace"):
        assert judge.judge_relevance("Is it?", "A.") is None
        assert judge.judge_relevance("Is it?", "B.") is None
    assert {"CredentialsError": 1, "PausedError": 1} == judge.stats.errors
    assert "set ANTHROPIC_API_KEY" in caplog.text


def test_a_missing_sdk_names_the_extra(
    make: Callable[..., ClaudeJudge], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """
    Without the SDK the log gives the command that installs it.
    """
    monkeypatch.setitem(sys.modules, "anthropic", None)
    judge = make()
    with caplog.at_level(logging.WARNING, "rageval_trace"):
        assert [v.judge for v in judge.judge_claims(["A claim."], CONTEXTS)] == ["lexical_fallback"]
    assert {"MissingExtraError": 1} == judge.stats.errors
    assert 'pip install "rageval-trace[claude]"' in caplog.text


def test_another_fallback_can_be_given(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    The fallback is any judge, and its verdicts are marked all the same.
    """
    server.default = refusal()
    judge = make(fallback=LexicalJudge(0.0))
    assert [(True, "lexical_fallback")] == [
        (verdict.supported, verdict.judge) for verdict in judge.judge_claims(["Anything."], CONTEXTS)
    ]


@pytest.mark.parametrize(
    ("replies", "judges"), [(2, {"claude"}), (1, {"claude", "lexical_fallback"}), (0, {"lexical_fallback"})]
)
def test_metrics_name_who_answered(
    server: MessagesServer, make: Callable[..., ClaudeJudge], replies: int, judges: set[str]
) -> None:
    """
    A metric that the fallback answered is reported as such; one that Claude answered is not.
    """
    good = [structured({"rating": 1}), structured({"verdicts": [entry(1, "supported", [1])]})]
    server.script.extend(good[:replies])
    server.default = refusal()
    record = EvalRecord("When do returns end?", CONTEXTS, "Returns end after 30 days.")
    scored = evaluate_record(record, metrics=["answer_relevance", "groundedness"], judge=make())
    assert judges == {result.judge for result in scored.results.values()}
    assert [None, None] == [result.error_type for result in scored.results.values()]


# ----------------------------------------------------------------------------- retries, time, pause


def test_a_passing_failure_is_retried(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    A 429 with retry-after and a 529 cost two further attempts of one call.
    """
    server.script.extend([failure(429, retry_after="0"), failure(529, "overloaded_error"), ALL_THREE])
    judge = make(max_retries=2)
    assert [None] * 3 == [verdict.judge for verdict in judge.judge_claims(CLAIMS, CONTEXTS)]
    assert (3, 1, 0) == (len(server.seen), judge.stats.calls, judge.stats.fallbacks)


@pytest.mark.parametrize(
    ("reply", "attempts"),
    [
        (failure(500), 3),
        (failure(500, x_should_retry="false"), 1),
        (failure(400), 1),
        (failure(400, x_should_retry="true"), 3),
    ],
)
def test_retries_are_bounded_and_obey_the_server(
    server: MessagesServer,
    make: Callable[..., ClaudeJudge],
    monkeypatch: pytest.MonkeyPatch,
    reply: Reply,
    attempts: int,
) -> None:
    """
    `max_retries` further attempts at most, none in vain, and the server's word beats the status code.
    """
    monkeypatch.setattr(client_module, "_FIRST_BACKOFF_S", 0.01)
    server.default = reply
    make(max_retries=2).judge_claims(CLAIMS, CONTEXTS)
    assert attempts == len(server.seen)


def test_no_retry_outlives_the_time_limit(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    A server that asks for a minute's patience does not get it: the limit covers retries and waiting.
    """
    server.default = failure(429, retry_after="60")
    started = time.monotonic()
    make(max_retries=5, timeout_s=1.0).judge_claims(CLAIMS, CONTEXTS)
    assert time.monotonic() - started < 1.0
    assert len(server.seen) == 1


def test_calls_pause_after_failures_in_a_row(
    server: MessagesServer, make: Callable[..., ClaudeJudge], monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    A run of many records against a dead server waits for three of them, then asks again after the pause.
    """
    monkeypatch.setattr(client_module, "_PAUSE_S", 0.2)
    judge = make()
    for number in range(10):
        judge.judge_claims([f"Claim {number}."], CONTEXTS)
    assert len(server.seen) == 3
    assert {"InternalServerError": 3, "PausedError": 7} == judge.stats.errors
    time.sleep(0.25)
    server.script.append(ALL_THREE)
    assert [None] * 3 == [verdict.judge for verdict in judge.judge_claims(CLAIMS, CONTEXTS)]


def test_a_lasting_failure_pauses_at_once(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    A wrong key is not tried again and again.
    """
    server.default = failure(401, "authentication_error")
    judge = make()
    for number in range(5):
        judge.judge_claims([f"Claim {number}."], CONTEXTS)
    assert len(server.seen) == 1


def test_success_forgets_failures(server: MessagesServer, make: Callable[..., ClaudeJudge]) -> None:
    """
    Only failures in a row pause; a reply between them starts the count anew.
    """
    bad = failure(500, x_should_retry="false")
    server.script.extend([bad, bad, structured({"rating": 1}), bad, bad, structured({"rating": 0})])
    judge = make()
    ratings = [judge.judge_relevance("Is it?" + " " * number, "A.") for number in range(6)]
    assert [None, None, 1.0, None, None, 0.0] == ratings  # these questions have no keyword to fall back on


@pytest.mark.parametrize("options", [{"timeout_s": 0}, {"timeout_s": float("nan")}, {"max_retries": -1}])
def test_limits_are_checked_at_construction(options: dict[str, Any]) -> None:
    """
    A time limit or a number of retries that makes no sense is an error before the first call.
    """
    with pytest.raises(ValueError, match="must be"):
        ClaudeJudge(**options)
