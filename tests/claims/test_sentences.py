"""
The sentence splitter on a table of hard cases, and on text made to hurt it.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rageval_trace.claims import sentences as module
from rageval_trace.claims import split_claims, split_sentences
from rageval_trace.text import tokenize

TABLE = Path(__file__).resolve().parents[1] / "golden" / "sentences.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
LONG = 50_000


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{case['kind']}" for n, case in enumerate(CASES)])
def test_table(case: dict[str, Any]) -> None:
    """Every case of the table splits as written down, but for the faults that are known and named."""
    found = split_sentences(case["text"])
    if "known_fault" in case:
        assert case["sentences"] != found, "mended: take known_fault out of the table"
    else:
        assert case["sentences"] == found


def test_table_is_large_and_mostly_right() -> None:
    """The table holds at least 80 cases over at least ten kinds, and few known faults."""
    assert len(CASES) >= 80
    assert len({case["kind"] for case in CASES}) >= 10
    assert sum("known_fault" in case for case in CASES) <= 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Open Settings > Privacy > Delete. Confirm it.", ["Open Settings > Privacy > Delete.", "Confirm it."]),
        (
            "The total was reached long before the deadline of day\n12. Then we left.",
            ["The total was reached long before the deadline of day 12.", "Then we left."],
        ),
        (
            "11. Wash the filter in warm water without any soap at all\n12. Dry it",
            ["Wash the filter in warm water without any soap at all", "Dry it"],
        ),
        ("A. Wait here\nB. Ask inside\nC. Leave", ["Wait here", "Ask inside", "Leave"]),
        ("Line | with a pipe.", ["Line | with a pipe."]),
        ("|---|---|", []),
        ("Body text.\n---", ["Body text."]),
        ("```\nnever closed. At all.", []),
        ("Item one:\nitem text", ["Item one:", "item text"]),
        ("Only (this) one", ["Only (this) one"]),
    ],
)
def test_blocks_by_hand(text: str, expected: list[str]) -> None:
    """Marks of Markdown inside prose stay prose, and lists, rules and fences end a block."""
    assert expected == split_sentences(text)


@given(
    st.lists(st.sampled_from(["The lake is deep", "Ask the desk", "It costs 3.5 euro", "Dr. Amadi left"]), max_size=6)
)
def test_plain_sentences_come_back(sentences: list[str]) -> None:
    """Sentences joined by a full stop and a space come back as they were."""
    assert [f"{s}." for s in sentences] == split_sentences(" ".join([f"{s}." for s in sentences]))


PARTS = ("The lake|froze|e.g|Dr|at 3.5|open|x|Inc|(so||it|U.S|\u00e9t\u00e9|" + "a" * 50).split("|")
STOPS = [". ", ". ", ". ", ".", "! ", "?", ".) ", " ", ".  ", "..."]


@settings(max_examples=400)
@given(st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from(STOPS)), max_size=5))
def test_plain_prose_equals_the_careful_way(pieces: list[tuple[str, str]]) -> None:
    """What is split as plain prose is what looking at each stop gives; anything else is left to that."""
    block = "".join([part + stop for part, stop in pieces])
    plain, careful = module._split_plainly(block), module._split_at_stops(block)
    assert not plain or [one for one in careful if one] == [one for one in plain if one]


@pytest.mark.parametrize("last", ["It is deep.", "It is 3.5 m deep", "It holds water.17"])
def test_plain_prose_is_known(last: str) -> None:
    """Prose without abbreviations is taken for plain, whatever its last sentence holds."""
    found = module._split_plainly(f"The lake froze. The mill stood. {last}")
    assert ["The lake froze.", "The mill stood."] == found[:2]


@given(st.text(alphabet="aB1 .!?,:;-*#|`>[]()\u3002\u300d\u201d\n\t", max_size=120))
def test_no_sentence_is_blank_or_spans_lines(text: str) -> None:
    """Whatever the text, a sentence is trimmed, on one line and not blank, and no token is made up."""
    found = split_sentences(text)
    assert all(sentence and sentence == sentence.strip() and "\n" not in sentence for sentence in found)
    assert set(tokenize(" ".join(found))) <= set(tokenize(text.replace("\n", " "))) | set(tokenize(text))


@pytest.mark.parametrize(
    "text",
    [
        "." * LONG + "x",
        "|" + "-" * LONG + "x",
        "a" * LONG + "( . b " + "a" * LONG,
        "a.(" + "(" * LONG,
        "[" * LONG,
        "." + ")" * LONG + "x",
        ". " * LONG + "x",
        "- " * LONG + "x",
        "x." + " " * LONG + "y [1] z",
        "(source: " * (LONG // 9),
        "> " * LONG + "x",
        ".[1]" * (LONG // 4) + "x",
        "\u3010" * LONG,
        "[a](" * (LONG // 4),
    ],
    ids=lambda text: text[:12].strip(),
)
def test_hostile_text_costs_linear_time(text: str) -> None:
    """A long run of any mark is split in a fraction of a second, where a square would take minutes."""
    began = time.process_time()
    split_claims(text)
    assert time.process_time() - began < 2.0
