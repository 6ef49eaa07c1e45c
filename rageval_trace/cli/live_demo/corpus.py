"""
The help centre of an invented bicycle shop: dated pages, and a search over them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from rageval_trace.stopwords import ENGLISH
from rageval_trace.text import content_tokens, tokenize

__all__ = ["PAGES", "Page", "search"]


@dataclass(frozen=True, slots=True)
class Page:
    """
    One page.

    Args:
        id: Its identifier.
        age_days: Days since somebody last went over it, when the demo starts.
        text: What it says.
    """

    id: str
    age_days: int
    text: str

    def updated_at(self, now: datetime) -> datetime:
        """
        Return when the page was last gone over.
        """
        return now - timedelta(days=self.age_days)


PAGES: tuple[Page, ...] = (
    Page(
        "returns",
        6,
        "You may return a bike within 30 days of delivery, as long as it was ridden less than 20 kilometres. "
        "We pay the money back within five working days.",
    ),
    Page(
        "battery-warranty",
        12,
        "The battery of an e-bike comes with a warranty of two years. "
        "The warranty covers a loss of more than a third of its capacity.",
    ),
    Page(
        "prices-2023",
        1140,
        "Renting an e-bike for a day costs 29 euros, and for a weekend 49 euros.",
    ),
    Page(
        "cargo-bike",
        9,
        "Dogs of up to 25 kilograms may ride along in the cargo bike if they wear a harness. "
        "The box of the cargo bike holds 80 litres and has a rain cover.",
    ),
    Page(
        "small-passengers",
        15,
        "Carriers for children between nine months and five years clip onto the rear rack. "
        "Book one together with the bicycle; it adds 4 euros a day.",
    ),
    Page(
        "saddle-height",
        40,
        "Bike seats that are set too low make knees hurt. Sit on the bike and put a heel on the pedal: "
        "the leg should be almost straight.",
    ),
    Page(
        "delivery",
        4,
        "We deliver to Austria, Germany and Switzerland. Delivery takes four working days and is free above 500 euros.",
    ),
    Page(
        "opening-hours",
        3,
        "The workshop is open from Tuesday to Saturday, from nine to six. It closes for two weeks in January.",
    ),
    Page(
        "repairs",
        20,
        "A service costs 75 euros and takes two working days. Punctures are mended while you wait.",
    ),
    Page(
        "theft",
        30,
        "Report a stolen rental to the police within a day and send us the report. "
        "With the theft cover you pay 150 euros and no more.",
    ),
    Page(
        "helmets",
        25,
        "A helmet comes with each rental. Cleaned helmets hang beside the counter in five sizes.",
    ),
    Page(
        "payment",
        18,
        "Pay by card, on account, or in three instalments without interest.",
    ),
)

# Okapi BM25's usual constants.
_K1 = 1.2
_B = 0.75


def search(query: str, k: int) -> list[tuple[Page, float]]:
    """
    Return the *k* pages that match best by BM25 over whole words, best first, with their scores (above 0).

    Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009).
    """
    words = set(_words(query))
    scored = [(page, _score(words, counts)) for page, counts in _index()]
    found = [(page, score) for page, score in scored if score > 0.0]
    return sorted(found, key=lambda entry: -entry[1])[:k]


def _words(text: str) -> list[str]:
    return content_tokens(tokenize(text), ENGLISH)


@cache
def _index() -> tuple[tuple[Page, Counter[str]], ...]:
    return tuple([(page, Counter(_words(page.text))) for page in PAGES])


def _score(words: Iterable[str], counts: Counter[str]) -> float:
    mean_length = sum([other.total() for _, other in _index()]) / len(PAGES)
    slack = _K1 * (1 - _B + _B * counts.total() / mean_length)
    return sum([_rarity(word) * counts[word] * (_K1 + 1) / (counts[word] + slack) for word in sorted(words)])


@cache
def _rarity(word: str) -> float:
    holding = sum([word in counts for _, counts in _index()])
    return math.log(1 + (len(PAGES) - holding + 0.5) / (holding + 0.5))
