"""
`rageval calibrate FILE`: what a threshold would give on answers like yours.

With labels (`label` in a row or in its metadata: 1 when everything in the answer is supported, else 0) it proposes
thresholds with expected precision, recall and false alarms. Without labels, or from a JSON report, it says how many
breaches in 1,000 answers each threshold would have given.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rageval_trace.cli.files import check_outputs, write_whole
from rageval_trace.errors import DatasetError, GateError
from rageval_trace.evaluation import SCORING_VERSION, evaluate_record
from rageval_trace.gates.calibration import RULES, Alarms, Judged, Rate, alarms_at, budget_threshold, propose
from rageval_trace.io.labels import load_labelled
from rageval_trace.metrics import select
from rageval_trace.models import EvalRecord

__all__ = ["HELP", "NAME", "configure", "execute"]

NAME = "calibrate"
HELP = "Propose thresholds from labelled answers, or count the breaches of unlabelled ones"

_DEFAULT = "hallucination_risk"
_BUDGETS = (1.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
_FEW = 10
_GRID = tuple([step / 10 for step in range(1, 10)])
_BAR = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """
    Add the command's arguments.
    """
    parser.add_argument("file", metavar="FILE", help="records (JSONL, JSON, CSV), labelled or not; or a JSON report")
    parser.add_argument(
        "--metric",
        dest="wanted",
        action="append",
        metavar="NAME",
        help=f"the metric to calibrate ({_DEFAULT}); repeat it for several",
    )
    parser.add_argument(
        "--rule", choices=tuple(RULES), default="balanced", help="the proposal to write, with labels (balanced)"
    )
    parser.add_argument(
        "--budget",
        type=_budget,
        default=50.0,
        metavar="N",
        help="the breaches in 1,000 answers to write, without labels (50)",
    )
    parser.add_argument("--write", metavar="PATH", help="write the thresholds to a gate file")
    parser.add_argument("--force", action="store_true", help="replace a gate file that is there already")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print nothing but JSON")


def execute(args: argparse.Namespace) -> int:
    """
    Score, calibrate, print and write.
    """
    check_outputs([args.write], args.file)
    if args.write and Path(args.write).exists() and not args.force:
        raise GateError(f"{args.write} is there already: --force replaces it")
    metrics = {metric.name: metric.higher_is_better for metric in select(args.wanted or [_DEFAULT])}
    samples = _read(args.file, metrics)
    reports = [_calibrate(sample, args.rule, args.budget) for sample in samples.values()]
    if args.write:
        write_whole(args.write, _gate_file(reports, args.file))
    if args.json:
        print(json.dumps({"file": args.file, "metrics": reports}, indent=2, allow_nan=False))
    else:
        print("\n\n".join(["\n".join(_text(report)) for report in reports]))
        if args.write:
            print(f"wrote {args.write}", file=sys.stderr)
    return 0


def _budget(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1000:
        raise argparse.ArgumentTypeError("expected a number of breaches from 0 to below 1000")
    return value


# ------------------------------------------------------------------------------------------------ reading


@dataclass(slots=True)
class _Sample:
    """
    One metric's scores in a file.
    """

    metric: str
    higher_is_better: bool
    judged: list[Judged] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    undefined: int = 0

    def add(self, score: float | None, supported: bool | None) -> None:
        if score is None:
            self.undefined += 1
            return
        self.scores.append(score)
        if supported is not None:
            self.judged.append(Judged(score, supported))


def _read(path: str, metrics: Mapping[str, bool]) -> dict[str, _Sample]:
    samples = {name: _Sample(name, higher) for name, higher in metrics.items()}
    report = _report_of(path)
    if report is not None:
        for entry in report["records"]:
            for name, sample in samples.items():
                result = entry.get("results", {}).get(name)
                sample.add(None if result is None else result.get("score"), None)
    else:
        for record, supported in _rows(path):
            results = evaluate_record(record, metrics=samples).results
            for name, sample in samples.items():
                sample.add(results[name].score, supported)
    for name, sample in samples.items():
        if not sample.scores:
            raise GateError(f"{path}: {name} is defined for none of its records")
    return samples


def _report_of(path: str) -> Mapping[str, Any] | None:
    """
    Return the JSON report that a file holds; None for any other file.
    """
    where = Path(path)
    if path == "-" or not where.is_file() or not where.name.endswith((".json", ".json.gz")):
        return None
    opener = gzip.open if where.name.endswith(".gz") else open
    try:
        with opener(where, "rt", encoding="utf-8") as file:
            if not file.read(64).lstrip().startswith("{"):
                return None
            file.seek(0)
            content = json.load(file)
    except (OSError, ValueError, RecursionError):
        return None  # the reader of records says what is wrong with it
    is_report = isinstance(content, dict) and "report_version" in content and isinstance(content.get("records"), list)
    return content if is_report else None


def _rows(path: str) -> Iterator[tuple[EvalRecord, bool | None]]:
    """
    Yield each record with its label, from the row or from its metadata.
    """
    for row in load_labelled(path):
        yield row.record, _label(row.record) if row.supported is None else row.supported


def _label(record: EvalRecord) -> bool | None:
    label = record.metadata.get("label")
    if label is None or label == "":
        return None
    if str(label).casefold() not in ("0", "1", "true", "false"):
        raise DatasetError(f"expected 1 (supported) or 0, not {label!r}", field="metadata.label")
    return str(label).casefold() in ("1", "true")


# --------------------------------------------------------------------------------------------- calibrating


def _calibrate(sample: _Sample, rule: str, budget: float) -> dict[str, Any]:
    """
    Return one metric's figures, ready for JSON.
    """
    shared: dict[str, Any] = {
        "metric": sample.metric,
        "higher_is_better": sample.higher_is_better,
        "scored": len(sample.scores),
        "undefined": sample.undefined,
        "labelled": len(sample.judged),
    }
    if sample.judged:
        return shared | _from_labels(sample, rule)
    return shared | _from_traffic(sample, budget)


def _from_labels(sample: _Sample, rule: str) -> dict[str, Any]:
    higher = sample.higher_is_better
    proposals = propose(sample.judged, higher_is_better=higher)
    chosen = next(proposal for proposal in proposals if proposal.rule == rule)
    return {
        "bad": sum([not answer.supported for answer in sample.judged]),
        "proposals": [
            {"rule": one.rule, "threshold": one.threshold, "expected": _figures(one.expected)} for one in proposals
        ],
        "curve": [
            {"threshold": cut, **_figures(alarms_at(sample.judged, cut, higher_is_better=higher))} for cut in _GRID
        ],
        "chosen": {"by": rule, "threshold": chosen.threshold},
    }


def _from_traffic(sample: _Sample, budget: float) -> dict[str, Any]:
    higher = sample.higher_is_better
    budgets = sorted({*_BUDGETS, budget})
    found = [(wanted, *budget_threshold(sample.scores, wanted, higher_is_better=higher)) for wanted in budgets]
    chosen = next(threshold for wanted, threshold, _ in found if wanted == budget)
    return {
        "budgets": [
            {"wanted_per_1000": wanted, "threshold": threshold, "breaches_per_1000": _per_thousand(rate)}
            for wanted, threshold, rate in found
        ],
        "curve": [{"threshold": cut, "breaches_per_1000": _per_thousand(_breaches(sample, cut))} for cut in _GRID],
        "chosen": {"by": f"{budget:g} breaches in 1,000", "threshold": chosen},
    }


def _breaches(sample: _Sample, cut: float) -> Rate:
    everyone = [Judged(score, supported=True) for score in sample.scores]
    return alarms_at(everyone, cut, higher_is_better=sample.higher_is_better).false_alarm_rate


def _per_thousand(rate: Rate) -> dict[str, Any]:
    low, high = rate.interval
    return {"value": round(1000 * (rate.value or 0.0), 1), "interval": [round(1000 * low, 1), round(1000 * high, 1)]}


def _figures(alarms: Alarms) -> dict[str, Any]:
    rates = {"precision": alarms.precision, "recall": alarms.recall, "false_alarm_rate": alarms.false_alarm_rate}
    return {
        name: {"value": rate.value, "interval": list(rate.interval), "part": rate.part, "whole": rate.whole}
        for name, rate in rates.items()
    }


# ------------------------------------------------------------------------------------------------ printing


def _text(report: Mapping[str, Any]) -> Iterator[str]:
    side = "below" if report["higher_is_better"] else "above"
    yield f"{report['metric']}: {report['scored']} answers scored, {report['undefined']} undefined"
    yield from (_labelled_text if report["labelled"] else _traffic_text)(report, side)
    chosen = report["chosen"]
    yield f"Chosen by {chosen['by']}: {report['metric']} = {chosen['threshold']:g}"


def _labelled_text(report: Mapping[str, Any], side: str) -> Iterator[str]:
    bad, good = report["bad"], report["labelled"] - report["bad"]
    yield f"{report['labelled']} have a label: {bad} unsupported, {good} supported"
    if min(bad, good) < _FEW:
        yield f"Fewer than {_FEW} of one kind: the figures below are little more than guesses."
    yield ""
    yield "Expected, measured on answers that did not choose the threshold (95 % intervals)"
    yield f"  {'rule':<11} {'alarm ' + side:<12} {'precision':<22} {'recall':<22} false alarms"
    for proposal in report["proposals"]:
        rates = proposal["expected"]
        shown = [_rate(rates[name]) for name in ("precision", "recall", "false_alarm_rate")]
        yield f"  {proposal['rule']:<11} {proposal['threshold']:<12g} {shown[0]:<22} {shown[1]:<22} {shown[2]}"
    yield ""
    yield f"  {'alarm ' + side:<12} {'recall':<27} false alarms"
    for point in report["curve"]:
        found, false = point["recall"]["value"], point["false_alarm_rate"]["value"]
        yield f"  {point['threshold']:<12g} {_bar(found)} {found:<6.2f} {_bar(false)} {false:.2f}"
    yield ""
    for rule, meaning in RULES.items():
        yield f"  {rule}: {meaning}"


def _traffic_text(report: Mapping[str, Any], side: str) -> Iterator[str]:
    yield "No labels: what each threshold would have given (95 % intervals)"
    yield ""
    yield f"  {'wanted in 1,000':<16} {'alarm ' + side:<12} breaches in 1,000"
    for one in report["budgets"]:
        yield f"  {one['wanted_per_1000']:<16g} {one['threshold']:<12g} {_thousand(one['breaches_per_1000'])}"
    yield ""
    yield f"  {'alarm ' + side:<12} breaches in 1,000"
    for point in report["curve"]:
        share = point["breaches_per_1000"]
        yield f"  {point['threshold']:<12g} {_bar(share['value'] / 1000)} {_thousand(share)}"


def _bar(share: float) -> str:
    return ("#" * round(share * _BAR)).ljust(_BAR, ".")


def _rate(rate: Mapping[str, Any]) -> str:
    low, high = rate["interval"]
    return "none" if rate["value"] is None else f"{rate['value']:.2f} [{low:.2f}, {high:.2f}]"


def _thousand(rate: Mapping[str, Any]) -> str:
    low, high = rate["interval"]
    return f"{rate['value']:g} [{low:g}, {high:g}]"


def _gate_file(reports: Sequence[Mapping[str, Any]], source: str) -> Iterator[str]:
    yield f"# Written by `rageval calibrate {json.dumps(Path(source).name)[1:-1]}`.\n"
    yield "# The values are meant for single answers (thresholds=); a gate holds the mean of a set to them.\n"
    for report in reports:
        chosen = report["chosen"]
        yield f"# {report['metric']}: chosen by {chosen['by']} on {report['labelled'] or report['scored']} answers\n"
        for proposal in report.get("proposals", ()):
            if proposal["rule"] == chosen["by"]:
                rates = proposal["expected"]
                words = ("precision", "recall", "false_alarm_rate")
                yield f"# expected: {'; '.join([f'{word} {_rate(rates[word])}' for word in words])}\n"
    yield f"scoring_version = {SCORING_VERSION}\n\n[gates]\n"
    for report in reports:
        yield f"{report['metric']} = {float(report['chosen']['threshold'])}\n"
