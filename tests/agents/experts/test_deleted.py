"""What is known of one game can be deleted: its folder and its name in the table, and everything else works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from zermelo.agents.base.experts import EXPERTS, experts

ROOT = Path(__file__).resolve().parents[3]
TABLE = Path("agents/base/experts.py")
GAMES = {
    "backgammon": "zermelo/Backgammon-v0",
    "go": "classic/go-v5(board_size=5)",
    "hanabi": "classic/hanabi-v5",
    "poker": "classic/texas_holdem-v4",
}
LEFT = """
import sys, warnings
warnings.simplefilter("ignore")
import zermelo.agents
assert zermelo.agents.__file__.startswith({root!r}), zermelo.agents.__file__
from zermelo.agents import list_agents, make_agent
from zermelo.agents.evaluators.registry import make_evaluator
from zermelo.envs.registration.make import make
names = {{entry.name for entry in list_agents(learned=True)}}
env = make({env!r})
env.reset(seed=0)
print(len(names), make_agent("auto(nodes=50, compile=never)").search(env).method)
"""
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow and not thorough")
QUICK = [
    *("tests/test_layout.py", "tests/agents/test_specs.py", "tests/agents/test_runs_own_code.py"),
    *("tests/agents/evaluators/test_evaluators.py", "tests/agents/base", "tests/agents/policies/test_policy.py"),
]
ALL = ["tests/agents", "tests/evaluation", "tests/test_layout.py"]


def without(names: Sequence[str], folder: Path) -> Path:
    """A copy of the project without experts: their folders, their lines, and ladders of their agents are gone.

    So are the tests of experts.
    """
    for part in ("envs", "agents", "evaluation", "tests", "docs", "scripts", "pyproject.toml", "README.md"):
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / part)
    for name in names:
        shutil.rmtree(folder / "agents/experts" / name)
        text = (folder / TABLE).read_text()
        less = re.sub(rf'"{name}"(, )?', "", text)
        assert len(less) < len(text)
        (folder / TABLE).write_text(less)
        for ladder in (folder / "agents/ladders").iterdir():
            if any(f'"{agent}"' in ladder.read_text() for agent in experts()[EXPERTS.index(name)].agents):
                ladder.unlink()
        packages = (folder / "pyproject.toml").read_text()
        (folder / "pyproject.toml").write_text(re.sub(rf'.*zermelo\.agents\.experts\.{name}".*\n', "", packages))
    shutil.rmtree(folder / "tests/agents/experts")
    links = folder / "links/zermelo"
    links.mkdir(parents=True)
    for package in ("envs", "agents", "evaluation"):
        (links / package).symlink_to(folder / package)
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder / "links")}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_every_expert_is_tried() -> None:
    assert set(GAMES) == set(EXPERTS)
    assert {path.name for path in (ROOT / "agents/experts").iterdir() if (path / "__init__.py").exists()} == set(
        GAMES
    )


@pytest.mark.thorough
def test_all_experts_can_be_deleted(tmp_path: Path) -> None:
    folder = without(EXPERTS, tmp_path)
    for env in GAMES.values():
        done = run(folder, "-c", LEFT.format(root=str(folder), env=env))
        assert done.returncode == 0, done.stderr
    tests = run(folder, *PYTEST, "-x", *QUICK)
    assert tests.returncode == 0, tests.stdout[-3000:]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", EXPERTS)
def test_all_other_tests_pass_without_an_expert(name: str, tmp_path: Path) -> None:
    folder = without([name], tmp_path)
    done = run(folder, "-c", LEFT.format(root=str(folder), env=GAMES[name]))
    assert done.returncode == 0, done.stderr
    tests = run(folder, *PYTEST, "-n", "3", "--dist", "loadfile", *ALL)
    assert tests.returncode == 0, tests.stdout[-3000:]
