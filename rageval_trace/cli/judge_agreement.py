"""
`rageval judge-agreement`: hold judges to people's labels, and to each other.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import Any

from rageval_trace.claims import split_claims
from rageval_trace.errors import RagEvalError
from rageval_trace.io.labels import Labelled, load_labelled
from rageval_trace.judges.agreement import auroc, confusion
from rageval_trace.judges.base import FALLBACK, Judge, RecordJudge
from rageval_trace.judges.named import NAMES, make_judge
from rageval_trace.models import Verdict

__all__ = ["HELP", "NAME", "configure", "execute"]

NAME = "judge-agreement"
HELP = "Measure how far judges agree with human labels, and with each other"

# From this faithfulness on, an answer counts as supported by a judge of whole records.
_SUPPORTED_FROM = 0.9


def configure(parser: argparse.ArgumentParser) -> None:
    """
    Add the command's arguments.
    """
    parser.add_argument("labels", metavar="LABELS", help="JSONL with question, contexts, answer, label and/or claims")
    parser.add_argument(
        "--judge",
        dest="judges",
        action="append",
        metavar="NAME",
        help=f"a judge to measure: {', '.join(NAMES)}, or =module:Class; repeat it for several (default: lexical)",
    )
    parser.add_argument(
        "--unit",
        choices=("auto", "claim", "answer"),
        default="auto",
        help="compare labelled claims or whole answers; auto takes claims where the first record has them",
    )
    parser.add_argument("--limit", type=_count, metavar="N", help="read the first N records only")
    parser.add_argument("--allow-fallback", action="store_true", help="accept verdicts that a judge's fallback gave")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print nothing but JSON")


def execute(args: argparse.Namespace) -> int:
    """
    Measure and print.

    Returns:
        0; or 2 when some verdicts are a fallback's (without `--allow-fallback`) or could not be given.
    """
    rows = list(islice(load_labelled(args.labels), args.limit))
    by_claim = args.unit == "claim" or (args.unit == "auto" and bool(rows) and bool(rows[0].claims))
    measured = [_measure(word, rows, by_claim=by_claim) for word in dict.fromkeys(args.judges or ["lexical"])]
    report = _report(measured, "claim" if by_claim else "answer")
    print(json.dumps(report, indent=2, allow_nan=False) if args.json else _text(report))
    return max([_complain(one, allow_fallback=args.allow_fallback) for one in measured])


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("expected a whole number of at least 1")
    return int(text)


@dataclass(slots=True)
class _Measured:
    """
    What one judge said of every labelled item, in the file's order; None where it said nothing.
    """

    name: str
    labels: list[bool] = field(default_factory=list)
    supported: list[bool | None] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    fallbacks: int = 0

    def add(self, label: bool, supported: bool | None, score: float, *, fallback: bool) -> None:
        self.labels.append(label)
        self.supported.append(supported)
        self.scores.append(score)
        self.fallbacks += fallback


def _measure(word: str, rows: Sequence[Labelled], *, by_claim: bool) -> _Measured:
    judge = make_judge(word)
    measured = _Measured(word)
    for row in rows:
        if by_claim:
            _add_claims(measured, judge, row)
        elif row.supported is not None and row.record.contexts is not None and row.record.answer is not None:
            _add_answer(measured, judge, row, row.supported)
    if not measured.labels:
        raise RagEvalError(
            f"no {'claim' if by_claim else 'answer'} has a label: expected 'claims' or 'label' in the file"
        )
    return measured


def _add_claims(measured: _Measured, judge: Judge | RecordJudge, row: Labelled) -> None:
    if not isinstance(judge, Judge):
        raise RagEvalError(f"judge {measured.name!r} judges whole records: compare it with --unit answer")
    if not row.claims or row.record.contexts is None:
        return
    verdicts = judge.judge_claims([text for text, _ in row.claims], row.record.contexts)
    for (_, label), verdict in zip(row.claims, verdicts, strict=True):
        said = None if verdict.error_type else verdict.supported
        measured.add(label, said, _score(verdict), fallback=verdict.judge == FALLBACK)


def _add_answer(measured: _Measured, judge: Judge | RecordJudge, row: Labelled, label: bool) -> None:
    record = row.record
    if not isinstance(judge, Judge):
        result = judge.judge(record)["faithfulness"]
        score = result.score or 0.0
        said = None if result.score is None else score >= _SUPPORTED_FROM
        measured.add(label, said, score, fallback=result.judge == FALLBACK)
        return
    claims = [claim.text for claim in split_claims(record.answer or "")]
    verdicts = judge.judge_claims(claims, record.contexts or ())
    failed = any([verdict.error_type for verdict in verdicts])
    supported = all([verdict.supported for verdict in verdicts])
    score = sum(map(_score, verdicts)) / len(verdicts) if verdicts else 1.0
    fallback = any([verdict.judge == FALLBACK for verdict in verdicts])
    measured.add(label, None if failed else supported, score, fallback=fallback)


def _score(verdict: Verdict) -> float:
    return float(verdict.supported) if verdict.score is None else verdict.score


def _report(measured: Sequence[_Measured], unit: str) -> dict[str, Any]:
    pairs = [
        {"judges": [one.name, other.name], **_figures(one.supported, other.supported)}
        for one, other in combinations(measured, 2)
    ]
    return {"unit": unit, "judges": [_against_labels(one) for one in measured], "pairs": pairs}


def _against_labels(one: _Measured) -> dict[str, Any]:
    kept = [index for index, said in enumerate(one.supported) if said is not None]
    area = auroc([one.labels[index] for index in kept], [one.scores[index] for index in kept])
    counts = {"fallbacks": one.fallbacks, "failed": len(one.labels) - len(kept)}
    return {"judge": one.name, **_figures(one.labels, one.supported), "auroc": area, **counts}


def _figures(reference: Iterable[bool | None], other: Iterable[bool | None]) -> dict[str, Any]:
    pairs = [
        (left, right) for left, right in zip(reference, other, strict=True) if left is not None and right is not None
    ]
    table = confusion([left for left, _ in pairs], [right for _, right in pairs])
    cells = {"both": table.both, "missed": table.missed, "false": table.false, "neither": table.neither}
    return {"items": table.total, "kappa": table.kappa, "accuracy": table.accuracy, "confusion": cells}


_HEAD = (
    f"{'judge':<24}{'items':>7}{'kappa':>8}{'accuracy':>10}{'AUROC':>8}"
    f"{'yes/yes':>9}{'yes/no':>8}{'no/yes':>8}{'no/no':>7}   (label/judge)"
)


def _text(report: dict[str, Any]) -> str:
    lines = [f"{report['unit']}s against human labels (supported is yes)", _HEAD]
    lines += [f"{one['judge']:<24}{_row(one)}" for one in report["judges"]]
    if report["pairs"]:
        lines += ["", "judges against each other"]
        lines += [f"{' / '.join(pair['judges']):<24}{_row(pair)}" for pair in report["pairs"]]
    return "\n".join(lines)


def _row(figures: dict[str, Any]) -> str:
    cells = figures["confusion"]
    area = _number(figures["auroc"]) if "auroc" in figures else ""
    return (
        f"{figures['items']:>7}{_number(figures['kappa']):>8}{_number(figures['accuracy']):>10}{area:>8}"
        f"{cells['both']:>9}{cells['missed']:>8}{cells['false']:>8}{cells['neither']:>7}"
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _complain(one: _Measured, *, allow_fallback: bool) -> int:
    failed = one.supported.count(None)
    code = 0
    if failed:
        print(f"judge {one.name!r}: {failed} of {len(one.labels)} items could not be judged", file=sys.stderr)
        code = 2
    if one.fallbacks:
        print(f"judge {one.name!r}: its fallback judged {one.fallbacks} of {len(one.labels)} items", file=sys.stderr)
        code = code if allow_fallback else 2
    return code
