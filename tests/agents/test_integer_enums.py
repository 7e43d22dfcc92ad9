"""A member of an ``IntEnum`` is an integer wherever actions, seeds, settings and counts are taken."""

from __future__ import annotations

import enum
from typing import Any

import gymnasium
import pytest

from zermelo.agents import AlphaBetaAgent, MCTSAgent, make_agent
from zermelo.envs import discretise, make, perft, verify_clone
from zermelo.envs.adapters.actions import legal_actions
from zermelo.envs.games import MNK
from zermelo.envs.rules import RulesGame
from zermelo.evaluation import play_match, round_robin


class Few(enum.IntEnum):
    ONE = 1
    TWO = 2
    THREE = 3
    FORTY = 40


class Cell(enum.IntEnum):
    A1, B1, C1, A2, B2, C2, A3, B3, C3 = range(9)


class Named:
    """Plays members of an enum."""

    name = "named"

    def reset(self, seed: int | None = None) -> None: ...

    def act(self, env: Any) -> Any:
        return Cell(legal_actions(env)[0])


@pytest.mark.parametrize("env", ["zermelo/MNK-v0", "classic/tictactoe-v3"])
def test_actions_and_seeds(env: str) -> None:
    record = play_match(env, [Named(), "random"], seed=Few.ONE, max_moves=Few.FORTY)
    assert record.failure is None
    assert {type(action) for action in record.actions} == {int}
    live = make(env)
    live.reset(seed=Few.TWO)
    live.step(Cell.B2)
    assert type(make_agent("greedy").act(live)) is int


def test_settings_and_counts() -> None:
    for agent in (
        AlphaBetaAgent(depth=Few.TWO),
        AlphaBetaAgent(nodes=Few.FORTY),
        MCTSAgent(simulations=Few.FORTY),
    ):
        assert type(agent.search(MNK()).action) is int
        assert "Few" not in str(agent)
    assert perft(MNK(), Few.TWO) == 72
    result = round_robin(
        "classic/tictactoe-v3",
        ["random", "greedy"],
        games=Few.TWO,
        openings=[[Cell.B2]],
        seed=Few.ONE,
        progress=False,
    )
    assert [record.opening for record in result.records] == [(4,), (4,)]
    verify_clone(lambda: make("classic/tictactoe-v3"), games=Few.ONE, max_steps=Few.THREE, seed=Few.TWO)


def test_parameters_of_rules() -> None:
    game = RulesGame(MNK(m=Few.THREE, n=Few.THREE))
    assert {type(value) for value in game.rules} == {int}
    assert game.rules == MNK()


@pytest.mark.parametrize("bins", [Few.THREE, [Few.THREE]])
def test_bins_of_a_box(bins: Any) -> None:
    assert discretise(gymnasium.make("Pendulum-v1"), bins=bins).action_space.n == 3
