"""
The sink: what it keeps, and that nothing it does can hurt the host.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rageval_trace import JsonlSink, Settings
from rageval_trace.live.capture import Capture
from rageval_trace.live.captures.saved import CaptureReader
from rageval_trace.live.monitor import Monitor

Make = Callable[..., Capture]
WRONG = "Zebras paint every fence."


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(folder.iterdir()) for line in path.read_text().splitlines()]


def test_a_breach_is_kept_whole(capture: Make, telemetry: Any, tmp_path: Path) -> None:
    """The line names trace, span, run and version of the evaluation, and what was asked, found and answered."""
    monitor = Monitor(
        pipeline="bot",
        thresholds={"groundedness": 0.5},
        on_result=JsonlSink(tmp_path / "captures"),
        **telemetry.providers,
    )
    monitor.submit(capture(answer=WRONG))
    assert monitor.close(5)

    (line,) = lines(tmp_path / "captures")
    (span,) = [span for span in telemetry.spans if span.name == "evaluation bot"]
    assert (span.trace_id, span.span_id, "run-1") == (line["trace_id"], line["span_id"], line["run_id"])
    assert span.attributes["rageval.evaluator.version"] == line["evaluator_version"]
    assert ("fail", ["groundedness"], {"groundedness": 0.5}) == (line["verdict"], line["breached"], line["thresholds"])
    assert ("breach", 1.0, False, False) == (
        line["stratum"],
        line["stratum_rate"],
        line["redacted"],
        line["truncated"],
    )
    assert (WRONG, ["It is 82 metres tall."]) == (line["answer"], [chunk["text"] for chunk in line["contexts"]])
    assert 1 == monitor.stats["captures_written"]


def test_of_the_rest_a_sample_is_kept(capture: Make, tmp_path: Path) -> None:
    """A tenth of what passes, all that breaches, nothing that was not scored."""
    sink = JsonlSink(tmp_path, duplicates=0, sample_rate=0.1, queue_size=10_000)
    monitor = Monitor(metrics=["groundedness"], thresholds={"groundedness": 0.5}, on_result=sink)
    for number in range(400):
        monitor.submit(capture(run_id=f"good-{number}"))
        monitor.submit(capture(run_id=f"bad-{number}", answer=WRONG))
        monitor.submit(capture(run_id=f"broken-{number}", status="error"))
    monitor.close(10)

    kept = [line["run_id"].partition("-")[0] for line in lines(tmp_path)]
    assert (400, 0) == (kept.count("bad"), kept.count("broken"))
    assert 20 <= kept.count("good") <= 62  # four standard deviations
    assert 400 - kept.count("good") == sink.stats["captures_not_sampled"]


def test_a_near_duplicate_is_not_kept_again(capture: Make, tmp_path: Path) -> None:
    """A breach that was seen before leaves a short line that names the one kept; another one leaves nothing."""
    sink = JsonlSink(tmp_path, sample_rate=1.0)
    monitor = Monitor(thresholds={"groundedness": 0.5}, on_result=sink)
    for number, answer in enumerate(
        [WRONG, "zebras  paint every fence", "It is 82 metres tall.", "it is 82 metres tall"]
    ):
        monitor.submit(capture(run_id=f"run-{number}", answer=answer))
    monitor.close(5)

    assert [("run-0", None), ("run-1", "run-0"), ("run-2", None)] == [
        (line["run_id"], line.get("duplicate_of")) for line in lines(tmp_path)
    ]
    assert {"captures_written": 3, "captures_duplicates": 2} == sink.stats


def test_both_redactions_come_first(capture: Make, tmp_path: Path) -> None:
    """The monitor's own `redact` runs before the sink's, on every text."""
    sink = JsonlSink(tmp_path, sample_rate=1.0, redact=lambda text: text.replace("Q-1", "Q-2"))
    monitor = Monitor(redact=lambda text: text.replace("Zorro", "Q-1"), on_result=sink)
    monitor.submit(capture(question="Who is Zorro?", contexts=["Zorro is here."], answer="Zorro is."))
    monitor.close(5)

    (line,) = lines(tmp_path)
    assert ("Who is Q-2?", "Q-2 is here.", "Q-2 is.", True) == (
        line["question"],
        line["contexts"][0]["text"],
        line["answer"],
        line["redacted"],
    )


def test_a_redact_that_raises_keeps_the_line_here(
    capture: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What could not be cleaned is not written; the log names the error's type alone."""

    def broken(text: str) -> str:
        raise KeyError(text)

    sink = JsonlSink(tmp_path, sample_rate=1.0, redact=broken)
    monitor = Monitor(on_result=sink)
    monitor.submit(capture())
    monitor.close(5)

    assert [] == list(tmp_path.iterdir())
    assert 1 == sink.stats["captures_failed"]
    assert "82" not in caplog.text


def test_a_path_below_a_file_costs_lines_alone(capture: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The host sees its scores as ever; the loss is counted and said once, with the reason."""
    (tmp_path / "file").write_text("in the way")
    sink = JsonlSink(tmp_path / "file" / "captures", sample_rate=1.0, duplicates=0)
    monitor = Monitor(on_result=sink)
    for _ in range(20):
        monitor.submit(capture())
    assert monitor.close(5)

    assert (20, 20) == (monitor.stats["scored"], sink.stats["captures_failed"])
    assert 1 == len([message for message in caplog.messages if "captures cannot be written" in message])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe in the place of a file")
def test_a_slow_disk_holds_up_nobody(capture: Make, tmp_path: Path) -> None:
    """While the disk takes no byte, requests go on; what finds no room in the queue is dropped and counted."""
    sink = JsonlSink(tmp_path, sample_rate=1.0, duplicates=0, queue_size=4)
    monitor = Monitor(metrics=["faithfulness"], on_result=sink)
    monitor.submit(capture())
    assert sink.flush(5)
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDWR | os.O_NONBLOCK)
    full = os.open(tmp_path / "pipe", os.O_WRONLY)
    os.set_blocking(full, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(full, b"x" * 4096)
    os.set_blocking(full, True)
    os.dup2(full, sink._files._fd)

    longest = 0.0
    for number in range(50):
        began = time.perf_counter()
        monitor.submit(capture(run_id=f"run-{number}"))
        longest = max(longest, time.perf_counter() - began)

    assert longest < 0.25
    assert 46 == sink.stats["captures_dropped"]
    assert not sink.flush(0.01)
    while not sink.flush(0.01):
        os.read(reader, 1 << 16)
    os.close(full)
    os.close(reader)
    (tmp_path / "pipe").unlink()
    monitor.close(5)


def test_huge_texts_that_wait_are_bounded(capture: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting evaluations hold at most so many characters, whatever their number; one alone is always taken."""
    from rageval_trace.live import sinks

    monkeypatch.setattr(sinks, "_MAX_WAITING_CHARS", 1000)
    release = threading.Event()
    sink = JsonlSink(tmp_path, sample_rate=1.0, duplicates=0, redact=lambda text: text if release.wait(10) else "")
    monitor = Monitor(metrics=["faithfulness"], on_result=sink)
    for number in range(5):
        monitor.submit(capture(run_id=f"run-{number}", answer="word " * 150))
    release.set()
    monitor.close(5)

    assert {"captures_written": 1, "captures_dropped": 4} == sink.stats


def test_a_shared_sink_closes_with_the_last_monitor(capture: Make, tmp_path: Path) -> None:
    """Two monitors may share a sink; closing one, twice even, leaves it to the other."""
    sink = JsonlSink(tmp_path, sample_rate=1.0, duplicates=0)
    one, other = Monitor(on_result=sink), Monitor(on_result=sink)
    one.submit(capture())
    one.close(5)
    one.close(5)
    other.submit(capture())
    assert other.flush(5)
    assert 2 == len(lines(tmp_path))
    other.close(5)
    sink(other.last)

    assert {"captures_written": 2, "captures_dropped": 1} == sink.stats


def test_alone_it_is_a_plain_callback(capture: Make, tmp_path: Path) -> None:
    """Called from a function of the user's own, it writes as well."""
    sink = JsonlSink(tmp_path, sample_rate=1.0)
    monitor = Monitor(on_result=lambda result: (sink(result), None))
    monitor.submit(capture())

    assert sink.flush(5)
    assert ["run-1"] == [saved.run_id for saved in CaptureReader(tmp_path)]
    sink.close()


def test_what_capture_cut_is_marked(capture: Make, tmp_path: Path) -> None:
    """A text, or a list of contexts, that reached its limit is not whole."""
    for settings in (Settings(max_chars=21), Settings(max_contexts=1), Settings()):
        monitor = Monitor(settings=settings, on_result=JsonlSink(tmp_path, sample_rate=1.0))
        monitor.submit(capture(run_id=f"{settings.max_chars} {settings.max_contexts}"))
        monitor.close(5)

    assert [True, True, False] == [line["truncated"] for line in lines(tmp_path)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork beside threads: what is tested
def test_a_forked_child_writes_a_file_of_its_own(capture: Make, tmp_path: Path) -> None:
    """Parent and child share the folder and no file, no lock and no line."""
    sink = JsonlSink(tmp_path, sample_rate=1.0, duplicates=0)
    monitor = Monitor(on_result=sink)
    monitor.submit(capture(run_id="before"))
    sink.flush(5)
    child = os.fork()
    if child == 0:
        monitor.submit(capture(run_id="child"))
        os._exit(0 if monitor.close(5) else 1)
    _, code = os.waitpid(child, 0)
    monitor.submit(capture(run_id="parent"))
    monitor.close(5)

    assert 0 == code
    found = sorted([tuple(sorted([saved.run_id for saved in CaptureReader(path)])) for path in tmp_path.iterdir()])
    assert [("before", "parent"), ("child",)] == found


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sample_rate": 1.5}, r"sample_rate is 1.5: expected a number in \[0, 1\]"),
        ({"sample_rate": float("nan")}, "sample_rate is nan"),
        ({"max_bytes": 10}, "max_bytes is 10: expected a number of at least 1024"),
        ({"max_files": 0}, "max_files is 0"),
        ({"max_line_bytes": 1}, "max_line_bytes is 1"),
        ({"queue_size": True}, "queue_size is True"),
        ({"duplicates": -1}, "duplicates is -1"),
        ({"timeout_s": "1"}, "timeout_s is '1'"),
    ],
)
def test_a_bad_argument_is_an_error_at_once(given: dict[str, Any], message: str) -> None:
    """The error names the argument and what is accepted."""
    with pytest.raises(ValueError, match=message):
        JsonlSink("captures", **given)
    with pytest.raises(TypeError, match="redact is str"):
        JsonlSink("captures", redact="all")


def test_nothing_is_made_before_the_first_line(tmp_path: Path) -> None:
    """Neither folder nor thread."""
    threads = threading.active_count()
    sink = JsonlSink(tmp_path / "captures")

    assert (threads, False) == (threading.active_count(), (tmp_path / "captures").exists())
    assert sink.close(1)
