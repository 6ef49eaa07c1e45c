"""
Print what the sixteen metrics cost beside the plain definition of the same text rules:

    python tests/bench/throughput.py [RECORDS.jsonl.gz] [--records 300] [--rounds 5]

Both score the same records (made-up ones without a file), in turns (A B B A ...), freshly loaded each time, in processor time; the medians' ratio is
the figure. `warm` scores records whose contexts were seen before.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from plain_metrics import PLAIN, record_of
from prose import pages

from rageval_trace import EvalConfig, EvalRecord, evaluate_record
from rageval_trace.metrics import workspace
from rageval_trace.tokenized import TokenCache

CONFIG = EvalConfig(now=1_796_000_000)  # type: ignore[arg-type]  # any timestamp is read


def plain(record: EvalRecord) -> dict[str, float | None]:
    return {name: compute(record, CONFIG) for name, compute in PLAIN.items()}


def ours(record: EvalRecord) -> dict[str, float | None]:
    return {name: one.score for name, one in evaluate_record(record, CONFIG, metrics=PLAIN).results.items()}


def load(path: Path | None, count: int) -> list[EvalRecord]:
    if path is None:
        return [record_of(row) for row in pages(count)]
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [record_of(json.loads(line)) for line in itertools.islice(lines, count)]


def seconds(score: Callable[[EvalRecord], object], records: list[EvalRecord]) -> float:
    gc.collect()
    began = time.process_time()
    for record in records:
        score(record)
    return time.process_time() - began


def measure(path: Path | None, count: int, rounds: int, cache_chars: int, *, warm: bool) -> float:
    """
    Return how many times as fast ours is.
    """
    workspace._cache = TokenCache(cache_chars)
    if warm:
        seconds(ours, load(path, count))
    taken: dict[Callable[[EvalRecord], object], list[float]] = {plain: [], ours: []}
    for turn in range(rounds):
        for score in (plain, ours) if turn % 2 else (ours, plain):
            if not warm:
                workspace._cache = TokenCache(cache_chars)
            taken[score].append(seconds(score, load(path, count)))
    return statistics.median(taken[plain]) / statistics.median(taken[ours])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, nargs="?")
    parser.add_argument("--records", dest="count", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    for record in load(args.records, args.count):
        assert plain(record).keys() == ours(record).keys()
        for (name, expected), found in zip(plain(record).items(), ours(record).values(), strict=True):
            agree = expected == found or (expected is not None and found is not None and abs(expected - found) < 1e-12)
            assert agree, f"{record.id}: {name} is {found}, not {expected}"
    print(f"equal on {args.count} records")
    large = 10**9
    print(f"cold, no cache   {measure(args.records, args.count, args.rounds, 0, warm=False):5.2f} x plain")
    print(f"cold, cache      {measure(args.records, args.count, args.rounds, 500_000, warm=False):5.2f} x plain")
    print(f"warm             {measure(args.records, args.count, args.rounds, large, warm=True):5.2f} x plain")


if __name__ == "__main__":
    main()
