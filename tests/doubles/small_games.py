"""Little games, written out plainly, that the searches are tested on."""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from zermelo.envs import CHANCE, Traits
from zermelo.envs.game import Chance, RewardSum


class PlainGame:
    """A game without chance, whose states are keys and whose actions are the environment's."""

    def chance_outcomes(self, state: Any) -> Sequence[tuple[int, float]]:
        return ()

    def key(self, state: Any) -> Hashable:
        return state

    def to_env_action(self, state: Any, action: int) -> Any:
        return action


class Leaf:
    """An end, with what each seat gets."""

    def __init__(self, *utility: float, name: str = "") -> None:
        self.utility = tuple(float(u) for u in utility)
        self.name = name


class Node:
    """An unfinished state: who moves, what follows each action, and what has been paid so far."""

    def __init__(
        self,
        mover: int,
        children: Sequence[Any],
        *,
        name: str = "",
        probabilities: Sequence[float] = (),
        utility: Sequence[float] = (0.0, 0.0),
    ) -> None:
        self.mover = mover
        self.children = tuple(children)
        self.name = name
        self.probabilities = tuple(probabilities)
        self.utility = tuple(float(u) for u in utility)


class TreeGame:
    """A game given as its tree; ``leaves`` lists the names of those whose utility was asked, in order."""

    def __init__(
        self,
        root: Node,
        *,
        seats: int = 2,
        constant: float = 0.0,
        bounds: tuple[float, float] = (-math.inf, math.inf),
        terminal_rewards_only: bool = True,
        chance: Chance = Chance.NONE,
        reward_sum: RewardSum | None = None,
    ) -> None:
        self.root = root
        if reward_sum is None:
            reward_sum = RewardSum.ZERO if constant == 0 else RewardSum.CONSTANT
        self.traits = Traits(
            name="a tree",
            seat_names=tuple(f"seat {i}" for i in range(seats)),
            reward_sum=reward_sum,
            constant=constant,
            chance=chance,
            utility_bounds=bounds,
            terminal_rewards_only=terminal_rewards_only,
        )
        self.leaves: list[str] = []

    def initial_state(self) -> Any:
        return self.root

    def to_move(self, state: Node) -> int:
        return state.mover

    def legal_actions(self, state: Node) -> Sequence[int]:
        return range(len(state.children))

    def chance_outcomes(self, state: Node) -> Sequence[tuple[int, float]]:
        return list(enumerate(state.probabilities))

    def result(self, state: Node, action: int) -> Any:
        return state.children[action]

    def is_terminal(self, state: Any) -> bool:
        return isinstance(state, Leaf)

    def utility(self, state: Any) -> tuple[float, ...]:
        if isinstance(state, Leaf):
            self.leaves.append(state.name)
        return state.utility

    def key(self, state: Any) -> Hashable:
        return id(state)

    def to_env_action(self, state: Any, action: int) -> Any:
        return f"action {action}"


def _zero_sum(*values: float) -> list[Leaf]:
    return [Leaf(value, -value, name=str(value)) for value in values]


AIMA_5_2 = Node(
    0,
    [
        Node(1, _zero_sum(3, 12, 8), name="B"),
        Node(1, _zero_sum(2, 4, 6), name="C"),
        Node(1, _zero_sum(14, 5, 2), name="D"),
    ],
    name="A",
)
"""Russell and Norvig, "Artificial Intelligence: A Modern Approach", 4th ed., figure 5.2."""


def uniform_tree(branching: int, depth: int, rng: np.random.Generator, mover: int = 0) -> Node | Leaf:
    """Every node has as many children, every leaf is as deep, turns alternate, and all values differ."""
    if depth == 0:
        value = rng.normal()
        return Leaf(value, -value, name=str(value))
    return Node(mover, [uniform_tree(branching, depth - 1, rng, 1 - mover) for _ in range(branching)])


def random_tree(
    rng: np.random.Generator,
    depth: int,
    *,
    constant: float = 0.0,
    seats: int = 2,
    chance: bool = False,
    rewards: bool = False,
    paid: float = 0.0,
) -> Node | Leaf:
    """A tree of any shape: turns in any order, whole-number values with many ties, early ends.

    With ``rewards``, seat 0 is paid something on the way to every state (and seat 1 what is left of 0), and the
    constant is shared at the end.
    """
    reward = float(rng.integers(-1, 2)) if rewards else 0.0
    paid += reward
    if depth == 0 or rng.random() < 0.15:
        value = paid + float(rng.integers(-2, 3))
        return Leaf(value, constant - value) if seats == 2 else Leaf(value)
    so_far = (paid, -paid) if seats == 2 else (paid,)
    grow = functools.partial(
        random_tree, rng, depth - 1, constant=constant, seats=seats, chance=chance, rewards=rewards, paid=paid
    )
    children = [grow() for _ in range(int(rng.integers(1, 4)))]
    if chance and rng.random() < 0.3:
        weights = rng.integers(1, 5, len(children))
        return Node(CHANCE, children, probabilities=list(weights / weights.sum()), utility=so_far)
    return Node(int(rng.integers(seats)), children, utility=so_far)


class ConnectK(PlainGame):
    """Stones in a line, dropped into columns or placed anywhere: tic-tac-toe, small Connect Fours.

    A state is (cells row by row with the bottom row first, mover); -1 is empty.
    """

    def __init__(self, rows: int = 3, columns: int = 3, in_row: int = 3, *, drops: bool = False) -> None:
        self.rows, self.columns, self.in_row, self.drops = rows, columns, in_row, drops
        self.traits = Traits(
            name=f"{in_row} in a row on {rows}x{columns}",
            seat_names=("first", "second"),
            reward_sum=RewardSum.ZERO,
            utility_bounds=(-1.0, 1.0),
            terminal_rewards_only=True,
            num_actions=columns if drops else rows * columns,
        )
        self._lines = [
            [(r + i * dr) * columns + c + i * dc for i in range(in_row)]
            for r in range(rows)
            for c in range(columns)
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1))
            if r + (in_row - 1) * dr < rows and 0 <= c + (in_row - 1) * dc < columns
        ]

    def initial_state(self) -> Any:
        return (-1,) * (self.rows * self.columns), 0

    def to_move(self, state: Any) -> int:
        return state[1]

    def legal_actions(self, state: Any) -> Sequence[int]:
        cells = state[0]
        if self.drops:
            return [c for c in range(self.columns) if cells[(self.rows - 1) * self.columns + c] == -1]
        return [cell for cell, stone in enumerate(cells) if stone == -1]

    def result(self, state: Any, action: int) -> Any:
        cells, mover = list(state[0]), state[1]
        if self.drops:
            action = next(
                r * self.columns + action for r in range(self.rows) if cells[r * self.columns + action] < 0
            )
        cells[action] = mover
        return tuple(cells), 1 - mover

    def _winner(self, state: Any) -> int | None:
        cells = state[0]
        for line in self._lines:
            first = cells[line[0]]
            if first >= 0 and all(cells[cell] == first for cell in line):
                return first
        return None

    def is_terminal(self, state: Any) -> bool:
        return self._winner(state) is not None or -1 not in state[0]

    def utility(self, state: Any) -> tuple[float, float]:
        winner = self._winner(state)
        return (0.0, 0.0) if winner is None else (1.0, -1.0) if winner == 0 else (-1.0, 1.0)


class DiceRace(PlainGame):
    """One player rolls or stops; ``sample_result`` is the only way to know what a roll gives.

    Rolling (action 1) adds 1 to 6, but a 1 ends the game with nothing; stopping (action 0) takes the points.
    After ``rolls`` rolls the points are taken anyway.
    """

    def __init__(self, rolls: int = 2) -> None:
        self.rolls = rolls
        self.traits = Traits(
            name="dice race",
            seat_names=("player",),
            chance=Chance.SAMPLED,
            utility_bounds=(0.0, 100.0),
            terminal_rewards_only=True,
        )

    def initial_state(self) -> Any:
        return (0, 0, False)

    def to_move(self, state: Any) -> int:
        return 0

    def legal_actions(self, state: Any) -> Sequence[int]:
        return (0, 1)

    def result(self, state: Any, action: int) -> Any:
        raise AssertionError("a search of sampled chance must draw with its own generator")

    def sample_result(self, state: Any, action: int, generator: np.random.Generator) -> Any:
        points, rolled, _ = state
        if action == 0:
            return (points, rolled, True)
        face = int(generator.integers(1, 7))
        if face == 1:
            return (0, rolled + 1, True)
        return (points + face, rolled + 1, rolled + 1 == self.rolls)

    def is_terminal(self, state: Any) -> bool:
        return state[2]

    def utility(self, state: Any) -> tuple[float, ...]:
        return (float(state[0]) if state[2] else 0.0,)


class CoinRow(PlainGame):
    """Two players take a coin from either end of a row; who takes an even one moves again.

    Utility is the margin, paid as coins are taken. Keys leave out what has been taken, as keys may.
    """

    def __init__(self, coins: Sequence[int], *, bounds: tuple[float, float] | None = None) -> None:
        self.coins = tuple(coins)
        total = float(sum(coins))
        self.traits = Traits(
            name="a row of coins",
            seat_names=("first", "second"),
            reward_sum=RewardSum.ZERO,
            utility_bounds=bounds or (-total, total),
            terminal_rewards_only=False,
        )

    def initial_state(self) -> Any:
        return 0, len(self.coins), 0, 0.0

    def to_move(self, state: Any) -> int:
        return state[2]

    def legal_actions(self, state: Any) -> Sequence[int]:
        return (0, 1)

    def result(self, state: Any, action: int) -> Any:
        left, right, mover, margin = state
        coin = self.coins[left] if action == 0 else self.coins[right - 1]
        left, right = (left + 1, right) if action == 0 else (left, right - 1)
        margin += coin if mover == 0 else -coin
        return left, right, mover if coin % 2 == 0 else 1 - mover, margin

    def is_terminal(self, state: Any) -> bool:
        return state[0] == state[1]

    def utility(self, state: Any) -> tuple[float, float]:
        return state[3], -state[3]

    def key(self, state: Any) -> Hashable:
        return state[:3]
