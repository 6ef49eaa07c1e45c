"""
What records hold speaks to no reader of a report: terminal, Markdown, XML, JSON and workflow commands.
"""

from __future__ import annotations

import json
import re
import unicodedata
import xml.dom.minidom

import pytest

from rageval_trace.reports.annotations import github_annotations
from rageval_trace.reports.clean import plain
from rageval_trace.reports.json_report import to_json
from rageval_trace.reports.junit import to_junit
from rageval_trace.reports.markdown import to_markdown
from rageval_trace.reports.text import format_text

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def forbidden(text: str) -> list[str]:
    return CONTROL.findall(text)


def test_the_terminal_gets_no_control_sequence(hostile):
    """
    Plain text holds printable characters and our own line breaks alone, and no line begins a workflow command.
    """
    _, card, gates = hostile
    shown = format_text(card, gates)
    assert forbidden(shown) == []
    assert {unicodedata.category(char) for char in shown if char != "\n"} & {"Cc", "Cs", "Zl", "Zp"} == set()
    assert [line for line in shown.splitlines() if line.lstrip().startswith("::") or "##[" in line] == []
    assert max(map(len, shown.split("\n"))) < 1200
    shown.encode()


def test_markdown_stays_text(hostile):
    """
    A strict reading of the Markdown, with tables and bare links on, finds only the structure that is ours.
    """
    _, card, gates = hostile
    shown = to_markdown(card, gates)
    assert forbidden(shown) == []
    markdown_it = pytest.importorskip("markdown_it", reason="the Markdown parser comes with the extra dev")
    parser = markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    ours = {"<sub>", "</sub>"}
    headings, rows, kinds = [], [], set()
    for token in parser.parse(shown):
        if token.type == "heading_open":
            headings.append(token.tag)
        if token.type in {"th_open", "td_open"}:
            rows.append(token.map)
        if token.type in {"fence", "code_block", "html_block", "hr", "ordered_list_open"}:
            kinds.add(token.type)
        for inner in token.children or ():
            kinds |= {inner.type} if inner.type in {"link_open", "image", "s_open", "em_open"} else set()
            if inner.type == "html_inline":
                assert inner.content in ours
            if inner.type == "text":
                assert re.search(r"@\w|https?://|www\.|#\d|GH-\d|mailto:\w", inner.content) is None
    assert kinds == set()
    assert headings == ["h2", "h2", "h3"]
    assert len(rows) == 9 * (1 + len(card.metrics))
    assert len(shown) < 65_536


def test_junit_is_well_formed(hostile):
    """
    An XML parser reads the report back, whatever the records hold.
    """
    _, card, gates = hostile
    document = xml.dom.minidom.parseString(to_junit(card, gates).encode())  # noqa: S318 - our own output
    assert [node.getAttribute("name") for node in document.getElementsByTagName("testcase")] == [
        "recall >= 0.9",
        "hallucination_rate <= 0.01",
    ]
    assert len(document.getElementsByTagName("failure")) == 2


def test_an_annotation_is_one_command(hostile):
    """
    Each line is one command with one message; no record ends it, adds a property or begins another.
    """
    _, card, gates = hostile
    lines = list(github_annotations(card, gates))
    assert len(lines) == 3
    for line in lines:
        assert forbidden(line) == []
        assert re.fullmatch(r"::(error|warning) title=[^:,\n]*::(?:(?!::)[^\n])*", line)
        assert re.search(r"%(?!25|0A|0D|3A|2C)", line) is None


def test_json_is_ascii_and_keeps_every_character(hostile):
    """
    The JSON report is printable ASCII, and reading it gives the record's own words back.
    """
    text, card, gates = hostile
    shown = to_json(card, gates)
    assert re.fullmatch(r"[ -~\n]+", shown)
    (found,) = json.loads(shown)["records"]
    assert found["question"] == text


def test_all_hostile_records_at_once(hostile_card):
    """
    A comment about many bad records stays within what GitHub takes.
    """
    assert len(to_markdown(hostile_card)) < 65_536
    assert forbidden(format_text(hostile_card)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" a  b\n", "a b"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;https://e.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b(B\x1bMx", "x"),
        ("a\x1b", "a"),
        ("zero\u200bwidth", "zerowidth"),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"),
        ("日本語", "日本語"),
        ("##[group]x", "# #[group]x"),
        ("\ud800x", "\ufffdx"),
    ],
)
def test_plain(text, expected):
    """
    Control sequences go as a whole, scripts and emoji stay as they are.
    """
    assert expected == plain(text)


@pytest.mark.parametrize(
    ("limit", "expected"), [(None, "abc def"), (7, "abc def"), (6, "abc d\u2026"), (5, "abc\u2026"), (1, "\u2026")]
)
def test_plain_cuts(limit, expected):
    """
    A text past its limit ends in an ellipsis, which counts.
    """
    assert expected == plain("abc def", limit)
