"""Copies of environments, beside a deep copy of the attributes."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pettingzoo

from benchmarks.common import fastest
from zermelo.agents import RandomAgent
from zermelo.envs import clone_env

PLIES = {"chess-v6": 20}
COPIES = 100


class UserEnv:
    """A dice race as a user might write it: a board of lists, a generator, an object."""

    def __init__(self) -> None:
        self.possible_agents = ["a", "b"]
        self.agents = self.possible_agents[:]
        self.agent_selection = "a"
        self.board = [[0] * 5 for _ in range(5)]
        self.array = np.zeros((5, 5), dtype=np.int8)
        self.random = np.random.default_rng(0)
        self.rewards = {"a": 0.0, "b": 0.0}

    def step(self, action: int) -> None:
        """Adds a die roll to a row."""
        self.board[action][0] += int(self.random.integers(6))


def deep_copy(env: Any) -> Any:
    """``copy.deepcopy`` of each attribute: on the environment itself it would lose the game."""
    memo: dict[int, Any] = {}

    def layer(obj: Any) -> Any:
        new = memo[id(obj)] = object.__new__(type(obj))
        for name, value in obj.__dict__.items():
            nested = hasattr(value, "step") and hasattr(value, "reset")
            new.__dict__[name] = layer(value) if nested else copy.deepcopy(value, memo)
        return new

    return layer(env)


def environments() -> Iterator[tuple[str, Any]]:
    names = "tictactoe-v3 connect_four-v3 chess-v6 go-v5 hanabi-v5 leduc_holdem-v4 rps-v2 texas_holdem-v4"
    for name in [*names.split(), "texas_holdem_no_limit-v6"]:
        yield name, played(pettingzoo.make("aec", f"classic/{name}"), PLIES.get(name, 3))
    from shimmy import OpenSpielCompatibilityV0

    yield "shimmy tic_tac_toe", played(OpenSpielCompatibilityV0(game_name="tic_tac_toe"), 3)
    yield "a user's dice race", UserEnv()


def played(env: Any, plies: int) -> Any:
    """The environment after random legal moves."""
    agent = RandomAgent(seed=1)
    env.reset(seed=1)
    agent.reset(1)
    for _ in range(plies):
        env.step(agent.act(env))
    return env


def clone(rounds: int = 15) -> Iterator[dict[str, Any]]:
    """Microseconds a copy by clone_env and by a deep copy of the attributes, the best of the rounds, in turns."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    for name, env in environments():
        for _ in range(20):
            clone_env(env)
        calls = [lambda way=way, env=env: [way(env) for _ in range(COPIES)] for way in (clone_env, deep_copy)]
        ours, theirs = (1e6 * seconds / COPIES for seconds in fastest(rounds, *calls))
        yield {"environment": name, "clone_env": ours, "deepcopy": theirs, "times faster": theirs / ours}
