"""Copies of environments, beside a deep copy of the attributes."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pettingzoo

from benchmarks.common import fastest
from zermelo.envs import clone_env
from zermelo.envs.clone.env_driver import EnvDriver

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


def walk(obj: Any, memo: dict[int, Any]) -> Any:
    """A plain attribute walk: lists, dicts, arrays and objects are copied, all else is shared."""
    kind = type(obj)
    new: Any
    if kind in (int, str, bool, float, type(None), tuple):
        return obj
    if id(obj) in memo:
        return memo[id(obj)]
    if kind is list:
        new = memo[id(obj)] = [walk(item, memo) for item in obj]
    elif kind is dict:
        new = memo[id(obj)] = {key: walk(value, memo) for key, value in obj.items()}
    elif kind is np.ndarray or kind.__module__ == "chess":
        new = memo[id(obj)] = obj.copy()
    elif kind.__module__.startswith("pyspiel"):
        new = obj.clone() if hasattr(obj, "clone") else obj
    elif kind.__module__.startswith(("gymnasium.spaces", "pygame")) or not hasattr(obj, "__dict__"):
        new = obj if not kind.__module__.startswith("numpy.random") else copy.deepcopy(obj)
    else:
        new = memo[id(obj)] = object.__new__(kind)
        new.__dict__.update({name: walk(value, memo) for name, value in obj.__dict__.items()})
    return new


def deep_copy_of_attributes(env: Any) -> Any:
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
    player = EnvDriver.start(env, 1)
    generator = np.random.default_rng(1)
    for _ in range(plies):
        if not env.terminations.get(env.agent_selection, True):
            record = player.record()
            action = player.choose(record, generator)
            for layer in (env, getattr(env, "env", None)):
                if hasattr(layer, "_prev_obs"):
                    layer._prev_obs = None
            player.step(action)
    return env


def works(way: Callable[[Any], Any], env: Any) -> bool:
    """True if an environment can be copied in this way."""
    try:
        way(env)
    except Exception:  # some hold what a plain walk cannot copy: the table shows a dash
        return False
    return True


def clone(rounds: int = 15) -> Iterator[dict[str, Any]]:
    """Microseconds a copy by clone_env, by a plain walk through the attributes and by a deep copy of them.

    Shown is the best of the rounds, in which the ways take turns.
    """
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    ways = {"clone_env": clone_env, "walk": lambda env: walk(env, {}), "deepcopy": deep_copy_of_attributes}
    for name, env in environments():
        for _ in range(20):
            clone_env(env)
        working = {title: way for title, way in ways.items() if works(way, env)}
        calls = [lambda way=way, env=env: [way(env) for _ in range(COPIES)] for way in working.values()]
        spent = dict(zip(working, fastest(rounds, *calls), strict=True))
        cells = {title: f"{1e6 * spent[title] / COPIES:.1f}" if title in spent else "-" for title in ways}
        ratio = f"{spent['deepcopy'] / spent['clone_env']:.1f}" if "deepcopy" in spent else "-"
        yield {"environment": name, **cells, "times faster": ratio}
