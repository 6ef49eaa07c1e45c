from __future__ import annotations

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


def shell_blocks(path: str) -> list[str]:
    """
    Return the shell code blocks of a Markdown file.
    """
    return re.findall(r"^```sh\n(.*?)\n```$", (REPOSITORY / path).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_ci_runs_the_test_command_that_the_readme_shows():
    """
    What a newcomer is told to run is what guards the main branch, word for word.
    """
    (command,) = [block for block in shell_blocks("README.md") if "pytest" in block]
    script = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    found = re.search(r"^readme_tests\(\) \{\n(?: *#.*\n)*((?:.*\n)*?)^\}", script, re.MULTILINE)
    assert found is not None
    assert command.splitlines() == [line.strip() for line in found[1].splitlines()]


def test_contributors_are_told_the_same_command():
    """
    CONTRIBUTING repeats the README's test command and no other.
    """
    (command,) = [block for block in shell_blocks("README.md") if "pytest" in block]
    assert command in shell_blocks(".github/CONTRIBUTING.md")


@pytest.mark.parametrize("extra", ["demo", "dev"])
def test_each_readme_command_makes_its_own_environment(extra):
    """
    Both commands stand alone: each makes the environment and installs what it needs.
    """
    (command,) = [block for block in shell_blocks("README.md") if f'".[{extra}]"' in block]
    assert command.startswith("python3 -m venv .venv && .venv/bin/pip install -q -e ")
