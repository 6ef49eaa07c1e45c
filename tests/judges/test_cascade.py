"""
The cascade: what costs nothing, what is passed on, and under which name it is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from messages_server import MessagesServer, refusal, structured

from rageval_trace import evaluate
from rageval_trace.io.labels import load_labelled
from rageval_trace.judges.cascade import CascadeJudge, Unsettled, mismatches
from rageval_trace.judges.claude import ClaudeJudge
from rageval_trace.judges.lexical import LexicalJudge
from rageval_trace.judges.observe import Escalation, JudgeEvent, JudgeStats, observing
from rageval_trace.models import Context, EvalRecord, Verdict

CONTEXTS = [
    Context("a", "The Tarn is a river in southern France, 380 kilometres long."),
    Context("b", "It joins the Garonne near Moissac."),
]


class Dear:
    """
    A judge that supports everything and remembers what it was asked.
    """

    name = "dear"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def judge_claims(self, claims: Sequence[str], contexts: Sequence[Context]) -> list[Verdict]:
        self.asked += claims
        return [Verdict(supported=True, reason="dear") for _ in claims]

    def judge_relevance(self, question: str, answer: str) -> float | None:
        self.asked.append(question)
        return 0.9


@pytest.mark.parametrize(
    ("claim", "passed_on"),
    [
        ("The Tarn is a river in southern France.", False),
        ("The Tarn is 380 kilometres long.", False),
        ("The Tarn is a river, 390 kilometres long, in southern France.", True),
        ("The Tarn is a long river in southern France by Ambialet.", True),
        ("Ambialet lies on a river in southern France.", True),
        ("A quarter of it flows through gorges.", True),
    ],
)
def test_only_open_claims_are_passed_on(claim: str, passed_on: bool) -> None:
    """
    A claim whose words, numbers and names one context holds costs nothing; any other is asked.
    """
    dear = Dear()
    CascadeJudge(LexicalJudge(), dear).judge_claims([claim], CONTEXTS)
    assert [claim] * passed_on == dear.asked


def test_one_call_for_all_open_claims_in_order() -> None:
    """
    Verdicts come back at the places of their claims, and the share passed on is told.
    """
    dear = Dear()
    judge = CascadeJudge(LexicalJudge(), dear)
    claims = ["Fish live there.", "The Tarn is a river in southern France.", "Boats go up to Albi."]
    heard: list[JudgeEvent] = []
    with observing(heard.append):
        verdicts = judge.judge_claims(claims, CONTEXTS)
    [settled] = LexicalJudge().judge_claims([claims[1]], CONTEXTS)
    dears = Verdict(supported=True, reason="dear")
    assert [dears, settled, dears] == verdicts
    assert [claims[0], claims[2]] == dear.asked
    assert [Escalation("cascade", 3, 2)] == heard
    assert JudgeStats(claims=3, escalated=2) == judge.stats


@pytest.mark.parametrize(
    ("verdict", "rule", "is_open"),
    [
        (Verdict(False, None), Unsettled(), True),
        (Verdict(False, 0.0), Unsettled(), True),
        (Verdict(False, 0.29), Unsettled(low=0.3), False),
        (Verdict(False, 0.3), Unsettled(low=0.3), True),
        (Verdict(True, 0.59), Unsettled(), True),
        (Verdict(True, 0.6), Unsettled(), False),
        (Verdict(True, 0.79), Unsettled(high=0.8), True),
        (Verdict(False, 0.8), Unsettled(), True),
        (Verdict(True, 0.5), Unsettled(low=0.5, high=0.5), False),
    ],
)
def test_the_bounds(verdict: Verdict, rule: Unsettled, is_open: bool) -> None:
    """
    The low bound is settled from below, the high one from itself on; no score settles nothing.
    """
    assert is_open == rule("no number here", verdict, CONTEXTS)


@pytest.mark.parametrize("bounds", [(-0.1, 0.8), (0.5, 0.4), (0.2, 1.1), (float("nan"), 0.5)])
def test_bounds_are_checked_at_construction(bounds: tuple[float, float]) -> None:
    """
    Bounds that are no range are an error.
    """
    with pytest.raises(ValueError, match="low <= high"):
        Unsettled(*bounds)


@pytest.mark.parametrize(
    ("claim", "missing"),
    [
        ("It is 1,380 km or 380 kilometres long.", ["1380"]),
        ("Then Garonne's water reaches Bordeaux.", ["bordeaux"]),
        ("Bordeaux is far.", []),
        ("nothing to see", []),
    ],
)
def test_mismatches(claim: str, missing: list[str]) -> None:
    """
    Numbers and names that stand in no context are named as tokens; the first word of a sentence is no name.
    """
    assert missing == mismatches(claim, CONTEXTS)


def test_mismatches_can_be_off_and_the_rule_is_free() -> None:
    """
    Any callable may decide what is passed on.
    """
    claim = "The Tarn is a river, 390 kilometres long, in southern France."
    dear = Dear()
    CascadeJudge(LexicalJudge(), dear, Unsettled(mismatches=False)).judge_claims([claim], CONTEXTS)
    assert [] == dear.asked
    CascadeJudge(LexicalJudge(), dear, when=lambda claim, verdict, contexts: True).judge_claims([claim], CONTEXTS)
    assert [claim] == dear.asked


@pytest.mark.parametrize(
    ("question", "answer", "rating"),
    [
        ("Where is the Tarn?", "The Tarn is in France.", 1.0),
        ("Where is the Tarn?", "In France.", 0.9),
        ("Is it?", "Yes.", 0.9),
    ],
)
def test_relevance_is_passed_on_when_keywords_are_missing(question: str, answer: str, rating: float) -> None:
    """
    An answer with the question's keywords costs nothing; one without them, or without keywords, is asked.
    """
    assert rating == CascadeJudge(LexicalJudge(), Dear()).judge_relevance(question, answer)


def test_defaults_name_their_judges() -> None:
    """
    Without arguments the cascade goes from words to Claude, and its version holds both versions.
    """
    judge = CascadeJudge()
    assert (LexicalJudge, ClaudeJudge) == (type(judge.first), type(judge.second))
    assert judge.version == "1/claude-haiku-5-5/1"


def test_a_fallback_of_the_second_judge_shows(server: MessagesServer) -> None:
    """
    A settled answer is the cascade's; one that needed Claude and did not get it is marked.
    """
    pytest.importorskip("anthropic")
    server.script.append(
        structured({"verdicts": [{"claim": 1, "reason": "", "verdict": "supported", "contexts": [2]}]})
    )
    server.default = refusal()
    claude = ClaudeJudge(api_key="key", base_url=server.url, max_retries=0)
    judge = CascadeJudge(LexicalJudge(), claude)

    def asked(answer: str) -> Any:
        record = EvalRecord("?", CONTEXTS, answer)
        return evaluate([record], judge=judge, metrics=["groundedness"]).results[0].results["groundedness"].judge

    answers = ["The Tarn is a river in France.", "It ends at Moissac, in a bigger one.", "Fish live there."]
    assert ["cascade", "cascade", "lexical_fallback"] == [asked(answer) for answer in answers]
    assert (3, 2, 2, 1) == (judge.stats.claims, judge.stats.escalated, judge.stats.calls, judge.stats.fallbacks)
    claude.close()


DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "groundedness"


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the development data is absent")
@pytest.mark.parametrize(
    ("name", "passed_on", "right", "seen"),
    [("ragtruth_qa", 0.44, 0.974, 0.80), ("ragtruth_summary", 0.29, 0.967, 0.53)],
)
def test_the_defaults_do_what_is_written(name: str, passed_on: float, right: float, seen: float) -> None:
    """
    The shares in the documentation are those of the labelled sentences.
    """
    judge, passed, settled = LexicalJudge(0.6), [], []
    for row in islice(load_labelled(DATA / f"{name}.jsonl.gz"), 400):
        contexts = row.record.contexts or ()
        verdicts = judge.judge_claims([text for text, _ in row.claims], contexts)
        for (text, label), verdict in zip(row.claims, verdicts, strict=True):
            (passed if Unsettled()(text, verdict, contexts) else settled).append(label)
    unsupported = passed.count(False) + settled.count(False)
    found = (len(passed) / len(passed + settled), settled.count(True) / len(settled), passed.count(False) / unsupported)
    assert pytest.approx((passed_on, right, seen), abs=0.01) == found
