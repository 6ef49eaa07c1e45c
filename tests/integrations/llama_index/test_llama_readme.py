"""
The adapter's own page keeps step with the code.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rageval_trace_llama_index.tracker import LABELS

from rageval_trace.live.capture import OVERRIDES

PAGE = Path(__file__).resolve().parents[3] / "integrations" / "llama_index" / "README.md"


@pytest.fixture(scope="module")
def page() -> str:
    """
    Read the page.
    """
    if not PAGE.exists():
        pytest.skip("the page is not part of an installed package")
    return PAGE.read_text(encoding="utf-8")


def test_its_code_compiles_and_imports(page: str) -> None:
    """
    Every Python block compiles, and what it imports is there.
    """
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)

    assert len(blocks) >= 4
    for block in blocks:
        compile(block, str(PAGE), "exec")
        exec("\n".join(re.findall(r"^from .*$", block, re.MULTILINE)), {})


def test_it_names_what_there_is(page: str) -> None:
    """
    Every override, and the tag that holds labels.
    """
    assert [] == [name for name in (*OVERRIDES, LABELS) if f"`{name}`" not in page]
