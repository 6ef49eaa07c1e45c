"""
The case that most tests of ClaudeJudge use: three claims on two contexts, and the reply that tells them apart.
"""

from __future__ import annotations

from typing import Any

from messages_server import structured

from rageval_trace.models import Context

CONTEXTS = (
    Context("policy", "Returns are accepted within 30 days of delivery."),
    Context("shipping", "Standard delivery takes 3 to 5 business days."),
)
CLAIMS = ("Items can be sent back for a month.", "Delivery takes 9 days.", "Shipping is free.")


def entry(claim: int, verdict: str, contexts: list[Any] | None = None, reason: str = "because") -> dict[str, Any]:
    """
    Return one claim's part of a reply.
    """
    return {"claim": claim, "reason": reason, "verdict": verdict, "contexts": contexts or []}


ALL_THREE = structured(
    {"verdicts": [entry(1, "supported", [1]), entry(2, "contradicted", [2]), entry(3, "unsupported")]}
)
