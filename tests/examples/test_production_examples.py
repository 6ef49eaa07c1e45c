"""
The production examples: each at most 60 lines, run as a reader would run it.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("name", ["sampled_production.py", "fastapi_app.py"])
def test_an_example_is_short(name: str) -> None:
    """Sixty lines at the most."""
    assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) <= 60


def test_sampled_production_shows_the_broken_sentence(tmp_path: Path) -> None:
    """From two hundred requests to the one sentence that nothing supports."""
    command = [sys.executable, EXAMPLES / "sampled_production.py", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)

    lines = done.stdout.splitlines()
    assert "every request has an outcome: True" == lines[0]
    assert lines[1].startswith("FAIL (groundedness) by lexical: support-bot, ")
    assert "  BROKEN    They are paid in cash." in lines
    assert "the same to the last digit" in done.stdout


@pytest.fixture
def served() -> Iterator[str]:
    """
    Serve the FastAPI example with uvicorn on loopback.
    """
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "fastapi_app:app", "--port", str(port), "--log-level", "error"]
    process = subprocess.Popen(command, cwd=EXAMPLES)
    address = f"http://127.0.0.1:{port}"
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            fetch(f"{address}/stats")
            break
        except urllib.error.URLError:
            time.sleep(0.1)
    yield address
    process.terminate()
    assert process.wait(20) in (0, -15)


def fetch(address: str, method: str = "GET") -> bytes:
    with urllib.request.urlopen(urllib.request.Request(address, method=method), timeout=30) as answer:  # noqa: S310
        return bytes(answer.read())


def test_a_service_under_load_accounts_for_every_request(served: str) -> None:
    """Two hundred requests, plain and streamed, from eight clients at once; failures and feedback too."""

    def one(number: int) -> bytes:
        kind = "stream" if number % 4 == 0 else "ask"
        return fetch(f"{served}/{kind}?question={quote(f'When does ferry {number} leave?')}")

    began = time.monotonic()
    with ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(one, range(200)))
    print(f"{200 / (time.monotonic() - began):.0f} requests/s")  # noqa: T201 - the figure is worth knowing
    for _ in range(3):
        with pytest.raises(urllib.error.HTTPError, match="502"):
            fetch(f"{served}/ask?question=broken")
    run_id = json.loads(answers[1])["run_id"]

    assert b"true" == fetch(f"{served}/feedback/{run_id}?helpful=true", "POST")
    assert b"Bicycles travel free on every ferry . " == answers[0]
    stats = json.loads(fetch(f"{served}/stats"))
    assert (200, 3, 0) == (stats["scored"], stats["request_error"], stats.get("internal_errors", 0))
