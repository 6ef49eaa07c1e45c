"""
The public names: what they are, what importing them loads, and what is said about names that live elsewhere.
"""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import rageval_trace
from rageval_trace.metrics import registered

# Adding a name here makes it public for good: must it be?
HARNESS = """
    SCORING_VERSION Context DatasetError EvalConfig EvalRecord Example GateError Judge LexicalJudge MetricResult
    MissingExtraError RagEvalError RecordResult Scorecard UnknownMetricError Verdict __version__ answer_correctness
    answer_relevance citation_accuracy citation_coverage context_precision context_recall context_utilisation evaluate
    evaluate_record evaluator_version faithfulness freshness groundedness hallucination_rate hallucination_risk hit_rate
    mrr ndcg
    precision recall register
""".split()
BEYOND = """
    CascadeJudge ClaudeJudge DEFAULT_MODEL DiskCache JsonlSink LLMJudge Monitor Settings TokenBudget load_records
""".split()
NAMES = set(rageval_trace._LAZY)


def test_the_names_are_pinned() -> None:
    """`__all__` holds the harness and the names that need more than it, each once."""
    assert sorted(HARNESS + BEYOND) == sorted(rageval_trace.__all__)


def test_every_name_is_known_before_it_is_loaded() -> None:
    """`dir` of the package, which completion reads, holds every public name, and looking loads nothing."""
    script = (
        "import sys, rageval_trace as r; print({*r.__all__} - {*dir(r)}, 'rageval_trace.evaluation' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "set() False\n"


@pytest.mark.parametrize("name", sorted({*rageval_trace.__all__, *NAMES}))
def test_every_name_is_there(name: str) -> None:
    """Every public name can be had."""
    assert getattr(rageval_trace, name) is not None


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_name_comes_from_its_module(name: str) -> None:
    """A name is the object of the module it stands for."""
    assert getattr(importlib.import_module(rageval_trace._LAZY[name]), name) is getattr(rageval_trace, name)


def test_each_built_in_metric_is_a_function_of_the_package() -> None:
    """The built-in metrics are importable by their names."""
    for name in set(HARNESS) & set(registered()):
        assert getattr(rageval_trace, name) is registered()[name].compute
    assert len(set(HARNESS) & set(registered())) == 17


def loaded_by(statement: str) -> list[str]:
    script = f"{statement}\nimport sys\nprint(*sorted(sys.modules))"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()


def test_importing_the_harness_loads_no_telemetry() -> None:
    """`from rageval_trace import evaluate` loads no OpenTelemetry, framework, model client or table printer."""
    before, after = set(loaded_by("pass")), set(loaded_by("from rageval_trace import evaluate"))
    heavy = ("opentelemetry", "langchain", "llama_index", "anthropic", "rich", "numpy", "pydantic", "jinja2")
    assert [] == [name for name in sorted(after - before) if name.split(".")[0].startswith(heavy)]
    assert "rageval_trace.telemetry" not in after
    assert "rageval_trace.live" not in after


def test_the_handler_says_where_it_lives() -> None:
    """`from rageval_trace import RagEvalHandler` names the import that works."""
    with pytest.raises(ImportError, match="from rageval_trace_langchain import RagEvalHandler"):
        from rageval_trace import RagEvalHandler  # noqa: F401  # type: ignore[attr-defined]


def test_an_unknown_name_is_an_attribute_error() -> None:
    """Any other name is missing in the usual way."""
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = rageval_trace.no_such_name
