"""Environments of which random play shows too little: rare pay, late chance, late hidden things, several sides.

Each says what is right; tests compare with that, found by brute force where it is not plain.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv


class TwoInTurn(AECEnv):  # type: ignore[type-arg]
    """Two agents in turn, a number of actions, and ``play``: what both are paid, and whether it is the end."""

    metadata: ClassVar[dict[str, Any]] = {"name": "two_in_turn_v0", "render_modes": []}
    actions = 2

    def __init__(self) -> None:
        super().__init__()
        self.possible_agents = ["a", "b"]

    def action_space(self, agent: Any) -> Any:
        return spaces.Discrete(self.actions)

    def observation_space(self, agent: Any) -> Any:
        return spaces.Box(-999, 999, (len(self.seen()),), np.int64)

    def observe(self, agent: Any) -> Any:
        return np.array(self.seen(), np.int64)

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.agents = self.possible_agents[:]
        self.rewards, self._cumulative_rewards = (dict.fromkeys(self.agents, 0.0) for _ in range(2))
        self.terminations, self.truncations = (dict.fromkeys(self.agents, False) for _ in range(2))
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection, self.turn_number = "a", 0
        self.start(np.random.default_rng(seed), options or {})

    def start(self, generator: np.random.Generator, options: dict[str, Any]) -> None:
        """Sets the game up."""

    def seen(self) -> list[int]:
        return [self.turn_number]

    def play(self, me: Any, other: Any, action: int) -> tuple[float, float, bool]:
        """What the mover and the other are paid, and whether the game is over."""
        raise NotImplementedError

    def step(self, action: Any) -> None:
        me = self.agent_selection
        if self.terminations[me]:
            self._was_dead_step(action)
            return
        other = "b" if me == "a" else "a"
        self._cumulative_rewards[me] = 0.0
        self.turn_number += 1
        mine, others, over = self.play(me, other, int(action))
        self.rewards = {me: mine, other: others}
        self.terminations = dict.fromkeys(self.agents, over)
        self.agent_selection = other
        self._accumulate_rewards()


class Line(TwoInTurn):
    """One token, walked to a goal that pays both; random play hardly ever gets there. Right: towards the goal."""

    goal, moves = 40, 60

    def start(self, generator: np.random.Generator, options: dict[str, Any]) -> None:
        self.place = options.get("place", 5)

    def seen(self) -> list[int]:
        return [self.place, self.turn_number]

    def play(self, me: Any, other: Any, action: int) -> tuple[float, float, bool]:
        self.place = max(0, self.place + (1 if action else -1))
        is_there = self.place >= self.goal
        return float(is_there), float(is_there), is_there or self.turn_number >= self.moves


class Bonus(TwoInTurn):
    """Twenty quiet moves; if all were 2, four in which the first to take it gets 3; then 1 or -1."""

    actions = 3

    def start(self, generator: np.random.Generator, options: dict[str, Any]) -> None:
        self.good, self.is_left = 0, True

    def seen(self) -> list[int]:
        return [self.turn_number, self.good, self.is_left]

    def play(self, me: Any, other: Any, action: int) -> tuple[float, float, bool]:
        paid = 0.0
        if self.turn_number <= 20:
            self.good += action == 2
        elif self.good == 20 and self.is_left and action == 0:
            self.is_left, paid = False, 3.0
        over = self.turn_number == 25
        if over:
            paid += 1.0 if action == 0 else -1.0
        return paid, -paid, over


def bonus_values(env: Bonus) -> dict[int, float]:
    """What each action is worth for who moves, by brute force."""
    values = {}
    for action in range(3):
        after = copy.deepcopy(env)
        me = after.agent_selection
        after.step(action)
        values[action] = after.rewards[me] - (0.0 if after.terminations[me] else max(bonus_values(after).values()))
    return values


class Pick(TwoInTurn):
    """Four numbers of 0 to 2 are added up; both get the sum, or it is what one wins of the other.

    Which, ``decide`` says, by what the environment does not hold. Right where both get it: the greatest number.
    """

    actions = 3

    def start(self, generator: np.random.Generator, options: dict[str, Any]) -> None:
        self.total, self.options = 0, options

    def decide(self) -> bool:
        return False

    def seen(self) -> list[int]:
        return [self.turn_number, self.total]

    def play(self, me: Any, other: Any, action: int) -> tuple[float, float, bool]:
        self.total += action
        if self.turn_number < 4:
            return 0.0, 0.0, False
        return (self.total if self.decide() else -self.total), float(self.total), True


class Solo(gymnasium.Env[Any, Any]):
    """One player: a number of actions, and what ``play`` pays and whether it is the end."""

    actions, shown = 2, 3

    def __init__(self) -> None:
        self.action_space = spaces.Discrete(self.actions)
        self.observation_space = spaces.Box(-999, 999, (self.shown,), np.int64)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.moves = 0
        self.start(options or {})
        return self.seen(), {}

    def start(self, options: dict[str, Any]) -> None:
        """Sets the game up."""

    def seen(self) -> Any:
        return np.array([self.moves] * self.shown)

    def play(self, action: int) -> tuple[float, bool]:
        raise NotImplementedError

    def step(self, action: Any) -> Any:
        self.moves += 1
        paid, over = self.play(int(action))
        return self.seen(), paid, over, self.moves >= 300, {}


class LateTable(Solo):
    """A walk to a far table; there 0 is a sure 10, and 1 bets: 30 once in four times. Right: 0, worth 10."""

    far = 60

    def start(self, options: dict[str, Any]) -> None:
        self.place = options.get("place", 0)

    def seen(self) -> Any:
        return np.array([self.place, self.moves, 0])

    def play(self, action: int) -> tuple[float, bool]:
        if self.place < self.far:
            self.place = max(0, self.place + (1 if action else -1))
            return 0.0, False
        if action == 0:
            return 10.0, True
        return (30.0 if self.np_random.random() < 0.25 else 0.0), True


class LateMines(Solo):
    """Six fields; at the first look two mines are laid among the others. Nobody sees them: a mine ends it."""

    actions, shown = 6, 6

    def start(self, options: dict[str, Any]) -> None:
        self.mines: set[int] | None = None
        self.open: list[int] = []

    def seen(self) -> Any:
        return np.array([int(place in self.open) for place in range(6)])

    def play(self, action: int) -> tuple[float, bool]:
        if self.mines is None:
            others = [place for place in range(6) if place != action]
            self.mines = {int(place) for place in self.np_random.choice(others, 2, replace=False)}
        if action in self.mines:
            return -1.0, True
        is_new = action not in self.open
        self.open += [action] * is_new
        return float(is_new), len(self.open) == 4


class Queue(Solo):
    """Six numbers in a list that is shown whole; the first is taken (1) or let go; two may be taken."""

    shown = 7

    def start(self, options: dict[str, Any]) -> None:
        self.queue, self.left = [int(number) for number in self.np_random.integers(0, 10, 6)], 2

    def seen(self) -> Any:
        return np.array([*self.queue, *[-1] * (6 - len(self.queue)), self.left])

    def play(self, action: int) -> tuple[float, bool]:
        number, paid = self.queue.pop(0), 0.0
        if action and self.left:
            self.left, paid = self.left - 1, float(number)
        return paid, not self.queue


class BothSides(Solo):
    """Nim of seven sticks: ``step`` plays both sides in turn, and pays who has just moved."""

    actions, shown = 3, 1

    def start(self, options: dict[str, Any]) -> None:
        self.sticks, self.current_player = 7, 0

    def seen(self) -> Any:
        return np.array([self.sticks])

    def play(self, action: int) -> tuple[float, bool]:
        self.sticks = max(0, self.sticks - 1 - action)
        self.current_player = 1 - self.current_player
        return float(self.sticks == 0), self.sticks == 0
