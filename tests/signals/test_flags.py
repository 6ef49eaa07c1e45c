"""
Yes/no and unknown facts that a claim contradicts.
"""

from __future__ import annotations

import pytest

from rageval_trace.signals.flags import KeyBook, contradicted_flags, word_stem
from rageval_trace.signals.structured import read_facts

KEYS = KeyBook(
    read_facts(
        "attributes OutdoorSeating: False\nattributes WiFi: free\nattributes TakeOut: True\nattributes Music: None\n"
        "attributes Parking street: False\nattributes Parking valet: True\nattributes Ambience romantic: False\n"
        "attributes Reservations: True\nhours: None"
    )
)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Reservations are accepted, a bar is open, and gin is not sold.", []),
        ("Reservations and a bar is not offered.", []),
        ("Reservations and WiFi are not offered.", ["attributes WiFi", "attributes Reservations"]),
        ("WiFi is also not offered.", ["attributes WiFi"]),
        ("WiFi is offered and there is not one seat.", []),
        ("It offers outdoor seating.", ["attributes OutdoorSeating"]),
        ("There is seating outdoors.", ["attributes OutdoorSeating"]),
        ("It has no outdoor seating.", []),
        ("Outdoor seating is not available.", []),
        ("It does not offer Wi-Fi.", ["attributes WiFi"]),
        ("WiFi is unavailable.", ["attributes WiFi"]),
        ("It has free wifi.", []),
        ("It offers take-out, but does not have parking.", []),
        ("Takeout is not offered.", ["attributes TakeOut"]),
        ("They take reservations.", []),
        ("It does not require reservations.", []),
        ("It does not accept reservations.", ["attributes Reservations"]),
        ("There is live music.", ["attributes Music"]),
        ("There is no music.", ["attributes Music"]),
        ("The listing does not mention music.", []),
        ("It has street parking.", ["attributes Parking street"]),
        ("It is on a busy street.", []),
        ("Valet parking is offered, while street parking is not available.", []),
        ("While valet parking is missing, it has wifi.", []),
        ("There is no valet, garage or street parking.", ["attributes Parking valet"]),
        ("It has a romantic mood.", ["attributes Ambience romantic"]),
        ("It is casual and not romantic.", []),
        ("Not only wifi but valet parking is offered.", []),
        ("The happy hours are long.", []),
        ("Seating is fine and so is all that is outdoor.", []),
        ("There is no lift and the outdoor seating is lovely.", ["attributes OutdoorSeating"]),
        ("There is no lift, offers outdoor seating.", ["attributes OutdoorSeating"]),
        ("Wifi has failed and isn't missed.", []),
        ("Wifi, seating in the outdoor area.", ["attributes OutdoorSeating"]),
    ],
)
def test_contradictions(claim: str, expected: list[str]) -> None:
    """A claim contradicts a yes it denies, a no it affirms, and an unknown it asserts."""
    assert expected == [found.fact.label for found in contradicted_flags(KEYS, claim)]


def test_prose_may_affirm_what_the_facts_deny() -> None:
    """What another context tells in prose is not held against the claim."""
    prose = frozenset([word_stem("romantic")])
    book = KeyBook([key.fact for key in KEYS.keys], lambda: prose)
    assert ["romantic"] == [found.fact.words[0] for found in contradicted_flags(KEYS, "It has a romantic mood.")]
    assert [] == contradicted_flags(book, "It has a romantic mood.")


def test_descriptions() -> None:
    """A contradiction says what the context has."""
    claims = ["It has outdoor seating.", "It has no wifi.", "There is music."]
    assert [
        "the context says 'attributes OutdoorSeating' is no",
        "the context says 'attributes WiFi' is yes",
        "the context leaves 'attributes Music' open",
    ] == [contradicted_flags(KEYS, claim)[0].describe() for claim in claims]


def test_two_places_contradict_nobody() -> None:
    """A label with two values among the contexts is left out: the claim may speak of either."""
    facts = (
        read_facts("a: 1\nPool: yes\nSauna: no")
        + read_facts("a: 1\nPool: no\nSauna: no")
        + read_facts("Pool: yes\nb: 1\nc: 2")
    )
    keys = KeyBook(facts)
    assert [] == contradicted_flags(keys, "It has no pool.")
    assert ["Sauna"] == [found.fact.label for found in contradicted_flags(keys, "It has a sauna.")]
