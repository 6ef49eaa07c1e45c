"""
Prometheus and Alertmanager from the machine's packages, on free loopback ports, and a webhook that listens.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml


def program(*names: str) -> str:
    """
    Return the path of a program that has one of these names, or skip the test.
    """
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"{names[0]} is missing: apt-get install prometheus prometheus-alertmanager")
    return found


def free_port() -> int:
    """
    Return a port of the loopback interface that nobody listens on.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Prometheus:
    """
    A running Prometheus.
    """

    url: str
    log: Path

    def get(self, path: str, **parameters: str | float) -> Any:
        """
        Return the data of one API call.
        """
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=30) as answer:  # noqa: S310 - loopback
            return json.load(answer)["data"]

    def query(self, expression: str, at: float | None = None) -> dict[frozenset[tuple[str, str]], float]:
        """
        Return an instant query's values by their labels, the name left out.
        """
        parameters: dict[str, str | float] = {"query": expression, **({} if at is None else {"time": at})}
        found = self.get("query", **parameters)["result"]
        return {
            frozenset((k, v) for k, v in one["metric"].items() if k != "__name__"): float(one["value"][1])
            for one in found
        }


@contextlib.contextmanager
def prometheus(
    folder: Path, *, tsdb: Path | None = None, config: dict[str, Any] | None = None, exemplars: bool = False
) -> Iterator[Prometheus]:
    """
    Run Prometheus on a database for the time of a `with` block.
    """
    binary = program("prometheus")
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    file = folder / "prometheus.yml"
    file.write_text(yaml.safe_dump(config or {"global": {"scrape_interval": "1h"}}), encoding="utf-8")
    arguments = [
        binary,
        f"--config.file={file}",
        f"--storage.tsdb.path={tsdb or folder / 'tsdb'}",
        "--storage.tsdb.retention.time=90d",
        f"--web.listen-address=127.0.0.1:{port}",
        "--rules.alert.resend-delay=1s",  # the first sending may come before Alertmanager is known
        *(["--enable-feature=exemplar-storage"] if exemplars else []),
    ]
    with _running(arguments, f"http://127.0.0.1:{port}/-/ready", folder / "prometheus.log") as log:
        yield Prometheus(f"http://127.0.0.1:{port}", log)


@contextlib.contextmanager
def alertmanager(folder: Path, webhook: str) -> Iterator[str]:
    """
    Run Alertmanager, which sends every alert to *webhook*; give its host and port.
    """
    binary = program("prometheus-alertmanager", "alertmanager")
    folder.mkdir(parents=True, exist_ok=True)
    route = {"receiver": "hook", "group_by": ["alertname"], "group_wait": "1s", "group_interval": "1s"}
    receivers = [{"name": "hook", "webhook_configs": [{"url": webhook}]}]
    file = folder / "alertmanager.yml"
    file.write_text(yaml.safe_dump({"route": route, "receivers": receivers}), encoding="utf-8")
    port = free_port()
    arguments = [
        binary,
        f"--config.file={file}",
        f"--storage.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
    ]
    with _running(arguments, f"http://127.0.0.1:{port}/-/ready", folder / "alertmanager.log"):
        yield f"127.0.0.1:{port}"


@dataclass
class Webhook:
    """
    What was posted to it.
    """

    url: str
    alerts: list[dict[str, Any]] = field(default_factory=list)


@contextlib.contextmanager
def webhook() -> Iterator[Webhook]:
    """
    Listen for what Alertmanager posts.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            hook.alerts.extend(json.loads(body)["alerts"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hook = Webhook(f"http://127.0.0.1:{server.server_address[1]}/")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield hook
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def until(condition: Callable[[], Any], timeout_s: float = 30.0) -> Any:
    """
    Wait until *condition* is true, and return what it gave; its last value when time is up.
    """
    ends = time.monotonic() + timeout_s
    found = condition()
    while not found and time.monotonic() < ends:
        time.sleep(0.2)
        found = condition()
    return found


@contextlib.contextmanager
def _running(arguments: list[str], ready: str, log: Path) -> Iterator[Path]:
    with log.open("wb") as output, subprocess.Popen(arguments, stdout=output, stderr=output) as process:
        try:
            assert until(lambda: process.poll() is None and _answers(ready)), log.read_text(encoding="utf-8")
            yield log
        finally:
            process.terminate()
            process.wait(timeout=20)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310 - loopback
            return answer.status == 200
    except OSError:
        return False
