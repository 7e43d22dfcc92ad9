"""What the program draws between two searches is no chance of the game, and stays as it was drawn."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest
from doubles.game_envs import SmallEnv

from zermelo.agents import make_agent
from zermelo.envs import as_game
from zermelo.envs.game import Chance

pytestmark = pytest.mark.usefixtures("seen_by_nobody")


class Picking(SmallEnv):
    """Two players take turns to pick one of three numbers; the higher sum wins."""

    zermelo_traits: Any = {"information": "perfect", "reward_sum": "zero_sum"}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__(["one", "other"], actions=3)

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.sums = {"one": 0, "other": 0}

    def observe(self, agent: Any) -> Any:
        return np.array([self.turns, *self.sums.values()])

    def play(self, agent: Any, action: Any) -> None:
        self.sums[agent] += action
        if self.turns == 11:
            ahead = self.sums["one"] - self.sums["other"]
            self.rewards = {"one": np.sign(ahead), "other": -np.sign(ahead)}
            self.terminations = dict.fromkeys(self.agents, True)
        self.next_agent()


def test_what_a_program_draws_between_searches_is_no_chance_of_the_game() -> None:
    env = Picking()
    env.reset(seed=0)
    agent = make_agent("mcts(simulations=60, seed=1)")
    as_game(env)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(8):
            random.random()
            drawn = random.getstate()
            action = agent.act(env)
            assert random.getstate() == drawn
            env.step(action)
    assert as_game(env).traits.chance is Chance.NONE


class Table(Picking):
    """The same for any number of players, each for itself."""

    zermelo_traits: Any = {"information": "perfect"}  # noqa: RUF012

    def __init__(self, seats: int) -> None:
        super().__init__()
        self.possible_agents = ["one", "other", "third"][:seats]

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.sums = dict.fromkeys(self.possible_agents, 0)

    def play(self, agent: Any, action: Any) -> None:
        self.sums[agent] += action
        if self.turns == 4 * len(self.possible_agents) - 1:
            self.terminations = dict.fromkeys(self.agents, True)
        self.next_agent()


def test_what_was_seen_of_two_players_is_not_said_of_three() -> None:
    evidence = []
    for seats in (3, 2):
        env = Table(seats)
        env.reset(seed=0)
        evidence.append(as_game(env).traits.evidence["chance"].text)
    assert evidence[0] != evidence[1]
