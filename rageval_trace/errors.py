"""
The errors that this package raises on purpose.

    RagEvalError
    ├── DatasetError        a file or a line of it cannot be read as records
    ├── UnknownMetricError  a metric name that nothing registered
    ├── GateError           a gate that cannot be parsed or judged
    └── MissingExtraError   an optional dependency is not installed (also a ModuleNotFoundError)

Each keeps its data on the object, so that callers never parse messages.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["DatasetError", "GateError", "MissingExtraError", "RagEvalError", "UnknownMetricError", "closest"]


def closest(name: str, known: Iterable[str]) -> str:
    """
    Return `` (did you mean 'x'?)`` for the known name most like *name*, or an empty string.
    """
    import difflib  # noqa: PLC0415 - for messages alone

    found = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {found[0]!r}?)" if found else ""


class RagEvalError(Exception):
    """
    Be the base of every error that this package raises on purpose.
    """


class DatasetError(RagEvalError):
    """
    Report input that cannot be read as records.

    Args:
        message: What is wrong and what was expected.
        path: The file, `"-"` for standard input; None when the record came from memory.
        line: 1-based line (JSONL, CSV) or item (JSON array) number; None when not known.
        field: The field at fault; None when the whole line is.
    """

    def __init__(
        self, message: str, *, path: str | None = None, line: int | None = None, field: str | None = None
    ) -> None:
        self.message = message
        self.path = path
        self.line = line
        self.field = field
        place = ":".join(str(part) for part in (path, line) if part is not None)
        subject = f"field {field!r}: {message}" if field else message
        super().__init__(f"{place}: {subject}" if place else subject)


class UnknownMetricError(RagEvalError, ValueError):
    """
    Report a metric name that nothing registered.

    Args:
        name: The name asked for.
        known: Every registered name, in registration order.
    """

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.known = tuple(known)
        hint = closest(name, self.known)
        super().__init__(f"unknown metric {name!r}{hint}; known: {', '.join(self.known)}")


class GateError(RagEvalError, ValueError):
    """
    Report a gate or threshold that cannot be parsed or judged.
    """


class MissingExtraError(RagEvalError, ModuleNotFoundError):
    """
    Report an optional dependency that is not installed, with the command that installs it.

    Args:
        extra: The extra of this distribution that brings the dependency.
        needed_for: What asked for it, as the subject of the message.
    """

    def __init__(self, extra: str, needed_for: str) -> None:
        self.extra = extra
        super().__init__(f'{needed_for} needs an optional dependency: pip install "rageval-trace[{extra}]"', name=extra)
