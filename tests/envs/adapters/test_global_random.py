"""Steps that draw random numbers which a whole process shares."""

from __future__ import annotations

import random
from random import randint
from typing import Any

import numpy as np
import pytest
from doubles.game_envs import Dice, SmallEnv
from pettingzoo.utils import wrappers

from zermelo.envs import Chance, as_game


class PythonModule(SmallEnv):
    def play(self, agent: Any, action: Any) -> None:
        self.last = random.choice([1, 2])


class PythonFunction(SmallEnv):
    def play(self, agent: Any, action: Any) -> None:
        self.last = [randint(1, 6) for _ in range(2)]


class NumpyModule(SmallEnv):
    def play(self, agent: Any, action: Any) -> None:
        self.last = np.random.choice(3)  # noqa: NPY002 - the global generator is the point


class OwnPythonGenerator(SmallEnv):
    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.random = random.Random(seed)

    def play(self, agent: Any, action: Any) -> None:
        self.last = self.random.randint(1, 6)


class OwnNumpyGenerator(SmallEnv):
    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.rng = np.random.default_rng(seed)

    def play(self, agent: Any, action: Any) -> None:
        self.last = self.rng.integers(6)


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (PythonModule, True),
        (PythonFunction, True),
        (NumpyModule, True),
        (OwnPythonGenerator, False),
        (OwnNumpyGenerator, False),
    ],
)
def test_what_steps_draw_from_is_kept_as_it_was(cls: type[SmallEnv], expected: bool) -> None:
    env = wrappers.OrderEnforcingWrapper(cls(["one", "two"]))
    env.reset(seed=0)
    before = random.getstate(), repr(np.random.get_state())  # noqa: NPY002 - the global generator is the point
    game = as_game(env)
    for seed in range(4):
        game.sample_result(game.snapshot(env), 0, np.random.default_rng(seed))
    assert (random.getstate(), repr(np.random.get_state())) == before  # noqa: NPY002 - as above
    env.step(0)
    assert ((random.getstate(), repr(np.random.get_state())) != before) is expected  # noqa: NPY002 - as above


class LateDice(Dice):
    """Rolls only on the last of many turns."""

    def __init__(self) -> None:
        super().__init__("np_random", rolls=60)

    def roll(self) -> int:
        return super().roll() if self.turns >= self.rolls else 1


@pytest.mark.thorough
@pytest.mark.alone
def test_a_draw_that_comes_late_is_found() -> None:
    env = LateDice()
    env.reset(seed=0)
    assert as_game(env).traits.chance is Chance.SAMPLED
