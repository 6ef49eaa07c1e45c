"""
Print what this package costs on this machine beside its peers, as a Markdown table:

    python tests/bench/table.py [--rounds 3] [--runs 100] [--write docs/performance.md]

Processor time of the whole process; what is compared is measured in turns, in fresh processes, and the medians' ratio
is the figure. A peer that is not installed is named and left out. Needs the `dev` extra.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import in_process

BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
Costs = dict[str, dict[str, float]]


class Row(NamedTuple):
    """
    A line of the table.
    """

    what: str
    figure: str
    bar: str


def measure(script: str, watchers: Iterable[str], runs: int, rounds: int) -> Costs:
    """
    Return the median cost by watcher and way of running, in microseconds; watchers that do not run are named.
    """
    taken: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    order = list(watchers)
    for turn in range(rounds):
        for watcher in order if turn % 2 else reversed(order):
            command = [sys.executable, str(HERE / script), watcher, str(runs)]
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            if ran.returncode:
                if not turn:
                    print(f"- {script[:-3]}: without {watcher}, for {ran.stderr.strip().splitlines()[-1]}")
                continue
            for way, figure in json.loads(ran.stdout.splitlines()[-1]).items():
                taken[watcher][way].append(figure)
    return {one: {way: statistics.median(all_) for way, all_ in ways.items()} for one, ways in taken.items()}


def added(costs: Costs, watcher: str, way: str) -> float | None:
    """
    Return what a watcher adds to the bare run; None when it or the bare one was not measured.
    """
    if watcher not in costs or "none" not in costs:
        return None
    return costs[watcher][way] - costs["none"][way]


def beside(costs: Costs, watcher: str, way: str, peers: Iterable[str]) -> str:
    """
    Return the ratios of what a watcher adds to what each peer adds, in words.
    """
    ours, found = added(costs, watcher, way), []
    for peer in peers:
        theirs = added(costs, peer, way)
        if ours is None or theirs is None:
            continue
        found.append(f"{ours / theirs:.2f} x {peer}" if theirs > 0 else f"{peer} adds nothing measurable")
    return ", ".join(found) or "not measured"


def total(costs: Costs, watcher: str, way: str) -> str:
    return f"{costs[watcher][way] / costs['none'][way]:.2f} x bare"


def chain_rows(runs: int, rounds: int) -> Iterator[Row]:
    peers = ("openinference", "traceloop", "langfuse")
    mine = ("none", "inline no-op", "scores", "scores and risk", "full", "unsampled")
    costs = measure("chain_child.py", (*mine, *peers), runs, rounds)
    for watcher, about, bar in (
        ("scores", "scores on one span", "0.17 / 0.26 / 0.20 x, total 1.37 x"),
        ("full", "spans of the request and metrics too", "0.27 / 0.43 / 0.32 x, total 1.60 x"),
        ("scores and risk", "scores and `hallucination_risk` on one span", "-"),
    ):
        figure = f"adds {beside(costs, watcher, 'sync', peers)}; total {total(costs, watcher, 'sync')}"
        yield Row(f"LangChain, {about}", figure, bar)
    yield Row(
        "LangChain, 50 at once, scores on one span",
        f"adds {beside(costs, 'scores', 'async', peers)}",
        "0.08 / 0.20 / 0.08 x",
    )
    yield Row("unsampled request", f"adds {beside(costs, 'unsampled', 'sync', ['inline no-op'])}", "1.5 x")
    ours, least = (costs[one]["token"] - costs["none"]["token"] for one in ("scores", "inline no-op"))
    adds = f"{ours:.1f} us" if ours > 0 else "nothing measurable"
    yield Row("streaming, a token", f"adds {adds}, an inline no-op {least:.1f} us", "1.2 x")


def engine_rows(runs: int, rounds: int) -> Iterator[Row]:
    costs = measure("engine_child.py", ("none", "scores", "following", "openinference"), runs, rounds)
    figure = f"adds {beside(costs, 'scores', 'sync', ['openinference'])}; total {total(costs, 'scores', 'sync')}"
    yield Row("LlamaIndex, scores on one span", figure, "0.12 x")
    token, scored = (costs[watcher]["token"] for watcher in ("following", "scores"))
    yield Row("LlamaIndex, a token", f"adds {token:.1f} us, {scored:.1f} us with its scoring", "1 us")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=100, help="a multiple of 50")
    parser.add_argument("--write", type=Path, help="a page to put the table into")
    args = parser.parse_args()
    rows = [
        *chain_rows(args.runs, args.rounds),
        *engine_rows(args.runs, args.rounds),
        *[Row(*row) for row in in_process.rows(args.rounds)],
    ]
    lines = ["| what | measured | bar |", "|---|---|---|", *[f"| {' | '.join(row)} |" for row in rows]]
    print("", *lines, sep="\n")
    if args.write is not None:
        write(args.write, lines)


def write(page: Path, lines: list[str]) -> None:
    """
    Put the table between the page's two marks.
    """
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text("\n".join([before + BEGIN, *lines, END + after]), encoding="utf-8")


if __name__ == "__main__":
    main()
