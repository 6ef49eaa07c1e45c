"""
Write the dashboards: `python integrations/grafana/generate.py` (Python >= 3.11, `pip install -e ".[dev]"`).
"""

# ruff: noqa: INP001 - a script
from __future__ import annotations

from pathlib import Path
from typing import Final

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from rageval_dashboards.health import health
from rageval_dashboards.quality import quality

__all__ = ["FOLDER", "dashboards"]

FOLDER: Final = Path(__file__).parent / "dashboards"


def dashboards() -> dict[str, str]:
    """
    Return each dashboard's JSON by file name.
    """
    builders = {"rag-quality.json": quality(), "rag-evaluation-health.json": health()}
    encode = JSONEncoder(sort_keys=True, indent=2).encode
    return {name: encode(builder.build()) + "\n" for name, builder in builders.items()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, text in dashboards().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
