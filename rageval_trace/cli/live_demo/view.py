"""
What the live demo shows of the requests: question, answer, scores, verdict, and the sentence that broke.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rageval_trace.cli.live_demo.script import Request
from rageval_trace.cli.terminal import Segment, Style, Terminal, cells
from rageval_trace.models import MetricResult
from rageval_trace.reports import Scorecard

if TYPE_CHECKING:
    from rageval_trace.live.result import LiveResult

__all__ = ["View", "request_json"]

_BAR_CELLS: Final = 10
_VERDICTS: Final[Mapping[str | None, tuple[str, Style]]] = {
    "pass": ("pass", "good"),
    "fail": ("FAIL", "bad"),
    "unknown": ("unknown", "warn"),
}
# Shown with a bar, in this order, where they have a value.
_BARS: Final = ("groundedness", "answer_relevance", "freshness", "recall")
_LABEL: Final = 4  # columns before a request's lines


class View:
    """
    Print the demo for a person.

    Args:
        thresholds: Value by metric name, as the handler has them.
        terminal: Where to print; standard output for None.
    """

    def __init__(self, thresholds: Mapping[str, float], terminal: Terminal | None = None) -> None:
        self.terminal = terminal or Terminal()
        self._thresholds = thresholds
        self._line = self.terminal.line

    def opening(self, framework: str, count: int) -> None:
        """
        Say what is about to run.
        """
        self._line(
            ("rageval demo --live", "strong"), f"   {count} requests to a {framework} pipeline, scored as each ends"
        )
        self._line(("Real retriever, prompt and parser; the chat model is scripted. No key, no network.", "dim"))

    def request(self, number: int, request: Request, result: LiveResult) -> None:
        """
        Print one request and what was made of it.
        """
        self._line()
        self._headline(number, result)
        self._under((f"{request.title}, by {request.call}()", "dim"))
        self._under(*_marked_answer(result))
        for name in _BARS:
            if name in result.results:
                self._bar(result.results[name], name in result.breached)
        for evidence in _evidence(result):
            self._under((f"{_sign('✘', 'x')} ", "bad"), *evidence, more=2)

    def _headline(self, number: int, result: LiveResult) -> None:
        word, style = _VERDICTS.get(result.verdict, ("no verdict", "dim"))
        verdict = f"{word}: {', '.join(result.breached)}" if result.breached else word
        asked = f"{number}".ljust(_LABEL) + result.record.question
        gap = self.terminal.width - cells(asked) - cells(verdict)
        asked = f"{number}".ljust(_LABEL)
        self._line(
            (asked, "accent"), (result.record.question, "strong"), " " * max(2, gap), (verdict, style), indent=_LABEL
        )

    def _under(self, *segments: Segment, more: int = 0) -> None:
        self._line(" " * _LABEL, *segments, indent=_LABEL + more)

    def _bar(self, result: MetricResult, breached: bool) -> None:
        name = f"{result.name:<17}"
        if result.score is None:
            self._under(name, ("-", "warn"), (f"  undefined: {result.reason}", "dim"), more=2)
            return
        style: Style = "bad" if breached else "good"
        bound = f"{'at least' if result.higher_is_better else 'at most'} {self._thresholds[result.name]:g}"
        self._under(name, (f"{result.score:.3f} ", style), *_meter(result.score, style), (f"  {bound}", "dim"))

    def scorecard(self, card: Scorecard, results: Sequence[LiveResult]) -> None:
        """
        Print the scorecard that the captured records get from `evaluate`, and whether both agree.
        """
        same = all(
            live.results[name].score == offline.results[name].score
            for live, offline in zip(results, card.results, strict=True)
            for name in live.results
        )
        self._line()
        self._line(("The scorecard: the captured records through evaluate()", "strong"))
        for row in card.format_text().splitlines():
            self._line(row)
        word = "equal" if same else "DO NOT equal"
        self._line((f"The live scores {word} these, number for number.", "good" if same else "bad"))

    def closing(self, sent_to: str | None) -> None:
        """
        Say where everything went, and what to do next.
        """
        self._line()
        self._line(
            ("No question, document or answer stands on a span, metric or log: content stays in the process.", "dim")
        )
        if sent_to is not None:
            self._line(f"Spans, metrics and logs were sent to {sent_to}.")
        self._line("Yours: ", ('chain.invoke(question, config={"callbacks": [RagEvalHandler()]})', "accent"), indent=7)


def _meter(score: float, style: Style) -> Iterator[Segment]:
    filled = round(max(0.0, min(1.0, score)) * _BAR_CELLS)
    yield (_sign("━", "#") * filled, style)
    yield (_sign("─", ".") * (_BAR_CELLS - filled), "dim")


def _sign(wanted: str, plain: str) -> str:
    """
    Return the sign, or its plain stand-in where standard output cannot show it.
    """
    try:
        wanted.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return plain
    return wanted


def _unsupported(result: LiveResult) -> Sequence[Mapping[str, Any]]:
    found = result.results.get("groundedness")
    return found.details.get("unsupported", ()) if found else ()


def _marked_answer(result: LiveResult) -> Iterator[Segment]:
    """
    Yield the answer with its unsupported sentences marked.
    """
    rest = result.record.answer or ""
    for claim in _unsupported(result):
        before, found, after = rest.partition(claim["text"])
        if found:
            yield before
            yield (found, "broken")
            rest = after
    yield rest


def _evidence(result: LiveResult) -> Iterator[tuple[Segment, ...]]:
    """
    Yield, for each breached metric, the sentence, page or words that explain it.
    """
    for name in result.breached:
        details, reason = result.results[name].details, result.results[name].reason
        if name == "groundedness":
            for claim in _unsupported(result):
                yield ("no page says: ", (claim["text"], "bad"), (f"  {claim['reason']}", "dim"))
        elif name == "freshness":
            rank, hours = max(details["ages_hours"].items(), key=lambda entry: entry[1])
            page = (result.record.contexts or ())[int(rank) - 1].id
            yield ("old page: ", (page, "bad"), (f"  {hours / 24:.0f} days", "dim"))
        elif name == "recall":
            yield ("never retrieved: ", (", ".join(details["missing"]), "bad"))
        else:
            yield (f"{name}: ", (reason, "bad"))


def request_json(request: Request, result: LiveResult) -> dict[str, Any]:
    """
    Return one request and what was made of it, ready for JSON.
    """
    return {
        "title": request.title,
        "call": request.call,
        "question": result.record.question,
        "answer": result.record.answer,
        "contexts": [context.id for context in result.record.contexts or ()],
        "status": result.status,
        "verdict": result.verdict,
        "breached": list(result.breached),
        "scores": dict(result.scores),
        "undefined": {name: one.reason for name, one in result.results.items() if one.score is None},
        "unsupported": [claim["text"] for claim in _unsupported(result)],
        "trace_id": result.trace_id,
        "span_id": result.span_id,
    }
