"""
What goes wrong in production, with figures: each costs scores at most, is counted, and never hurts the host.
"""

from __future__ import annotations

import asyncio
import http.server
import json
import logging
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rageval_trace import Context, EvalRecord, JsonlSink, Monitor, Settings
from rageval_trace.live.capture import Capture
from rageval_trace.live.captures.saved import CaptureReader
from rageval_trace.live.monitor import OUTCOMES
from rageval_trace.telemetry.anchor import Anchor

ANSWER = "It is 82 metres tall."


def outcomes(monitor: Monitor) -> dict[str, int]:
    return {name: count for name, count in monitor.stats.items() if name in OUTCOMES and count}


def ask(monitor: Monitor, answer: str = ANSWER, document: str = ANSWER) -> None:
    with monitor.run("How tall is it?") as run:
        run.contexts([document])
        run.answer(answer)


@pytest.fixture
def unavailable() -> Iterator[str]:
    """
    Serve nothing but 503 on loopback, and give the address.
    """

    class Refuse(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(503)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refuse) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/traces"
        server.shutdown()


@pytest.mark.parametrize("fault", ["down", "503", "slow", "raising"])
def test_an_exporter_that_fails_holds_up_nobody(fault: str, unavailable: str) -> None:
    """A back end that is down, refuses, hangs or breaks costs its spans; every request is scored and counted."""
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

    release = threading.Event()

    class Broken(SpanExporter):
        def export(self, spans: Any) -> SpanExportResult:
            if fault == "slow":
                release.wait(5)
                return SpanExportResult.SUCCESS
            raise ConnectionError

    address = "http://127.0.0.1:9/v1/traces" if fault == "down" else unavailable
    exporter = OTLPSpanExporter(endpoint=address, timeout=1) if fault in ("down", "503") else Broken()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(
        BatchSpanProcessor(exporter, schedule_delay_millis=20, max_queue_size=64, max_export_batch_size=16)
    )
    monitor = Monitor(tracer_provider=provider)
    ask(monitor)
    waits = []
    logging.disable(logging.CRITICAL)
    try:
        for _ in range(200):
            began = time.perf_counter()
            ask(monitor)
            waits.append(time.perf_counter() - began)
        closed = monitor.close(1)
    finally:
        release.set()
        provider.shutdown()
        logging.disable(logging.NOTSET)

    assert {"scored": 201} == outcomes(monitor)
    assert closed
    assert sorted(waits)[100] < 0.02


def test_a_document_of_ten_megabytes(telemetry: Any, tmp_path: Path) -> None:
    """It is cut at once, so that the request does not wait for it; a record handed in whole waits in the background."""
    document = "The tower is 82 metres tall. " * 350_000
    monitor = Monitor(on_result=JsonlSink(tmp_path, sample_rate=1.0, duplicates=0), **telemetry.providers)
    ask(monitor)
    began = time.perf_counter()
    ask(monitor, document=document, answer="A long answer.")
    monitor.score(EvalRecord("How tall is it?", [document], ANSWER))
    took = time.perf_counter() - began

    assert monitor.close(60)
    assert took < 0.5
    assert 3 == monitor.stats["scored"] + monitor.stats["timeout"]
    kept = {saved.run_id: saved.fields["truncated"] for saved in CaptureReader(tmp_path)}
    assert [False, True, True] == list(kept.values())


def test_a_clock_that_goes_backwards(monkeypatch: pytest.MonkeyPatch, telemetry: Any, tmp_path: Path) -> None:
    """Requests that end before they began are scored, sent and kept."""
    ticks = iter(range(2 * 10**18, 10**18, -(10**14)))
    monkeypatch.setattr(time, "time_ns", lambda: next(ticks))
    monitor = Monitor(on_result=JsonlSink(tmp_path, sample_rate=1.0, duplicates=0), **telemetry.providers)
    for _ in range(5):
        ask(monitor)
    assert monitor.close(5)

    assert ({"scored": 5}, 5) == (outcomes(monitor), monitor.stats["captures_written"])
    assert 5 == len([span for span in telemetry.spans if span.name == "evaluation rag"])


def test_a_hundred_thousand_requests_add_up(telemetry: Any) -> None:
    """The outcomes, in the stats and on the wire, are the requests seen, exactly, from four threads."""
    settings = Settings(queue_size=8, inline_chars=60, sample_rate=0.5, always=("tag:vip",))
    monitor = Monitor(
        metrics=["answer_relevance"], settings=settings, meter_provider=telemetry.meter_provider, on_result=None
    )
    statuses = "ok partial error evicted answer_only retrieval_only cancelled interrupted".split()
    records = [EvalRecord("q", ["c"], "x" * size) for size in (0, 5, 100)]

    def work(seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311 - a simulation
        for number in range(25_000):
            if chance.random() < 0.7:
                monitor.skip(Anchor())
                continue
            tags = ("vip",) if chance.random() < 0.1 else ()
            status, record = chance.choice(statuses), chance.choice(records)
            monitor.submit(Capture(record, status, f"{seed}-{number}", Anchor(), 1, 2, tags=tags))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert monitor.close(30)

    points = {point.attributes["rageval.outcome"]: point.value for point in telemetry.metrics("rageval.requests")}
    assert 100_000 == sum(outcomes(monitor).values()) == sum(points.values())
    assert outcomes(monitor) == points
    assert 0 == monitor.stats.get("internal_errors", 0)


def test_the_canary_stays_inside(telemetry: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A secret in question, context, answer and ids is in no span, event, metric or log line by default."""
    caplog.set_level(logging.DEBUG)
    canary = "canary-4711-zebra"

    def broken(result: Any) -> None:
        raise ValueError(result.record.question)

    settings = Settings(events=frozenset({"log-all", "span-all"}), annotate_parent=True)
    monitor = Monitor(thresholds={"groundedness": 0.9}, on_result=broken, settings=settings, **telemetry.providers)
    document = Context(f"{canary}-id", f"{canary} is 82 metres.", 0.5, "2026-01-01", f"{canary}.md", {canary: canary})
    with telemetry.tracer_provider.get_tracer("app").start_as_current_span("app"):
        for answer in (f"{canary} is red.", "", f"I do not know {canary}."):
            with monitor.run(f"What is {canary}?", ground_truth=canary, relevant_ids=[canary], tags=[canary]) as run:
                run.contexts([document, object()])
                run.answer(answer)
        with pytest.raises(ValueError, match=canary), monitor.run(canary):
            raise ValueError(canary)
        monitor.feedback(run.id, "helpful", True)
        monitor.ground_truth(run.id, canary)
        monitor.score(EvalRecord(canary, [document], canary, id=f"{canary}-record"))

    sent = repr((telemetry.spans, telemetry.logs, telemetry.metrics()))
    assert len(telemetry.spans) >= 8
    assert canary not in sent
    assert canary not in caplog.text
    assert canary not in repr(monitor.stats)


def test_no_thread_before_the_first_request() -> None:
    """A monitor that waits for requests has started nothing."""
    before = threading.active_count()
    monitor = Monitor(settings=Settings(mode="background"))
    assert before == threading.active_count()
    ask(monitor)
    assert before + 1 == threading.active_count()
    assert monitor.close(5)


def test_many_event_loops_share_a_monitor() -> None:
    """Loops in threads of their own, one after the other and side by side."""
    monitor = Monitor(metrics=["faithfulness"], settings=Settings(mode="background", queue_size=1000))

    async def requests() -> None:
        async with monitor.run("q") as run:
            run.contexts([ANSWER])
            await asyncio.sleep(0)
            run.answer(ANSWER)

    threads = [threading.Thread(target=lambda: asyncio.run(requests())) for _ in range(20)]
    for thread in threads:
        thread.start()
        asyncio.run(requests())
    for thread in threads:
        thread.join()
    assert monitor.close(10)
    assert {"scored": 40} == outcomes(monitor)


EXIT = """
import sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter
from rageval_trace import JsonlSink, Monitor, Settings

def provider():
    made = TracerProvider()
    made.add_span_processor(BatchSpanProcessor(ConsoleSpanExporter(formatter=lambda span: span.name + "\\n")))
    trace.set_tracer_provider(made)

def sink():
    return JsonlSink(sys.argv[2], sample_rate=1.0, duplicates=0)

order = sys.argv[1]
if order == "provider first":
    provider()
kept = sink()
monitor = Monitor(settings=Settings(mode="background"), on_result=kept)
if order == "monitor first":
    provider()
for _ in range(20):
    with monitor.run("How tall is it?") as run:
        run.contexts(["It is 82 metres tall."])
        run.answer("It is 82 metres tall.")
"""


@pytest.mark.parametrize("order", ["provider first", "monitor first"])
def test_what_is_queued_is_sent_and_kept_at_exit(order: str, tmp_path: Path) -> None:
    """A process that just ends drains queue, sink and exporter, whichever was made first."""
    pytest.importorskip("opentelemetry.sdk")
    command = [sys.executable, "-c", EXIT, order, tmp_path / "captures"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)

    assert 20 == done.stdout.split("\n").count("evaluation rag")
    assert 20 == len(list(CaptureReader(tmp_path / "captures")))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork beside threads: what is tested
def test_preloaded_workers_score_on_their_own() -> None:
    """As under gunicorn --preload: made, and used, before the fork; each child counts its own requests."""
    monitor = Monitor(metrics=["faithfulness"], settings=Settings(mode="background"))
    ask(monitor)
    children = []
    for number in range(3):
        child = os.fork()
        if child == 0:
            for _ in range(number + 1):
                ask(monitor)
            good = monitor.close(10) and outcomes(monitor) == {"scored": number + 1}
            os._exit(0 if good else 1)
        children.append(child)
    assert [0, 0, 0] == [os.waitpid(child, 0)[1] for child in children]
    assert monitor.close(5)
    assert {"scored": 1} == outcomes(monitor)


SPAWN = """
import multiprocessing, sys
from rageval_trace import Monitor, Settings

def work(number):
    monitor = Monitor(metrics=["faithfulness"], settings=Settings(mode="background"))
    with monitor.run("q") as run:
        run.contexts(["text"])
        run.answer("text")
    return monitor.close(20) and monitor.stats["scored"]

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(sum(pool.map(work, range(2))))
"""


def test_spawned_workers(tmp_path: Path) -> None:
    """Processes that begin anew score as well."""
    script = tmp_path / "spawn.py"
    script.write_text(SPAWN)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=60)
    assert "2" == done.stdout.strip()


@pytest.mark.slow
def test_sustained_load_keeps_memory_flat(telemetry: Any, tmp_path: Path) -> None:
    """Small records for RAGEVAL_LOAD_SECONDS (10) on every core: every request accounted for, memory flat."""
    seconds = float(os.environ.get("RAGEVAL_LOAD_SECONDS", "10"))
    sink = JsonlSink(tmp_path, max_bytes=10**6, max_files=3)
    monitor = Monitor(
        thresholds={"groundedness": 0.5}, on_result=sink, meter_provider=telemetry.meter_provider, settings=Settings()
    )
    for _ in range(1500):
        ask(monitor)
    resident = _resident()
    until, counts = time.monotonic() + seconds, [0, 0]

    def work(number: int) -> None:
        chance = random.Random(number)  # noqa: S311 - a simulation
        while time.monotonic() < until:
            ask(monitor, answer=ANSWER if chance.random() < 0.9 else f"Zebras paint {chance.random()} fences.")
            counts[number] += 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    grown = _resident() - resident
    assert monitor.close(20)
    total = sum(counts)
    print(  # noqa: T201 - the figures are what the test is for
        f"{total / seconds:.0f} requests/s for {seconds:.0f} s, memory grew {grown / 1e6:.1f} MB, {monitor.stats}"
    )
    assert 1500 + total == sum(outcomes(monitor).values())
    assert grown < 30e6
    assert sum([path.stat().st_size for path in tmp_path.iterdir()]) <= 3 * 10**6


def _resident() -> int:
    if not Path("/proc/self/statm").exists():
        return 0
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
def test_unsampled_requests_cost_next_to_nothing() -> None:
    """A LangChain request that is not sampled adds no more than three times what a handler that does nothing adds."""
    pytest.importorskip("langchain_core")
    from langchain_core.callbacks.base import BaseCallbackHandler
    from langchain_core.runnables import RunnableLambda
    from rageval_trace_langchain import RagEvalHandler

    class Nothing(BaseCallbackHandler):
        run_inline = True

    step = RunnableLambda(lambda x: x)
    chain = step | step | step | step
    handlers: dict[str, list[Any]] = {"none": [], "nothing": [Nothing()], "ours": [RagEvalHandler(sample_rate=0.0)]}
    best = dict.fromkeys(handlers, float("inf"))
    for _ in range(600):
        for name, callbacks in handlers.items():
            began = time.thread_time()
            for _ in range(3):
                chain.invoke("q", config={"callbacks": callbacks})
            best[name] = min(best[name], (time.thread_time() - began) / 3)
    nothing, ours = best["nothing"] - best["none"], best["ours"] - best["none"]
    print(json.dumps({name: round(value * 1e6) for name, value in best.items()}), f"ratio {ours / nothing:.2f}")  # noqa: T201
    # The aim is 1.5; 2.2 was measured on two busy cores (41 and 91 microseconds for five runs).
    assert ours <= 3 * nothing
