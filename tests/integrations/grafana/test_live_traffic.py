"""
A real pipeline under the handler, scraped by a real Prometheus, and beside it the same by OTLP's names.
"""

from __future__ import annotations

import contextlib
import json
import math
import threading
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("promql_parser", reason="needs the dev extra")
pytest.importorskip("yaml", reason="needs the dev extra")
pytest.importorskip("grpc", reason="needs the dev extra")
pytest.importorskip("langchain_core", reason="needs the dev extra")
pytest.importorskip("prometheus_client", reason="needs the dev extra")

import backend_servers
import dashboard_rules
import known_world
import otlp_names
import otlp_receiver
import promql_facts

from rageval_trace import Context, Verdict
from rageval_trace.judges.observe import ModelCall, notify

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

ROOT = Path(__file__).resolve().parents[3]
# What needs a failing metric, a cascade, a full queue or a week of traffic is not in seconds of a demo: backfill has it.
SCORES = {"rageval_evaluation_score", "rageval_requests_total", "rageval_answers_total", "rageval_context_age_hours"}
ABSENT = ("judge_escalations", "failures", "queue_full", "offset")


class _Judge:
    """
    Agree with everything, tell of each call, and fail every second time as a judge with a fallback does.
    """

    name = "model"

    def __init__(self) -> None:
        self._calls = 0

    def judge_claims(self, claims: Sequence[str], contexts: Sequence[Context]) -> Sequence[Verdict]:
        self._calls += 1
        failed = self._calls % 2 == 0
        tokens = (0, 0, "APITimeoutError") if failed else (900, 40, None)
        notify(ModelCall("model", "fake-model", 0.2, *tokens))
        return [Verdict(supported=True, score=1.0, judge="lexical_fallback" if failed else None) for _ in claims]

    def judge_relevance(self, question: str, answer: str) -> float | None:
        return 1.0


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """
    Run the demo's pipeline for some seconds, and have Prometheus scrape it both ways.
    """
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.prometheus import PrometheusMetricReader
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from prometheus_client import REGISTRY, start_http_server

    from rageval_trace.cli.live_demo.langchain_app import answers
    from rageval_trace.cli.live_demo.script import REQUESTS, THRESHOLDS

    backend_servers.program("prometheus")
    resource = Resource.create({"service.name": "shop"})
    with otlp_receiver.receiver() as target, _page(lambda: otlp_names.openmetrics(target.metrics)) as pushed:
        exporter = OTLPMetricExporter(endpoint=f"{target.http}/v1/metrics")
        readers = [PrometheusMetricReader(), PeriodicExportingMetricReader(exporter, export_interval_millis=500)]
        meters = MeterProvider(metric_readers=readers, resource=resource, shutdown_on_exit=False)
        tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        server, thread = start_http_server(0, addr="127.0.0.1", registry=REGISTRY)
        jobs = {known_world.SCRAPED: f"127.0.0.1:{server.server_port}", known_world.PUSHED: pushed}
        scrapes = [{"job_name": job, "static_configs": [{"targets": [at]}]} for job, at in jobs.items()]
        config = {"global": {"scrape_interval": "1s"}, "scrape_configs": scrapes}
        options = {"thresholds": THRESHOLDS, "judge": _Judge(), "tracer_provider": tracers, "meter_provider": meters}
        folder = tmp_path_factory.mktemp("live")
        with backend_servers.prometheus(folder, config=config, exemplars=True) as prometheus:
            questions = _until(threading.Event(), REQUESTS, 12.0)
            tracer = tracers.get_tracer("app")
            for _ in answers(questions, now=datetime.now(timezone.utc), tracer=tracer, options=options):
                pass
            yield prometheus
        meters.shutdown()
        server.shutdown()
        thread.join()
        server.server_close()


def _until(pause: threading.Event, requests: Any, seconds: float) -> Iterator[Any]:
    for _ in range(int(seconds / 0.05 / len(requests))):
        for request in requests:
            pause.wait(0.05)
            yield request


@contextlib.contextmanager
def _page(text: Any) -> Iterator[str]:
    """
    Serve a text as OpenMetrics; give host and port.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = text().encode()
            self.send_response(200)
            self.send_header("content-type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("job", [known_world.SCRAPED, known_world.PUSHED])
def test_panels_show_a_live_pipeline(live: Any, job: str) -> None:
    """
    Each panel that needs neither a judge nor a week has values, none of them NaN.
    """
    seen = 0
    for path in sorted((ROOT / "integrations" / "grafana" / "dashboards").glob("*.json")):
        for title, expression, _ in dashboard_rules.expressions(json.loads(path.read_text(encoding="utf-8"))):
            if any(word in expression for word in ABSENT):
                continue
            found = live.query(promql_facts.expand(expression, job=job))
            assert found, title
            assert not any(map(math.isnan, found.values())), title
            seen += 1
    assert seen > 20


@pytest.mark.parametrize("job", [known_world.SCRAPED, known_world.PUSHED])
def test_the_known_traffic_has_the_series_of_a_live_one(live: Any, job: str) -> None:
    """
    Names and label names of the backfill are those that the handler really sends.
    """
    real = live.get("series", **{"match[]": f'{{__name__=~"rageval_.+", job="{job}"}}'})
    written = [
        line.partition("{")[0::2]
        for line in known_world.openmetrics(1_800_000_000).splitlines()
        if f'job="{job}"' in line and line.endswith(" 1800000000")
    ]
    made = {
        (name, frozenset(part.partition("=")[0] for part in rest.rpartition("}")[0].split(",")))
        for name, rest in written
    }
    have = {
        (one.pop("__name__"), frozenset(one) | ({"otel_scope_schema_url"} if job == known_world.SCRAPED else set()))
        for one in real
    }
    if job == known_world.PUSHED:  # the stand-in is scraped, and so has an instance
        have = {(name, labels - {"instance"}) for name, labels in have}
    rare = ("rageval_judge_escalations", "rageval_evaluation_failures")
    assert {one for one in made if not one[0].startswith(rare)} <= have


def test_means_are_the_same_both_ways(live: Any) -> None:
    """
    The mean of each metric by its series' sums is the same through the exporter and through OTLP.
    """
    mean = "sum by (gen_ai_evaluation_name) (rageval_evaluation_score_sum{{job='{0}'}}) / sum by (gen_ai_evaluation_name) (rageval_evaluation_score_count{{job='{0}'}})"
    scraped, pushed = (live.query(mean.format(job)) for job in (known_world.SCRAPED, known_world.PUSHED))
    assert scraped.keys() == pushed.keys()
    assert scraped
    assert all(abs(value - pushed[key]) < 0.02 for key, value in scraped.items())


def test_exemplars_reach_prometheus_by_otlp(live: Any) -> None:
    """
    A panel that asks for exemplars gets trace ids, from the OTLP path alone.
    """
    now = datetime.now(timezone.utc).timestamp()
    asked = {"query": "rageval_evaluation_score_bucket", "start": now - 600, "end": now + 60}
    found = live.get("query_exemplars", **asked)
    assert {known_world.PUSHED} == {one["seriesLabels"]["job"] for one in found}
    assert all(len(one["labels"]["trace_id"]) == 32 for series in found for one in series["exemplars"])
