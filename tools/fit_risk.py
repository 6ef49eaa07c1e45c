"""
Fit and measure `hallucination_risk` on labelled answers. Development only: needs numpy and scipy.

    python tools/fit_risk.py --report FOLDER      print every figure of METHODS.md
    python tools/fit_risk.py --write FOLDER       fit anew and write the coefficients file

FOLDER holds `*.jsonl.gz` files of rows `{dataset, group, question, contexts, answer, label, claims?}`; label 1 says
that everything in the answer is supported.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from rageval_trace.metrics.risk_model import FEATURES, RiskModel, default_model  # noqa: E402
from tools.risk_lab import measures  # noqa: E402
from tools.risk_lab.data import CLAIM_THRESHOLDS, Table, load  # noqa: E402
from tools.risk_lab.fitting import GREATEST, Weights, balance, curve, fit  # noqa: E402

COEFFICIENTS = ROOT / "rageval_trace" / "metrics" / "risk.coefficients.json"


def main() -> None:
    """
    Run the command line.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--report", action="store_true", help="print the figures of the shipped coefficients")
    parser.add_argument("--write", action="store_true", help="fit anew and write the coefficients file")
    args = parser.parse_args()
    table = load(args.folder)
    if args.write:
        write(table)
    if args.report or not args.write:
        report(table)


def write(table: Table) -> None:
    """
    Fit on every set and write the coefficients file.
    """
    sets = range(len(table.sets))
    weights = fit(table, sets)
    everything = np.ones(len(table.bad), bool)
    slope, offset = curve(weights.doubt(table), table.bad, balance(table.bad, table.of_set, everything, sets))
    looked = ~np.isnan(table.claim_bad)
    of_claim = table.of_set[table.answer_of]
    marked = sorted(set(of_claim[looked]))
    bad = np.nan_to_num(table.claim_bad)
    claim_slope, claim_offset = curve(weights.claim_rank(table), bad, balance(bad, of_claim, looked, marked))
    content = {
        "version": default_model().version,
        "weights": {name: round(float(weight), 3) for name, weight in zip(FEATURES, weights.claim, strict=True)},
        "all_conflicts": round(weights.all_conflicts, 3),
        "greatest": GREATEST,
        "slope": round(slope, 4),
        "offset": round(offset, 4),
        "claim_slope": round(claim_slope, 4),
        "claim_offset": round(claim_offset, 4),
        "claim_length": round(weights.length, 3),
    }
    COEFFICIENTS.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    default_model.cache_clear()


def shipped(model: RiskModel) -> Weights:
    """
    Return the weights of the coefficients file.
    """
    return Weights(np.array(model.weights), model.all_conflicts, model.claim_length)


# -------------------------------------------------------------------------------------------------- report


def report(table: Table) -> None:
    """
    Print the tables of METHODS.md.
    """
    model = default_model()
    weights = shipped(model)
    doubt = weights.doubt(table)
    one_out, one_out_ranks, one_out_weights = measures.left_out(table)
    family_out, family_out_ranks, _ = measures.left_out(table, families=True)
    _ranking(table, doubt, one_out, family_out)
    _cuts(table, one_out, one_out_weights)
    _naming(table, {"shipped": weights.claim_rank(table), "set out": one_out_ranks, "family out": family_out_ranks})
    _threshold(table, 1 / (1 + np.exp(-(model.slope * doubt + model.offset))))
    _reliability(table, 1 / (1 + np.exp(-(model.slope * doubt + model.offset))))
    _lexical(table)
    _cost(table)


def _row(*cells: object) -> None:
    print("| " + " | ".join([f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells]) + " |")


def _head(title: str, *cells: str) -> None:
    print(f"\n### {title}\n")
    _row(*cells)
    _row(*["---"] * len(cells))


def _ranking(table: Table, doubt: np.ndarray, one_out: np.ndarray, family_out: np.ndarray) -> None:
    unfaithful = 1 - table.faithfulness
    columns = [measures.by_set(table, score) for score in (unfaithful, doubt, one_out, family_out)]
    _head(
        "Ranking: AUROC by set", "set", "answers (undefined)", "bad", "1 - faithfulness", "shipped", "set left out",
        "family left out", "set left out - faithfulness",
    )  # fmt: skip
    for number, name in enumerate(table.sets):
        rows = table.of_set == number
        size = f"{rows.sum()} ({table.undefined[name]})"
        values = [float(column[number]) for column in columns]
        _row(name, size, float(table.bad[rows].mean()), *values, values[2] - values[0])
    means = [float(column.mean()) for column in columns]
    _row("mean", f"{len(table.bad)} ({sum(table.undefined.values())})", "", *means, means[2] - means[0])
    spans = [
        measures.interval(table, measures.macro_auroc(table, score))
        for score in (unfaithful, doubt, one_out, family_out)
    ]
    first, second = measures.macro_auroc(table, one_out), measures.macro_auroc(table, unfaithful)
    spans.append(measures.interval(table, lambda drawn: first(drawn) - second(drawn)))
    _row("95 % interval of the mean", "", "", *[f"{low:.3f} to {high:.3f}" for low, high in spans])


def _cuts(table: Table, one_out: np.ndarray, one_out_weights: list[Weights]) -> None:
    columns = [
        measures.one_cut_left_out(table, one_out_weights),
        measures.calibrated(table, one_out),
        measures.calibrated(table, one_out, labelled=50),
    ]
    _head("Balanced accuracy", "set", "one cut, made on the other sets", "own cut, five folds", "own cut, 50 answers")
    for number, name in enumerate(table.sets):
        _row(name, *[float(column[number]) for column in columns])
    _row("mean", *[float(column.mean()) for column in columns])


def _naming(table: Table, doubts: dict[str, np.ndarray]) -> None:
    _head("The claim named is a marked one", "set", "broken answers", "by chance", *doubts)
    for number, name in enumerate(table.sets):
        found = [measures.naming(table, doubt, number) for doubt in doubts.values()]
        if found[0][2]:
            _row(name, found[0][2], found[0][1], *[hit for hit, _, _ in found])


def _threshold(table: Table, risk: np.ndarray) -> None:
    limits = (0.4, 0.5, 0.55, 0.6, 0.7)
    _head(
        "Alarms by threshold: recall / false alarms", "set", *[f"risk > {limit}" for limit in limits],
    )  # fmt: skip
    kept: list[list[tuple[float, float]]] = []
    for number, name in enumerate(table.sets):
        rows = table.of_set == number
        bad, own = table.bad[rows], risk[rows]
        pairs = [(float((own[bad == 1] > limit).mean()), float((own[bad == 0] > limit).mean())) for limit in limits]
        kept.append(pairs)
        _row(name, *[f"{recall:.2f} / {false:.2f}" for recall, false in pairs])
    means = np.array(kept).mean(axis=0)
    _row("mean", *[f"{recall:.2f} / {false:.2f}" for recall, false in means])
    _row("balanced accuracy", *[f"{(recall + 1 - false) / 2:.3f}" for recall, false in means])


def _reliability(table: Table, risk: np.ndarray) -> None:
    weights = balance(table.bad, table.of_set, np.ones(len(risk), bool), range(len(table.sets)))
    _head("Reliability at even odds", "risk", "share of answers", "mean risk", "share bad")
    for low in np.arange(0, 1, 0.1):
        rows = (risk >= low) & (risk < low + 0.1)
        mass = weights[rows].sum()
        if mass > 0:
            mean, bad = (weights * risk)[rows].sum() / mass, (weights * table.bad)[rows].sum() / mass
            _row(f"{low:.1f}-{low + 0.1:.1f}", float(mass), float(mean), float(bad))


def _lexical(table: Table) -> None:
    _head(
        "LexicalJudge by claim threshold: AUROC of groundedness; good answers under a gate of 0.85",
        "set", *[f"{limit:g}" for limit in CLAIM_THRESHOLDS],
    )  # fmt: skip
    columns = [measures.by_set(table, -table.groundedness[:, at]) for at in range(len(CLAIM_THRESHOLDS))]
    under: list[list[float]] = []
    for number, name in enumerate(table.sets):
        good = (table.of_set == number) & (table.bad == 0)
        under.append([float((table.groundedness[good, at] < 0.85).mean()) for at in range(len(CLAIM_THRESHOLDS))])
        _row(name, *[f"{column[number]:.3f}; {share:.0%}" for column, share in zip(columns, under[-1], strict=True)])
    means = np.array(under).mean(axis=0)
    _row("mean", *[f"{column.mean():.3f}; {share:.0%}" for column, share in zip(columns, means, strict=True)])


def _cost(table: Table) -> None:
    _head(
        "Cost in microseconds, on tokens already made", "set", "median", "99th percentile", "faithfulness, median",
        "risk / faithfulness",
    )  # fmt: skip
    everything = np.ones(len(table.bad), bool)
    for name, rows in [
        *[(name, table.of_set == number) for number, name in enumerate(table.sets)],
        ("all", everything),
    ]:
        own, other = table.seconds[rows] * 1e6, table.faithfulness_seconds[rows] * 1e6
        middle, unit = float(np.median(own)), float(np.median(other))
        _row(name, round(middle), round(float(np.percentile(own, 99))), round(unit), f"{middle / unit:.1f}")


if __name__ == "__main__":
    main()
