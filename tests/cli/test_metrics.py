"""
`rageval metrics`: the declarations, and the README's table made of them.
"""

from __future__ import annotations

import json

from rageval_trace.cli import main
from rageval_trace.cli.metrics import markdown_table
from rageval_trace.metrics import registered


def test_every_metric_is_listed(capsys):
    """
    Name, step, direction, meaning, needs and what makes it undefined stand there for every registered metric.
    """
    assert main(["metrics"]) == 0
    out = capsys.readouterr().out
    for metric in registered().values():
        assert f"{metric.name} " in out
        assert metric.meaning in out
    assert "hallucination_rate" in out
    assert "lower is better" in out


def test_json_has_every_declaration(capsys):
    """
    --json gives the declarations to a program.
    """
    assert main(["metrics", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    by_name = {one["name"]: one for one in found}
    assert by_name["recall"] == {
        "name": "recall",
        "step": "retrieval",
        "higher_is_better": True,
        "needs": ["contexts", "relevant_ids"],
        "meaning": registered()["recall"].meaning,
        "undefined_when": registered()["recall"].undefined_when,
        "default": True,
    }
    assert by_name["hallucination_rate"]["higher_is_better"] is False


def test_the_table_has_a_row_a_metric(capsys):
    """
    --markdown prints the README's table.
    """
    main(["metrics", "--markdown"])
    out = capsys.readouterr().out
    assert out == markdown_table(tuple(registered().values())) + "\n"
    assert out.count("\n| `") == len(registered())
