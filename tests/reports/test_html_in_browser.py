"""
The HTML page in a real browser: no error, no request, sorting and opening work, no hostile record runs.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rageval_trace import evaluate
from rageval_trace.gates import Threshold, check_gates
from rageval_trace.io import load_records
from rageval_trace.reports.html_report import to_html

pytest.importorskip("jinja2", reason="the HTML report comes with the extra cli")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium to open the page in (Debian: apt-get install chromium)"),
]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1280,1400 --remote-debugging-pipe"
).split()


class Browser:
    """
    Chromium with one page, spoken to through its debugging pipe.
    """

    def __init__(self, profile: Path) -> None:
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()

        def wire() -> None:
            # Chromium reads its commands from descriptor 3 and answers on 4; the copies keep those two free first.
            commands, answers = os.dup(theirs_in), os.dup(theirs_out)
            high = [os.dup2(one, number) for one, number in ((commands, 103), (answers, 104))]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen(
            [str(CHROMIUM), *FLAGS, f"--user-data-dir={profile}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=wire,  # noqa: PLW1509  # no other thread runs here
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._buffer = b""
        self._count = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """
        Send one command and return its result; events that come meanwhile are kept.
        """
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session and not method.startswith("Target."):
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            block = os.read(self._in, 1 << 20)
            assert block, "Chromium went away"
            self._buffer += block
        message, _, self._buffer = self._buffer.partition(b"\0")
        found = json.loads(message)
        if "method" in found:
            self.events.append(found)
        return found

    def open(self, path: Path) -> None:
        """
        Load a page and wait for it.
        """
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        deadline = time.monotonic() + 30
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            assert time.monotonic() < deadline
            self._read()

    def run(self, expression: str) -> Any:
        """
        Evaluate an expression on the page.
        """
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def complaints(self) -> list[Any]:
        """
        Return what the page logged, threw or was refused.
        """
        methods = {"Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"}
        return [event for event in self.events if event["method"] in methods]

    def requests(self) -> list[str]:
        """
        Return what the page asked for.
        """
        sent = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def close(self) -> None:
        """
        End the browser.
        """
        self._process.terminate()
        self._process.wait(timeout=30)
        os.close(self._in)
        os.close(self._out)


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    """
    Start one browser for all tests of this file.
    """
    started = Browser(tmp_path_factory.mktemp("profile"))
    yield started
    started.close()


FIRST = "Array.from(document.getElementById('records').tBodies).map(one => one.querySelector('code').textContent)"


def test_the_page_of_the_example(browser, tmp_path):
    """
    The page loads without a word on the console or a request, sorts, opens and searches.
    """
    card = evaluate(load_records(EXAMPLES / "support_bot.jsonl"))
    gates = check_gates(card, [Threshold("groundedness", 0.85), Threshold("hallucination_rate", 0.1)])
    path = tmp_path / "report.html"
    path.write_text(to_html(card, gates), encoding="utf-8")
    browser.open(path)

    assert browser.run("document.querySelector('h1').textContent") == "Gate failed"
    # A refused style would leave the browser's own margin.
    assert browser.run("getComputedStyle(document.body).margin") == "0px"
    names = [one.record.id for one in card.results]
    assert browser.run(FIRST) == names
    browser.run("document.querySelector('button[data-sort=\"2\"]').click()")
    assert browser.run(FIRST)[:3] == ["bike-005", "bike-003", "bike-008"]
    browser.run("document.querySelector('button[data-sort=\"2\"]').click()")
    assert browser.run(FIRST)[-1] == "bike-005"
    assert browser.run("document.querySelector('th[aria-sort]').getAttribute('aria-sort')") == "descending"
    hidden = "document.querySelector('#records tbody tr.more').hidden"
    assert browser.run(hidden) is True
    browser.run("document.querySelector('#records button.open').click()")
    assert browser.run(hidden) is False
    browser.run(
        "const box = document.getElementById('find'); box.value = 'LIGHTHOUSE'; box.dispatchEvent(new Event('input'))"
    )
    visible = "Array.from(document.getElementById('records').tBodies).filter(one => !one.hidden).length"
    assert browser.run(visible) == 1

    shot = base64.b64decode(browser.call("Page.captureScreenshot", captureBeyondViewport=True)["data"])
    (tmp_path / "report.png").write_bytes(shot)
    assert len(shot) > 30_000
    assert browser.complaints() == []
    assert browser.requests() == [path.as_uri()]


def test_hostile_records_do_nothing(browser, tmp_path, hostile_card):
    """
    Scripts, styles, images and links in records are text to the browser.
    """
    path = tmp_path / "hostile.html"
    path.write_text(to_html(hostile_card), encoding="utf-8")
    browser.open(path)
    assert browser.run("document.scripts.length") == 1
    assert browser.run("document.querySelectorAll('img, a, iframe, object, embed, link, form, base').length") == 0
    assert browser.run("document.getElementById('records').tBodies.length") == hostile_card.count
    assert browser.complaints() == []
    assert browser.requests() == [path.as_uri()]


def test_the_policy_bites(browser, tmp_path, bike_card):
    """
    Were a record to get through, the page's policy would refuse its script, style and image, and would say so.
    """
    path = tmp_path / "broken.html"
    hole = "<script>window.CANARY = 1</script><img src='https://evil.example/x.png'><style>body { margin: 9px }</style>"
    path.write_text(to_html(bike_card).replace("<main>", f"<main>{hole}"), encoding="utf-8")
    browser.open(path)
    assert browser.run("window.CANARY === undefined") is True
    assert browser.run("getComputedStyle(document.body).margin") == "0px"
    assert len(browser.complaints()) >= 3
