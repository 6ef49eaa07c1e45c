"""
The whole failure matrix once more, on the lowest SDK that the `claude` extra admits; the suite itself runs on the newest.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def lowest() -> str:
    found = re.search(r'"anthropic>=(\d+)\.(\d+)[,"]', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert found is not None
    return f"{found[1]}.{found[2]}.0"


def install(requirement: str, target: Path) -> None:
    """
    Put one package, without its dependencies, into a folder; skip where no installer or index is at hand.
    """
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run([*pip, "--version"], capture_output=True, check=False).returncode:
        found = shutil.which("uv") or shutil.which("pip")
        if found is None:
            pytest.skip("neither pip nor uv is installed")
        pip = [found, "pip"] if Path(found).name == "uv" else [found]
    command = [*pip, "install", "--quiet", "--no-deps", "--target", str(target), requirement]
    environ = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        pytest.skip(f"{requirement} cannot be installed here: {done.stderr.strip()[-200:]}")


@pytest.mark.slow
def test_the_lowest_sdk_behaves_the_same(tmp_path: Path) -> None:
    """
    Every test of the judges that speak to the API passes on the lowest supported version of its SDK.
    """
    version = lowest()
    install(f"anthropic=={version}", tmp_path)
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    check = [sys.executable, "-c", "import anthropic; print(anthropic.__version__)"]
    assert version == subprocess.run(check, env=environ, capture_output=True, text=True, check=True).stdout.strip()
    here = Path(__file__).parent
    tests = [*map(str, here.glob("test_claude*.py")), str(here / "test_llm.py"), str(here / "test_cascade.py")]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:]
