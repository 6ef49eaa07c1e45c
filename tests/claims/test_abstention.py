"""
Abstentions: answers that only decline, and answers that only look like it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rageval_trace.claims import is_abstention, split_claims

TABLE = Path(__file__).resolve().parents[1] / "golden" / "abstentions.jsonl"
CASES = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[case["answer"][:40] for case in CASES])
def test_table(case: dict[str, object]) -> None:
    """Every answer of the table abstains or not as written down, and one that abstains has no claims."""
    answer = str(case["answer"])
    assert case["abstains"] == is_abstention(answer)
    if case["abstains"]:
        assert split_claims(answer) == ()


def test_table_holds_both_kinds() -> None:
    """The table is not one-sided."""
    assert min(sum(bool(case["abstains"]) is kind for case in CASES) for kind in (True, False)) >= 30


def test_a_long_answer_is_no_abstention() -> None:
    """An answer of more than 700 characters says something, however often it declines."""
    answer = "I don't know. " * 60
    assert not is_abstention(answer)
    assert split_claims(answer)
