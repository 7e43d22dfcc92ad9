"""Games of wagers, whose payments come in ways of their own."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from doubles.game_envs import SmallEnv
from gymnasium import spaces


class Wagers(SmallEnv):
    """Players in turn stake 0, 1 or 2; with 2 a die of two sides says what it pays, 0.5 on average.

    ``pays`` says when: ``"at once"`` or ``"at the end"``. What a player of two wins, the other loses.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "name": "wagers_v0"}

    def __init__(self, players: int, pays: str, rounds: int = 2) -> None:
        super().__init__([f"player_{number}" for number in range(players)], 3)
        self.pays, self.rounds = pays, rounds

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.dice = np.random.default_rng(seed)
        self.won = dict.fromkeys(self.agents, 0.0)

    def observe(self, agent: Any) -> Any:
        return np.array([self.turns, *self.won.values()])

    def play(self, agent: Any, action: Any) -> None:
        gain = paid_for(int(action), int(self.dice.integers(2)))
        gains = {other: gain if other == agent else -gain * (len(self.agents) == 2) for other in self.agents}
        for other, share in gains.items():
            self.won[other] += share
        if self.pays == "at once":
            self.rewards = gains
        self.next_agent()
        if self.turns == self.rounds * len(self.agents):
            if self.pays == "at the end":
                self.rewards = dict(self.won)
            self.end()


def paid_for(stake: int, die: int) -> float:
    return (-0.25, 0.0, 2.0 * die - 0.5)[stake]


class WagersAlone(gymnasium.Env):  # type: ignore[type-arg]
    """The same for one player, in Gymnasium."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, pays: str, rounds: int = 2) -> None:
        self.action_space: Any = spaces.Discrete(3)
        self.observation_space: Any = spaces.Box(-9, 9, (2,), np.float64)
        self.pays, self.rounds = pays, rounds

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.turns, self.won = 0, 0.0
        return np.array([0.0, 0.0]), {}

    def step(self, action: Any) -> Any:
        gain = paid_for(int(action), int(self.np_random.integers(2)))
        self.turns, self.won = self.turns + 1, self.won + gain
        is_over = self.turns == self.rounds
        paid = gain if self.pays == "at once" else self.won * is_over
        return np.array([float(self.turns), self.won]), paid, is_over, False, {}
