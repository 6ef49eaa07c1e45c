"""
The HTML page: what it says, and that records can put nothing into it.
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from html.parser import HTMLParser

import pytest

from rageval_trace import Context, EvalConfig, EvalRecord, MissingExtraError, evaluate
from rageval_trace.gates import Threshold, check_gates
from rageval_trace.reports.gating import GateReport
from rageval_trace.reports.highlight import Part, highlighted
from rageval_trace.reports.html_report import PageRecords, to_html

pytest.importorskip("jinja2", reason="the HTML report comes with the extra cli")

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Page(HTMLParser):
    """
    A page's tags with their attributes, and its text.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)

    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def test_a_person_sees_what_broke_first(bike_card, bike_gates):
    """
    The page opens with the gates that did not hold, then the weakest records with claims and documents.
    """
    text = Page(to_html(bike_card, bike_gates)).text()
    order = [
        "Gates could not be judged",
        "groundedness 0.500, gate \u2265 0.85: it is 0.35 below the minimum",
        "the thresholds are old",
        "What broke",
        "bike-005 groundedness 0.000",
        "Relevant but not retrieved: insurance",
        "Metrics",
        "Records",
        "bike-002",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("value", "title", "kind"),
    [(0.1, "Every gate held", "good"), (0.9, "Gate failed", "bad"), (None, "3 records scored", "plain")],
)
def test_the_title_is_the_verdict(bike_card, value, title, kind):
    """
    Heading, window title and colour say the gates' result; without gates, how many records were scored.
    """
    gates = None if value is None else check_gates(bike_card, [Threshold("recall", value)])
    shown = to_html(bike_card, gates)
    assert f"<title>{title} " in shown
    assert f'<header class="verdict {kind}">\n<h1>{title}</h1>' in shown


def test_the_page_needs_nothing_but_itself(hostile):
    """
    No element fetches anything, nothing but our own style and script may run, and no record adds an element.
    """
    _, card, gates = hostile
    shown = to_html(card, gates)
    assert CONTROL.findall(shown) == []
    page = Page(shown)
    allowed = set(
        "html head meta title style body header h1 h2 h3 p b main section div article code span small label input ol li "
        "table thead tbody tr th td button svg rect path script".split()
    )
    assert {tag for tag, _ in page.tags} <= allowed
    attributes = {name for _, given in page.tags for name in given}
    assert not {name for name in attributes if name.startswith("on")}
    assert not attributes & {"src", "href", "style", "srcset", "action", "formaction", "srcdoc"}
    assert [tag for tag, _ in page.tags].count("script") == 1


def test_the_policy_names_our_style_and_script(bike_card):
    """
    The page's own policy allows one style and one script, by the hash of their text, and no connection.
    """
    shown = to_html(bike_card)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', shown)[1]
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        text = re.search(f"<{tag}>(.*?)</{tag}>", shown, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_many_records_are_cut_and_the_worst_kept():
    """
    A page of a long file holds its first records and its worst ones, and the distributions of all.
    """
    records = PageRecords()
    good = [EvalRecord("bridge", ["the bridge"], "the bridge", id=f"good-{at}") for at in range(600)]
    bad = EvalRecord("bridge", ["the bridge"], "an elephant sings", id="bad")
    card = evaluate([*good, bad], metrics=["groundedness"], keep_results=False, on_result=records.add)
    shown = to_html(card, None, records)
    assert "The first 500 of 601 records, then the worst of the others." in shown
    assert shown.count('class="open"') == 501
    assert "<code>bad</code>" in shown
    assert "0.9 to 1.0: 600" in shown


def test_nothing_scored():
    """
    A page without records or values is a page all the same.
    """
    card = evaluate([])
    shown = Page(to_html(card, GateReport())).text()
    assert "0 records scored" in shown
    assert card.diagnosis in shown


def test_without_jinja_the_extra_is_named(bike_card, monkeypatch):
    """
    The message says how to install what the page needs.
    """
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r'the HTML report needs .*pip install "rageval-trace\[cli\]"'):
        to_html(bike_card)


def parts(answer: str | None, contexts: list | None = None, **config: object) -> tuple[Part, ...]:
    chosen = EvalConfig(**config)
    record = EvalRecord("q", contexts if contexts is not None else ["Ada built the bridge."], answer)
    (entry,) = evaluate([record], config=chosen).results
    return highlighted(entry, chosen)


@pytest.mark.parametrize(
    ("answer", "states"),
    [
        ("Ada built the bridge. Elephants sing loudly.", ["supported", "unsupported"]),
        ("Is it? Elephants sing loudly [1]. Ada built the bridge.", ["unjudged", "unsupported", "supported"]),
        ("Is it so? It is. Ada built the bridge.", ["unjudged", "unjudged", "supported"]),
        ("I don't know.", ["unjudged"]),
        ("", []),
        (None, []),
    ],
)
def test_claims_are_marked_in_the_answer(answer, states):
    """
    Each sentence of the answer carries what the judge found, and what claims nothing carries nothing.
    """
    assert [part.state for part in parts(answer)] == states


AARE = EvalRecord(
    "Where does the Aare rise?",
    ["The Aare rises in the Bernese Alps, is 288 km long and flows through Bern into the Rhine."],
    "The Aare is 988 km long and flows through Bern into the Rhine. Otters paint its bridges. It rises in the Alps.",
)
NUMBER, WORDS = "988 is in no context; the contexts say 288", "no context has the words otters, paint, bridges"


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        (None, [("doubtful", NUMBER), ("unsupported", WORDS), ("supported", "")]),
        (["hallucination_risk"], [("doubtful", NUMBER), ("doubtful", WORDS), ("unjudged", "")]),
    ],
)
def test_a_marked_sentence_has_its_cause(metrics, expected):
    """
    What speaks against a sentence goes with it, whether the judge or the risk alone marked it.
    """
    (entry,) = evaluate([AARE], metrics=metrics).results
    assert [(part.state, part.note) for part in highlighted(entry, EvalConfig())] == expected


def test_without_the_risk_the_judge_gives_the_note():
    """
    Where the risk was not computed, a marked sentence has the judge's own reason.
    """
    (entry,) = evaluate([AARE], metrics=["groundedness"]).results
    states = [(part.state, part.note not in ("", WORDS)) for part in highlighted(entry, EvalConfig())]
    assert states == [("supported", False), ("unsupported", True), ("supported", False)]


def test_the_cause_stands_on_the_page():
    """
    Each cause is there to read behind its sentence, in the card and in the opened record, and as its title.
    """
    shown = to_html(evaluate([AARE]))
    for state, sentence, cause in (
        ("doubtful", "The Aare is 988 km long and flows through Bern into the Rhine.", NUMBER),
        ("unsupported", "Otters paint its bridges.", WORDS),
    ):
        marked = f'<span class="{state}" title="{cause}">{sentence}</span> <small class="cause">{cause}</small>'
        assert shown.count(marked) == 2


def test_without_a_judgement_the_answer_is_plain():
    """
    When contexts were not observed, no sentence is called unsupported.
    """
    record = EvalRecord("q", None, "Ada built the bridge.")
    (entry,) = evaluate([record]).results
    assert [part.state for part in highlighted(entry, EvalConfig())] == ["unjudged"]


def test_chunks_carry_what_is_known_of_them():
    """
    A chunk is tagged as unused, relevant, cited and by its age.
    """
    record = EvalRecord(
        "Who built the bridge?",
        [Context("a", "Ada built the bridge.", timestamp="2026-01-01"), Context("b", "Nothing of it.")],
        "Ada built the bridge.",
        relevant_ids=["a"],
        citations=["b"],
        asked_at="2026-01-11",
    )
    shown = " ".join(to_html(evaluate([record])).split())
    tags = [re.findall(r'class="tag">([^<]*)', item) for item in re.findall(r"<li>.*?</li>", shown)]
    assert tags == [["relevant", "10 days old"], ["unused", "cited"]]
