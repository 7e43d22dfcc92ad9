"""A heap of sticks: who takes the last one wins. Environments keep it where copies may share it."""

from __future__ import annotations

from typing import Any

import numpy as np
from doubles.assumed_envs import TwoInTurn


class Heap(TwoInTurn):
    """The rules; ``put`` and ``get`` say where the number of sticks is kept, and ``held`` what is shared."""

    actions, sticks = 3, 5
    heap: int

    def start(self, generator: np.random.Generator, options: dict[str, Any]) -> None:
        self.put(self.sticks)

    def put(self, number: int) -> None:
        self.heap = number

    def get(self) -> int:
        return self.heap

    def take(self, number: int) -> None:
        self.put(max(0, self.get() - number))

    def held(self) -> Any:
        """A value of what is shared, which a search must leave as it was."""
        return self.get()

    def seen(self) -> list[int]:
        return [self.get()]

    def play(self, me: Any, other: Any, action: int) -> tuple[float, float, bool]:
        self.take(action + 1)
        over = self.get() <= 0
        return float(over), -float(over), over
