"""
A scripted Messages API on loopback, and an environment without credentials.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def _load(name: str) -> ModuleType:
    # Test folders are no packages; the name in sys.modules lets dataclasses and the tests find it.
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


messages_server = _load("messages_server")
_load("claims_case")


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """
    Keep the machine's own keys and profiles out of every test.
    """
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("ANTHROPIC_CONFIG_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture(autouse=True)
def _fresh_budget() -> Iterator[None]:
    """
    Give every test the default budget, unspent.
    """
    from rageval_trace.judges.budget import set_shared_budget

    set_shared_budget(None)
    yield
    set_shared_budget(None)


@pytest.fixture
def server() -> Iterator[ModuleType]:
    """
    Serve an empty script: any unexpected call is answered with an error that is not retried.
    """
    with messages_server.MessagesServer() as running:
        yield running


@pytest.fixture
def make(server: Any) -> Iterator[Callable[..., Any]]:
    """
    Make ClaudeJudges that talk to the server, and close them.
    """
    from rageval_trace.judges.claude import ClaudeJudge

    made: list[ClaudeJudge] = []

    def build(**options: Any) -> ClaudeJudge:
        made.append(ClaudeJudge(**{"api_key": "key", "base_url": server.url, "max_retries": 0, **options}))
        return made[-1]

    yield build
    for judge in made:
        judge.close()
