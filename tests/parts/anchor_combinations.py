"""
Run one instrumentation's eight combinations in a process of its own, for instrumentors patch the framework.

    python anchor_combinations.py none|openinference|genai|traceloop

Prints a JSON list: for each combination, where the evaluation span stands and where it should.
"""

from __future__ import annotations

import asyncio
import importlib
import itertools
import json
import sys
from typing import Any

import langchain_parts as parts
from rageval_trace_langchain import RagEvalHandler

from rageval_trace.testing import CapturedTelemetry

INSTRUMENTORS = {
    "openinference": ("openinference.instrumentation.langchain", "LangChainInstrumentor"),
    "genai": ("opentelemetry.instrumentation.genai.langchain", "LangChainInstrumentor"),
    "traceloop": ("opentelemetry.instrumentation.langchain", "LangchainInstrumentor"),
}


def main(instrumentation: str) -> list[dict[str, Any]]:
    """
    Return one finding for each of user span, call and way to attach.
    """
    telemetry = CapturedTelemetry()
    if instrumentation != "none":
        module, name = INSTRUMENTORS[instrumentation]
        getattr(importlib.import_module(module), name)().instrument(
            tracer_provider=telemetry.tracer_provider, meter_provider=telemetry.meter_provider
        )
    return [
        one(telemetry, user_span=user_span, asynchronous=asynchronous, bound=bound)
        for user_span, asynchronous, bound in itertools.product([False, True], repeat=3)
    ]


def one(telemetry: CapturedTelemetry, *, user_span: bool, asynchronous: bool, bound: bool) -> dict[str, Any]:
    """
    Run a chain in one combination.
    """
    telemetry.clear()
    handler = RagEvalHandler(**telemetry.providers)
    chain, config = parts.lcel(), {"callbacks": [handler]}
    if bound:
        chain, config = chain.with_config(callbacks=[handler]), {}

    def run() -> None:
        if asynchronous:
            asyncio.run(chain.ainvoke(parts.QUESTION, config))
        else:
            chain.invoke(parts.QUESTION, config)

    if user_span:
        with telemetry.tracer_provider.get_tracer("app").start_as_current_span("user"):
            run()
    else:
        run()
    return finding(telemetry, {"user_span": user_span, "asynchronous": asynchronous, "bound": bound})


def finding(telemetry: CapturedTelemetry, combination: dict[str, bool]) -> dict[str, Any]:
    """
    Say where the evaluation stands: its parent's name, whether all is one trace, and who links to it.
    """
    spans = telemetry.spans
    (evaluation,) = [span for span in spans if span.name == "evaluation rag"]
    by_id = {span.span_id: span for span in spans}
    parent = by_id.get(evaluation.parent_id or "")
    others = [span for span in spans if span.scope not in ("rageval_trace", "app")]
    roots = [span.name for span in others if by_id.get(span.parent_id or "") is None or span.parent_id is None]
    under_user = [span.name for span in others if span.parent_id in by_id and by_id[span.parent_id].scope == "app"]
    return {
        **combination,
        "parent": None if parent is None else parent.name,
        "parent_scope": None if parent is None else parent.scope,
        "expected": (under_user or roots or [None])[0],
        "traces": len({span.trace_id for span in spans}),
        "links": [link[1] == evaluation.parent_id for link in evaluation.links],
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])))
