"""Every search on random trees of any shape is the textbook's: to the end and to a depth, with any settings."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from doubles.small_games import Leaf, Node, TreeGame
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.contract import Position, textbook

from zermelo.agents import make_agent
from zermelo.agents import textbook as algorithms
from zermelo.agents.tree_search.settings import TieRule
from zermelo.envs import CHANCE
from zermelo.envs.game import Chance, RewardSum

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "minimax": [{}, {"prefer_short_wins": False, "ties": "first"}],
    "alphabeta": [
        {}, {"exact": True, "ties": "first"}, {"memory_mb": 0, "window": "full", "ordering": "fixed"},
        {"prefer_short_wins": False, "window": "full"},
        {"prefer_short_wins": False, "ordering": "fixed", "exact": True},
        {"memory_mb": 0, "prefer_short_wins": False, "ordering": "fixed"},
        {"deepening": True}, {"memory_mb": 0.02},
    ],
    "expectiminimax": [
        {}, {"memory_mb": 0}, {"pruning": "star1"}, {"pruning": "star1", "memory_mb": 0, "exact": True},
        {"pruning": "star2", "exact": True, "prefer_short_wins": False}, {"pruning": "star2", "ordering": "fixed"},
        {"pruning": "star2", "memory_mb": 0, "deepening": True},
    ],
    "expectimax": [{}, {"memory_mb": 0}],
    "maxn": [
        {}, {"memory_mb": 0, "exact": True}, {"shallow": False, "prefer_short_wins": False}, {"deepening": True},
        {"prefer_short_wins": False, "ties": "first", "memory_mb": 0}, {"ordering": "fixed"},
    ],
    "paranoid": [{}, {"exact": True}, {"memory_mb": 0, "prefer_short_wins": False}, {"deepening": True}],
    "bestreply": [{}, {"exact": True}, {"memory_mb": 0, "prefer_short_wins": False}, {"deepening": True}],
}  # fmt: skip
CASES = [(kind, each) for kind, many in SETTINGS.items() for each in many]
seeds = st.integers(0, 2**32 - 1)


def random_game(seed: int, *, seats: int, total: float | None, chance: bool, rewards: bool) -> TreeGame:
    """Turns in any order, early ends, whole numbers with many ties; with ``total`` they add up to it."""
    rng = np.random.default_rng(seed)

    def shared(values: list[float], total: float) -> list[float]:
        values[int(rng.integers(seats))] += total - sum(values)
        return values

    def grow(depth: int, paid: list[float]) -> Any:
        if rewards:
            gift = [float(value) for value in rng.integers(-1, 2, seats)]
            gift = gift if total is None else shared(gift, 0.0)
            paid = [so_far + more for so_far, more in zip(paid, gift, strict=True)]
        if depth == 0 or (depth < 4 and rng.random() < 0.15):
            end = [float(value) for value in rng.integers(0, 4, seats)]
            end = end if total is None else shared(end, total)
            return Leaf(*(so_far + more for so_far, more in zip(paid, end, strict=True)))
        children = [grow(depth - 1, paid) for _ in range(int(rng.integers(1, 4)))]
        weights = rng.choice([1, 2], len(children))
        if chance and depth < 5 and rng.random() < 0.3 and weights.sum() in (1, 2, 4):  # so that ties are ties
            return Node(CHANCE, children, probabilities=list(weights / weights.sum()), utility=paid)
        return Node(int(rng.integers(seats)), children, utility=paid)

    return TreeGame(
        grow(5, [0.0] * seats),
        seats=seats,
        bounds=(-30.0, 30.0),
        constant=total or 0.0,
        reward_sum=RewardSum.GENERAL if total is None else RewardSum.CONSTANT,
        chance=Chance.EXACT if chance else Chance.NONE,
        terminal_rewards_only=not rewards,
    )


def sides(game: Any, state: Any) -> tuple[float, ...]:
    """An evaluation with few different values, strictly inside the bounds; it adds up where the game does."""
    value = 0.25 * (len(state.children) - 2) + 0.5 * (state.mover % 2)
    rest = game.traits.constant - sum(game.utility(state))
    seats = game.traits.seats
    first = rest / seats + value
    others = (rest - first) / max(seats - 1, 1)
    return (first, *[others] * (seats - 1))


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "how"), CASES, ids=str)
@given(
    seed=seeds,
    seats=st.integers(1, 4),
    total=st.sampled_from([None, 0.0, 6.0]),
    chance=st.booleans(),
    rewards=st.booleans(),
    depth=st.sampled_from([None, None, 1, 2, 3, 4]),
)
@example(seed=5776450, seats=3, total=0.0, chance=False, rewards=False, depth=2)  # one opponent moves twice
@settings(max_examples=25)
def test_it_is_the_textbooks(
    kind: str,
    how: dict[str, Any],
    seed: int,
    seats: int,
    total: float | None,
    chance: bool,
    rewards: bool,
    depth: int | None,
) -> None:
    if kind in ("minimax", "alphabeta", "expectiminimax"):
        seats, total = (2, total or 0.0) if kind != "expectiminimax" or seats % 2 else (1, None)
        chance = chance and kind == "expectiminimax"
    game = random_game(seed, seats=seats, total=None if seats == 1 else total, chance=chance, rewards=rewards)
    position = Position(game, game.root, sides, "")
    limits: dict[str, Any] = {"depth": "full"} if depth is None else {"depth": depth, "evaluator": sides}
    if kind in ("expectiminimax", "expectimax"):
        limits["chance_at_limit"] = "average"
    agent: Any = dataclasses.replace(make_agent(kind), name="", **how, **limits)  # type: ignore[type-var]
    result, mover = agent.search_state(game), game.root.mover
    found = result.values_by_seat if kind == "maxn" else result.value
    deep = 99 if depth is None else depth
    assert found == pytest.approx(textbook(kind, position, deep), abs=1e-9)
    assert found == pytest.approx(textbook(kind, position, deep, result.action), abs=1e-9)
    for action, value in result.action_values.items():
        true: Any = textbook(kind, position, 99 if action in result.proven_actions else deep, action)
        assert value == pytest.approx(true[mover] if kind == "maxn" else true, abs=1e-9)
    if how.get("exact") or kind in ("minimax", "expectimax") or (kind == "expectiminimax" and not how):
        assert sorted(result.action_values) == list(range(len(game.root.children)))
    if depth is None:
        assert result.proven or (kind == "bestreply" and seats > 2)
    if total is not None and not chance and kind != "expectimax" and seats > 1 and depth is None:
        assert sum(result.values_by_seat) == pytest.approx(total)
    state: Any = game.root
    for action in result.principal_variation if not chance and kind not in ("expectimax", "bestreply") else ():
        state = state.children[action]
    if isinstance(state, Leaf):
        assert state.utility[mover] == pytest.approx(result.value)


def by_hand(kind: str, node: Any, seat: int, rule: str = "first", chooser: int | None = None) -> Any:
    """max^n, paranoid and best-reply search over bare nodes, written another way than the textbook's."""
    if isinstance(node, Leaf):
        return node.utility if kind == "maxn" else node.utility[seat]
    me = node.mover
    if kind == "bestreply" and me not in (seat, CHANCE):
        found = [by_hand(kind, each, seat, rule, me) for each in node.children if chooser in (None, me)]
        return min([*found, *([by_hand(kind, node.children[0], seat, rule, chooser)] if chooser != me else [])])
    found = [by_hand(kind, each, seat, rule, None if me == seat else chooser) for each in node.children]
    if me == CHANCE and kind == "maxn":
        return tuple(np.dot(node.probabilities, column) for column in zip(*found, strict=True))
    if me == CHANCE:
        return float(np.dot(node.probabilities, found))
    if kind != "maxn":
        return max(found) if me == seat else min(found)
    dislike = {
        "first": lambda v: 0,
        "paranoid": lambda v: v[seat],
        "friendly": lambda v: -v[seat],
        "spiteful": lambda v: sum(v) - v[me],
        "generous": lambda v: v[me] - sum(v),
    }[rule]
    return found[min(range(len(found)), key=lambda i: (-found[i][me], dislike(found[i]), i))]


@pytest.mark.thorough
@given(seed=seeds, seats=st.integers(2, 4), chance=st.booleans(), rule=st.sampled_from(list(TieRule)))
@settings(max_examples=100)
def test_the_textbook_for_many_players_is_what_a_pencil_gives(
    seed: int, seats: int, chance: bool, rule: TieRule
) -> None:
    game = random_game(seed, seats=seats, total=None, chance=chance, rewards=False)
    root, seat = game.root, game.root.mover
    expected = by_hand("maxn", root, seat, rule.value)
    assert algorithms.max_n(game, root, rule) == pytest.approx(expected, abs=1e-12)
    agent: Any = make_agent(f"maxn(tie_rule={rule.value}, depth=full)")
    assert agent.search_state(game).values_by_seat == pytest.approx(expected, abs=1e-12)
    assert algorithms.paranoid(game, root, seat) == pytest.approx(by_hand("paranoid", root, seat), abs=1e-12)
    assert algorithms.best_reply(game, root, seat) == pytest.approx(by_hand("bestreply", root, seat), abs=1e-12)
