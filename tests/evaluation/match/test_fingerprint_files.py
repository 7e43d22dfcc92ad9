"""Which texts of agents stand for files: a file that happens to be called like an agent or a setting is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from zermelo.agents import list_agents
from zermelo.evaluation import round_robin

pytestmark = pytest.mark.thorough

ENV = "zermelo/Nim-v0(heaps=[1, 2])"
SPECS = [
    "random",
    "greedy",
    "greedy(ties=first)",
    "alphabeta(depth=1)",
    "openspiel_mcts(simulations=2, exploration=0.5)",
    "expectimax(opponent=random, depth=1)",
    "expectimax(opponent=noisy(agent=greedy, epsilon=0.1), depth=1)",
    "alphabeta(depth=1, evaluator=rewards, backend=auto)",
    "somebody.agents:Random",
]
WORDS = ["random", "greedy", "first", "auto", "rewards", "noisy", "somebody.agents:Random", "value", "depth"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "somebody").mkdir()
    (tmp_path / "somebody" / "agents.py").write_text("from zermelo.agents import RandomAgent as Random\n")
    return tmp_path


def touch(folder: Path, text: str) -> None:
    for name in {*SPECS, *WORDS, ENV.rpartition("/")[2], *(entry.name for entry in list_agents())}:
        (folder / name).write_text(text)


def test_files_called_like_agents_change_nothing(here: Path) -> None:
    (here / "zermelo").mkdir()
    assert len(round_robin(ENV, SPECS[:4], games=1, out="run").records) == 6
    touch(here, "one\n")
    (here / "zermelo" / ENV.rpartition("/")[2]).write_text("one\n")
    assert len(round_robin(ENV, SPECS[:4], games=2, out="run").records) == 12


@pytest.mark.parametrize("spec", SPECS)
def test_a_file_that_changes_is_no_other_agent(spec: str, here: Path) -> None:
    touch(here, "one\n")
    round_robin(ENV, [spec, "random"], games=1, out="run")
    touch(here, "two\n")
    assert len(round_robin(ENV, [spec, "random"], games=2, out="run").records) == 2
