"""Small games, and what the textbook says of them: what the contract suite holds every searching agent to."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from doubles.grown_rules import Grown
from doubles.small_games import CoinRow, ConnectK, Leaf, Node, TreeGame, random_tree
from oracles.signatures import Uncompiled

from zermelo.agents import textbook as algorithms
from zermelo.agents.base.experts import by_name
from zermelo.agents.evaluators.registry import make_evaluator
from zermelo.envs import CHANCE
from zermelo.envs.game import Chance, RewardSum
from zermelo.envs.games import MNK, DotsAndBoxes, Kalah, Nim
from zermelo.envs.rules import RulesGame

NOT_A_SEARCH = frozenset((
    "backward_induction", "best_first", "best_response", "cfr", "gtp", "ismcts", "level", "noisy", "onnx",
    "openspiel_mcts", "policy", "policytable", "random", "sb3", "simultaneous_mcts", "torch", "uci",
    *by_name("agents"), *by_name("programs"),
))  # fmt: skip
"""Agents that do not look ahead, or not with a search of ours."""

TWO, DICE, MANY = "two", "dice", "many"
KINDS: Mapping[str, tuple[str, ...]] = {
    "minimax": (TWO,),
    "alphabeta": (TWO,),
    "expectiminimax": (TWO, DICE),
    "expectimax": (TWO, DICE, MANY),
    "maxn": (TWO, DICE, MANY),
    "paranoid": (TWO, DICE, MANY),
    "bestreply": (TWO, DICE, MANY),
    "auto": (TWO, DICE, MANY),
    "greedy": (TWO, DICE, MANY),
    "mcts": (TWO, DICE, MANY),
    "value_iteration": (TWO, DICE),
}
"""Every agent that searches, and the games that it takes."""

RULES: Mapping[str, tuple[Any, str, int]] = {
    # Rules, which games they are, and how many moves are played at random first.
    "MNK(3,3,3)": (MNK(m=3, n=3, k=3), TWO, 4),
    "Nim(1,2,2)": (Nim(heaps=(1, 2, 2)), TWO, 1),
    "DotsAndBoxes(2,2)": (DotsAndBoxes(rows=2, columns=2), TWO, 7),
    "Kalah(2,1)": (Kalah(houses=2, seeds=1, margin=True), TWO, 1),
    "Grown(1)": (Grown(seed=31_000, height=5, width=20, players=1), DICE, 0),
    "Grown(2)": (Grown(seed=77_000, height=5, width=20), DICE, 0),
    "MNK(3,2,2,players=3)": (MNK(m=3, n=2, k=2, players=3), MANY, 1),
    "DotsAndBoxes(1,2,players=3)": (DotsAndBoxes(rows=1, columns=2, players=3), MANY, 2),
    "Grown(3)": (Grown(seed=55_000, height=5, width=20, players=3), MANY, 0),
}


def _tree(seed: int, *, dice: bool = False, rewards: bool = False) -> TreeGame:
    generator = np.random.default_rng(seed)
    root: Any = None
    while root is None or isinstance(root, Leaf) or root.mover == CHANCE:
        root = random_tree(generator, 5, chance=dice, rewards=rewards)
    chance = Chance.EXACT if dice else Chance.NONE
    return TreeGame(root, bounds=(-9.0, 9.0), chance=chance, terminal_rewards_only=not rewards)


def _three(seed: int) -> TreeGame:
    """Three seats, general sums, turns in any order."""
    generator = np.random.default_rng(seed)

    def grown(depth: int) -> Any:
        if depth == 0 or generator.random() < 0.15:
            return Leaf(*map(float, generator.integers(-2, 3, 3)))
        count = int(generator.integers(2, 4))
        return Node(int(generator.integers(3)), [grown(depth - 1) for _ in range(count)], utility=(0.0,) * 3)

    root: Any = None
    while root is None or isinstance(root, Leaf):
        root = grown(4)
    return TreeGame(root, seats=3, bounds=(-9.0, 9.0), reward_sum=RewardSum.GENERAL)


TREES: Mapping[str, tuple[Callable[[], Any], str]] = {
    **{f"tree({seed})": (functools.partial(_tree, seed), TWO) for seed in range(3)},
    "tree(3,rewards)": (functools.partial(_tree, 3, rewards=True), TWO),
    **{f"tree({seed},dice)": (functools.partial(_tree, seed, dice=True), DICE) for seed in range(4, 7)},
    "tree(7,dice,rewards)": (functools.partial(_tree, 7, dice=True, rewards=True), DICE),
    **{f"tree({seed},three)": (functools.partial(_three, seed), MANY) for seed in range(8, 10)},
    "CoinRow": (lambda: CoinRow([3, 1, 4, 2, 5, 6]), TWO),
    "ConnectK(3,3,3,drops)": (lambda: ConnectK(3, 3, 3, drops=True), TWO),
}


@dataclass(frozen=True)
class Position:
    """A state to search, and how."""

    game: Any
    state: Any
    evaluator: Any
    name: str

    @property
    def seat(self) -> int:
        """Who is to move."""
        seat: int = self.game.to_move(self.state)
        return seat

    def child(self, action: int) -> Any:
        """The state after an action."""
        return self.game.result(self.state, action)

    def expects(self, state: Any) -> tuple[float, ...]:
        """The evaluation of a state, by seat."""
        return tuple(map(float, self.evaluator(self.game, state)))


GAMES = (*(f"{name} {how}" for name in RULES for how in ("compiled", "plain")), *TREES)


def game_kind(name: str) -> str:
    """Which games a game belongs to."""
    return TREES[name][1] if name in TREES else RULES[name.rpartition(" ")[0]][1]


@functools.cache
def positions(name: str, count: int = 3) -> tuple[Position, ...]:
    """Unfinished positions of a game in which a player is to move; the same ones plain and compiled."""
    base, _, how = name.rpartition(" ")
    if name in TREES:
        game, moves = TREES[name][0](), 2 if name in ("CoinRow", "ConnectK(3,3,3,drops)") else 0
        count = count if moves else 1
    else:
        rules, _, moves = RULES[base]
        game = RulesGame(rules) if how == "compiled" else Uncompiled(rules)
    generator, found = random.Random(base or name), []
    while len(found) < count:
        state, played = game.initial_state(), 0
        while not game.is_terminal(state) and (played < moves or game.to_move(state) == CHANCE):
            if game.to_move(state) == CHANCE:
                state = game.result(state, generator.choice([o for o, _ in game.chance_outcomes(state)]))
            else:
                state, played = game.result(state, generator.choice(list(game.legal_actions(state)))), played + 1
        if base.startswith("Grown"):  # each position is of a game of its own
            rules = rules._replace(seed=rules.seed + 1000)
            game = RulesGame(rules) if how == "compiled" else Uncompiled(rules)
            state = game.initial_state()
        if not game.is_terminal(state):
            evaluator = _noise if isinstance(game, TreeGame) else make_evaluator(_evaluation_of(game))
            found.append(Position(game, state, evaluator, f"{name} number {len(found)}"))
    return tuple(found)


def _evaluation_of(game: Any) -> str:
    return "game" if hasattr(game, "evaluation") else "rewards"


def _noise(game: Any, state: Any) -> tuple[float, ...]:
    """An evaluation with few different values and no sense."""
    values = (0.25 * (len(state.children) - 2), 0.5 * (state.mover - 0.5), 0.125)
    return (values[0], -values[0]) if game.traits.seats == 2 else values[: game.traits.seats]


@functools.cache
def textbook(kind: str, position: Position, depth: float, action: int | None = None) -> tuple[float, ...] | float:
    """What the textbook's algorithm says of a position or, ``depth`` moves deep from there, of one action in it.

    For the player to move in the position; every seat's value for max^n.
    """
    game, seat = position.game, position.seat
    state, depth = (position.state, depth) if action is None else (position.child(action), depth - 1)
    constant = game.traits.constant
    if kind == "maxn":
        return algorithms.max_n(game, state, "first", seat, depth, position.expects)
    if kind in ("paranoid", "bestreply"):
        algorithm = algorithms.paranoid if kind == "paranoid" else algorithms.best_reply
        return float(algorithm(game, state, seat, depth, lambda state: position.expects(state)[seat]))
    if kind in ("expectimax", "greedy"):

        def replies(state: Any) -> list[tuple[int, float]]:
            actions = game.legal_actions(state)
            return [(action, 1 / len(actions)) for action in actions]

        rest = (seat, replies, depth, lambda state: position.expects(state)[seat])
        return algorithms.expectimax(game, state, *rest)
    value = algorithms.expectiminimax(game, state, depth, lambda state: position.expects(state)[0])
    return value if seat == 0 else constant - value
