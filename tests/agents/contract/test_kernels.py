"""Which kernels an agent needs: it says so without a search, and a search asks for just those."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from doubles.small_games import AIMA_5_2, TreeGame

from zermelo.agents import AlphaBetaAgent, make_agent
from zermelo.agents.kernels import program
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.games import MNK, Breakthrough, ConnectFour, DotsAndBoxes, Go, Kalah, Nim, Othello, Pig
from zermelo.envs.jit.kernel import Wanted
from zermelo.envs.position import position
from zermelo.envs.registration.make import make

AGENTS = (
    "alphabeta(depth=1)",
    "alphabeta(depth=1,late_move_reductions=2,futility=0.5)",
    "alphabeta(depth=1,selective='game',memory_mb=1)",
    "alphabeta(nodes=20,window='full')",
    "minimax(depth=1)",
    "expectiminimax(depth=1,pruning='star2')",
    "expectimax(depth=1)",
    "mcts(simulations=2)",
    "mcts(simulations=2,selection='puct',playouts=2)",
    "maxn(depth=1)",
    "paranoid(depth=1)",
    "bestreply(depth=1)",
    "mcts(simulations=2,evaluator='game')",
    "auto(nodes=20)",
)
GAMES: tuple[Any, ...] = (
    MNK(),
    ConnectFour(),
    Breakthrough(5, 4),
    Othello(4),
    Kalah(2, 1),
    Go(2),
    Nim((1, 2), players=3),
    DotsAndBoxes(1, 2, players=3),
    Pig(),
    Pig(players=3),
    TreeGame(AIMA_5_2),
)
PAIRS = [(agent, game) for agent in AGENTS for game in GAMES]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Wanted]:
    """The kernels that searches ask for; none gets any."""
    seen: list[Wanted] = []

    def is_built(rules: Any, kernel: Any, waits: Callable[[], bool]) -> bool:
        seen.append(Wanted(rules, kernel))
        return False

    monkeypatch.setattr(program, "is_built", is_built)
    return seen


def test_a_search_asks_for_the_kernels_that_its_agent_needs(asked: list[Wanted]) -> None:
    searched, needed = 0, 0
    for spec, game in PAIRS:
        agent = make_agent(spec)
        try:
            agent.search_state(game)
        except (InvalidSettingError, UnsupportedGameError):
            continue
        finally:
            seen = list(dict.fromkeys(asked))
            asked.clear()
        drawn = str(agent.generator.bit_generator.state)
        assert agent.kernels(position(game)) == seen, (spec, game)
        assert make_agent(spec).kernels(position(game)) == seen, (spec, game)
        assert str(agent.generator.bit_generator.state) == drawn, spec
        assert asked == []
        searched, needed = searched + 1, needed + bool(seen)
    assert (searched, needed) == (128, 96)


def test_kernels_for_a_time_limit_are_the_provers_too(asked: list[Wanted]) -> None:
    env = make("classic/connect_four-v3")
    env.reset(seed=0)
    agent = AlphaBetaAgent(seconds=1)
    agent.prepare(env)
    kernels = agent.kernels(position(env))
    assert asked == kernels
    assert [each.kernel.function.__name__ for each in kernels] == ["search_root", "find_score"]
    assert AlphaBetaAgent(seconds=1, proof_share=0).kernels(position(env)) == kernels[:1]


def test_no_file_is_read_and_nothing_is_needed_where_nothing_is_compiled(tmp_path: Path) -> None:
    start, missing = position(MNK()), str(tmp_path / "missing")
    assert len(AlphaBetaAgent(depth=2, book=missing, tables=missing).kernels(start)) == 1
    for spec in AGENTS:
        assert dataclasses.replace(make_agent(spec), compile="never").kernels(start) == []
    assert AlphaBetaAgent(depth=2, on_node=print).kernels(start) == []
    assert AlphaBetaAgent(depth=2, stop_test=lambda game, state, ply: False).kernels(start) == []
