"""
The keyless judge by risk: its verdicts, its evidence, and how far it agrees with people.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from rageval_trace import evaluate
from rageval_trace.io.labels import load_labelled
from rageval_trace.judges.agreement import auroc
from rageval_trace.judges.base import Judge
from rageval_trace.judges.cascade import Unsettled
from rageval_trace.judges.lexical import LexicalJudge
from rageval_trace.metrics.risk_judge import RiskJudge
from rageval_trace.models import Context, EvalRecord

CONTEXTS = (
    Context("river", "The Tarn is a river in southern France, 380 kilometres long."),
    Context("inn", "name: The Weir\noutdoor seating: False\nhours Monday: 9:0-17:0"),
)


@pytest.mark.parametrize(
    ("claim", "supported", "supporting", "contradicted", "reason"),
    [
        ("The Tarn is a river in southern France.", True, (0,), False, "risk 0.0"),
        ("The Tarn is 390 kilometres long.", False, (), False, "390 is in no context; the contexts say 380"),
        ("The Weir has outdoor seating.", False, (), True, "outdoor seating"),
        ("Beavers and otters live there.", False, (), False, "no context has the words"),
        ("Of the.", False, (), False, "no content word"),
    ],
)
def test_verdicts(claim: str, supported: bool, supporting: tuple[int, ...], contradicted: bool, reason: str) -> None:
    """
    A claim stands when its risk is low, with the contexts that hold it; else the gravest cause is named.
    """
    [verdict] = RiskJudge().judge_claims([claim], CONTEXTS)
    assert (supported, supporting, contradicted) == (verdict.supported, verdict.supporting, verdict.contradicted)
    assert reason in verdict.reason


def test_nothing_retrieved_supports_nothing() -> None:
    """
    Without contexts no claim stands, and there is no risk to tell.
    """
    [verdict] = RiskJudge().judge_claims(["The Tarn is long."], [])
    assert (False, None, "nothing was retrieved") == (verdict.supported, verdict.score, verdict.reason)


def test_the_score_is_what_the_threshold_is_held_against() -> None:
    """
    A claim is supported exactly when 1 - score is under the threshold, so that a cascade's bounds are risks.
    """
    claims = ["The Tarn is a long river.", "The Tarn is wide.", "It rises in Spain.", "France has 380 rivers."]
    for threshold in (0.1, 0.5, 1.0):
        for verdict in RiskJudge(threshold).judge_claims(claims, CONTEXTS):
            assert verdict.score is not None
            assert verdict.supported == (1 - verdict.score < threshold)


def test_relevance_is_the_keyword_share() -> None:
    """
    It rates relevance as words do.
    """
    judge = RiskJudge()
    assert judge.judge_relevance("Where is the Tarn?", "The Tarn is in France.") == 1.0
    assert judge.judge_relevance("Is it?", "Yes.") is None
    assert isinstance(judge, Judge)


@pytest.mark.parametrize("threshold", [0, -1, 1.1, float("nan")])
def test_the_threshold_is_checked_at_construction(threshold: float) -> None:
    """
    A risk that none or all reach is an error.
    """
    with pytest.raises(ValueError, match="threshold must lie in"):
        RiskJudge(threshold)


def test_results_carry_its_name() -> None:
    """
    In a scorecard its values stand under `risk`.
    """
    record = EvalRecord("How long is the Tarn?", CONTEXTS, "The Tarn is 380 kilometres long. It is 77 metres wide.")
    result = evaluate([record], judge=RiskJudge(), metrics=["groundedness"]).results[0].results["groundedness"]
    assert (0.5, "risk") == (result.score, result.judge)


DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "groundedness"


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the development data is absent")
@pytest.mark.parametrize(
    ("name", "better_than_words", "passed_on", "right", "seen"),
    [
        ("ragtruth_qa", 0.04, 0.34, 0.973, 0.75),
        ("ragtruth_summary", 0.03, 0.39, 0.974, 0.69),
        ("ragtruth_data2txt", 0.15, 0.52, 0.975, 0.89),
    ],
)
def test_it_ranks_labelled_sentences_better_than_words(
    name: str, better_than_words: float, passed_on: float, right: float, seen: float
) -> None:
    """
    Its AUROC is above that of words, and a cascade's documented shares are those of the labelled sentences.
    """
    judge, rule = RiskJudge(), Unsettled(mismatches=False)
    labels, risk, words, is_open = [], [], [], []
    for row in islice(load_labelled(DATA / f"{name}.jsonl.gz"), 400):
        claims, contexts = [text for text, _ in row.claims], row.record.contexts or ()
        labels += [label for _, label in row.claims]
        verdicts = judge.judge_claims(claims, contexts)
        risk += [verdict.score or 0.0 for verdict in verdicts]
        words += [verdict.score or 0.0 for verdict in LexicalJudge().judge_claims(claims, contexts)]
        is_open += [rule(claim, verdict, contexts) for claim, verdict in zip(claims, verdicts, strict=True)]
    areas = auroc(labels, risk), auroc(labels, words)
    assert areas[0] is not None
    assert areas[1] is not None
    assert areas[0] > areas[1] + better_than_words
    settled = [label for label, passed in zip(labels, is_open, strict=True) if not passed]
    caught = [not label for label, passed in zip(labels, is_open, strict=True) if passed]
    found = sum(is_open) / len(labels), sum(settled) / len(settled), sum(caught) / labels.count(False)
    assert pytest.approx((passed_on, right, seen), abs=0.02) == found
