"""
Evaluation: one record and many, failures, plug-ins, deadlines, judges of whole records.
"""

from __future__ import annotations

import importlib.metadata
import logging
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from rageval_trace import (
    SCORING_VERSION,
    EvalConfig,
    EvalRecord,
    LexicalJudge,
    MetricResult,
    UnknownMetricError,
    evaluate,
    evaluate_record,
    evaluator_version,
    register,
)
from rageval_trace.evaluation import live_metrics
from rageval_trace.gates import judge_results, parse_thresholds
from rageval_trace.metrics import base, registered, select

RECORD = EvalRecord("deep lake", ["the lake is deep"], "The lake is deep.", "deep lake", id="r")


@pytest.fixture
def own_metric() -> Iterator[str]:
    """Register a metric as a user's module does, and take it out again."""

    @register("word_count_share", step="answer", higher_is_better=False, needs=("answer",))
    def word_count_share(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
        """Score the answer's length against a hundred words."""
        if record.answer is None:
            return MetricResult("word_count_share", None, "answer not observed", higher_is_better=False)
        return MetricResult("word_count_share", len(record.answer.split()) / 100, higher_is_better=False)

    yield "word_count_share"
    del base._registry["word_count_share"]


def broken(returned: object) -> Iterator[str]:
    @register("broken")
    def compute(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
        if isinstance(returned, Exception):
            raise returned
        return returned  # type: ignore[return-value]  # what a user's metric may do

    try:
        yield "broken"
    finally:
        del base._registry["broken"]


class FakeRecordJudge:
    """A judge of whole records that answers what it was given."""

    name = "fake"

    def __init__(self, answer: Mapping[str, Any] | Exception) -> None:
        self.answer = answer
        self.asked = 0

    def judge(self, record: EvalRecord) -> Mapping[str, MetricResult]:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_the_same_value_alone_and_in_a_set() -> None:
    """`evaluate` and `evaluate_record` give the same results."""
    assert evaluate([RECORD]).results[0] == evaluate_record(RECORD)


def test_the_default_set_is_the_built_in_one(own_metric: str) -> None:
    """Registering a metric moves nobody's numbers: it runs when it is named."""
    assert own_metric not in evaluate_record(RECORD).results
    assert {"faithfulness", "ndcg", "answer_correctness"} <= set(evaluate_record(RECORD).results)


def test_a_metric_of_ones_own_works_everywhere(own_metric: str) -> None:
    """One function under `@register` works in evaluate, the scorecard, thresholds and the selection for live use."""
    card = evaluate([RECORD, EvalRecord("q")], metrics=[own_metric])
    assert card.means == {own_metric: 0.04}
    assert (card.undefined[own_metric], card.metrics[own_metric].higher_is_better) == (1, False)
    assert own_metric in card.format_text()
    assert base.names()[-1] == own_metric
    assert registered()[own_metric].meaning.startswith("Score the answer's length")
    verdict = judge_results(card.results[0].results, parse_thresholds({own_metric: 0.01}))
    assert (verdict.verdict, verdict.breached) == ("fail", (own_metric,))
    assert [own_metric] == [metric.name for metric in live_metrics(EvalRecord("q"), select([own_metric]))]


def test_an_unknown_metric_names_the_known_ones() -> None:
    """A name that nothing registered is an error with a suggestion."""
    with pytest.raises(UnknownMetricError, match=r"did you mean 'faithfulness'\?.*known: .*ndcg") as caught:
        evaluate([], metrics=["faithfullness"])
    assert "recall" in caught.value.known
    with pytest.raises(TypeError, match="one string"):
        evaluate([], metrics="recall")
    with pytest.raises(TypeError, match=r"@register\(\"name\"\)"):
        register(lambda record, config=None: None)  # type: ignore[arg-type]  # the brackets were forgotten


@pytest.mark.parametrize(
    ("returned", "error_type"),
    [
        (RuntimeError("secret text"), "RuntimeError"),
        (None, "TypeError"),
        (0.5, "TypeError"),
        (MetricResult("broken", float("nan")), "ValueError"),
        (MetricResult("broken", float("inf")), "ValueError"),
        (MetricResult("broken", "0.5"), "TypeError"),  # type: ignore[arg-type]
    ],
)
def test_a_failing_metric_is_counted_and_stops_nothing(returned: object, error_type: str) -> None:
    """What raises, or returns no finite number, has failed: neither a score nor undefined."""
    for name in broken(returned):
        card = evaluate([RECORD], metrics=[name, "faithfulness"])
        result = card.results[0].results[name]
        assert (result.score, result.error_type, result.name) == (None, error_type, "broken")
        assert "secret" not in result.reason
        assert (card.failed[name], card.undefined[name], card.observed[name]) == (1, 0, 0)
        assert card.means["faithfulness"] == 1.0


@pytest.mark.parametrize("score", [1, True])
def test_a_score_is_a_float(score: Any) -> None:
    """A whole number becomes a float, so that JSON and telemetry hold one type."""
    for name in broken(MetricResult("other name", score, higher_is_better=False)):
        result = evaluate_record(RECORD, metrics=[name]).results[name]
        assert (result.score, type(result.score)) == (1.0, float)
        assert (result.name, result.higher_is_better) == ("broken", True)


def fake_entry_points(monkeypatch: pytest.MonkeyPatch, **points: str) -> None:
    entries = [importlib.metadata.EntryPoint(name, value, base.ENTRY_POINT_GROUP) for name, value in points.items()]
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda group: [one for one in entries if one.group == group]
    )


def test_a_plugin_that_fails_to_load_is_named_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A broken plug-in is one warning with its name, and the others load."""
    fake_entry_points(monkeypatch, broken_plugin="no_such_module_anywhere:x", fine="math:sqrt", recall="json:nothing")
    with caplog.at_level(logging.WARNING, "rageval_trace"):
        base.load_plugins()
        base.load_plugins()
        evaluate([RECORD])
    assert len(caplog.records) == 1
    assert "broken_plugin" in caplog.text
    assert "ModuleNotFoundError" in caplog.text


def test_only_the_named_plugin_is_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Naming a metric loads its plug-in and no other."""
    (tmp_path / "plugin_under_test.py").write_text(
        "from rageval_trace import MetricResult, register\n\n"
        "@register('plugged')\ndef plugged(record, config=None):\n    return MetricResult('plugged', 1.0)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    fake_entry_points(monkeypatch, plugged="plugin_under_test", other="no_such_module_anywhere")
    try:
        assert evaluate([RECORD], metrics=["plugged"]).means == {"plugged": 1.0}
    finally:
        base._registry.pop("plugged", None)
    assert not caplog.records


def test_a_deadline_fails_the_metrics_it_overtakes() -> None:
    """Past the deadline a metric fails with TimeoutError; one that started is not stopped."""
    late = evaluate_record(RECORD, deadline=time.monotonic() - 1)
    assert {"TimeoutError"} == {result.error_type for result in late.results.values()}
    assert {None} == {result.score for result in late.results.values()}
    early = evaluate_record(RECORD, deadline=time.monotonic() + 60)
    assert {None} == {result.error_type for result in early.results.values()}


def test_a_deadline_spares_the_judge() -> None:
    """A judge of whole records is not asked after the deadline."""
    judge = FakeRecordJudge({"faithfulness": MetricResult("faithfulness", 0.5, judge="fake")})
    late = evaluate_record(RECORD, judge=judge, metrics=["faithfulness"], deadline=time.monotonic() - 1)
    assert judge.asked == 0
    assert late.results["faithfulness"].error_type == "TimeoutError"


def test_a_record_judge_replaces_what_it_judges() -> None:
    """Its results stand in for the formulas', the others stay."""
    judged = {
        "faithfulness": MetricResult("faithfulness", 0.25, judge="fake"),
        "not_selected": MetricResult("not_selected", 0.5, judge="fake"),
    }
    results = evaluate_record(RECORD, judge=FakeRecordJudge(judged)).results
    assert (results["faithfulness"].score, results["faithfulness"].judge) == (0.25, "fake")
    assert (results["answer_relevance"].score, results["answer_relevance"].judge) == (1.0, "none")
    assert "not_selected" not in results


def test_a_record_judge_that_raises_falls_back_and_says_so() -> None:
    """The formulas' values stand, marked `lexical_fallback`, and are counted under that name."""
    card = evaluate([RECORD], FakeRecordJudge(RuntimeError("no")))
    plain = evaluate_record(RECORD).results
    for name in ("faithfulness", "answer_relevance"):
        result = card.results[0].results[name]
        assert (result.score, result.judge) == (plain[name].score, "lexical_fallback")
        assert card.metrics[name].judges == {"lexical_fallback": 1}
    assert card.results[0].results["groundedness"].judge == "lexical"


def test_a_record_judge_is_not_asked_in_vain() -> None:
    """Without one of its two metrics selected, nothing is asked."""
    judge = FakeRecordJudge({})
    evaluate([RECORD], judge, metrics=["recall"])
    assert judge.asked == 0


@pytest.mark.parametrize(
    ("answer", "error_type"),
    [(MetricResult("faithfulness", float("nan")), "ValueError"), (0.5, "TypeError"), (None, "TypeError")],
)
def test_a_record_judges_result_is_checked_like_a_metrics(answer: Any, error_type: str) -> None:
    """A judged value that is no result, or no finite number, has failed."""
    result = evaluate_record(RECORD, judge=FakeRecordJudge({"faithfulness": answer})).results["faithfulness"]
    assert (result.score, result.error_type) == (None, error_type)


@pytest.mark.parametrize("judge", ["lexical", object(), LexicalJudge])
def test_what_is_no_judge_is_refused(judge: Any) -> None:
    """A name, an object without the methods, or a class is a TypeError at once."""
    with pytest.raises(TypeError, match="judge"):
        evaluate([RECORD], judge)


def test_a_judge_given_beats_the_configs() -> None:
    """`evaluate(judge=)` overrides `EvalConfig.judge`."""
    record = EvalRecord("q", ["alpha beta"], "Alpha gamma.")
    config = EvalConfig(judge=LexicalJudge(1.0))
    assert evaluate([record], config=config).means["groundedness"] == 0.0
    assert evaluate([record], LexicalJudge(0.5), config).means["groundedness"] == 1.0


def test_records_are_read_once_and_lazily() -> None:
    """A generator will do, and each result is handed over as it is there."""
    seen: list[str | None] = []

    def stream() -> Iterator[EvalRecord]:
        for number in range(3):
            assert len(seen) == number
            yield EvalRecord("q", id=str(number))

    card = evaluate(stream(), keep_results=False, on_result=lambda one: seen.append(one.record.id))
    assert (seen, card.count, card.results) == (["0", "1", "2"], 3, ())


@pytest.mark.parametrize(
    ("records", "config", "source"),
    [
        ([RECORD], None, None),
        ([{"timestamp": "2026-01-01"}], None, "wall clock"),
        ([{"timestamp": "2026-01-01"}], EvalConfig(now="2026-02-01"), "config"),
        ([{"timestamp": "2026-01-01", "asked_at": "2026-02-01"}], None, "asked_at"),
        ([{"timestamp": "2026-01-01", "asked_at": "2026-02-01"}, {"timestamp": "2026-01-01"}], None, "wall clock"),
    ],
)
def test_the_card_says_where_now_came_from(records: list[Any], config: EvalConfig | None, source: str | None) -> None:
    """The least steady source of *now* among the dated records is named."""
    made = [
        one
        if isinstance(one, EvalRecord)
        else EvalRecord("q", [{"text": "t", "timestamp": one["timestamp"]}], asked_at=one.get("asked_at"))
        for one in records
    ]
    card = evaluate(made, config=config)
    assert card.now_source == source
    assert source is None or source in card.format_text()


def test_live_metrics_need_their_labels() -> None:
    """Live, a metric that needs a label is selected only when it is there."""
    every = select()

    def names(**fields: Any) -> set[str]:
        return {metric.name for metric in live_metrics(EvalRecord("q", **fields), every)}

    labelled = {"context_recall", "answer_correctness", "hit_rate", "precision", "recall", "mrr", "ndcg"}
    cited = {"citation_accuracy", "citation_coverage"}
    everything = {metric.name for metric in every}
    assert everything - labelled - cited == names(answer="Plain.")
    assert everything - labelled == names(answer="Marked [1].") == names(answer="Plain.", citations=[])
    assert {"context_recall", "answer_correctness"} <= names(ground_truth="t")
    assert {"recall", "ndcg"} <= names(relevant_ids={"a"})
    assert "recall" not in names(relevant_ids=())


def test_the_evaluator_version_tells_evaluations_apart() -> None:
    """It covers what can move a number, the lexical judge's own settings included, and not *now*."""
    same = evaluator_version()
    assert same.startswith(f"scoring-{SCORING_VERSION}+")
    assert len(same.rpartition("+")[2]) == 8
    assert same == evaluator_version(EvalConfig(now="2026-01-01")) == evaluator_version(EvalConfig(half_life_hours=168))
    assert same == evaluator_version(EvalConfig(judge=LexicalJudge()))
    others = [
        EvalConfig(k=6),
        EvalConfig(half_life_hours=1),
        EvalConfig(hit_threshold=0.2),
        EvalConfig(claim_threshold=0.6),
        EvalConfig(stopwords=frozenset()),
        EvalConfig(judge=LexicalJudge(0.5)),
        EvalConfig(judge=LexicalJudge(stopwords=frozenset())),
    ]
    assert len({same, *[evaluator_version(config) for config in others]}) == len(others) + 1
    assert evaluate([], config=others[0]).evaluator_version == evaluator_version(others[0])
