"""
Gates that live in a file: `gates.toml`, or `[tool.rageval]` in `pyproject.toml`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rageval_trace.errors import GateError, RagEvalError, closest
from rageval_trace.gates.rules import GateRules, parse_amount
from rageval_trace.gates.thresholds import Threshold, parse_thresholds

__all__ = ["GateFile", "find_project_file", "read_gate_file"]

_PROJECT_FILE = "pyproject.toml"
_KEYS = ("gates", "min_observed", "allow_failed", "allow_fallback", "scoring_version")


@dataclass(frozen=True, slots=True)
class GateFile:
    """
    The gates that a file sets.

    Args:
        path: The file.
        thresholds: Its gates, in the file's order.
        rules: When their values may be trusted.
    """

    path: Path
    thresholds: tuple[Threshold, ...]
    rules: GateRules


def find_project_file(start: Path) -> Path | None:
    """
    Return the nearest `pyproject.toml` in *start* or above it, if it has a table `[tool.rageval]`.
    """
    for folder in (start, *start.parents):
        path = folder / _PROJECT_FILE
        if path.is_file():
            return path if _tables(path) is not None else None
    return None


def read_gate_file(path: Path) -> GateFile:
    """
    Read the gates of a file: the table `[tool.rageval]` of a `pyproject.toml`, the whole of any other file.

    Raises:
        GateError: naming the file and what is wrong with it.
    """
    tables = _tables(path)
    if tables is None:
        raise GateError(f"{path}: has no table [tool.rageval]")
    try:
        return GateFile(path, _thresholds(tables), _rules(tables))
    except RagEvalError as error:
        raise GateError(f"{path}: {error}") from None


def _tables(path: Path) -> Mapping[str, Any] | None:
    try:
        content = _parse_toml(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise GateError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise GateError(f"{path}: is not TOML: {error}") from None
    if path.name != _PROJECT_FILE:
        return content
    tool = content.get("tool")
    table = tool.get("rageval") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _parse_toml(text: str) -> dict[str, Any]:
    # On first use: live code imports this package for its verdict, and reads no gate file.
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    content: dict[str, Any] = toml.loads(text)
    return content


def _thresholds(tables: Mapping[str, Any]) -> tuple[Threshold, ...]:
    unknown = next((key for key in tables if key not in _KEYS), None)
    if unknown is not None:
        raise GateError(f"unknown key {unknown!r}{closest(unknown, _KEYS)}; known: {', '.join(_KEYS)}")
    gates = tables.get("gates", {})
    if not isinstance(gates, dict):
        raise GateError("gates: expected a table from metric name to value")
    return parse_thresholds(gates)


def _rules(tables: Mapping[str, Any]) -> GateRules:
    readers: dict[str, Callable[[Any, str], Any]] = {
        "min_observed": parse_amount,
        "allow_failed": parse_amount,
        "allow_fallback": _flag,
        "scoring_version": _version,
    }
    return GateRules(**{key: read(tables[key], key) for key, read in readers.items() if key in tables})


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise GateError(f"{name}: expected true or false, not {value!r}")
    return value


def _version(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise GateError(f"{name}: expected a whole number, not {value!r}")
    return value
