"""
No text makes a regular expression, or the scoring of a record, dear out of proportion to its length.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from adversaries import Expression, adversaries, expressions

from rageval_trace import EvalRecord, evaluate_record

pytestmark = pytest.mark.slow

# Four times the text may take this many times as long; a quadratic path would take sixteen times.
GROWTH = 9
# Texts that the package itself keeps short before these look at them.
SHORT_BY_DESIGN = {r"\s*[,;]\s*"}  # the inside of a citation mark has at most 120 characters


def seconds(run: Callable[[], object]) -> float:
    """Return the least processor time of three runs."""
    taken = []
    for _ in range(3):
        began = time.process_time()
        run()
        taken.append(time.process_time() - began)
    return min(taken)


def runs_away(short: Callable[[], object], long: Callable[[], object], unread_s: float) -> str:
    """
    Tell how much longer the long run takes, when that is too much; an empty string when it is not, or when it takes
    too little to read. A busy machine is given three chances.
    """
    before = after = 0.0
    for _ in range(3):
        before, after = seconds(short), seconds(long)
        if after < max(unread_s, GROWTH * before):
            return ""
    return f"{before * 1e3:.1f} ms, then {after * 1e3:.1f} ms"


def test_no_expression_backtracks_out_of_proportion() -> None:
    """
    Four times the hostile text takes about four times as long, for every pattern that modules hold, cached functions
    make or calls are given, by each method that the package calls.
    """
    found = expressions()
    places = " ".join(expression.place for expression in found)
    assert len(found) > 60
    for known in ("claims.sentences._STOP", "text._token", "claims.abstention._refusal", "re.fullmatch("):
        assert known in places
    assert [] == [dear for expression in found for dear in dear_texts(expression)]


def dear_texts(expression: Expression) -> Iterator[str]:
    """Yield where a text is dear, and which, for a pattern that does not see short texts only."""
    if expression.pattern.pattern in SHORT_BY_DESIGN:
        return
    for (what, short), (_, long) in zip(adversaries(expression, 2_000), adversaries(expression, 8_000), strict=True):
        began = time.process_time()
        expression.run(long)
        if time.process_time() - began < 0.01:
            continue
        slow = runs_away(partial(expression.run, short), partial(expression.run, long), 0.01)
        if slow:
            yield f"{expression.place} on {what}: {slow}"


UNITS = [
    " ", "\n", "a", "0", "'", '"', "[", "](", "(", ".", "...", ",", "-", "- a\n", "#", "* ", "> ", "`", "```\n", "|", "|a|\n",
    "a ", "a. ", "A. ", "U.S. ", "a.b", "0,000", "1. ", "1.\n", "[1]", "[1, 2]", "[1-999]", "(source: a)", "【4】", "<a>",
    "10:30 ", "Mon-Fri 9am ", "$5 ", "3.14", "not ", "I do not know. ", "the context does not say ", "however, ", "A B ",
    "\u0301", "中", "。", "😀", "\u200b", "ß", "é ", "http://a.b/", "a@b.", '{"a": 1}', "\x00",
]  # fmt: skip
PLACES: dict[str, Callable[[str], EvalRecord]] = {
    "question": lambda text: EvalRecord(text, ["Fees rose in 2021 [1]."], "Fees rose.", ground_truth="Fees rose."),
    "context": lambda text: EvalRecord("What rose in 2021?", [text, text], "Fees rose by 3 euros [1]."),
    "answer": lambda text: EvalRecord("What rose in 2021?", ["Fees rose in 2021, by 3 euros."], text),
    "answer and context": lambda text: EvalRecord("What rose in 2021?", [text], text, ground_truth=text),
}


@pytest.mark.parametrize("place", PLACES)
def test_no_text_is_dear_to_score(place: str) -> None:
    """All default metrics on hostile texts: four times the text takes about four times as long, and nothing fails."""
    make = PLACES[place]
    for start, unit in [*(("", unit) for unit in UNITS), *(("Fees rose by 3", unit) for unit in UNITS)]:
        short, long = make(start + (unit * 5_000)[:5_000]), make(start + (unit * 20_000)[:20_000])
        results = evaluate_record(long).results
        assert {} == {name: one.error_type for name, one in results.items() if one.error_type}, unit
        found = runs_away(partial(evaluate_record, short), partial(evaluate_record, long), 0.02)
        assert "" == found, f"{start!r} {unit!r}*"
