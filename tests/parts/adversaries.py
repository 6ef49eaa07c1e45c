"""
Every regular expression of the package, and strings made to be dear for it.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import pkgutil
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as codes
    from re import _parser as parser
else:
    import sre_constants as codes
    import sre_parse as parser

ROOTS = ("rageval_trace", "rageval_trace_langchain", "rageval_trace_llama_index")
METHODS = {"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
# What prose, markup and numbers are made of, one repeated without end.
COMMON = [
    *" \n\taA09'\"[]().,-#*>`~=|:/@_é中。",
    "a ",
    "A ",
    "a'",
    "A.",
    "0,",
    "0.",
    "a.",
    "- ",
    "[1]",
    "[1",
    "> ",
    " \n",
]


@dataclass
class Expression:
    """
    A pattern, where it stands, and the methods that the package calls on it.
    """

    place: str
    pattern: re.Pattern[str]
    methods: set[str] = field(default_factory=set)

    def run(self, text: str) -> None:
        for method in self.methods:
            if method in {"sub", "subn"}:
                self.pattern.sub("", text)
            elif method == "finditer":
                for _ in self.pattern.finditer(text):
                    pass
            else:
                getattr(self.pattern, method)(text)


def modules() -> Iterator[ModuleType]:
    """
    Yield every module but those that need what is not installed.
    """
    for root in ROOTS:
        with contextlib.suppress(ImportError):
            package = importlib.import_module(root)
            yield package
            for found in pkgutil.walk_packages(package.__path__, f"{root}."):
                with contextlib.suppress(ImportError):
                    yield importlib.import_module(found.name)


def compiled(module: ModuleType) -> Iterator[tuple[str, re.Pattern[str]]]:
    """
    Yield the patterns that a module holds, and those that its cached functions make, by their names.
    """
    for name, value in vars(module).items():
        if isinstance(value, re.Pattern):
            yield name, value
        elif hasattr(value, "cache_info") and "re.Pattern" in str(value.__wrapped__.__annotations__.get("return")):
            yield name, value()


def called_on(module: ModuleType) -> Iterator[tuple[str, str]]:
    """
    Yield (name or pattern, method) of each call of a pattern's method, `re.sub("...", ...)` among them.
    """
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if not isinstance(node, ast.Attribute) or node.attr not in METHODS:
            continue
        owner = node.value.func if isinstance(node.value, ast.Call) else node.value
        if isinstance(owner, ast.Name):
            yield owner.id, node.attr


def written_in_place(module: ModuleType) -> Iterator[tuple[str, str]]:
    """
    Yield (pattern, method) of each `re.method("pattern", ...)`.
    """
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args:
            method, first = ast.unparse(node.func).removeprefix("re."), node.args[0]
            if method in METHODS and isinstance(first, ast.Constant):
                yield first.value, method


def expressions() -> list[Expression]:
    """
    Return every pattern once, with the methods that the modules which hold it call on it.
    """
    found: dict[tuple[str, int], Expression] = {}
    for module in modules():
        called = list(called_on(module))
        for name, pattern in compiled(module):
            one = found.setdefault((pattern.pattern, pattern.flags), Expression(f"{module.__name__}.{name}", pattern))
            one.methods.update([method for owner, method in called if owner == name])
        for source, method in written_in_place(module):
            place = f"{module.__name__} re.{method}({source!r})"
            found.setdefault((source, -1), Expression(place, re.compile(source))).methods.add(method)
    return list(found.values())


def adversaries(expression: Expression, size: int, seed: int = 7) -> Iterator[tuple[str, str]]:
    """
    Yield (what it is, the text): common units and the insides of the pattern's own repeats, over and over, at the
    start, after what the pattern wants to see before them, and with an end that spoils the match.
    """
    own = _own_repeats(expression.pattern, random.Random(seed))  # noqa: S311 - a fixed choice
    for before, unit in [*(("", unit) for unit in COMMON), *own]:
        for end in ("", "\x00"):
            yield f"{before!r} {unit!r}* {end!r}", before + (unit * size)[:size] + end


def _own_repeats(pattern: re.Pattern[str], chance: random.Random) -> list[tuple[str, str]]:
    found: dict[tuple[str, str], None] = {}
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    for _ in range(6):
        _walk(tree, "", chance, found)
    return [pair for pair in found if pair[1]]


def _walk(items: Any, before: str, chance: random.Random, found: dict[tuple[str, str], None]) -> str:
    """
    Return a text that the items match, roughly, and note each repeat with a text that leads up to it.
    """
    text = ""
    for code, value in items:
        if code in {codes.MAX_REPEAT, codes.MIN_REPEAT, getattr(codes, "POSSESSIVE_REPEAT", None)}:
            least, most, inner = value
            unit = _walk(inner, before + text, chance, found)
            if most > 3:
                found[before + text, unit] = None
            text += unit * max(1, least)
        elif code is codes.SUBPATTERN:
            text += _walk(value[3], before + text, chance, found)
        elif code is codes.BRANCH:
            text += _walk(chance.choice(value[1]), before + text, chance, found)
        elif code in {codes.ASSERT, codes.ASSERT_NOT}:
            _walk(value[1], before + text, chance, found)
        else:
            text += _one(code, value, chance)
    return text


def _one(code: Any, value: Any, chance: random.Random) -> str:
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.IN:
        return _one(*chance.choice(value), chance)
    if code is codes.RANGE:
        return chr(chance.randint(*value))
    if code is codes.CATEGORY:
        members = {codes.CATEGORY_DIGIT: "3", codes.CATEGORY_SPACE: " \n", codes.CATEGORY_NOT_WORD: " ."}
        return chance.choice(members.get(value, "ab"))
    return "" if code in {codes.AT, codes.NEGATE, codes.GROUPREF} else "x"
