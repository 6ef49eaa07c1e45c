"""
Compare our sentence splitter with well-kept ones from PyPI, on the table of hard cases.

Each of the others is tried when it is installed (pysbd, sentencex, blingfire, nltk's Punkt without its data: an
untrained model, as no model ships in the wheel). Prints what `docs/claims.md` quotes: right cases by kind, time and
size. A case is right when the sentences are the table's, white space and list markers aside; the kinds `list`,
`markdown` and `wrapped` ask for more than a sentence splitter claims to do, so they are counted apart. So is
`unseen`, written after the rules were done and never mended on.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from rageval_trace.claims import split_sentences

TABLE = Path(__file__).resolve().parents[1] / "tests" / "golden" / "sentences.jsonl"
LAYOUT = ("list", "markdown", "wrapped")
APART = (*LAYOUT, "unseen")
ROUNDS = 5

Splitter = Callable[[str], list[str]]


def ours() -> Splitter:
    return split_sentences


def pysbd() -> Splitter:
    segmenter = importlib.import_module("pysbd").Segmenter(language="en", clean=False)
    return lambda text: list(segmenter.segment(text))


def sentencex() -> Splitter:
    segment = importlib.import_module("sentencex").segment
    return lambda text: list(segment("en", text))


def blingfire() -> Splitter:
    split = importlib.import_module("blingfire").text_to_sentences
    return lambda text: split(text).split("\n")


def nltk() -> Splitter:
    return importlib.import_module("nltk.tokenize.punkt").PunktSentenceTokenizer().tokenize


def naive() -> Splitter:
    return lambda text: re.split(r"(?<=[.!?])\s+", text)


def plain(sentences: list[str]) -> list[str]:
    """Drop white space, list markers and blanks, so that only the cuts are compared."""
    bare = [re.sub(r"^\s*(?:[-*\u2022]|\(?[a-z0-9]{1,2}[.)])\s+|\s+", "", one) for one in sentences]
    return [one for one in bare if one]


def size_of(name: str) -> str:
    """Return the installed size of a distribution and of what it requires, one level deep."""
    if name not in ("pysbd", "sentencex", "blingfire", "nltk"):
        return "0"
    distributions = [name]
    needed = [one for one in importlib.metadata.requires(name) or () if "extra ==" not in one]
    distributions += [re.split(r"[\s<>=!;\[~(]", one)[0] for one in needed]
    total = 0
    for one in distributions:
        for file in importlib.metadata.files(one) or ():
            with contextlib.suppress(OSError):
                total += Path(str(file.locate())).stat().st_size
    return f"{total / 1e6:.1f} MB in {len(distributions)}"


def microseconds(split: Splitter, texts: list[str]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        for text in texts:
            split(text)
        best = min(best, time.process_time() - began)
    return best / len(texts) * 1e6


def splitters() -> Iterator[tuple[str, Splitter]]:
    for make in (ours, pysbd, sentencex, blingfire, nltk, naive):
        try:
            yield make.__name__, make()
        except ImportError:
            print(f"{make.__name__}: not installed")


def main() -> None:
    cases = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
    kinds = Counter(case["kind"] for case in cases)
    prose_kinds = [kind for kind in kinds if kind not in APART]
    prose = [case["text"] for case in cases if case["kind"] not in APART and case["text"].strip()]
    answer = " ".join(case["text"] for case in cases if case["kind"] in ("abbreviation", "number", "quote"))[:500]
    print("| splitter | prose | layout | " + " | ".join(kinds) + " | us a case | us for 500 characters | size |")
    for name, split in splitters():
        right: Counter[str] = Counter()
        for case in cases:
            right[case["kind"]] += plain(split(case["text"])) == plain(case["sentences"])
        layout = sum(right[kind] for kind in LAYOUT)
        cells = [
            name,
            f"{sum(right[kind] for kind in prose_kinds)}/{sum(kinds[kind] for kind in prose_kinds)}",
            f"{layout}/{sum(kinds[kind] for kind in LAYOUT)}",
            *[f"{right[kind]}/{kinds[kind]}" for kind in kinds],
            f"{microseconds(split, prose):.1f}",
            f"{microseconds(split, [answer] * 20):.0f}",
            size_of(name),
        ]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
