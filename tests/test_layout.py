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
MOVED = {ROOT / "agents/algorithms.py", ROOT / "agents/learning.py"}
"""Which only say where the folders of 0.2.0 are now."""
MODULES = sorted({path for package in PACKAGES for path in (ROOT / package).rglob("*.py")} - MOVED)
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


def without_types(tree):
    """The code without what stands under ``if TYPE_CHECKING``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            node.body = [ast.Pass()]
    return tree


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(["zermelo", *(part for part in parts if part != "__init__")])


def imported_names(path, types=True):
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree if types else without_types(tree)):
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


ROOMS = {
    # Each room, a folder or a module beside the folders, and the rooms of its package that it may import from. All
    # of these are listed before it.
    "envs": {
        "errors": set(),
        "support": set(),
        "game": set(),
        "capabilities": set(),
        "pictures": set(),
        "clone": set(),
        "trees": set(),
        "rules": {"pictures"},
        "jit": {"rules"},
        "games": {"pictures", "rules"},
        "live": {"clone"},
        "traits": {"clone", "rules", "live"},
        "adapters": {"clone", "rules", "live", "traits", "games"},
        "registration": {"rules", "live", "games"},
        "checks": {"clone", "rules", "jit", "live", "registration"},
        "position": {"rules", "traits", "adapters", "registration"},
        "counting": {"rules", "jit", "position"},
    },
    "agents": {
        "base": set(),
        "agent": set(),
        "specs": {"agent"},
        "kernels": set(),
        "evaluators": {"kernels"},
        "knowledge": set(),
        "second_search": {"specs"},
        "search_agent": {"second_search", "evaluators", "knowledge"},
        "workers": {"search_agent"},
        "baselines": {"specs", "evaluators", "search_agent"},
        "opponents": {"specs", "evaluators", "baselines"},
        "tree_search": {"kernels", "evaluators", "knowledge", "search_agent", "opponents", "workers"},
        "tree_search/exact": {"tree_search", "kernels"},
        "tree_search/alpha_beta": {
            "tree_search",
            "tree_search/exact",
            "kernels",
            "evaluators",
            "knowledge",
            "workers",
        },
        "tree_search/chance": {"tree_search", "tree_search/alpha_beta", "kernels", "evaluators", "opponents"},
        "tree_search/many_players": {"tree_search", "tree_search/chance", "kernels", "workers"},
        "monte_carlo": {"specs", "kernels", "evaluators", "search_agent", "workers", "opponents"},
        "monte_carlo/information_sets": {"monte_carlo", "specs", "opponents", "workers"},
        "monte_carlo/simultaneous": {"monte_carlo", "search_agent"},
        "solutions": set(),
        "equilibrium": {"search_agent", "solutions"},
        "solving": {
            "kernels",
            "search_agent",
            "solutions",
            "equilibrium",
            "tree_search",
            "tree_search/alpha_beta",
            "tree_search/chance",
            "tree_search/many_players",
            "tree_search/exact",
        },
        "knowledge_building": {"knowledge", "solving", "tree_search/exact"},
        "policies": {"agent", "specs", "evaluators", "baselines", "opponents"},
        "best_response": {
            "specs",
            "search_agent",
            "baselines",
            "opponents",
            "policies",
            "equilibrium",
            "tree_search",
            "solving",
        },
        "experts": {"specs", "evaluators", "search_agent", "opponents", "policies", "equilibrium"},
        "level": {"specs"},
        "textbook": {
            "tree_search",
            "tree_search/alpha_beta",
            "tree_search/chance",
            "tree_search/many_players",
            "tree_search/exact",
            "monte_carlo",
            "monte_carlo/information_sets",
            "monte_carlo/simultaneous",
            "equilibrium",
            "solving",
        },
        "auto": {
            "evaluators",
            "search_agent",
            "equilibrium",
            "solving",
            "tree_search",
            "tree_search/alpha_beta",
            "tree_search/chance",
            "tree_search/many_players",
            "tree_search/exact",
            "monte_carlo",
            "monte_carlo/information_sets",
            "monte_carlo/simultaneous",
        },
        "warmup": {
            "kernels",
            "tree_search",
            "tree_search/alpha_beta",
            "tree_search/chance",
            "tree_search/many_players",
            "tree_search/exact",
            "monte_carlo",
            "monte_carlo/information_sets",
            "monte_carlo/simultaneous",
        },
        "training": {
            "agent",
            "specs",
            "kernels",
            "evaluators",
            "search_agent",
            "baselines",
            "level",
            "policies",
            "tree_search",
            "tree_search/alpha_beta",
            "tree_search/chance",
            "tree_search/many_players",
            "tree_search/exact",
            "monte_carlo",
            "monte_carlo/information_sets",
            "monte_carlo/simultaneous",
        },
    },
    "evaluation": {
        "errors": set(),
        "schedule": set(),
        "match": set(),
        "results": {"match"},
        "text_table": {"match"},
        "workers": {"match"},
        "storage": {"match"},
        "stats": {"match"},
        "analysis": {"match", "stats"},
        "output": {"match", "stats", "storage"},
        "positions": {"match", "output"},
        "search_trees": {"match", "output", "positions", "storage"},
        "report": {"match", "stats", "storage", "analysis", "output", "positions"},
        "tournament": {"match", "workers", "storage", "stats", "output", "positions"},
        "ladders": {"match", "workers", "storage", "stats", "tournament"},
        "training": {
            "match",
            "workers",
            "storage",
            "stats",
            "tournament",
            "ladders",
            "output",
            "report",
            "analysis",
        },
        "board": {"match", "workers", "analysis", "output", "positions"},
        "cli": {
            "match",
            "workers",
            "storage",
            "stats",
            "analysis",
            "output",
            "positions",
            "search_trees",
            "report",
            "tournament",
            "ladders",
            "training",
            "board",
        },
    },
}
COMMON_ROOMS = {
    "envs": {"capabilities", "errors", "game", "support"},
    "agents": {"base"},
    "evaluation": {"errors", "results", "schedule", "text_table"},
}
"""Rooms that all later rooms of their package may import from."""


def room_of(package, parts):
    """The room that a module is in: the longest folder that is listed, else the first folder, or the module."""
    for length in range(len(parts), 0, -1):
        if "/".join(parts[:length]) in ROOMS[package]:
            return "/".join(parts[:length])
    return parts[0]


IN_ROOMS = [path for path in MODULES if len(path.relative_to(ROOT).parts) > 2 or path.name != "__init__.py"]


@pytest.mark.parametrize("path", IN_ROOMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_arrows_between_folders(path):
    """Late imports count too, and those that only a type checker reads."""
    package, *parts = path.relative_to(ROOT).with_suffix("").parts
    room = room_of(package, parts)
    assert room in ROOMS[package], f"{path} is in no room: list it"
    common = COMMON_ROOMS[package] & set(before(package, room))
    allowed = ROOMS[package][room] | common | {room}
    modules = {module_name(path): path for path in MODULES}
    for name in imports_in(ast.parse(path.read_text()), modules):
        there, *inside = modules[name].relative_to(ROOT).with_suffix("").parts
        if there == package:
            assert room_of(package, inside) in allowed, f"{path} imports {name}"


def before(package, room):
    """The rooms that are listed before one."""
    rooms = list(ROOMS[package])
    return rooms[: rooms.index(room)]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_arrow_runs_back_up(package):
    for room, allowed in ROOMS[package].items():
        assert allowed <= set(before(package, room)), f"{room} may import a room that is listed after it"


def imports_in(tree, modules):
    """The modules of ours that a module imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if name in modules:
                    yield name
                elif node.module in modules:
                    yield node.module


@pytest.mark.thorough
@pytest.mark.parametrize("package", PACKAGES)
def test_no_circle_of_imports(package):
    """Late imports count, and those that only a type checker reads."""
    modules = {module_name(path): path for path in MODULES if path.relative_to(ROOT).parts[0] == package}
    after = {name: {*imports_in(ast.parse(path.read_text()), modules)} - {name} for name, path in modules.items()}
    assert {name for name in modules if name in reached(after, name)} == set()


def reached(after, name):
    """The modules that one imports, and that these import, and so on."""
    found, waiting = set(), [name]
    while waiting:
        new = after[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def test_a_class_name_has_one_meaning():
    homes = {}
    for path in MODULES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module_name(path))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


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


FIRST_MOVE = """
import sys
from zermelo.agents import AlphaBetaAgent

def ours():
    return [name for name in sys.modules if name.startswith("zermelo.")]

print(len(ours()), *(name for name in ours() if name.startswith("zermelo.envs.games.")))
from pettingzoo.classic import tictactoe_v3
env = tictactoe_v3.env()
env.reset(seed=0)
AlphaBetaAgent(depth=9).act(env)
print(len(ours()), *(name for name in ours() if name.startswith("zermelo.envs.games.")))
"""


def test_an_agent_takes_no_game_with_it_but_the_one_that_it_plays():
    found = subprocess.run([sys.executable, "-c", FIRST_MOVE], capture_output=True, text=True, check=True)
    (imported, *at_first), (moved, *later) = (line.split() for line in found.stdout.splitlines())
    tables = "zermelo.envs.games.tables"
    assert set(at_first) <= {tables}
    assert set(later) == {tables, "zermelo.envs.games.mnk"}
    assert int(imported) <= 90
    assert int(moved) <= 130


@pytest.mark.thorough
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
    name = module_name(path)
    module = importlib.import_module(name)
    for exported in getattr(module, "__all__", ()):
        assert hasattr(module, exported), f"{name}.{exported}"
