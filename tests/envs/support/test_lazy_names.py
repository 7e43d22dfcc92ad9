"""Names that load late: all are listed and completed, and a mistyped one is answered by the right one."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import rlcompleter
import subprocess
import sys
from pathlib import Path

import pytest

from zermelo.agents.evaluators.protocol import squash

ROOT = Path(__file__).resolve().parents[3]
FACES = sorted(
    "zermelo." + ".".join(path.relative_to(ROOT).parent.parts)
    for package in ("envs", "agents", "evaluation")
    for path in (ROOT / package).rglob("__init__.pyi")
)


@pytest.mark.parametrize("face", FACES)
def test_a_face_lists_what_type_checkers_see_each_name_once(face):
    module = importlib.import_module(face)
    stub = ast.parse(Path(module.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    seen = [alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert sorted(seen) == list(module.__all__)
    assert len(set(seen)) == len(seen)
    assert set(seen) <= set(dir(module))


def test_a_name_stands_on_one_face():
    faces = [importlib.import_module(face) for face in FACES if face != "zermelo.envs.rules"]
    names = [name for face in faces for name in face.__all__]
    assert len(set(names)) == len(names)


def test_every_name_is_listed_before_it_is_loaded():
    code = (
        "import sys, zermelo.agents as a, zermelo.envs as e, zermelo.evaluation as v\n"
        "print(all(set(face.__all__) <= set(dir(face)) for face in (a, e, v)), 'numpy' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found == "True False\n"


@pytest.mark.parametrize(
    ("face", "typed", "expected"),
    [
        ("zermelo.agents", "face.AlphaB", "face.AlphaBetaAgent("),
        ("zermelo.envs", "face.as_g", "face.as_game("),
        ("zermelo.evaluation", "face.round_", "face.round_robin("),
    ],
)
def test_python_completes_names(face, typed, expected):
    found = rlcompleter.Completer({"face": importlib.import_module(face)}).complete(typed, 0)
    assert found is not None
    assert found.startswith(expected)


def test_ipython_completes_names():
    completer = pytest.importorskip("IPython.core.completer")
    found = completer.IPCompleter(namespace={"agents": importlib.import_module("zermelo.agents")})
    with completer.provisionalcompleter():
        assert "AlphaBetaAgent" in " ".join(one.text for one in found.completions("agents.AlphaB", 13))


@pytest.mark.parametrize(
    ("face", "wrong", "right"),
    [
        ("zermelo.agents", "AlphabetaAgent", "AlphaBetaAgent"),
        ("zermelo.agents", "MctsAgent", "MCTSAgent"),
        ("zermelo.envs", "clone_environment", "clone_env"),
        ("zermelo.evaluation", "roundrobin", "round_robin"),
        ("zermelo.agents.training", "OponentEnv", "OpponentEnv"),
    ],
)
def test_a_mistyped_name_is_answered_by_the_right_one(face, wrong, right):
    module = importlib.import_module(face)
    assert not hasattr(module, wrong)
    with pytest.raises(AttributeError, match=f"has no attribute '{wrong}': did you mean '{right}'"):
        getattr(module, wrong)
    with pytest.raises(ImportError, match=f"cannot import '{wrong}' from '{face}': did you mean '{right}'"):
        exec(f"from {face} import {wrong}", {})


def test_names_like_none_and_modules_are_as_ever():
    with pytest.raises(AttributeError, match=r"has no attribute 'xyzzy'$"):
        importlib.import_module("zermelo.agents").xyzzy  # noqa: B018
    assert importlib.util.find_spec("zermelo.agents.xyzzy") is None
    assert importlib.util.find_spec("zermelo.agents.auto") is not None
    exec("from zermelo.agents import auto, level", {})  # modules, though names are like them
    with pytest.raises(ImportError, match="cannot import name 'xyzzy'"):
        exec("from zermelo.agents import xyzzy", {})


def test_functions_for_compiled_code_are_left_as_they_are():
    rules = importlib.import_module("zermelo.envs.rules")
    functions = [one for name in rules.__all__ if inspect.isfunction(one := getattr(rules, name))]
    assert functions
    assert not any(hasattr(one, "__wrapped__") for one in [*functions, squash])


@pytest.mark.parametrize(
    ("package", "name", "line"),
    [
        ("agents", "Limits", "from zermelo.agents.base.limits import Limits"),
        ("agents", "Tournament", "from zermelo.evaluation.tournament.plan import Tournament"),
        ("envs", "AlphaBetaAgent", "from zermelo.agents import AlphaBetaAgent"),
        ("evaluation", "solve_matrix", "from zermelo.agents.equilibrium.matrix_games import solve_matrix"),
        ("agents", "value_iteration", "from zermelo.agents.solving.value_iteration import value_iteration"),
        ("evaluation", "Isolation", "from zermelo.evaluation.workers.settings import AgentLimits"),
        ("evaluation", "Outcome", "from zermelo.evaluation.match.score import SeatOutcome"),
        ("evaluation", "Row", "from zermelo.evaluation.stats.rows import AgentRow"),
        ("agents", "Outcome", "from zermelo.agents.solutions.solution import Outcome"),
    ],
)
def test_a_name_of_another_module_is_answered_by_the_line_that_imports_it(package, name, line):
    with pytest.raises(ImportError, match=re.escape(f"write `{line}`")):
        exec(f"from zermelo.{package} import {name}", {})
    with pytest.raises(AttributeError, match=re.escape(f"write `{line}`")):
        getattr(importlib.import_module(f"zermelo.{package}"), name)
    exec(line, {})


def test_modules_are_imported_by_their_names():
    space: dict[str, object] = {}
    exec("from zermelo.evaluation import training; from zermelo.agents import solving", space)
    names = [inspect.getmodule(space[name]).__name__ for name in ("training", "solving")]
    assert names == ["zermelo.evaluation.training", "zermelo.agents.solving"]


@pytest.mark.parametrize(
    "line",
    [
        "import zermelo.agents.learning",
        "from zermelo.agents import learning",
        "from zermelo.agents.learning import OpponentEnv",
        "import zermelo.agents.learning.vectors",
    ],
)
def test_folders_of_old_say_where_they_are_now(line):
    with pytest.raises(ImportError, match=r"zermelo\.agents\.learning is zermelo\.agents\.training since 0\.3"):
        exec(line, {})
    with pytest.raises(ImportError, match=r"zermelo\.agents\.algorithms is zermelo\.agents\.textbook since 0\.3"):
        exec(line.replace("learning", "algorithms"), {})
