"""
One call of Claude: bounded in time, retries and tokens, counted, and never made again and again in vain.

`anthropic` is imported on the first call, on the thread that judges: importing it costs a second.
"""

from __future__ import annotations

import logging
import os
import random
import time
from collections.abc import Callable, Mapping
from typing import Any

from rageval_trace.errors import MissingExtraError
from rageval_trace.judges.budget import TokenBudget, shared_budget
from rageval_trace.judges.failures import (
    BudgetSpentError,
    MissingKeyError,
    PausedError,
    RefusalError,
    TruncatedReplyError,
    lasting,
    mend,
)
from rageval_trace.judges.locks import Lock
from rageval_trace.judges.observe import ModelCall, Tally, notify

__all__ = ["ClaudeClient"]

_log = logging.getLogger("rageval_trace")

# Calls stop for a while after this many transient failures in a row, or after one that only a person can mend:
# otherwise a run of a thousand records without network would wait a thousand times.
_FAILURES_BEFORE_PAUSE = 3
_PAUSE_S = 30.0
_FIRST_BACKOFF_S = 0.5
_CHARACTERS_A_TOKEN = 3  # on the safe side of English prose under the newer tokenizers
_NEVER_SENT = ("APIConnectionError", "CredentialsError", "MissingExtraError", "MissingKeyError")
_COMPLETE = ("end_turn", "tool_use", "stop_sequence")


class ClaudeClient:
    """
    Call the Messages API for a judge.

    Args:
        judge: The judge's name, for the log and events.
        tally: Where to count.
        model: The model's id.
        api_key: The key; None for what the SDK finds (`ANTHROPIC_API_KEY`, a profile, ...).
        base_url: The API's address; None for the SDK's default or `ANTHROPIC_BASE_URL`.
        client: A ready `anthropic.Anthropic` (or Bedrock, Vertex, ...) client, used instead of making one.
        timeout_s: Seconds for one call, retries and waiting included.
        max_retries: Further attempts after a failure that may pass.
        budget: Tokens it may spend; None for the budget shared by this process.
        clock: Seconds, never going back.
    """

    def __init__(
        self,
        judge: str,
        tally: Tally,
        *,
        model: str,
        api_key: str | None,
        base_url: str | None,
        client: Any,
        timeout_s: float,
        max_retries: int,
        budget: TokenBudget | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not timeout_s > 0:
            raise ValueError(f"timeout_s must be above 0, not {timeout_s}")
        if max_retries < 0:
            raise ValueError(f"max_retries must be at least 0, not {max_retries}")
        self.judge = judge
        self.model = model
        self.tally = tally
        self._options = {"api_key": api_key, "base_url": base_url}
        self._given = client
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._budget = budget
        self._clock = clock
        self._lock = Lock()
        self._made: tuple[int, Any] | None = None
        self._failures = 0
        self._paused_until = 0.0
        self._told: set[str] = set()

    def ask(self, request: Mapping[str, Any], *, expected_output: int, deadline: float | None = None) -> Any:
        """
        Send one request and return the complete message.

        Args:
            request: What `messages.create` takes, without the model.
            expected_output: Tokens the reply is thought to take, for the reservation in the budget.
            deadline: The `deadline()` of a row of calls that share one time limit; None for a limit of its own.

        Raises:
            Exception: whatever kept a complete reply from coming: the SDK's errors, those of `failures`, or, behind
                a broken proxy, a bare JSONDecodeError or TypeError.
        """
        if self._clock() < self._paused_until:
            raise PausedError
        started = self._clock()
        estimate = _characters(request) // _CHARACTERS_A_TOKEN + expected_output
        budget = self._budget or shared_budget()
        booked_at = budget.reserve(estimate)
        if booked_at is None:
            raise BudgetSpentError
        used = (0, 0)
        failed: str | None = None
        # A call that timed out may be billed all the same, and a proxy may report no usage: the estimate stays then.
        booked = estimate
        try:
            message = self._attempts(request, started + self._timeout_s if deadline is None else deadline)
            used = _usage(message)
            booked = sum(used) or estimate
            return _complete(message)
        except Exception as error:
            failed = type(error).__name__
            if isinstance(getattr(error, "status_code", None), int) or failed in _NEVER_SENT:
                booked = 0
            raise
        finally:
            budget.settle(booked_at, estimate, booked)
            self.tally.add(calls=1, input_tokens=used[0], output_tokens=used[1])
            notify(ModelCall(self.judge, self.model, self._clock() - started, *used, failed))

    def deadline(self) -> float:
        """
        Return the moment `timeout_s` from now.
        """
        return self._clock() + self._timeout_s

    def fell_back(self, error: Exception, items: int) -> None:
        """
        Count *items* answered by the fallback because of *error*, and say so in the log once a kind.
        """
        kind = type(error).__name__
        self.tally.add(fallbacks=items)
        self.tally.error(kind)
        with self._lock:
            first = kind not in self._told
            self._told.add(kind)
            self._count_failure(lasting(error))
        if first and not isinstance(error, PausedError):
            _log.warning(
                "judge %r falls back to lexical scoring, marked lexical_fallback (%s): %s",
                self.judge,
                kind,
                mend(error),
            )

    def succeeded(self) -> None:
        """
        Forget the failures in a row.
        """
        self._failures = 0

    def close(self) -> None:
        """
        Close the connections that were made here; the next call opens new ones.
        """
        with self._lock:
            made, self._made = self._made, None
        if made is not None:
            made[1].close()

    def _count_failure(self, is_lasting: bool | None) -> None:
        if is_lasting is None:
            return
        self._failures += 1
        if is_lasting or self._failures >= _FAILURES_BEFORE_PAUSE:
            self._paused_until = self._clock() + _PAUSE_S

    def _connected(self) -> Any:
        if self._given is not None:
            return self._given.with_options(max_retries=0)
        with self._lock:
            # A forked child must not share its parent's sockets.
            if self._made is None or self._made[0] != os.getpid():
                self._made = (os.getpid(), _make_client(self._options))
            return self._made[1]

    def _attempts(self, request: Mapping[str, Any], deadline: float) -> Any:
        """
        Try until the deadline. The SDK's own retries are off: each of them would get the whole time again.
        """
        client = self._connected()
        attempt = 0
        while True:
            left = max(0.001, deadline - self._clock())
            try:
                return client.messages.create(model=self.model, timeout=left, **request)
            except Exception as error:
                if isinstance(error, TypeError) and _keyless(client):
                    raise MissingKeyError from error
                pause = _pause_s(error, attempt)
                attempt += 1
                if attempt > self._max_retries or pause is None or self._clock() + pause >= deadline:
                    raise
            time.sleep(pause)


def _make_client(options: Mapping[str, Any]) -> Any:
    try:
        from anthropic import Anthropic  # noqa: PLC0415 - on first use: a second and 80 MB
    except ImportError as error:
        raise MissingExtraError("claude", "a Claude judge") from error
    return Anthropic(**options, max_retries=0)


def _keyless(client: Any) -> bool:
    return not any([getattr(client, name, None) for name in ("api_key", "auth_token", "credentials")])


def _pause_s(error: Exception, attempt: int) -> float | None:
    """
    Return the seconds to wait before another attempt; None when one would be in vain.
    """
    headers = getattr(getattr(error, "response", None), "headers", {})
    status = getattr(error, "status_code", None)
    passing = type(error).__name__ == "APIConnectionError" or (
        isinstance(status, int) and (status in (408, 409, 429) or status >= 500)
    )
    told = headers.get("x-should-retry")
    if told == "false" or not (passing or told == "true"):
        return None
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, ValueError):
        return _FIRST_BACKOFF_S * 2.0**attempt * random.uniform(0.75, 1.0)  # noqa: S311 - jitter, not a secret


def _usage(message: Any) -> tuple[int, int]:
    usage = getattr(message, "usage", None)
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum([getattr(usage, name, None) or 0 for name in names]), getattr(usage, "output_tokens", None) or 0


def _complete(message: Any) -> Any:
    if message.stop_reason == "refusal":
        raise RefusalError
    if message.stop_reason not in _COMPLETE:
        raise TruncatedReplyError
    return message


def _characters(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum([_characters(part) for part in value.values()])
    if isinstance(value, (list, tuple)):
        return sum([_characters(part) for part in value])
    return 0
