"""
A loopback server that speaks as much of the Messages API as the judges use, from a script.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Seen:
    """
    One request as it arrived.
    """

    headers: Mapping[str, str]
    raw: bytes
    body: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """
    One response to send: *delay_s* seconds after the request came in.
    """

    payload: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0


Script = Reply | Callable[[Seen], Reply]


def message(
    content: list[dict[str, Any]],
    stop_reason: str = "end_turn",
    *,
    tokens: tuple[int, int] = (1000, 50),
    delay_s: float = 0.0,
    **more: Any,
) -> Reply:
    """
    Reply with a message of these content blocks that cost (input, output) *tokens*.
    """
    body = {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]},
        **more,
    }
    return Reply(json.dumps(body).encode(), delay_s=delay_s)


def text(words: str, stop_reason: str = "end_turn", **more: Any) -> Reply:
    """
    Reply with one text block, after the thinking block with which newer models begin.
    """
    thinking = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    return message([thinking, {"type": "text", "text": words}], stop_reason, **more)


def structured(value: Any, **more: Any) -> Reply:
    """
    Reply with *value* as the JSON text that a schema asks for.
    """
    return text(json.dumps(value), **more)


def tool_use(name: str, given: Any, **more: Any) -> Reply:
    """
    Reply with one call of a tool.
    """
    block = {"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": given}
    return message([{"type": "thinking", "thinking": "", "signature": "c2ln"}, block], "tool_use", **more)


def refusal() -> Reply:
    """
    Reply with a refusal and its details.
    """
    details = {"type": "refusal", "category": "bio", "explanation": "SECRET explanation"}
    return message([], "refusal", stop_details=details)


def failure(status: int, kind: str = "api_error", **headers: str) -> Reply:
    """
    Reply with an error of the API; header names are given with underscores.
    """
    body = {"type": "error", "error": {"type": kind, "message": "SECRET detail"}, "request_id": "req_01"}
    return Reply(json.dumps(body).encode(), status, {name.replace("_", "-"): value for name, value in headers.items()})


class MessagesServer:
    """
    Serve replies in the order of `script`, then `default`, on a free loopback port; keep what was asked in `seen`.
    """

    def __init__(self, default: Script | None = None) -> None:
        self.script: deque[Script] = deque()
        self.default: Script = default or failure(500, x_should_retry="false")
        self.seen: list[Seen] = []
        self._closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> MessagesServer:  # noqa: PYI034 - typing.Self is newer than Python 3.10
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def _answer(self, seen: Seen) -> Reply:
        self.seen.append(seen)
        chosen = self.script.popleft() if self.script else self.default
        reply = chosen if isinstance(chosen, Reply) else chosen(seen)
        self._closing.wait(reply.delay_s)
        return reply

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["content-length"]))
                reply = server._answer(Seen({k.lower(): v for k, v in self.headers.items()}, raw, json.loads(raw)))
                try:
                    self.send_response(reply.status)
                    for name, value in {"content-type": "application/json", **reply.headers}.items():
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(reply.payload)))
                    self.end_headers()
                    self.wfile.write(reply.payload)
                except OSError:
                    self.close_connection = True  # the client gave up waiting

            def log_message(self, *args: object) -> None:
                pass

        return Handler
