"""
Why a model could not judge, and the one sentence that mends it.

What the SDK raises keeps its own class; these are the reasons it has no class for. A reason's class name is its
`error_type` in counts and events. Messages of the API or the model never reach the log: they may quote content.
"""

from __future__ import annotations

__all__ = [
    "BudgetSpentError",
    "JudgeError",
    "MalformedReplyError",
    "MissingKeyError",
    "PausedError",
    "RefusalError",
    "TruncatedReplyError",
    "lasting",
    "mend",
]


class JudgeError(Exception):
    """
    Be the base of the reasons below.
    """


class BudgetSpentError(JudgeError):
    """
    The next call does not fit into the token budget.
    """


class MissingKeyError(JudgeError):
    """
    The SDK found no credentials.
    """


class RefusalError(JudgeError):
    """
    The model declined to judge this content.
    """


class TruncatedReplyError(JudgeError):
    """
    The reply stopped before its end.
    """


class MalformedReplyError(JudgeError):
    """
    The reply is not what the schema asks for.
    """


class PausedError(JudgeError):
    """
    Calls are paused after failures in a row.
    """


_MENDS = {
    "MissingExtraError": 'pip install "rageval-trace[claude]"',
    "MissingKeyError": "set ANTHROPIC_API_KEY or pass api_key=",
    "CredentialsError": "the profile that the SDK found cannot be used: set ANTHROPIC_API_KEY or pass api_key=",
    "AuthenticationError": "the key was not accepted: check ANTHROPIC_API_KEY",
    "PermissionDeniedError": "the key may not use this model: check the key, or pass model=",
    "NotFoundError": "the API does not know the model: check model= and base_url=",
    "BadRequestError": "the API did not accept the request: the model may not support structured output; check model=",
    "RateLimitError": "the API is limiting the rate: judge less (a lower judge sample rate, or CascadeJudge)",
    "OverloadedError": "the API is overloaded: nothing to mend here",
    "APITimeoutError": "no answer in time: raise timeout_s=, or check the network",
    "APIConnectionError": "the API cannot be reached: check the network and base_url=",
    "BudgetSpentError": "the token budget is spent: raise it with TokenBudget(per_hour=, per_day=), or judge less",
    "RefusalError": "the model declined to judge this content: nothing to mend here",
    "TruncatedReplyError": "the reply was cut: raise max_tokens=",
    "MalformedReplyError": "the reply did not follow the schema: check that model= supports structured output",
}

_LASTING = {
    "AuthenticationError",
    "CredentialsError",
    "MissingExtraError",
    "MissingKeyError",
    "NotFoundError",
    "PermissionDeniedError",
}
_OF_THE_CONTENT = {"RefusalError", "TruncatedReplyError", "MalformedReplyError", "BudgetSpentError", "PausedError"}


def mend(error: Exception) -> str:
    """
    Return what mends *error*, in half a sentence.
    """
    return _MENDS.get(type(error).__name__, "see the API's status, and base_url= if a proxy stands between")


def lasting(error: Exception) -> bool | None:
    """
    Tell whether *error* will come back on every call.

    Returns:
        True when only a person can mend it; False when it may pass; None when it says nothing about the next call,
        because it belongs to this one's content or to the budget.
    """
    name = type(error).__name__
    return None if name in _OF_THE_CONTENT else name in _LASTING
