"""Rewards that are infinite or no number: refused in a sentence that names the step."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import pytest
from doubles.game_envs import SmallEnv, started
from gymnasium import spaces

from zermelo.agents import make_agent
from zermelo.envs import UnsupportedGameError, as_game

TOLD = {"chance": "deterministic", "information": "perfect", "terminal_rewards_only": False}
wild_rewards = pytest.mark.parametrize("wild", [math.nan, math.inf, -math.inf])


class Cliff(gymnasium.Env[int, int]):
    """Three steps; action 1 pays what is given."""

    zermelo_traits: Any = {**TOLD, "reward_sum": "general_sum"}  # noqa: RUF012
    observation_space = spaces.Discrete(4)
    action_space = spaces.Discrete(2)

    def __init__(self, wild: float) -> None:
        self.wild, self.steps = wild, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return self.steps, self.wild if action == 1 else 1.0, self.steps == 3, False, {}


class Duel(SmallEnv):
    """Two moves; action 1 of the first player pays the other what is given."""

    zermelo_traits: Any = {**TOLD, "reward_sum": "general_sum"}  # noqa: RUF012

    def __init__(self, wild: float) -> None:
        super().__init__(["left", "right"])
        self.wild = wild

    def play(self, agent: Any, action: int) -> None:
        if action == 1 and agent == "left":
            self.rewards["right"] = self.wild
        if self.turns == 2:
            self.end()
        self.next_agent()


@wild_rewards
@pytest.mark.parametrize("spec", ["expectiminimax(depth=2)", "mcts(simulations=20)"])
def test_a_reward_of_gymnasium(wild: float, spec: str) -> None:
    env = Cliff(wild)
    env.reset(seed=0)
    said = rf"a reward of Cliff must be a finite number, not {wild}: .* \(after step\(1\)\)"
    with pytest.raises(UnsupportedGameError, match=said):
        make_agent(spec).search(env)


@wild_rewards
@pytest.mark.parametrize("spec", ["maxn(depth=2)", "mcts(simulations=20)"])
def test_a_reward_of_pettingzoo(wild: float, spec: str) -> None:
    env = started(Duel(wild))
    said = rf"a reward of small_v0 must be a finite number, not as in .*'right': {wild}.* \(after step\(1\)\)"
    with pytest.raises(UnsupportedGameError, match=said):
        make_agent(spec).search(env)


@wild_rewards
def test_a_reward_in_a_transition_table(wild: float) -> None:
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    env.reset(seed=0)
    table: Any = env.unwrapped
    table.P = {**table.P, 5: {**table.P[5], 2: [(1.0, 5, wild, True)]}}
    with pytest.raises(UnsupportedGameError, match=rf"must be a finite number, not as in P\[5\]\[2\] = .*{wild}"):
        as_game(env)


def test_large_rewards_are_numbers() -> None:
    env = Cliff(-1e300)
    env.reset(seed=0)
    assert make_agent("expectiminimax(depth=3)").search(env).action == 0
