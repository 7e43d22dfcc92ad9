"""Environments of one class that are different games: what decides it stands in all sorts of places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from doubles.awkward_lifetimes import CountToSix
from doubles.game_envs import SmallEnv


class PaysByTable(CountToSix):
    """The loser's reward is decided by a table; ``zero_sum`` only if it says so."""

    def __init__(self, table: Any) -> None:
        super().__init__()
        self.table = table

    def loss(self) -> float:
        return float(self.table[-1])

    def play(self, agent: Any, action: int) -> None:
        super().play(agent, action)
        if self.terminations[agent]:
            for other in self.agents:
                if other != agent:
                    self.rewards[other] = self.loss()


class PaysByFunction(PaysByTable):
    def loss(self) -> float:
        function: Callable[[], float] = self.table
        return float(function())


class PaysByObjects(PaysByTable):
    def loss(self) -> float:
        return float(self.table[0].value)


class PaysBySlots(PaysByTable):
    """Keeps what decides in a slot."""

    __slots__ = ("_table",)

    @property
    def table(self) -> Any:
        return self._table

    @table.setter
    def table(self, value: Any) -> None:
        self._table = value


class PaysByClass(PaysByTable):
    """What decides stands on the class."""

    losing: ClassVar[float] = -1.0

    def __init__(self) -> None:
        super().__init__(None)

    def loss(self) -> float:
        return self.losing


class Value:
    def __init__(self, value: float) -> None:
        self.value = value


class SlottedValue:
    __slots__ = ("value",)

    def __init__(self, value: float) -> None:
        self.value = value


class MaybeDice(CountToSix):
    """Rolls where an array of settings says so; or where ``reset`` was told to."""

    def __init__(self, settings: Any = None) -> None:
        super().__init__(8)
        self.settings = np.zeros(100) if settings is None else settings

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        super().start(seed, options)
        self.np_random = np.random.default_rng(seed)
        self.rolls = options.get("dice", False)

    def play(self, agent: Any, action: int) -> None:
        rolls = self.rolls or self.settings[-1]
        super().play(agent, int(self.np_random.integers(2)) if rolls else action)


class ManyStages(SmallEnv):
    """A long game in which one thing after another changes for the first time, as in Ludo."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "name": "stages_v0"}

    def __init__(self, length: int = 600) -> None:
        super().__init__(["one", "two"])
        self.length = length

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.length = options.get("length", self.length)
        self.reached = dict.fromkeys(range(30), False)

    def observe(self, agent: Any) -> Any:
        return self.turns

    def play(self, agent: Any, action: int) -> None:
        if self.turns % 20 == 0:
            self.reached[self.turns // 20 - 1] = True
            self.rewards[agent] = 1
        if self.turns >= self.length:
            self.end()
        else:
            self.next_agent()
