"""
Ranking metrics against trec_eval (pytrec_eval) and ir_measures: equal where definitions agree, and where they differ.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from rageval_trace import Context, EvalConfig, EvalRecord
from rageval_trace.metrics import get

pytrec_eval = pytest.importorskip("pytrec_eval", reason="the oracle is an optional development dependency")
ir_measures = pytest.importorskip("ir_measures", reason="the oracle is an optional development dependency")

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "retrieval"
Qrels = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]


def ours(name: str, ranked: list[str], grades: Mapping[str, int], k: int) -> float | None:
    record = EvalRecord("q", contexts=[Context(key, "") for key in ranked], relevant_ids=grades)
    return get(name).compute(record, EvalConfig(k=k)).score


def rank_as_trec_eval(scored: Mapping[str, float]) -> list[str]:
    """Order by score, ties by id, both descending, as trec_eval does."""
    return sorted(scored, key=lambda key: (scored[key], key), reverse=True)


def random_topics(seed: int, topics: int = 150) -> tuple[Qrels, Run]:
    rng = random.Random(seed)  # noqa: S311  # a sample, not a secret
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for topic in range(topics):
        pool = [f"d{n}" for n in range(rng.randint(1, 40))]
        judged = rng.sample(pool, rng.randint(1, len(pool)))
        qrels[f"t{topic}"] = {key: rng.choice([0, 1, 1, 2, 3]) for key in judged}
        found = rng.sample(pool, rng.randint(1, len(pool)))
        run[f"t{topic}"] = {key: float(len(found) - place) for place, key in enumerate(found)}
    return qrels, run


def hold_to_pytrec_eval(qrels: Qrels, run: Run, k: int) -> int:
    pairs = {
        "hit_rate": f"success_{k}",
        "precision": f"P_{k}",
        "recall": f"recall_{k}",
        "ndcg": f"ndcg_cut_{k}",
    }
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(pairs.values()) | {"recip_rank"})
    checked = 0
    for topic, theirs in evaluator.evaluate(run).items():
        if not any(grade > 0 for grade in qrels[topic].values()):
            continue
        ranked = rank_as_trec_eval(run[topic])
        for name, measure in pairs.items():
            assert theirs[measure] == pytest.approx(ours(name, ranked, qrels[topic], k), abs=1e-9), (topic, measure)
        assert theirs["recip_rank"] == pytest.approx(ours("mrr", ranked, qrels[topic], len(ranked)), abs=1e-9)
        checked += 1
    return checked


def hold_to_ir_measures(qrels: Qrels, run: Run, k: int) -> int:
    im = ir_measures
    pairs = {
        im.Success @ k: "hit_rate",
        im.P @ k: "precision",
        im.R @ k: "recall",
        im.RR @ k: "mrr",
        im.nDCG @ k: "ndcg",
    }
    checked = 0
    for found in im.iter_calc(list(pairs), qrels, run):
        grades = qrels[found.query_id]
        if any(grade > 0 for grade in grades.values()):
            value = ours(pairs[found.measure], rank_as_trec_eval(run.get(found.query_id, {})), grades, k)
            assert found.value == pytest.approx(value, abs=1e-9), (found.query_id, found.measure)
            checked += 1
    return checked


@pytest.mark.parametrize("k", [1, 3, 5, 10, 100])
def test_random_rankings_equal_pytrec_eval(k: int) -> None:
    """On random graded rankings all five metrics equal trec_eval's, MRR over the whole list."""
    assert hold_to_pytrec_eval(*random_topics(k), k) > 100


@pytest.mark.parametrize("k", [1, 5, 20])
def test_random_rankings_equal_ir_measures(k: int) -> None:
    """On random graded rankings all five metrics equal ir_measures', MRR cut at k included."""
    assert hold_to_ir_measures(*random_topics(1000 + k), k) > 500


def lines(name: str) -> Iterator[list[str]]:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"development data {name} is not beside the checkout")
    with path.open(encoding="utf-8") as file:
        yield from (line.split() for line in file if line.strip())


def read_qrels(name: str) -> Qrels:
    found: dict[str, dict[str, int]] = {}
    for topic, _, key, grade in lines(name):
        found.setdefault(topic, {})[key] = int(grade)
    return found


def read_run(name: str) -> Run:
    found: dict[str, dict[str, float]] = {}
    for topic, _, key, _, score, *_ in lines(name):
        found.setdefault(topic, {})[key] = float(score)
    return found


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ("trec_qrels.test", "trec_results.test"),
        ("trec_qrels.rel_level", "trec_results.test"),
        ("trec_qrels-302.test", "trec_results-302.test"),
        ("trec_qrels.test", "trec_results.trunc"),
        ("irm_compat.qrels", "irm_compat.run"),
    ],
)
def test_reference_runs_equal_both(qrels: str, run: str) -> None:
    """On the reference runs of both projects all five metrics equal theirs at 5 and 10."""
    judged, found = read_qrels(qrels), read_run(run)
    judged = {topic: {key: max(0, grade) for key, grade in grades.items()} for topic, grades in judged.items()}
    shared = {topic: found[topic] for topic in found if topic in judged}
    for k in (5, 10):
        assert hold_to_pytrec_eval(judged, shared, k) > 0
        assert hold_to_ir_measures(judged, shared, k) > 0


def test_published_figures_of_the_reference_run() -> None:
    """The three-topic reference run has the mean P at 5 that is printed beside it."""
    judged, found = read_qrels("trec_qrels.test"), read_run("trec_results.test")
    printed = {words[0]: words[2] for words in lines("trec_out.test") if words[1] == "all"}
    scores = [ours("precision", rank_as_trec_eval(found[topic]), judged[topic], 5) or 0.0 for topic in found]
    assert sum(scores) / len(scores) == pytest.approx(float(printed["P_5"]), abs=5e-5)


def test_where_definitions_differ() -> None:
    """MRR stops at k; order is the one given, not the scores'; a grade below zero is not a penalty; no label is None."""
    ranked = [f"d{n}" for n in range(10)]
    run = {"q": {key: 10.0 - place for place, key in enumerate(ranked)}}

    late = {"q": {"d7": 1}}
    theirs = pytrec_eval.RelevanceEvaluator(late, {"recip_rank"}).evaluate(run)["q"]["recip_rank"]
    assert (theirs, ours("mrr", ranked, late["q"], 5)) == (0.125, 0.0)

    tied = {"q": {"a": 1.0, "b": 1.0}}
    only_a = {"q": {"a": 1}}
    theirs = pytrec_eval.RelevanceEvaluator(only_a, {"recip_rank"}).evaluate(tied)["q"]["recip_rank"]
    assert (theirs, ours("mrr", ["a", "b"], only_a["q"], 5)) == (0.5, 1.0)

    scored = EvalRecord("q", contexts=[Context("a", "", 0.1), Context("b", "", 0.9)], relevant_ids={"a"})
    assert get("mrr").compute(scored).score == 1.0

    assert ours("ndcg", ["bad", "good"], {"bad": -2, "good": 1}, 5) == ours("ndcg", ["bad", "good"], {"good": 1}, 5)

    nothing = {"q": {"d1": 0}}
    theirs = pytrec_eval.RelevanceEvaluator(nothing, {"P_5"}).evaluate(run)["q"]["P_5"]
    assert (theirs, ours("precision", ranked, nothing["q"], 5)) == (0.0, None)
