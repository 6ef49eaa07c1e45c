"""
One corpus of hostile texts, and scorecards made of it.
"""

from __future__ import annotations

import pytest

from rageval_trace import Context, EvalRecord, MetricResult, evaluate
from rageval_trace.gates import Threshold, check_gates
from rageval_trace.reports.gating import GateOutcome, GateReport
from rageval_trace.reports.scorecard import MetricSummary, RecordResult, Scorecard

CANARY = "CANARY"

HOSTILE = {
    "script": f"<script>{CANARY}()</script> tells the visitor.",
    "attribute": f'" onmouseover="{CANARY}()" x=" is an attribute.',
    "entity": f"&lt;img src=x onerror={CANARY}&gt; is encoded.",
    "style": f"</style><style>body{{background:url(https://evil.example/{CANARY})}}</style> paints.",
    "template": "{{ 7 * 7 }} {% raw %} ${7*7} is a template.",
    "comment": "--> ]]> <!-- closes everything.",
    "link": f"[click](https://evil.example/{CANARY}) and <https://evil.example> here.",
    "image": f"![pixel](https://evil.example/{CANARY}.png) is loaded.",
    "bare": "See https://evil.example/a, www.evil.example and mailto:a@evil.example today.",
    "mention": "Thanks @octocat and @org/team, see #123 and GH-45 now.",
    "table": "one | two || three \\| four is a row.",
    "heading": "# not a heading",
    "list": "1. not a list",
    "rule": "--- is not a rule",
    "fence": "```` code ``` and ` ticks ` end.",
    "emphasis": "**bold** _it_ ~~gone~~ $x^2$ is styled.",
    "lines": "first\r\nsecond\u2028third\u2029fourth\x85fifth\x0bsixth is long.",
    "colour": "\x1b[31mred\x1b[0m \x9b31mred is coloured.",
    "title": "\x1b]0;owned\x07 \x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\ retitles.",
    "clipboard": "\x1b]52;c;cm0gLXJm\x1b\\ steals.",
    "bell": "\x07\x08\x7f\x00 rings the bell.",
    "bidi": "user\u202etxt.exe\u2066 \u200f reorders.",
    "tags": "hidden \U000e0041\U000e0042\ufeff\u2060\u00ad letters.",
    "surrogate": "half \ud83d of a pair.",
    "noncharacter": "\ufffe \uffff \U0001ffff are none.",
    "command": "::error file=a::owned",
    "command later": "ok\n::set-output name=a::b\n##[add-mask]secret is obeyed.",
    "percent": "100%0A::warning::owned %25 counts.",
    "rich": "[bold red]markup[/] [link=https://evil.example]x[/link] is markup.",
    "long": "word " * 3000 + "ends.",
    "combining": "e" + "\u0301" * 2000 + " grows.",
    "path": "../../../../etc/passwd is a path.",
}


def record(name: str, text: str) -> EvalRecord:
    return EvalRecord(
        question=text,
        contexts=[Context(text, f"{text} elsewhere", source=text, metadata={text: text})],
        answer=f"Nothing founded says {text}\n\nUnfounded words follow.",
        ground_truth=text,
        relevant_ids=[text, f"missing {text}"],
        citations=[text, f"wrong {text}"],
        id=f"{name} {text}",
    )


@pytest.fixture(params=HOSTILE, scope="session")
def hostile(request):
    """
    Return one hostile text and the scorecard of a record that holds it in every field, with a breached gate.
    """
    text = HOSTILE[request.param]
    card = evaluate([record(request.param, text)])
    return text, card, check_gates(card, [Threshold("recall", 0.9), Threshold("hallucination_rate", 0.01)])


@pytest.fixture(scope="session")
def hostile_card():
    """
    Return one scorecard of all of them.
    """
    return evaluate([record(name, text) for name, text in HOSTILE.items()])


def _result(name: str, score: float | None, **details: object) -> MetricResult:
    reason = "as made up" if score is not None else "contexts not observed"
    return MetricResult(name, score, reason, name != "hallucination_rate", "lexical", details)


@pytest.fixture(scope="session")
def bike_card():
    """
    Return a scorecard made up by hand, so that its renderings move only when a rendering does.
    """
    good = RecordResult(
        EvalRecord("When is the harbour station open?", ["From 8 to 9."], "From 8 to 9.", id="bike-002"),
        {"recall": _result("recall", 1.0), "groundedness": _result("groundedness", 1.0)},
    )
    bad = RecordResult(
        EvalRecord(
            "Does the insurance cover a stolen battery?",
            [Context("puncture", "Call the workshop."), "Open from 8."],
            "Batteries are replaced overnight.",
            id="bike-005",
        ),
        {
            "recall": _result("recall", 0.0, missing=["insurance"]),
            "groundedness": _result(
                "groundedness",
                0.0,
                unsupported=[{"index": 1, "text": "Batteries are replaced overnight.", "reason": ""}],
            ),
            "context_utilisation": _result("context_utilisation", 0.0, unused=[1, 2]),
            "citation_accuracy": _result("citation_accuracy", 0.0, wrong=["puncture"]),
        },
    )
    broken = RecordResult(
        EvalRecord("What is rented?"),
        {"groundedness": MetricResult("groundedness", None, "raised", error_type="TimeoutError")},
    )

    def summary(name, mean, observed, undefined, failed):
        judges = {"lexical": observed} if observed else {}
        return MetricSummary(name, True, mean, observed, undefined, failed, mean, mean, mean, judges)

    metrics = (
        summary("recall", 0.5, 2, 1, 0),
        summary("groundedness", 0.5, 2, 0, 1),
        summary("freshness", None, 0, 3, 0),
    )
    return Scorecard(
        {one.name: one for one in metrics},
        3,
        (good, bad, broken),
        (bad, broken, good),
        "asked_at",
        1,
        "scoring-1+0123abcd",
    )


@pytest.fixture(scope="session")
def bike_gates():
    """
    Return made-up outcomes, one of each.
    """
    return GateReport(
        (
            GateOutcome("recall", 0.5, True, "held", 0.5, 2),
            GateOutcome("groundedness", 0.85, True, "breached", 0.5, 2, "it is 0.35 below the minimum"),
            GateOutcome("freshness", 0.5, True, "error", None, 0, "it was not scored"),
        ),
        ("the thresholds are old",),
    )
