from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
ROOTS = {
    "rageval_trace": REPOSITORY,
    "rageval_trace_langchain": REPOSITORY / "integrations" / "langchain",
    "rageval_trace_llama_index": REPOSITORY / "integrations" / "llama_index",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> list[str]:
    """
    Build the wheel and list its files.
    """
    builder = pytest.importorskip("hatchling.builders.wheel", reason="hatchling builds the wheel")
    if not (REPOSITORY / "rageval_trace").is_dir():
        pytest.skip("the sources are out of reach: there is nothing to build")
    where = tmp_path_factory.mktemp("wheel")
    (path,) = builder.WheelBuilder(str(REPOSITORY)).build(directory=str(where), versions=["standard"])
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


def source_files() -> set[str]:
    """
    Return what the import roots hold, as paths inside a wheel.
    """
    return {
        path.relative_to(above).as_posix()
        for root, above in ROOTS.items()
        for path in (above / root).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_the_import_roots_and_nothing_else(wheel):
    """
    Each file of each root is there once; tests, dashboards, examples and data are not.
    """
    assert sorted(source_files()) == sorted(name for name in wheel if ".dist-info/" not in name)


def test_the_roots_hold_code_alone():
    """
    A root has Python files, schemas, the page's parts, fitted coefficients, the methods page and its typing marker;
    what an operator mounts lies beside the roots.
    """
    assert {
        name
        for name in source_files()
        if not name.endswith(
            (".py", "/py.typed", ".schema.json", ".jinja", ".css", ".js", ".coefficients.json", "/METHODS.md")
        )
    } == set()


@pytest.mark.parametrize("root", ROOTS)
def test_each_root_is_marked_as_typed(wheel, root):
    """
    Type checkers read a root's annotations only when its marker is installed.
    """
    assert f"{root}/py.typed" in wheel


def test_the_wheel_carries_its_licence(wheel):
    """
    The licence travels with the code.
    """
    assert [name for name in wheel if name.endswith("/licenses/LICENSE")] != []
