"""
The live demo as a command: wire the SDK, run the requests, show what came of them.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any, Final

from rageval_trace.cli.live_demo.script import HALF_LIFE_DAYS, REQUESTS, THRESHOLDS, TOP_K
from rageval_trace.cli.live_demo.spans import show_tree, spans_json
from rageval_trace.cli.live_demo.view import View, request_json
from rageval_trace.cli.output import write_text
from rageval_trace.errors import MissingExtraError, RagEvalError
from rageval_trace.evaluation import evaluate
from rageval_trace.live.settings import Settings
from rageval_trace.metrics.base import names as metric_names
from rageval_trace.models import EvalConfig

__all__ = ["FRAMEWORKS", "run"]

# Framework -> the module that runs the requests in it, and the extras that it needs.
FRAMEWORKS: Final[Mapping[str, tuple[str, str]]] = {
    "langchain": ("langchain_app", "demo"),
    "llama-index": ("llama_index_app", "llama-index,otlp"),
}
PIPELINE: Final = "help-centre"


def run(args: argparse.Namespace) -> int:
    """
    Run the live demo and return the exit code: 2 if something could not be sent.

    Raises:
        RagEvalError: for options that do not go together, an unusable address, or a missing extra.
    """
    if args.judge is not None:
        raise RagEvalError("--judge does not go with --live: the demo runs without a key")
    session = _Session(args)
    code = session.quietly() if args.json else session.on_screen()
    if args.json or args.out is not None:
        text = json.dumps(session.document(), indent=2)
        if args.out is not None:
            write_text(args.out, f"{text}\n")
        if args.json:
            print(text)
    return code


class _Session:
    def __init__(self, args: argparse.Namespace) -> None:
        self._framework = args.framework or next(iter(FRAMEWORKS))
        self._app = _load(*FRAMEWORKS[self._framework])
        self._wiring = _load("wiring", "demo").Wiring(args.otlp)
        self._otlp = args.otlp
        self._now = args.now or datetime.now(timezone.utc)
        self._metrics = args.metrics
        self._config = EvalConfig(now=self._now, half_life_hours=24.0 * HALF_LIFE_DAYS, k=TOP_K)
        self._results: list[Any] = []

    def quietly(self) -> int:
        for _ in self._answers():
            pass
        return self._close()

    def on_screen(self) -> int:
        view = View(THRESHOLDS)
        view.opening(self._framework, len(REQUESTS))
        for number, (request, result) in enumerate(self._answers(), 1):
            view.request(number, request, result)
        view.scorecard(self._scorecard(), self._results)
        code = self._close()
        show_tree(view.terminal, self._wiring.spans)
        view.closing(self._otlp if code == 0 else None)
        return code

    def document(self) -> dict[str, Any]:
        return {
            "requests": [request_json(one, result) for one, result in zip(REQUESTS, self._results, strict=True)],
            "scorecard": json.loads(self._scorecard().to_json()),
            "spans": spans_json(self._wiring.spans),
        }

    def _answers(self) -> Iterator[tuple[Any, Any]]:
        options = {
            "pipeline": PIPELINE,
            "thresholds": dict(THRESHOLDS),
            "metrics": self._metrics,
            "config": self._config,
            # Not the environment's: the demo shows the same everywhere.
            "settings": Settings(mode="inline"),
            **self._wiring.providers,
        }
        tracer = self._wiring.tracer_provider.get_tracer("help-centre-app")
        results = self._app.answers(REQUESTS, now=self._now, tracer=tracer, options=options)
        for request, result in zip(REQUESTS, results, strict=True):
            if result is None:
                raise RagEvalError("nothing was scored: RAGEVAL_TRACE_ENABLED=0 is set")
            self._results.append(result)
            yield request, result

    def _scorecard(self) -> Any:
        live = {name for result in self._results for name in result.results}
        records = [
            replace(result.record, id=request.title) for request, result in zip(REQUESTS, self._results, strict=True)
        ]
        return evaluate(records, config=self._config, metrics=[name for name in metric_names() if name in live])

    def _close(self) -> int:
        self._wiring.close()
        if not self._wiring.failures:
            return 0
        what = ", ".join(sorted(self._wiring.failures))
        print(f"rageval: could not send {what} to {self._otlp}", file=sys.stderr)
        return 2


def _load(module: str, extra: str) -> Any:
    try:
        return importlib.import_module(f"rageval_trace.cli.live_demo.{module}")
    except MissingExtraError:
        raise
    except ModuleNotFoundError as error:
        raise MissingExtraError(extra, "rageval demo --live") from error
