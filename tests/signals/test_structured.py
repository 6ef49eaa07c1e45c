"""
Structured contexts read as facts.
"""

from __future__ import annotations

import pytest

from rageval_trace.signals.structured import Fact, read_facts

LINES = "name: Blue Door\nattributes PetsWelcome: True\nattributes PetsFee: None\nhours Monday: 9:0-17:30\nstars: 4.5"


def test_key_value_lines() -> None:
    """Lines of keys and values give typed facts, a shared first word being dropped as structure."""
    assert [
        Fact("name", ("name",), (), "text", "Blue Door"),
        Fact("attributes PetsWelcome", ("welcome",), ("attributes",), "flag", True),
        Fact("attributes PetsFee", ("fee",), ("attributes",), "unknown", None),
        Fact("hours Monday", ("monday",), ("hours",), "hours", (540, 1050)),
        Fact("stars", ("stars",), (), "text", "4.5"),
    ] == read_facts(LINES)


def test_json() -> None:
    """JSON is flattened, its keys' path becoming the label."""
    text = '{"room": {"seaView": false, "minibar": null}, "tags": ["quiet", "yes"], "beds": 2}'
    assert [
        Fact("room seaView", ("sea", "view"), ("room",), "flag", False),
        Fact("room minibar", ("minibar",), ("room",), "unknown", None),
        Fact("tags", ("tags",), (), "text", "quiet"),
        Fact("tags", ("tags",), (), "flag", True),
        Fact("beds", ("beds",), (), "text", 2),
    ] == read_facts(text)


def test_table() -> None:
    """A pipe table's cells stand under their row's and column's heads; two columns make keys and values."""
    wide = "| city | tram | metro |\n|---|---|---|\n| Bern | yes | no |"
    narrow = "| item | there |\n|---|---|\n| sauna | no |"
    assert [
        Fact("Bern tram", ("tram",), ("bern",), "flag", True),
        Fact("Bern metro", ("metro",), ("bern",), "flag", False),
    ] == read_facts(wide)
    assert [Fact("sauna", ("sauna",), (), "flag", False)] == read_facts(narrow)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Plain prose: nothing else.\nTwo lines.\nThree lines here.",
        "a: 1\nb: 2\nprose\nprose\nprose\nprose\nc: 3",
        "{not json: at all}",
        "[" * 100_000,
        "| lonely |",
        "(: 3)\n(: 4)\n(: 5)",
        "x: " + "long " * 50 + "\ny: 2\nz: 3",
    ],
)
def test_prose_has_no_facts(text: str) -> None:
    """Text that is not structured, or broken, gives no facts."""
    assert [] == read_facts(text)


def test_facts_are_bounded() -> None:
    """A huge context gives 500 facts, and a deep one only those above the eighth level."""
    assert 500 == len(read_facts("\n".join([f"key{number}: yes" for number in range(900)])))
    assert [] == read_facts('{"a":' * 12 + "1" + "}" * 12)
