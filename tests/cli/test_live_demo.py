from __future__ import annotations

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from rageval_trace.cli import main
from rageval_trace.cli.live_demo.corpus import PAGES, search
from rageval_trace.cli.live_demo.script import REQUESTS

pytest.importorskip("langchain_core", reason="the live demo runs LangChain")
pytest.importorskip("opentelemetry.sdk", reason="the live demo wires the SDK")

VERDICTS = {
    "a good answer": ("pass", []),
    "a hallucination": ("fail", ["groundedness"]),
    "a stale source": ("fail", ["freshness"]),
    "an answer to something else": ("fail", ["answer_relevance"]),
    "a missed document": ("fail", ["groundedness", "recall"]),
    "an abstention": ("unknown", []),
}


def live(capsys, *options: str) -> dict:
    assert main(["demo", "--live", "--json", *options]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def test_each_request_goes_wrong_in_its_own_way(capsys):
    """
    The six requests get the verdicts that their titles promise, and every one is captured whole.
    """
    shown = live(capsys)["requests"]
    assert {one["title"]: (one["verdict"], one["breached"]) for one in shown} == VERDICTS
    assert [(one.question, one.answer, "ok") for one in REQUESTS] == [
        (one["question"], one["answer"], one["status"]) for one in shown
    ]


def test_the_broken_sentence_is_named(capsys):
    """
    Of the hallucination, the invented sentence is named and the true one is not.
    """
    (shown,) = [one for one in live(capsys)["requests"] if one["title"] == "a hallucination"]
    assert shown["unsupported"] == ["It also pays for theft and water damage for ten years."]


def test_each_request_has_one_evaluation_span_below_the_applications_own(capsys):
    """
    The evaluation hangs in the trace of `POST /ask`, with the scores that the result has.
    """
    shown = live(capsys)
    spans = {span["span_id"]: span for span in shown["spans"]}
    for request in shown["requests"]:
        span = spans[request["span_id"]]
        scores = {
            name.removeprefix("rageval.score."): value
            for name, value in span["attributes"].items()
            if name.startswith("rageval.score.")
        }
        assert request["scores"] == scores
        request_span = spans[span["parent_id"]]
        assert [request_span["name"], span["name"]] == ["invoke_workflow help-centre", "evaluation help-centre"]
        assert spans[request_span["parent_id"]]["name"] == "POST /ask"
        assert request["trace_id"] == span["trace_id"]
    assert len(REQUESTS) == sum(span["name"] == "evaluation help-centre" for span in spans.values())


def test_no_content_stands_on_a_span(capsys):
    """
    Neither a question, nor a page, nor an answer, nor a page's id is on any span.
    """
    spans = json.dumps(live(capsys)["spans"])
    texts = [text for one in REQUESTS for text in (one.question, one.answer)]
    texts += [text for page in PAGES for text in (page.text, f'"{page.id}"')]
    assert [text for text in texts if text in spans] == []


def without_times_and_ids(shown: dict) -> dict:
    for one in shown["requests"]:
        del one["trace_id"], one["span_id"]
    for span in shown["spans"]:
        del span["trace_id"], span["span_id"], span["parent_id"], span["duration_ms"]
    for record in shown["scorecard"]["records"]:
        record.pop("asked_at", None)
    return json.loads(json.dumps(shown))


def test_two_runs_differ_in_times_and_ids_alone(capsys):
    """
    With the same now, everything else is the same, span order included.
    """
    first, second = [without_times_and_ids(live(capsys, "--now", "2026-08-21T12:00:00Z")) for _ in range(2)]
    assert first == second


@pytest.mark.parametrize("columns", [60, 100])
def test_a_person_sees_verdict_sentence_scorecard_and_spans(capsys, monkeypatch, columns):
    """
    The human output names the broken sentence, agrees with evaluate(), and keeps to the terminal's width.
    """
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["demo", "--live"]) == 0
    out, err = capsys.readouterr()
    flat = " ".join(out.split())
    for expected in (
        "FAIL: groundedness",
        "no page says: It also pays for theft and water damage for ten years.",
        "old page: prices-2023 1140 days",
        "never retrieved: small-passengers",
        "undefined: the answer only declines",
        "The live scores equal these, number for number.",
        "└─ evaluation help-centre",
        "rageval.breached groundedness",
    ):
        assert expected in flat
    assert max(len(line) for line in out.splitlines()) <= columns
    assert "\x1b" not in out
    assert err == ""


def test_out_writes_what_json_prints_and_the_screen_stays(capsys, tmp_path):
    """
    `--out` alone adds the JSON file to the human output.
    """
    path = tmp_path / "live.json"
    assert main(["demo", "--live", "--out", str(path)]) == 0
    assert "The scorecard" in capsys.readouterr().out
    assert set(json.loads(path.read_text(encoding="utf-8"))) == {"requests", "scorecard", "spans"}


class Receiver:
    """
    An OTLP receiver on the loopback interface that keeps what is posted.
    """

    def __enter__(self):
        posted = self.posted = {}

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                posted.setdefault(self.path, []).append((self.headers["Content-Encoding"], body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def messages(self, path: str, kind):
        found = []
        for encoding, body in self.posted.get(path, []):
            assert encoding in (None, "none")
            found.append(kind.FromString(body))
        return found


def test_otlp_sends_spans_metrics_and_logs(capsys):
    """
    A receiver gets the spans, the score histogram and the result events of the run, under the demo's service name.
    """
    traces = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    metrics = pytest.importorskip("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
    logs = pytest.importorskip("opentelemetry.proto.collector.logs.v1.logs_service_pb2")
    with Receiver() as receiver:
        shown = live(capsys, "--otlp", f"{receiver.url}/")
        sent = receiver.messages("/v1/traces", traces.ExportTraceServiceRequest)
        measured = receiver.messages("/v1/metrics", metrics.ExportMetricsServiceRequest)
        logged = receiver.messages("/v1/logs", logs.ExportLogsServiceRequest)
    spans = [span for one in sent for r in one.resource_spans for s in r.scope_spans for span in s.spans]
    assert sorted(span["span_id"] for span in shown["spans"]) == sorted(span.span_id.hex() for span in spans)
    names = {m.name for one in measured for r in one.resource_metrics for s in r.scope_metrics for m in s.metrics}
    assert {"rageval.evaluation.score", "rageval.requests", "rageval.context.age"} <= names
    events = [e for one in logged for r in one.resource_logs for s in r.scope_logs for e in s.log_records]
    assert {"gen_ai.evaluation.result"} == {event.event_name for event in events}
    assert len(events) == sum(len(breached) for _, breached in VERDICTS.values())
    (service,) = {
        a.value.string_value for a in sent[0].resource_spans[0].resource.attributes if a.key == "service.name"
    }
    assert service == "rageval-demo"


def test_otlp_to_nowhere_ends_with_2_and_says_what_was_not_sent(capsys, monkeypatch):
    """
    The demo is shown all the same; what could not be sent is named on standard error.
    """
    from rageval_trace.cli.live_demo import wiring

    monkeypatch.setattr(wiring, "SEND_TIMEOUT_S", 0.2)
    with Receiver() as receiver:
        closed = receiver.url
    assert main(["demo", "--live", "--otlp", closed]) == 2
    out, err = capsys.readouterr()
    assert "The scorecard" in out
    assert f"rageval: could not send logs, metrics, spans to {closed}" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--otlp", "localhost:4318"], "expected an address such as http://localhost:4318"),
        (["--otlp", "http://localhost:port"], "expected an address such as http://localhost:4318"),
        (["--judge"], "the demo runs without a key"),
    ],
)
def test_options_that_cannot_work_are_errors(capsys, options, message):
    """
    Bad usage of the live demo is one line and exit code 2.
    """
    assert main(["demo", "--live", *options]) == 2
    assert message in capsys.readouterr().err


def test_the_operators_switch_is_said(capsys, monkeypatch):
    """
    With RAGEVAL_TRACE_ENABLED=0 nothing is scored, and the demo says why.
    """
    monkeypatch.setenv("RAGEVAL_TRACE_ENABLED", "0")
    assert main(["demo", "--live"]) == 2
    assert "RAGEVAL_TRACE_ENABLED=0" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["langchain_core", "opentelemetry.sdk"])
def test_a_missing_extra_names_the_command_that_installs_it(missing):
    """
    Without a framework or the SDK, one line says what to install.
    """
    code = f"import sys; sys.modules[{missing!r}] = None\nfrom rageval_trace.cli import main\nsys.exit(main(['demo', '--live']))"
    shown = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60)
    assert shown.returncode == 2
    assert 'pip install "rageval-trace[demo]"' in shown.stderr
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("How long may I return a bike?", ["returns", "saddle-height"]),
        ("WARRANTY", ["battery-warranty"]),
        ("zebra crossing", []),
        ("", []),
    ],
)
def test_the_help_centre_finds_pages_by_their_words(query, expected):
    """
    The search ranks pages by the query's words, and finds nothing where there is none.
    """
    assert expected == [page.id for page, _ in search(query, 2)]
