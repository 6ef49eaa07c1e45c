"""
The lexical judge: the threshold, support from one context, and its words.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rageval_trace import Context, EvalConfig, EvalRecord, Judge, LexicalJudge, evaluate
from rageval_trace.metrics import get

TEN = "one two three four five six seven eight nine ten".split()


def contexts(*texts: str) -> list[Context]:
    return [Context(str(rank), text) for rank, text in enumerate(texts, 1)]


def test_it_is_a_judge() -> None:
    """The protocol holds, with the name results are reported under."""
    assert isinstance(LexicalJudge(), Judge)
    assert LexicalJudge.name == "lexical"
    assert "0.7" in repr(LexicalJudge())


@pytest.mark.parametrize(("held", "supported"), [(6, False), (7, True), (10, True), (0, False)])
def test_the_threshold_holds_at_equality(held: int, supported: bool) -> None:
    """Seven of ten words reach .7; six do not; the share is kept as the score."""
    claim = " ".join(f"{word}x" for word in TEN)
    context = " ".join(f"{word}x" for word in TEN[:held])
    (verdict,) = LexicalJudge().judge_claims([claim], contexts("unrelated", context))
    assert (verdict.supported, verdict.score) == (supported, pytest.approx(held / 10))
    assert verdict.supporting == ((1,) if supported else ())


@pytest.mark.parametrize("size", range(1, 40))
def test_the_threshold_is_exact_for_every_size(size: int) -> None:
    """No rounding moves the edge: ceil(.7 n) words support, one fewer does not."""
    words = [f"w{n}" for n in range(size)]
    needed = -(-7 * size // 10)
    judge = LexicalJudge(0.7)
    for held in (needed - 1, needed):
        (verdict,) = judge.judge_claims([" ".join(words)], contexts(" ".join(words[:held])))
        assert verdict.supported is (held == needed)


def test_support_is_never_stitched_together() -> None:
    """Two contexts with half of the claim each do not support it; each that holds enough does."""
    judge = LexicalJudge()
    (verdict,) = judge.judge_claims(["alpha beta gamma delta"], contexts("alpha beta", "gamma delta"))
    assert (verdict.supported, verdict.supporting, verdict.score) == (False, (), 0.5)
    (verdict,) = judge.judge_claims(["alpha beta"], contexts("alpha beta", "gamma", "beta alpha"))
    assert (verdict.supported, verdict.supporting) == (True, (0, 2))


def test_nothing_supports_without_contexts_or_words() -> None:
    """No context, or no content word, is no support."""
    judge = LexicalJudge()
    assert [False, False] == [
        verdict.supported
        for verdict in (*judge.judge_claims(["alpha"], []), *judge.judge_claims(["it is"], contexts("it is")))
    ]
    assert judge.judge_claims([], contexts("alpha")) == []


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_bad_threshold_is_refused(threshold: float) -> None:
    """A threshold outside [0, 1] says so at construction."""
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        LexicalJudge(threshold)


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [("What is it?", "a lake", None), ("deep lake", "The lake.", 0.5), ("deep lake", "", 0.0)],
)
def test_relevance(question: str, answer: str, expected: float | None) -> None:
    """Relevance is the share of the question's content words in the answer, None without any."""
    assert expected == LexicalJudge().judge_relevance(question, answer)


def test_the_snippet_of_the_gate_toolkit_gives_one() -> None:
    """A claim of the everyday kind is supported by its source."""
    example = EvalRecord(
        id="q1",
        question="How long is the returns window?",
        contexts=(Context("policy", "Items may be returned within 30 days."),),
        answer="You can return items within 30 days.",
        relevant_ids=frozenset({"policy"}),
        citations=("policy",),
    )
    assert evaluate([example], LexicalJudge(), EvalConfig(k=1)).aggregates["groundedness"] == 1.0


@given(st.lists(st.sampled_from("lake deep mill rye the is 40".split()), max_size=8), st.floats(0, 1))
def test_the_metric_asks_the_same_judge(words: list[str], threshold: float) -> None:
    """The workspace's short way gives the verdicts of `judge_claims`."""
    answer = " ".join(words)
    record = EvalRecord("q", ["lake deep", "mill rye"], answer)
    quick = get("groundedness").compute(record, EvalConfig(claim_threshold=threshold))
    asked = LexicalJudge(threshold).judge_claims([answer], record.contexts or ())
    if quick.score is not None:
        assert quick.score == float(asked[0].supported)
        assert quick.details["scores"] == [asked[0].score]


def test_stopwords_of_the_judge_are_its_own() -> None:
    """A judge with other stopwords than the config's is asked through its method."""
    record = EvalRecord("q", ["lake"], "lake mill")
    judge = LexicalJudge(0.9, stopwords=frozenset({"mill"}))
    assert get("groundedness").compute(record, EvalConfig(judge=judge)).score == 1.0
    assert get("groundedness").compute(record, EvalConfig(claim_threshold=0.9)).score == 0.0


def test_values_do_not_depend_on_the_hash_seed() -> None:
    """Three hash seeds give the same bytes."""
    script = (
        "from rageval_trace import EvalRecord, evaluate_record\n"
        "r = EvalRecord('how deep is the cold lake', ['the lake is deep', 'cold mill', 'rye'],"
        " 'The lake is cold and deep. Mills grind rye [2].', 'deep lake', relevant_ids={'a', 'b', 'c'})\n"
        "print({n: (x.score, x.reason, x.details) for n, x in evaluate_record(r).results.items()})"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in "012"
    }
    assert len(seen) == 1
