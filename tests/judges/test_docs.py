"""
What docs/judges.md says in numbers and names is what the code does.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from rageval_trace.judges.budget import TOKENS_PER_DAY, TOKENS_PER_HOUR
from rageval_trace.judges.cascade import Unsettled
from rageval_trace.judges.claude import CLAUDE_JUDGE_MODEL, ClaudeJudge
from rageval_trace.judges.llm import DEFAULT_MODEL, LLMJudge
from rageval_trace.judges.named import NAMES

DOC = (Path(__file__).resolve().parents[2] / "docs" / "judges.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "words",
    [
        f"`{CLAUDE_JUDGE_MODEL}`",
        f"`{DEFAULT_MODEL}`",
        f"{TOKENS_PER_HOUR:,} tokens an hour and {TOKENS_PER_DAY:,} a day",
        f"`high={Unsettled().high}` (default)",
        *[f"`{name}`" for name in NAMES],
    ],
)
def test_names_and_limits_are_those_of_the_code(words: str) -> None:
    """
    The documentation names the default models, the budget, the cascade's bound and every judge.
    """
    assert words in DOC


def test_time_limits_are_those_of_the_code() -> None:
    """
    So are the time limits and the number of retries.
    """
    claude, llm = (inspect.signature(judge).parameters for judge in (ClaudeJudge, LLMJudge))
    assert f"`timeout_s` ({claude['timeout_s'].default:g}; `LLMJudge` {llm['timeout_s'].default:g}" in DOC
    assert {2} == {claude["max_retries"].default, llm["max_retries"].default}
    assert "`max_retries` is 2" in DOC


def test_its_examples_are_there() -> None:
    """
    Links lead to files.
    """
    for name in ("own_judge.py", "langchain_judge.py"):
        assert f"(../examples/{name})" in DOC
        assert (Path(__file__).resolve().parents[2] / "examples" / name).is_file()
