"""
What both toolkits promise their users, in our words, each held by a check.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import rageval_trace
from rageval_trace import Context, EvalConfig, EvalRecord, Example, LexicalJudge, evaluate, evaluate_record
from rageval_trace.cli import main
from rageval_trace.io import load_records
from rageval_trace.metrics import registered
from rageval_trace.metrics.base import register
from rageval_trace.models import MetricResult

BOT = Path(__file__).resolve().parents[2] / "examples" / "support_bot.jsonl"


def score(name: str, record: EvalRecord, **config: object) -> float | None:
    return evaluate_record(record, EvalConfig(**config), metrics=[name]).results[name].score


def grounded(**more: object) -> EvalRecord:
    return EvalRecord("Who built the bridge?", ["Ada Berg built the bridge."], "Ada Berg built the bridge.", **more)


UNLABELLED = grounded()
PROMISES = {
    "an empty answer claims nothing unsupported": lambda: score("faithfulness", EvalRecord("q", ["text"], "")) == 1.0,
    "an answer on nothing retrieved is unfaithful": lambda: score("faithfulness", EvalRecord("q", [], "an answer")) == 0.0,
    "an answer in the context's words is faithful": lambda: score("faithfulness", UNLABELLED) == 1.0,
    "single words weigh 0.6 and pairs 0.4": lambda: math.isclose(
        score("faithfulness", EvalRecord("q", ["red blue"], "blue red")), 0.6
    ),
    "extra words in a long chunk cost no precision": lambda: score(
        "context_precision", EvalRecord("Who built the bridge?", ["The bridge was built long ago, by many, with care."])
    ) == 1.0,
    "relevance asks for the question's keywords": lambda: score(
        "answer_relevance", EvalRecord("What is the capital of France?", answer="Paris, in France.")
    ) == 0.5,
    "context recall needs a reference answer": lambda: score("context_recall", UNLABELLED) is None,
    "freshness needs a date": lambda: score("freshness", UNLABELLED) is None,
    "freshness decays by e in its half-life": lambda: math.isclose(
        score("freshness", EvalRecord("q", [Context("a", "t", timestamp="2026-01-01")]), now="2026-01-08"), math.exp(-1)
    ),
    "undated chunks beside dated ones are left out": lambda: score(
        "freshness", EvalRecord("q", ["x", Context("a", "t", timestamp="2026-01-08")]), now="2026-01-08"
    ) == 1.0,
    "unix seconds are dates as well": lambda: score(
        "freshness", EvalRecord("q", [Context("a", "t", timestamp=1767225600)]), now="2026-01-01"
    ) == 1.0,
    "without labels the ranking metrics are undefined": lambda: {
        score(name, UNLABELLED) for name in ("hit_rate", "precision", "recall", "mrr", "ndcg")
    } == {None},
    "precision divides by k, however short the list": lambda: score(
        "precision", EvalRecord("q", [Context("a", "t")], relevant_ids=["a"]), k=5
    ) == 0.2,
    "an undefined value is out of the mean": lambda: (
        evaluate([UNLABELLED, grounded(ground_truth="Ada Berg.")]).means["context_recall"] == 1.0
    ),
    "each mean says on how many records it stands": lambda: (
        evaluate([UNLABELLED, grounded(ground_truth="Ada Berg.")]).observed["context_recall"] == 1
    ),
    "hallucination is the complement of groundedness": lambda: (
        score("groundedness", UNLABELLED) + score("hallucination_rate", UNLABELLED) == 1.0
    ),
    "support is never stitched from two contexts": lambda: score(
        "groundedness", EvalRecord("q", ["red green", "blue yellow"], "Red green blue yellow.")
    ) == 0.0,
    "a cited id that was never retrieved is inaccurate": lambda: score(
        "citation_accuracy", grounded(citations=["elsewhere"])
    ) == 0.0,
    "a judge is any class with two methods": lambda: evaluate([UNLABELLED], Lenient()).means["groundedness"] == 1.0,
    "the older names still name the same things": lambda: (
        Example is EvalRecord and EvalRecord("q", retrieved_contexts=["a"]).contexts == EvalRecord("q", ["a"]).contexts
    ),
    "the constant names the model": lambda: rageval_trace.DEFAULT_MODEL == "claude-opus-5",
    "without a key the model's judge falls back": lambda: evaluate([UNLABELLED], use_judge=True).metrics[
        "faithfulness"
    ].judges == {"lexical_fallback": 1},
    "asked to, it falls back in any case": lambda: {
        one.judge for one in rageval_trace.LLMJudge(force_proxy=True).judge(UNLABELLED).values()
    } == {"lexical_fallback"},
    "a scorecard has a weakest step": lambda: evaluate([UNLABELLED]).weakest is not None,
    "means and aggregates are one": lambda: evaluate([UNLABELLED]).means == evaluate([UNLABELLED]).aggregates,
    "the same input scores the same": lambda: evaluate([UNLABELLED]).to_json() == evaluate([UNLABELLED]).to_json(),
    "the free judge is the default": lambda: (
        evaluate([UNLABELLED], LexicalJudge()).means == evaluate([UNLABELLED]).means
    ),
    "sixteen metrics are there": lambda: set(registered()) >= {
        "faithfulness", "context_precision", "context_recall", "answer_relevance", "freshness", "hit_rate", "precision",
        "recall", "mrr", "ndcg", "groundedness", "hallucination_rate", "citation_accuracy", "citation_coverage",
        "context_utilisation", "answer_correctness",
    },
    "only a question is required of a record": lambda: set(evaluate([EvalRecord("q")]).means.values()) == {None},
}  # fmt: skip


class Lenient:
    """
    A judge of the user's own.
    """

    def judge_claims(self, claims, contexts):
        return [rageval_trace.Verdict(True, supporting=(0,)) for _ in claims]

    def judge_relevance(self, question, answer):
        return None


@pytest.mark.parametrize("promise", PROMISES)
def test_promise(promise, monkeypatch):
    """
    What was promised to users of the older toolkits holds here.
    """
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    assert PROMISES[promise]()


LINES = {
    "run FILE": 0,
    "run FILE --gate groundedness=0.5": 0,
    "run FILE --gate groundedness=0.85 --gate hallucination_rate=0.10": 1,
    "run FILE --gate freshness=0.5": 1,
    "run FILE --gate nonsense=0.5": 2,
    "run missing.jsonl": 2,
    "--no-judge run FILE": 0,
    "--judge run FILE": 0,
    "run FILE -k 3 --markdown report.md": 0,
    "--now 2026-08-21T12:00:00Z --out report.json run FILE": 0,
    "--json --metrics faithfulness,freshness run FILE": 0,
}


@pytest.mark.parametrize("line", LINES)
def test_exit_codes(line, tmp_path, monkeypatch, capsys):
    """
    0 when every gate held, 1 when one was breached, an empty one included, 2 when the run could not complete.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    assert LINES[line] == main([str(BOT) if word == "FILE" else word for word in line.split()])


def test_a_metric_is_one_decorated_function(tmp_path, monkeypatch, capsys):
    """
    A metric of the user's own is there for evaluate, the command line and its gates once its module was imported.
    """
    from rageval_trace.metrics import base

    monkeypatch.setattr(base, "_registry", dict(base._registry))

    @register("shortness")
    def shortness(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
        return MetricResult("shortness", 1.0 if len(record.answer or "") < 80 else 0.0, "by length")

    assert evaluate([UNLABELLED], metrics=["shortness"]).means == {"shortness": 1.0}
    assert "shortness" not in evaluate([UNLABELLED]).means
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(BOT), "--gate", "shortness=0.9", "--out", "r.json"]) in {0, 1}
    assert "shortness" in json.loads(Path("r.json").read_text())["means"]


def test_both_record_shapes_in_one_file(tmp_path):
    """
    Records of either toolkit may stand in one file.
    """
    path = tmp_path / "mixed.jsonl"
    one = {"id": "a", "question": "q", "retrieved_contexts": ["text"], "answer": "text"}
    other = {"id": "b", "question": "q", "contexts": [{"id": "c", "text": "text", "score": 0.5}], "relevant_ids": ["c"]}
    path.write_text(f"{json.dumps(one)}\n{json.dumps(other)}\n")
    assert [len(record.contexts) for record in load_records(path)] == [1, 1]
