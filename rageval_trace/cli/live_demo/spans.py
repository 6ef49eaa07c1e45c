"""
The spans of the live demo, as a tree for a person and as JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from rageval_trace.cli.terminal import Segment, Style, Terminal, cells
from rageval_trace.telemetry import names

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

__all__ = ["show_tree", "spans_json"]

_INSET: Final = 3
_COLUMN: Final = 42
_SHOWN: Final = (names.VERDICT, names.BREACHED, names.CLAIMS_UNSUPPORTED_INDEX, names.UNDEFINED)


def show_tree(terminal: Terminal, spans: Sequence[ReadableSpan]) -> None:
    """
    Print every trace as a tree, evaluation spans with their scores.
    """
    terminal.line()
    terminal.line(("The spans, as your back end gets them", "strong"))
    for root in _children(spans, None):
        _show(terminal, spans, root, "", "")


def _children(spans: Iterable[ReadableSpan], parent: int | None) -> list[ReadableSpan]:
    found = [span for span in spans if (span.parent.span_id if span.parent else None) == parent]
    return sorted(found, key=lambda span: span.start_time or 0)


def _show(terminal: Terminal, spans: Sequence[ReadableSpan], span: ReadableSpan, here: str, below: str) -> None:
    shown, duration = f"{here}{span.name}", f"{_milliseconds(span):.1f} ms"
    room = terminal.width - cells(shown) - cells(duration)
    style: Style = "accent" if _is_evaluation(span) else "plain"
    terminal.line(here, (span.name, style), " " * max(1, room), (duration, "dim"))
    children = _children(spans, span.context.span_id if span.context else None)
    if _is_evaluation(span):
        for row in _attribute_rows(span, terminal.width - cells(below) - _INSET):
            terminal.line(below, " " * _INSET, *row)
    for child in children:
        last = child is children[-1]
        _show(terminal, spans, child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "))


def _is_evaluation(span: ReadableSpan) -> bool:
    return (span.attributes or {}).get(names.OPERATION_NAME) == names.OPERATION_EVALUATION


def _milliseconds(span: ReadableSpan) -> float:
    return ((span.end_time or 0) - (span.start_time or 0)) / 1e6


def _attribute_rows(span: ReadableSpan, width: int) -> Iterator[list[Segment]]:
    """
    Yield the verdict one attribute a row, then the scores in as many columns as there is room for.
    """
    attributes = span.attributes or {}
    failed = attributes.get(names.BREACHED, ())
    style: Style = "bad" if failed else "good" if attributes.get(names.VERDICT) == "pass" else "warn"
    for name in _SHOWN:
        if attributes.get(name) not in (None, (), ""):
            yield [(f"{name} ", "dim"), (_value(attributes[name]), style)]
    row: list[Segment] = []
    for name, value in attributes.items():
        if name.startswith(names.SCORE_PREFIX):
            breached = isinstance(failed, tuple) and name.removeprefix(names.SCORE_PREFIX) in failed
            row.append((f"{name:<{_COLUMN - 8}}", "dim"))
            row.append((f"{_value(value):<8}", "bad" if breached else "plain"))
            if (len(row) // 2 + 1) * _COLUMN > width:
                yield row
                row = []
    if row:
        yield row


def _value(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return ", ".join([str(one) for one in value])
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def spans_json(spans: Iterable[ReadableSpan]) -> list[dict[str, Any]]:
    """
    Return the spans ready for JSON, in the order in which they ended.
    """
    return [
        {
            "name": span.name,
            "trace_id": f"{span.context.trace_id:032x}",
            "span_id": f"{span.context.span_id:016x}",
            "parent_id": f"{span.parent.span_id:016x}" if span.parent else None,
            "duration_ms": _milliseconds(span),
            "attributes": {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in (span.attributes or {}).items()
            },
        }
        for span in spans
        if span.context is not None
    ]
