"""
What becomes of an error in our own code: counted, named once, never raised.
"""

from __future__ import annotations

import logging
from collections import Counter
from types import TracebackType

__all__ = ["Faults"]

_log = logging.getLogger("rageval_trace")


class Faults:
    """
    Count errors by kind, and log the first of each kind.

    A kind is an exception type at a place. Messages are never logged, for they may quote the user's content.
    """

    MAX_KINDS = 100

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    @property
    def counts(self) -> dict[str, int]:
        """
        Return how often each kind was seen, as `ValueError at module.py:12`.
        """
        return dict(self._counts)

    def note(self, what: str, error: Exception) -> None:
        """
        Count *error*, and log it if it is the first of its kind.

        Args:
            what: What was lost by it, as the start of the log line.
            error: What was raised.
        """
        kind = f"{type(error).__name__} at {_place(error.__traceback__)}"
        if kind not in self._counts and len(self._counts) >= self.MAX_KINDS:
            kind = "other"
        self._counts[kind] += 1
        if self._counts[kind] == 1:
            _log.warning("%s: %s; further ones are only counted", what, kind)


def _place(traceback: TracebackType | None) -> str:
    """
    Return where an exception was raised, as `file.py:line`.
    """
    if traceback is None:
        return "unknown"
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    filename = traceback.tb_frame.f_code.co_filename
    return f"{filename.replace(chr(92), '/').rpartition('/')[2]}:{traceback.tb_lineno}"
