"""
Read labelled answers and turn them into signals, with the package's own reader.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rageval_trace.metrics.lexical import faithfulness
from rageval_trace.metrics.risk import hallucination_risk, read_answer
from rageval_trace.metrics.risk_model import FEATURES
from rageval_trace.metrics.workspace import open_workspace
from rageval_trace.models import EvalConfig, EvalRecord
from rageval_trace.signals.claim import damped
from rageval_trace.text import tokenize

# Sets that share their texts or their makers are one family and are left out together.
FAMILIES = {"ragtruth_qa": "ragtruth", "ragtruth_summary": "ragtruth", "ragtruth_data2txt": "ragtruth"}
ORDER = "ragtruth_qa ragtruth_summary ragtruth_data2txt mtrag expertqa wice begin halueval_qa summedits".split()


@dataclass
class Table:
    """
    All scored answers as arrays; rows of one answer's claims lie together.

    Args:
        sets: The names, in order.
        of_set: Per answer, the position of its set.
        group: Per answer, its source document.
        bad: Per answer, 1 when it holds something unsupported.
        faithfulness: Per answer.
        groundedness: Per claim threshold of LexicalJudge, per answer.
        claims: Per claim, its signals in the order of `FEATURES`.
        length: Per claim, `ClaimSignals.length`.
        claim_bad: Per claim, 1 when marked by a person, 0 when not, NaN when nobody looked.
        starts: Per answer, its first claim.
        conflicts: Per answer, the damped count of all conflicts.
        undefined: Per set, how many answers have no risk.
        seconds: Per answer, processor time of the whole metric on tokens already made, contexts seen the first time.
        faithfulness_seconds: Per answer, the same of `faithfulness`.
    """

    sets: list[str] = field(default_factory=list)
    of_set: Any = field(default_factory=list)
    group: Any = field(default_factory=list)
    bad: Any = field(default_factory=list)
    faithfulness: Any = field(default_factory=list)
    groundedness: Any = field(default_factory=list)
    claims: Any = field(default_factory=list)
    length: Any = field(default_factory=list)
    claim_bad: Any = field(default_factory=list)
    starts: Any = field(default_factory=list)
    conflicts: Any = field(default_factory=list)
    undefined: dict[str, int] = field(default_factory=dict)
    seconds: Any = field(default_factory=list)
    faithfulness_seconds: Any = field(default_factory=list)

    def seal(self) -> Table:
        """
        Turn the lists into arrays.
        """
        for name, value in vars(self).items():
            if isinstance(value, list) and name != "sets":
                setattr(self, name, np.array(value))
        self.sizes = np.diff(np.append(self.starts, len(self.claims)))
        self.answer_of = np.repeat(np.arange(len(self.bad)), self.sizes)
        return self


CLAIM_THRESHOLDS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """
    Yield the labelled rows of one file.
    """
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def load(folder: Path) -> Table:
    """
    Read every `*.jsonl.gz` of a folder.
    """
    paths = {path.name.removesuffix(".jsonl.gz"): path for path in sorted(folder.glob("*.jsonl.gz"))}
    table = Table(sorted(paths, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name)))
    for number, name in enumerate(table.sets):
        table.undefined[name] = 0
        for row in rows(paths[name]):
            _add(table, number, name, row)
    return table.seal()


def _add(table: Table, number: int, name: str, row: dict[str, Any]) -> None:
    config = EvalConfig()
    record = EvalRecord(row["question"], row["contexts"], row["answer"])
    with open_workspace(record, config) as work:
        if not work.claims:
            table.undefined[name] += 1
            return
        for text in work.tokenized_contexts:
            text.seen_before = False
        work.answer_tokens  # noqa: B018  # like the contexts' tokens made for all metrics, so no cost of either
        started = time.thread_time()
        table.faithfulness.append(faithfulness(record, config).score)
        table.faithfulness_seconds.append(time.thread_time() - started)
        verdicts = work.verdicts
        started = time.thread_time()
        hallucination_risk(record, config)
        table.seconds.append(time.thread_time() - started)
        _, readings = read_answer(work)
    shares = [verdict.score or 0.0 for verdict in verdicts]
    table.groundedness.append(
        [sum([share >= limit - 1e-9 for share in shares]) / len(shares) for limit in CLAIM_THRESHOLDS]
    )
    table.of_set.append(number)
    table.group.append(row["group"])
    table.bad.append(1 - row["label"])
    table.starts.append(len(table.claims))
    table.conflicts.append(damped(sum([reading.signals.found for reading in readings])))
    marked = row.get("claims")
    for reading in readings:
        table.claims.append([getattr(reading.signals, feature) for feature in FEATURES])
        table.length.append(reading.signals.length)
        table.claim_bad.append(float("nan") if marked is None else 1 - _label(reading.claim.text, marked))


def _label(text: str, marked: list[dict[str, Any]]) -> float:
    """
    Return the label of the marked sentence most like a claim.
    """
    words = set(tokenize(text))
    best, label = 0.0, float("nan")
    for sentence in marked:
        theirs = set(tokenize(sentence["text"]))
        alike = len(words & theirs) / max(1, len(words | theirs))
        if alike > best:
            best, label = alike, float(sentence["label"])
    return label
