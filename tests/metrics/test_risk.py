"""
The risk: golden values, laws, languages, causes, and when it is undefined.
"""

from __future__ import annotations

import gc
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rageval_trace import EvalConfig, EvalRecord, evaluate_record
from rageval_trace.metrics import get, hallucination_risk
from rageval_trace.metrics import risk as risk_module
from rageval_trace.metrics.risk import SUGGESTED_THRESHOLD, read_answer
from rageval_trace.metrics.risk_model import FEATURES, default_model, logistic
from rageval_trace.metrics.workspace import Workspace

NILE = (
    "The Nile is about 6,650 km long and flows north through Sudan and Egypt into the Mediterranean.",
    "Eleven countries share the basin of the Nile.",
)
CAFE = (
    (
        "name: Blue Door\nattributes OutdoorSeating: False\nattributes WiFi: free\nattributes Music: None\n"
        "hours Monday: 9:0-17:0\nhours Tuesday: 9:0-17:0"
    ),
    "review: The cake was great and the staff friendly.",
)


def risk(contexts: tuple[str, ...], answer: str, question: str = "") -> float:
    """Return the score, which must be defined."""
    score = hallucination_risk(EvalRecord(question, contexts, answer)).score
    assert score is not None
    return score


@pytest.mark.parametrize(
    ("contexts", "answer", "expected"),
    [
        (NILE, "The Nile is about 6,650 km long.", 0.104340568111),
        (NILE, "The Nile is about 12,000 km long.", 0.920996194665),
        (NILE, "The Nile flows through Spain. Eleven countries share its basin.", 0.491939044398),
        (
            NILE,
            "Here is what I found:\n- The Nile flows north.\n- Penguins dance on its banks every winter.",
            0.573619295708,
        ),
        (CAFE, "The Blue Door has outdoor seating and live music. It opens at 9 am.", 0.942104441182),
        (CAFE, "The Blue Door has free WiFi, and the cake is great.", 0.104340568111),
        ((), "The Nile is long.", 0.862288492493),
    ],
)
def test_golden_values(contexts: tuple[str, ...], answer: str, expected: float) -> None:
    """A change of any of these values is a change of scores."""
    assert expected == pytest.approx(risk(contexts, answer), abs=1e-9)


@pytest.mark.parametrize(
    ("contexts", "claim", "cause"),
    [
        (NILE, "The Nile is 12,000 km long.", "12,000 is in no context; the contexts say 6650"),
        (NILE, "The Nile flows through Spain.", "no context mentions Spain"),
        (NILE, "Penguins flow north.", "no context has the word penguins"),
        (NILE, "Penguins dance, sing, skate and juggle.", "no context has the words penguins, dance, sing and 2 more"),
        (NILE, "Egypt flows; countries share Sudan.", "the contexts have its words, but not together"),
        (NILE, "Eleven countries share the basin.", ""),
        (NILE, "The Nile opens at 5 pm.", "no context gives the time 5 pm"),
        (CAFE, "There is outdoor seating.", "the context says 'attributes OutdoorSeating' is no"),
        (CAFE, "There is live music.", "the context leaves 'attributes Music' open"),
        (CAFE, "On Monday it opens from 9 am to 6 pm.", "the context has 9:00-17:00 for Monday, not 9 am to 6 pm"),
    ],
)
def test_causes(contexts: tuple[str, ...], claim: str, cause: str) -> None:
    """A claim's cause says in words what speaks most against it."""
    claims = hallucination_risk(EvalRecord("", contexts, claim)).details["claims"]
    assert [cause] == [found["cause"] for found in claims]


def test_a_number_without_company_names_no_other() -> None:
    """Where the contexts give no number, the cause names none."""
    claims = hallucination_risk(EvalRecord("", ["The basin is vast."], "The basin has 12 dams.")).details["claims"]
    assert "12 is in no context" == claims[0]["cause"]


def test_details() -> None:
    """Details number the claims as groundedness does, name the weakest, and leave out what claims nothing."""
    answer = "Here is what I found:\nThe Nile flows north. It has 12,000 crocodiles. The passage does not mention fish."
    record = EvalRecord("", NILE, answer)
    result = hallucination_risk(record)
    assert [2, 3] == [claim["index"] for claim in result.details["claims"]]
    assert ["The Nile flows north.", "It has 12,000 crocodiles."] == [c["text"] for c in result.details["claims"]]
    assert 3 == result.details["weakest"]
    assert {"doubtful": 1, "claims": 2} == result.details["counts"]
    assert result.reason.startswith("1 of 2 claims doubtful; claim 3: 12,000 is in no context")
    assert not result.higher_is_better
    json.dumps(result.details)


def test_an_answer_of_gaps_and_fillers_is_read_after_all() -> None:
    """Where nothing else is left, what was left out is scored."""
    only_filler = EvalRecord("", NILE, "Summary of the Nile text:")
    assert [1] == [claim["index"] for claim in hallucination_risk(only_filler).details["claims"]]
    gap = "Egypt is in Africa:\nPassage 1 mentions Sudan but passage 2 does not provide its area, which is large."
    assert [2] == [claim["index"] for claim in hallucination_risk(EvalRecord("", NILE, gap)).details["claims"]]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (EvalRecord("q", None, "a long answer"), "contexts not observed"),
        (EvalRecord("q", NILE, None), "answer not observed"),
        (EvalRecord("q", NILE, "  "), "the answer makes no claim"),
        (EvalRecord("q", NILE, "I don't know."), "the answer only declines"),
        (EvalRecord("q", NILE, "尼罗河向北流。"), "unsupported script: the answer is CJK, the contexts are Latin"),
        (EvalRecord("q", ["Нил течёт на север."], "The Nile flows north."),
         "unsupported script: the answer is Latin, the contexts are Cyrillic"),
    ],
)  # fmt: skip
def test_undefined(record: EvalRecord, reason: str) -> None:
    """Without claims, contexts or a common script there is no score, and the reason says which."""
    result = hallucination_risk(record)
    assert (None, reason) == (result.score, result.reason)


@pytest.mark.parametrize(
    ("contexts", "right", "wrong"),
    [
        (["尼罗河全长约6650公里，流经苏丹和埃及。"], "尼罗河流经苏丹和埃及。", "亚马逊河位于巴西境内，有很多鱼。"),
        (["東京タワーの高さは333メートルです。"], "東京タワーの高さは333メートルです。", "大阪城は古い石の建物で有名だ。"),
        (["한강은 서울을 지나 서해로 흐른다."], "한강은 서울을 지나 흐른다.", "낙동강은 부산의 큰 항구를 지난다."),
        (["يبلغ طول نهر النيل حوالي 6650 كيلومترا ويمر عبر مصر."], "يمر نهر النيل عبر مصر.", "تقع مدينة باريس في فرنسا الجميلة."),
        (["Волга впадает в Каспийское море и течёт через Казань."], "Волга впадает в Каспийское море.",
         "Енисей проходит мимо Красноярска в тайге."),
        (["Die Krankenversicherungsbeiträge steigen im Januar um drei Prozent."],
         "Die Krankenversicherung steigt im Januar.", "Der Flughafen schließt wegen starker Gewitter."),
        (["Le café de la Gare ouvre à midi, près du musée."], "Le cafe de la gare ouvre à midi.",
         "Les élèves préfèrent nager en été."),
    ],
)  # fmt: skip
def test_languages(contexts: list[str], right: str, wrong: str) -> None:
    """In other scripts, with compounds and with accents, a true claim stays under a made-up one by far."""
    assert risk(tuple(contexts), right) < 0.5 < risk(tuple(contexts), wrong)


TEXT = st.text(alphabet="abcABC 019.:,|{}[]\"'\n-éж水%", max_size=120)


@settings(max_examples=200, deadline=None)
@given(st.lists(TEXT, max_size=4), TEXT, st.randoms())
def test_laws(contexts: list[str], answer: str, random: object) -> None:
    """A score lies in [0, 1], and neither it nor a claim's risk depends on the order of the contexts."""
    shuffled = list(contexts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    first = hallucination_risk(EvalRecord("", contexts, answer))
    second = hallucination_risk(EvalRecord("", shuffled, answer))
    assert first.score == second.score
    assert first.score is None or 0 <= first.score <= 1
    if first.score is not None:
        risks = [[claim["risk"] for claim in result.details["claims"]] for result in (first, second)]
        assert risks[0] == risks[1]


def test_more_conflicts_more_risk() -> None:
    """Each further number that no context gives raises the risk, and another unknown name does too."""
    risks = [risk(NILE, f"The Nile is {figures} km long.") for figures in ("6,650", "12", "12 or 13", "12 or 13 or 14")]
    assert risks == sorted(set(risks))
    assert risk(NILE, "The Nile flows through Spain.") < risk(NILE, "The Nile flows through Spain and Peru.")


def test_the_answers_risk_is_the_formula_of_its_weights() -> None:
    """The score is the curve over mean, greatest and all conflicts, written out plainly."""
    work = Workspace(EvalRecord("", NILE, "The Nile has 12 arms. Penguins dance. It flows north."), EvalConfig())
    _, readings = read_answer(work)
    model = default_model()
    doubts = [
        sum(weight * getattr(reading.signals, name) for weight, name in zip(model.weights, FEATURES, strict=True))
        for reading in readings
    ]
    found = sum(reading.signals.found for reading in readings)
    mixed = 0.6 * sum(doubts) / 3 + 0.4 * max(doubts) + model.all_conflicts * math.log(1 + found)
    expected = 1 / (1 + math.exp(-(model.slope * mixed + model.offset)))
    assert expected == pytest.approx(hallucination_risk(work.record).score, rel=1e-12)


def test_the_methods_page_names_the_suggested_threshold() -> None:
    """The page beside the metric tells the threshold that the code suggests."""
    page = Path(risk_module.__file__).with_name("METHODS.md").read_text(encoding="utf-8")
    assert f"**{SUGGESTED_THRESHOLD}**" in page


def test_the_coefficients_keep_their_signs() -> None:
    """No weight is negative, so that no finding against a claim can lower its risk."""
    model = default_model()
    assert all(weight >= 0 for weight in (*model.weights, model.all_conflicts, model.claim_length))
    assert model.slope > 0
    assert model.claim_slope > 0
    assert model is default_model()


def test_the_curve_has_no_edge() -> None:
    """The logistic function neither overflows nor leaves [0, 1]."""
    assert [0.0, 0.5, 1.0] == [logistic(value) for value in (-1e9, 0.0, 1e9)]


def test_declaration() -> None:
    """The metric is built in, speaks of grounding, and lower is better."""
    metric = get("hallucination_risk")
    assert ("grounding", False, True) == (metric.step, metric.higher_is_better, metric.default)
    assert "hallucination_risk" in evaluate_record(EvalRecord("q", NILE, "It flows north.")).results


SCRIPT = """
from rageval_trace import EvalRecord
from rageval_trace.metrics import hallucination_risk
contexts = {contexts!r}
answer = "The Blue Door has outdoor seating, live music and 12 lamps in Spain. Penguins dance. It opens at 9 am."
print(repr(hallucination_risk(EvalRecord("q", contexts, answer))))
"""


def test_the_hash_seed_changes_nothing() -> None:
    """Three processes with three hash seeds print the same result to the last digit."""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT.format(contexts=CAFE + NILE)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "42")
    }
    assert 1 == len(outputs)


LONG = 60_000


@pytest.mark.parametrize(
    ("contexts", "answer"),
    [
        (["words"], "document not " * (LONG // 13)),
        (["words"], "passage " + " " * LONG + "2 tells."),
        (["a: 1\nb: 2\nc:" + " " * LONG + "x\nd: 4"], "It is 4."),
        (["key: yes\n" * (LONG // 9)], "no key " * (LONG // 7)),
        (["12 " * (LONG // 3)], "13 " * (LONG // 3)),
        (["12 " * (LONG // 3)], "There are 13 of them. " * (LONG // 22)),
        (["x"], "the Ab and " * (LONG // 11)),
        (["x"], "at 5 pm and " * (LONG // 12)),
        (["World Health Organization " * (LONG // 26)], "the WXO said it. " * (LONG // 17)),
        (["[" * LONG], "[" * LONG + "a b"),
        (["\u6c34" * LONG], "\u706b" * LONG),
        (["hours Monday: 9:0-17:0\nhours Tuesday: 9:0-17:0\nx: 1"], "Monday to Tuesday 9 am - 6 pm, " * (LONG // 31)),
    ],
)  # fmt: skip
def test_hostile_text_takes_no_long_time(contexts: list[str], answer: str) -> None:
    """Text made to be slow is scored in time that grows with its length alone."""
    started = time.process_time()
    hallucination_risk(EvalRecord("q", contexts, answer))
    assert time.process_time() - started < 8


def test_what_a_reference_leaves_behind_is_read() -> None:
    """A context's number with a possessive after it is taken out without the metric failing on what remains."""
    result = hallucination_risk(EvalRecord("Open?", ["The pool is open."], "By passage 2's text the pool is open."))
    assert (result.error_type, result.score is not None) == (None, True)


@pytest.mark.parametrize("contexts", [NILE, CAFE])
def test_nothing_is_left_to_the_garbage_collector(contexts: tuple[str, ...]) -> None:
    """Scoring makes no reference cycles, whose collection would stop a busy process."""
    record = EvalRecord("What is there?", contexts, "The Nile is 12,000 km long. The Blue Door has outdoor seating.")
    hallucination_risk(record)
    gc.collect()
    gc.disable()
    try:
        hallucination_risk(record)
        assert gc.collect() == 0
    finally:
        gc.enable()
