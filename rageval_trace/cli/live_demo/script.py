"""
What the live demo asks, and what the scripted model answers: one good answer and five that each go wrong in a way
of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

__all__ = ["HALF_LIFE_DAYS", "REQUESTS", "THRESHOLDS", "TOP_K", "Call", "Request"]

Call: TypeAlias = Literal["invoke", "ainvoke", "stream", "astream", "batch", "abatch"]

TOP_K: Final = 2
HALF_LIFE_DAYS: Final = 90

# Set for this script, where each of them separates the good answer from the bad ones. They are no advice: on
# people's own answers such a groundedness gate stops many good ones (see "Honest limits" in the README).
THRESHOLDS: Final[Mapping[str, float]] = {
    "groundedness": 0.8,
    "answer_relevance": 0.4,
    "freshness": 0.5,
    "recall": 0.5,
}


@dataclass(frozen=True, slots=True)
class Request:
    """
    One request of the demo.

    Args:
        title: What it shows.
        question: What is asked.
        answer: What the scripted model says.
        call: How the pipeline is called.
        labels: Request metadata that the handler reads (`rageval.relevant_ids`).
    """

    title: str
    question: str
    answer: str
    call: Call
    labels: Mapping[str, Any] = field(default_factory=dict)


REQUESTS: Final[tuple[Request, ...]] = (
    Request(
        "a good answer",
        "How many days do I have to return a bike?",
        "You may return a bike within 30 days of delivery, as long as it was ridden less than 20 kilometres.",
        "invoke",
    ),
    Request(
        "a hallucination",
        "What does the warranty on the battery cover?",
        "The warranty covers a loss of more than a third of the battery's capacity. "
        "It also pays for theft and water damage for ten years.",
        "ainvoke",
    ),
    Request(
        "a stale source",
        "What does renting an e-bike for a day cost?",
        "Renting an e-bike for a day costs 29 euros.",
        "stream",
    ),
    Request(
        "an answer to something else",
        "May my dog ride in the cargo bike?",
        "The box holds 80 litres and has a rain cover.",
        "astream",
    ),
    Request(
        "a missed document",
        "Do you have baby seats?",
        "Yes, baby seats cost 12 euros a day.",
        "batch",
        {"rageval.relevant_ids": ["small-passengers"]},
    ),
    Request(
        "an abstention",
        "Do you deliver to Iceland?",
        "I don't know whether we deliver to Iceland.",
        "abatch",
    ),
)
