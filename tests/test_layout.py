"""The shape of the package: data flows one way, imports are light, exported names exist."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("envs", "agents", "evaluation")
MAY_IMPORT = {"envs": {"envs"}, "agents": {"envs", "agents"}, "evaluation": {"envs", "agents", "evaluation"}}
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
HEAVY = [
    "gymnasium", "matplotlib", "numba", "pettingzoo", "pygame", "pyspiel", "rich", "scipy", "shimmy", "typer",
]  # fmt: skip
ENVS = "CHANCE CloneError Game IllegalActionError Traits UnsupportedGameError ZermeloError as_game clone_env make"
AGENTS = "Agent AlphaBetaAgent Evaluator ExpectiminimaxAgent GreedyAgent LinearEvaluator MinimaxAgent RandomAgent"
PUBLIC = {
    "zermelo.envs": f"{ENVS} perft verify_clone",
    "zermelo.agents": f"{AGENTS} SearchResult make_agent",
    "zermelo.evaluation": "GameRecord Standings elo fit_ratings play_match round_robin sprt",
}


def imported_names(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_data_flows_one_way(path):
    package = path.relative_to(ROOT).parts[0]
    for name in imported_names(path):
        parts = name.split(".")
        assert parts[0] not in PACKAGES, f"{path} imports {name}: say zermelo.{name}"
        if parts[0] == "zermelo" and len(parts) > 1:
            assert parts[1] in MAY_IMPORT[package], f"{path} imports {name}"


def test_the_packages_are_all_there():
    names = {path.relative_to(ROOT).parts[0] for path in MODULES}
    assert names == set(PACKAGES)
    listed = (ROOT / "pyproject.toml").read_text()
    for init in (path for path in MODULES if path.name == "__init__.py"):
        name = ".".join(["zermelo", *init.parent.relative_to(ROOT).parts])
        assert f'"{name}"' in listed, f"{name} is not among the packages in pyproject.toml"
    for package in PACKAGES:
        assert (ROOT / package / "py.typed").exists()


@pytest.mark.parametrize("package", ["zermelo.envs", "zermelo.agents"])
def test_importing_takes_nothing_heavy_with_it(package):
    code = f"import sys, {package}; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert found == []


def test_the_command_line_starts_without_the_environments():
    code = f"import sys, zermelo.evaluation.cli; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(found) <= {"typer", "rich"}


@pytest.mark.parametrize("package", PUBLIC)
def test_public_names(package):
    module = importlib.import_module(package)
    assert list(module.__all__) == sorted(module.__all__)
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        assert hasattr(module, name), name
    assert set(PUBLIC[package].split()) <= set(module.__all__)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_name_a_module_exports_exists(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    name = ".".join(["zermelo", *(part for part in parts if part != "__init__")])
    module = importlib.import_module(name)
    for exported in getattr(module, "__all__", ()):
        assert hasattr(module, exported), f"{name}.{exported}"
