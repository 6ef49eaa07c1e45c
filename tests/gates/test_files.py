"""
Gates that live in a file.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rageval_trace.errors import GateError
from rageval_trace.gates import Amount, GateRules, Threshold, find_project_file, read_gate_file

FULL = """
min_observed = "80%"
allow_failed = "5%"
allow_fallback = true
scoring_version = 1

[{prefix}gates]
recall = 1
hallucination_rate = 0.1
"""


@pytest.mark.parametrize(("name", "prefix"), [("gates.toml", ""), ("pyproject.toml", "tool.rageval.")])
def test_a_gate_file_sets_gates_and_rules(tmp_path, name, prefix):
    """
    A file of its own and a table of the project's file hold the same keys.
    """
    text = FULL.format(prefix=prefix)
    (tmp_path / name).write_text(f"[tool.rageval]{text}" if prefix else text)
    found = read_gate_file(tmp_path / name)
    assert found.thresholds == (Threshold("recall", 1.0), Threshold("hallucination_rate", 0.1))
    assert found.rules == GateRules(
        min_observed=Amount(0.8, is_share=True),
        allow_failed=Amount(0.05, is_share=True),
        allow_fallback=True,
        scoring_version=1,
    )


def test_an_empty_gate_file_sets_nothing(tmp_path):
    """
    A file without keys gives no gates and the default rules.
    """
    (tmp_path / "gates.toml").write_text("")
    found = read_gate_file(tmp_path / "gates.toml")
    assert (found.thresholds, found.rules) == ((), GateRules())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[gate]\nrecall = 1", "unknown key 'gate' (did you mean 'gates'?); known: gates, min_observed"),
        ("gates = 1", "gates: expected a table from metric name to value"),
        ("[gates]\nrecal = 1", "unknown metric 'recal' (did you mean 'recall'?)"),
        ("[gates]\nrecall = '1'", "threshold of recall: expected a finite number, not '1'"),
        ("[gates]\nrecall = 10", "threshold of recall: expected a value in [0, 1], not 10"),
        ("min_observed = 'all'", "min_observed: expected a number of records or a percentage"),
        ("min_observed = 0.5", "min_observed: expected a number of records or a percentage"),
        ("allow_fallback = 1", "allow_fallback: expected true or false, not 1"),
        ("scoring_version = true", "scoring_version: expected a whole number, not True"),
        ("gates =", "is not TOML: "),
        ("\udcff", "is not TOML: "),
    ],
)
def test_a_wrong_gate_file_names_itself_and_the_fault(tmp_path, text, message):
    """
    The message leads with the file, so that a person knows where to look.
    """
    path = tmp_path / "gates.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(GateError) as caught:
        read_gate_file(path)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_a_missing_gate_file(tmp_path):
    """
    A file that is not there is one line too.
    """
    with pytest.raises(GateError, match="cannot be read: No such file or directory"):
        read_gate_file(tmp_path / "gates.toml")


@pytest.mark.parametrize("text", ["", "[tool.other]\na = 1", "[tool]\nrageval = 1", "tool = 1"])
def test_a_project_file_without_our_table(tmp_path, text):
    """
    Asked for by name it is an error; looked for, it is none.
    """
    path = tmp_path / "pyproject.toml"
    path.write_text(text)
    with pytest.raises(GateError, match=r"has no table \[tool\.rageval\]"):
        read_gate_file(path)
    assert find_project_file(tmp_path) is None


def test_the_nearest_project_file_is_found_from_below(tmp_path):
    """
    A command run in a subfolder reads the project's gates; a nearer project hides a farther one.
    """
    (tmp_path / "pyproject.toml").write_text("[tool.rageval.gates]\nrecall = 1")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find_project_file(below) == tmp_path / "pyproject.toml"
    (tmp_path / "a" / "pyproject.toml").write_text("")
    assert find_project_file(below) is None


def test_no_project_file_at_all():
    """
    At the root of the disk there is nothing to find.
    """
    assert find_project_file(Path("/")) is None
