"""Reading code for the random numbers that a whole process shares."""

from __future__ import annotations

import random
from random import randint
from typing import Any

import numpy as np
import pytest
from doubles.game_envs import Dice, SmallEnv
from pettingzoo.utils import wrappers

from zermelo.envs import Chance, as_game
from zermelo.envs.adapters.facts.global_random import may_use_global_random


class PythonModule(SmallEnv):
    def play(self, agent: Any, action: Any) -> None:
        self.last = random.choice([1, 2])


class PythonFunction(SmallEnv):
    def play(self, agent: Any, action: Any) -> None:
        self.last = [randint(1, 6) for _ in range(2)]


class NumpyModule(SmallEnv):
    def play(self, agent: Any, action: Any) -> None:
        self.last = np.random.choice(3)  # noqa: NPY002 - the global generator is the point


class InAProperty(SmallEnv):
    @property
    def luck(self) -> float:
        return random.random()


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
        (InAProperty, True),
        (OwnPythonGenerator, False),
        (OwnNumpyGenerator, False),
        (SmallEnv, False),
    ],
)
def test_what_the_code_mentions(cls: type[SmallEnv], expected: bool) -> None:
    env = cls(["one", "two"])
    assert may_use_global_random(env) is expected
    assert may_use_global_random(wrappers.OrderEnforcingWrapper(env)) is expected


class LateDice(Dice):
    """Rolls only on the last of many turns."""

    def __init__(self) -> None:
        super().__init__("np_random", rolls=60)

    def roll(self) -> int:
        return super().roll() if self.turns >= self.rolls else 1


@pytest.mark.alone
def test_a_draw_that_comes_late_is_found() -> None:
    env = LateDice()
    env.reset(seed=0)
    assert as_game(env).traits.chance is Chance.SAMPLED
