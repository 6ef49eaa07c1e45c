"""
The rows of the table that need no framework: scoring, the risk, rankings, bytes on the wire, long texts, the import.
"""

from __future__ import annotations

import importlib.util
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import throughput
from plain_metrics import record_of
from prose import pages, sentences

from rageval_trace import Context, EvalConfig, EvalRecord, Monitor, evaluate_record
from rageval_trace.metrics import ranking, select
from rageval_trace.metrics.workspace import Workspace, open_workspace

RANKED = ("hit_rate", "precision", "recall", "mrr", "ndcg")
MEASURES = {"P_5", "recall_5", "recip_rank", "ndcg_cut_5", "success_5"}
APPLICATION = "import langchain_core.callbacks.manager, langchain_core.runnables.base"
IMPORTS = {
    "ours": "import rageval_trace_langchain",
    "OpenInference": "import openinference.instrumentation.langchain",
}
CONFIG = EvalConfig(now=1_796_000_000)  # type: ignore[arg-type]  # any timestamp is read


def rows(rounds: int) -> Iterator[tuple[str, str, str]]:
    """
    Yield (what, figure, bar).
    """
    yield scoring(rounds)
    yield risk()
    yield from rankings()
    yield wire()
    yield long_texts()
    yield imports(3 * rounds)


def seconds(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def in_turns(ways: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """
    Return each way's median seconds.
    """
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds):
        for name in ways if turn % 2 else reversed(ways):
            taken[name].append(seconds(ways[name]))
    return {name: statistics.median(all_) for name, all_ in taken.items()}


def scoring(rounds: int) -> tuple[str, str, str]:
    bare, cached = (throughput.measure(None, 100, rounds, chars, warm=False) for chars in (0, 500_000))
    warm = throughput.measure(None, 100, rounds, 10**9, warm=True)
    figure = f"{bare:.1f} x as fast as plain cold, {warm:.1f} x warm; a cache that always misses {bare / cached:.2f} x"
    return "scoring, the 16 metrics", figure, "5 x, 6.5 x; 1.25 x"


def risk() -> tuple[str, str, str]:
    """
    Time the risk on records whose tokens, claims and verdicts the other metrics made already.
    """
    (metric,) = select(["hallucination_risk"])
    taken = []
    for record in [record_of(row) for row in pages(200)]:
        with open_workspace(record, CONFIG):
            for other in select(["faithfulness", "groundedness", "context_precision"]):
                other.compute(record, CONFIG)
            taken.append(seconds(partial(metric.compute, record, CONFIG)))
    return "hallucination_risk, on tokens already made", f"{statistics.median(taken) * 1e3:.2f} ms", "0.3 ms"


def formulas(record: EvalRecord) -> tuple[float, ...]:
    """
    Return the five ranking values alone, without their explanations.
    """
    found = ranking._find_hits(Workspace(record, CONFIG))
    if found is None:
        return ()
    k, relevant, hits = found
    gain = ranking._binary_gain(hits) / ranking._binary_ideal(min(k, len(relevant)))
    return float(bool(hits)), len(hits) / k, len(hits) / len(relevant), 1 / hits[0][0] if hits else 0.0, gain


def rankings() -> Iterator[tuple[str, str, str]]:
    if importlib.util.find_spec("pytrec_eval") is None:
        print("- rankings: without pytrec_eval, which is not installed")
        return
    import pytrec_eval

    records = [record_of(row) for row in pages(1000)]
    truth = {one.id: dict.fromkeys(one.relevant_ids or (), 1) for one in records}
    run = {one.id: {c.id: -float(rank) for rank, c in enumerate(one.contexts or ())} for one in records}
    batch = pytrec_eval.RelevanceEvaluator(truth, MEASURES)
    chosen = select(RANKED)

    def one_by_one() -> None:
        for key in list(truth)[:200]:
            pytrec_eval.RelevanceEvaluator({key: truth[key]}, MEASURES).evaluate({key: run[key]})

    took = in_turns(
        {
            "batch": lambda: batch.evaluate(run),
            "formulas": lambda: [formulas(one) for one in records],
            "results": lambda: [evaluate_record(one, CONFIG, metrics=chosen) for one in records],
            "single": one_by_one,
        }
    )
    each = {name: taken / (200 if name == "single" else 1000) * 1e6 for name, taken in took.items()}
    figure = f"{each['formulas']:.1f} us, {each['formulas'] / each['batch']:.2f} x"
    yield "ranking, the five values, beside pytrec_eval's batch", figure, "1 x"
    figure = f"{each['results']:.1f} us, {each['results'] / each['single']:.2f} x"
    yield "ranking, explained results, beside pytrec_eval a query at a time", figure, "-"


def wire() -> tuple[str, str, str]:
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    page = pages(1)[0]
    with Monitor(tracer_provider=provider).run(page["question"]) as run:
        run.contexts(page["retrieved_contexts"])
        run.answer(page["answer"])
    spans = [span for span in exporter.get_finished_spans() if span.name.startswith("evaluation")]
    (span,) = encode_spans(spans).resource_spans[0].scope_spans[0].spans
    return "the evaluation span, without content", f"{span.ByteSize()} bytes", "1500 bytes"


def long_texts() -> tuple[str, str, str]:
    texts = {size: sentences(size, random.Random(1)) for size in (10_000, 100_000, 1_000_000)}  # noqa: S311
    context, answer = [
        [seconds(partial(evaluate_record, make(text), CONFIG)) * 1e3 for text in texts.values()]
        for make in (
            lambda text: EvalRecord("What is the monthly fee?", [Context("1", text)], "The fee is 50 euros."),
            lambda text: EvalRecord("What is the monthly fee?", ["The fee is 50 euros a month in Oslo."], text),
        )
    ]
    shown = [" / ".join(f"{taken:.0f}" for taken in taken_of) for taken_of in (context, answer)]
    return "10 kB / 100 kB / 1 MB", f"context {shown[0]} ms, answer {shown[1]} ms", "linear"


def imports(rounds: int) -> tuple[str, str, str]:
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, statement in IMPORTS.items():
            script = f"{APPLICATION}\nfrom time import process_time as now\nt = now()\n{statement}\nprint(now() - t)"
            ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
            if ran.returncode == 0:
                found.setdefault(name, []).append(float(ran.stdout.split()[-1]) * 1e3)
    shown: dict[str, Any] = {name: f"{statistics.median(taken):.0f} ms" for name, taken in found.items()}
    return "import over LangChain's", ", ".join(f"{name} {taken}" for name, taken in shown.items()), "25 ms"
