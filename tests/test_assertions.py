"""Every test asserts something of its own: one that only calls shows no more than that nothing was raised."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
TREES = {path: ast.parse(path.read_text()) for path in sorted(TESTS.rglob("*.py"))}
FILES = [path for path in TREES if path.name.startswith("test_")]
EXPECTING = {"raises", "warns", "fail"}


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(TREES[path]) if isinstance(node, ast.FunctionDef))


def helper_files(path: Path) -> Iterator[Path]:
    """The file itself, and those of ``doubles`` and ``oracles`` that it imports from."""
    yield path
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("doubles.", "oracles.")):
            yield TESTS.joinpath(*node.module.split(".")).with_suffix(".py")


def is_named(function: ast.expr, names: set[str]) -> bool:
    """Whether it is one of these functions, a method of ``self``, or one of pytest's that expect something."""
    if isinstance(function, ast.Name):
        return function.id in names
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return False
    return function.attr in {"self": names, "pytest": EXPECTING}.get(function.value.id, set())


def asserts(function: ast.FunctionDef, helpers: set[str]) -> bool:
    return any(
        isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and is_named(node.func, helpers))
        for node in ast.walk(function)
    )


def silent_tests(path: Path) -> list[str]:
    """The tests of a file that assert nothing, neither themselves nor in a helper that they call."""
    candidates = [function for file in helper_files(path) for function in functions(file)]
    helpers: set[str] = set()
    while more := {function.name for function in candidates if asserts(function, helpers)} - helpers:
        helpers |= more
    return [test.name for test in functions(path) if test.name.startswith("test_") and test.name not in helpers]


@pytest.mark.parametrize(
    "path", [path for path in TREES if path.name.startswith("test_")], ids=lambda path: path.stem
)
def test_every_test_asserts_something(path):
    assert silent_tests(path) == []


def test_the_scan_itself(tmp_path, monkeypatch):
    path = tmp_path / "test_scanned.py"
    path.write_text("""
import subprocess
from doubles.checked import assert_keeps_contract

def run(command):
    return compare(command)

def compare(found):
    assert found

def test_silent(): subprocess.run(["true"], check=True)
def test_itself(): assert 1
def test_helper(): run(3)
def test_doubles(): assert_keeps_contract(3)
def test_raises():
    with pytest.raises(ValueError): int("x")
""")
    monkeypatch.setitem(TREES, path, ast.parse(path.read_text()))
    assert silent_tests(path) == ["test_silent"]
