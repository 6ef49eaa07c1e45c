"""
What a text costs to score grows as its length does: from 10 kB to 10 MB, to 1,000 contexts and 10,000-word answers.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable

import pytest

from rageval_trace import Context, EvalConfig, EvalRecord, evaluate_record

pytestmark = pytest.mark.slow

CONFIG = EvalConfig(now=1_796_000_000)  # type: ignore[arg-type]  # any timestamp is read
# Ten times the text may take this many times as long: a quadratic path would take a hundred times. More than ten, for
# the words of 10 MB leave the processor's caches, and splitting alone then costs several times as much a word.
GROWTH = 25
# Below this, fixed costs hide what the text costs.
READABLE_S = 0.02

NAMES = ["Norway", "Sweden", "Denmark", "Bergen", "Oslo", "Malmo", "Aarhus"]
WORDS = (
    "the monthly fee of a plan is raised by our service desk and costs each customer more unless they cancel".split()
)


def prose(chars: int, seed: int = 1) -> str:
    """Return so many characters of sentences with names, dates, amounts and a few thousand different words."""
    chance = random.Random(seed)  # noqa: S311 - a fixed choice
    made, size = [], 0
    while size < chars:
        words = [chance.choice(WORDS) if chance.random() < 0.8 else f"w{chance.randrange(3000)}" for _ in range(10)]
        day, amount = chance.randrange(1, 29), chance.randrange(5, 900)
        sentence = f"{chance.choice(NAMES)} {' '.join(words)} on {day} May 2021, ${amount}.50. "
        made.append(sentence)
        size += len(sentence)
    return "".join(made)[:chars]


QUESTION = "What is the monthly fee in Norway?"
SHORT = prose(300, seed=2)
CONTEXTS = [Context(str(rank), prose(775, seed=rank)) for rank in range(5)]


def contexts(chars: int) -> EvalRecord:
    """Spread the characters over as many contexts of usual length."""
    text = prose(chars)
    found = [Context(str(start), text[start : start + 775]) for start in range(0, chars, 775)]
    return EvalRecord(QUESTION, found, SHORT, SHORT, relevant_ids={"0", "none"})


SHAPES: dict[str, tuple[Callable[[int], EvalRecord], int]] = {
    "one context": (lambda chars: EvalRecord(QUESTION, [prose(chars), *CONTEXTS], SHORT, SHORT), 10_000_000),
    "one context beyond ASCII": (lambda chars: EvalRecord(QUESTION, [f"\u00e9 {prose(chars)}"], SHORT), 10_000_000),
    "many contexts": (contexts, 10_000_000),
    "answer": (lambda chars: EvalRecord(QUESTION, CONTEXTS, prose(chars), SHORT), 1_000_000),
    "answer beyond ASCII": (lambda chars: EvalRecord(QUESTION, CONTEXTS, f"\u00e9 {prose(chars)}"), 1_000_000),
    "answer of one word": (lambda chars: EvalRecord(QUESTION, CONTEXTS, "fee " * (chars // 4)), 1_000_000),
    "answer of one sentence": (lambda chars: EvalRecord(QUESTION, CONTEXTS, "Fees rose. " * (chars // 11)), 1_000_000),
    "answer without a stop": (lambda chars: EvalRecord(QUESTION, CONTEXTS, prose(chars).replace(".", "")), 1_000_000),
    "answer of new words": (
        lambda chars: EvalRecord(QUESTION, CONTEXTS, " ".join(map("w{}".format, range(chars // 7)))),
        1_000_000,
    ),
    "ground truth": (lambda chars: EvalRecord(QUESTION, CONTEXTS, SHORT, prose(chars)), 10_000_000),
    "question": (lambda chars: EvalRecord(prose(chars), CONTEXTS, SHORT, SHORT), 10_000_000),
}


def seconds(record: EvalRecord) -> float:
    """Return the processor time of scoring a record once, with all default metrics; none may fail."""
    gc.collect()
    gc.freeze()  # so that the collector walks what the scoring makes, and not all that other tests left behind
    began = time.process_time()
    results = evaluate_record(record, CONFIG).results
    taken = time.process_time() - began
    gc.unfreeze()
    assert {} == {name: one.error_type for name, one in results.items() if one.error_type}
    return taken


def curve(make: Callable[[int], EvalRecord], largest: int) -> dict[int, float]:
    """Return the seconds at 10 kB, 100 kB and so on; the least of three, or of two where that is slow."""
    sizes = [size for size in (10_000, 100_000, 1_000_000, 10_000_000) if size <= largest]
    return {size: min(seconds(make(size)) for _ in range(3 if size < 10**6 else 2)) for size in sizes}


@pytest.mark.parametrize("shape", SHAPES)
def test_ten_times_the_text_costs_about_ten_times(shape: str) -> None:
    """Each part of a record may grow a hundred or a thousandfold, and what it costs grows no faster."""
    make, largest = SHAPES[shape]
    found = curve(make, largest)
    shown = ", ".join(f"{size // 1000} kB {taken * 1e3:.0f} ms" for size, taken in found.items())
    print(f"{shape}: {shown}")  # noqa: T201 - the curve, for who runs this with -s
    for size, taken in found.items():
        before = found.get(size // 10)
        assert before is None or taken < GROWTH * max(before, READABLE_S), shown


def test_a_long_answer_beside_many_contexts() -> None:
    """1,000 contexts and an answer of 10,000 words, both ten times the usual, cost what their pairs cost at most."""
    text = prose(775_000)
    many = [Context(str(start), text[start : start + 775]) for start in range(0, 775_000, 775)]
    answer = " ".join(prose(70_000, seed=3).split()[:10_000])
    small = seconds(EvalRecord(QUESTION, many[:100], answer[: len(answer) // 10]))
    large = seconds(EvalRecord(QUESTION, many, answer))
    assert large < 100 * max(small, READABLE_S)
