"""
Show a plain report on a terminal, with colour where there is one.
"""

from __future__ import annotations

import importlib.util
import sys

__all__ = ["print_report"]

# What a person looks for first. The report holds no control characters, so that only these colours reach the screen.
_COLOURS = (
    (r"\b(?:BREACHED|FAIL|ERROR|BROKEN)\b.*", "bold red"),
    (r"\b(?:held|PASS)\b", "green"),
    (r"(?m)^    - (?:unsupported|failed):", "red"),
    (r"(?m)^  doubtful .*", "yellow"),
    (r"(?m)^    - (?:relevant but|retrieved but|cited but)[^:]*:", "yellow"),
    (r"(?m)^(?:Overall|Weakest|Diagnosis|gate):|^Weakest examples$", "bold"),
    (r"(?m)^judge=.*$|^  metric .*$", "dim"),
)


def print_report(text: str) -> None:
    """
    Print a report to standard output; with colours if that is a terminal and rich is installed.
    """
    if not sys.stdout.isatty() or importlib.util.find_spec("rich") is None:
        print(text)
        return
    from rich.console import Console  # noqa: PLC0415  # an optional extra
    from rich.text import Text  # noqa: PLC0415  # as above

    shown = Text(text)
    for pattern, style in _COLOURS:
        shown.highlight_regex(pattern, style)
    Console().print(shown, soft_wrap=True)
