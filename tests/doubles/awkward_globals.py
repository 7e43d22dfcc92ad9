"""Environments that share things with everybody else: in their module, on their class, in the whole process."""

from __future__ import annotations

import random
from typing import Any, ClassVar

import numpy as np
from doubles.awkward_lifetimes import CountToSix

try:
    import torch
except ModuleNotFoundError:  # not in the dev extra
    torch = None

NUMPY = np.random.default_rng(5)
STATE = np.random.RandomState(5)
PYTHON = random.Random(5)
TORCH = torch and torch.Generator().manual_seed(5)
DICE = {"spare": [np.random.default_rng(6)]}
REPLAY: list[Any] = []


class Untouchable:
    """Something of the user's that stands in a module."""

    def __deepcopy__(self, memo: Any) -> Any:
        raise RuntimeError("do not copy me")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("do not compare me")

    def __len__(self) -> int:
        raise RuntimeError("do not measure me")

    __hash__ = None  # type: ignore[assignment]  # unhashable on purpose


UNTOUCHABLE = Untouchable()
"""Every environment of this module has it as a neighbour."""


class Rolls(CountToSix):
    """Adds the roll of a die; a subclass says which."""

    def roll(self) -> int:
        return 0

    def play(self, agent: Any, action: int) -> None:
        self.last = self.roll()
        super().play(agent, (action + self.last) % 2)


class RollsModuleNumpy(Rolls):
    def roll(self) -> int:
        return int(NUMPY.integers(1000))


class RollsModuleState(Rolls):
    def roll(self) -> int:
        return int(STATE.normal() * 1000)


class RollsModulePython(Rolls):
    def roll(self) -> int:
        return PYTHON.randrange(1000)


class RollsModuleTorch(Rolls):
    def roll(self) -> int:
        return int(torch.randint(1000, (1,), generator=TORCH))


class RollsClass(Rolls):
    dice: ClassVar[Any] = np.random.default_rng(8)

    def roll(self) -> int:
        return int(self.dice.integers(1000))


class RollsGlobalTorch(Rolls):
    def roll(self) -> int:
        return int(torch.randint(1000, (1,)))


class RollsGlobalNumpy(Rolls):
    def roll(self) -> int:
        return int(np.random.normal() * 1000)  # noqa: NPY002  # the global generator is meant


class RollsGlobalPython(Rolls):
    def roll(self) -> int:
        return int(random.gauss(0, 1) * 1000)


class FillsReplay(CountToSix):
    """Keeps every step of every copy in a list of its module, which no observation shows."""

    def play(self, agent: Any, action: int) -> None:
        REPLAY.append((agent, action))
        super().play(agent, action)


class CountsOnClass(CountToSix):
    """Counts the steps of all environments on its class."""

    steps = 0

    def play(self, agent: Any, action: int) -> None:
        CountsOnClass.steps += 1
        super().play(agent, action)


class BoardOnClass(CountToSix):
    """All environments play on one board: copies are no copies."""

    board: ClassVar[list[int]] = []

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        super().start(seed, options)
        self.board.clear()

    def observe(self, agent: Any) -> Any:
        return tuple(self.board)

    def play(self, agent: Any, action: int) -> None:
        self.board.append(action)
        super().play(agent, action)
