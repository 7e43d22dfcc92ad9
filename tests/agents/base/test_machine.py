"""Settings that ask for more than the machine has are refused when an agent is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from zermelo.agents import make_agent, solve
from zermelo.agents.base.machine import most_megabytes, most_threads
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK
from zermelo.evaluation import read_standings, round_robin

GAME = MNK(3, 3, 3)


def test_the_limits_are_generous() -> None:
    assert most_threads() >= 64
    assert most_megabytes() >= 1024
    for spec in ("mcts(workers=64)", "alphabeta(threads=64)", "mcts(threads=64, memory_mb=1024)"):
        make_agent(spec)


@pytest.mark.parametrize(
    "spec",
    [
        "mcts(workers=100000)",
        "ismcts(workers=100000)",
        "mcts(threads=999999999)",
        "alphabeta(threads=100000)",
        "auto(threads=100000)",
        "uci(path=engine, threads=100000)",
        "mcts(memory_mb=1e9)",
        "alphabeta(memory_mb=1000000000)",
        "expectiminimax(memory_mb=1e9)",
        "maxn(memory_mb=1e9)",
        "openspiel_mcts(memory_mb=1000000000)",
    ],
)
def test_agents(spec: str) -> None:
    name = spec.split("(")[1].rpartition("=")[0].split(", ")[-1]
    with pytest.raises(InvalidSettingError, match=rf"{name} must be at most [\d,]+ here, .*: take (fewer|less)$"):
        make_agent(spec)


@pytest.mark.parametrize("settings", [{"threads": 100_000}, {"memory_mb": 1e9}])
def test_solve(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidSettingError, match="must be at most"):
        solve(GAME, **settings)


def test_tournaments() -> None:
    with pytest.raises(InvalidSettingError, match="workers must be at most"):
        round_robin("zermelo/MNK-v0", ["random", "greedy"], games=2, workers=100_000)


def test_results_from_a_larger_machine_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agents = ["mcts(threads=1, simulations=5, memory_mb=77)", "random"]
    played = round_robin("zermelo/MNK-v0", agents, games=2, out=tmp_path / "run", workers=1, progress=False)
    monkeypatch.setattr("zermelo.agents.base.machine.most_megabytes", lambda: 50)
    with pytest.raises(InvalidSettingError, match="memory_mb must be at most 50"):
        make_agent(agents[0])
    assert str(read_standings(tmp_path / "run")) == str(played)
