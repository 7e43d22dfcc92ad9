"""Our rules against OpenSpiel's, in lockstep over random games: turns, legal actions, ends and results.

Where OpenSpiel numbers actions in another way they are matched here. Its ``mancala`` is our Kalah.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from zermelo.envs import as_game
from zermelo.envs.games import MNK, Breakthrough, DotsAndBoxes, Kalah, Nim, Othello

pyspiel = pytest.importorskip("pyspiel")

SEED = 5


def play_in_lockstep(rules: Any, name: str, match: Callable[[Any, int, Any], int], games: int) -> None:
    """Plays both at random; ``match(rules, action, their_state)`` gives their number of one of our actions."""
    game, theirs = as_game(rules), pyspiel.load_game(name)
    generator = random.Random(SEED)
    for _ in range(games):
        state, other = game.initial_state(), theirs.new_initial_state()
        while not other.is_terminal():
            assert not game.is_terminal(state)
            assert game.to_move(state) == other.current_player()
            numbers = {match(rules, action, other): action for action in game.legal_actions(state)}
            assert sorted(numbers) == sorted(other.legal_actions())
            number = generator.choice(sorted(numbers))
            state = game.result(state, numbers[number])
            other.apply_action(number)
        assert game.is_terminal(state)
        assert list(game.utility(state)) == other.returns()


def same(rules: Any, action: int, other: Any) -> int:
    return action


def test_othello():
    play_in_lockstep(Othello(), "othello", same, 100)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 2), (3, 2), (2, 5), (4, 4)])
@pytest.mark.parametrize("margin", [False, True])
def test_dots_and_boxes(rows, columns, margin):
    name = f"dots_and_boxes(num_rows={rows},num_cols={columns},utility_margin={str(margin).lower()})"
    play_in_lockstep(DotsAndBoxes(rows, columns, margin=margin), name, same, 60)


@pytest.mark.parametrize(("m", "n", "k"), [(3, 3, 3), (5, 4, 4), (6, 7, 5)])
def test_mnk(m, n, k):
    play_in_lockstep(MNK(m, n, k), f"mnk(m={m},n={n},k={k})", same, 100)


def breakthrough_action(rules: Breakthrough, action: int, other: Any) -> int:
    """Its black starts and moves down, so our row 0 is its highest."""
    square, sideways = divmod(action, 3)
    row, column = divmod(square, rules.columns)
    forward = 1 if other.current_player() == 0 else -1
    (first, second) = (
        f"{chr(ord('a') + c)}{rules.rows - r}" for r, c in ((row, column), (row + forward, column + sideways - 1))
    )
    legal = {other.action_to_string(number).rstrip("*"): number for number in other.legal_actions()}
    return legal[first + second]


@pytest.mark.parametrize(
    ("rows", "columns", "pawn_rows"), [(8, 8, 2), (6, 6, 2), (7, 3, 2), (5, 5, 1), (4, 2, 1), (6, 5, 2)]
)
def test_breakthrough(rows, columns, pawn_rows):
    """It has one row of pawns on fewer than six rows."""
    play_in_lockstep(
        Breakthrough(rows, columns, pawn_rows),
        f"breakthrough(rows={rows},columns={columns})",
        breakthrough_action,
        60,
    )


def nim_action(rules: Nim, action: int, other: Any) -> int:
    heap, taken = divmod(action, rules.largest)
    return taken * rules.number + heap


@pytest.mark.parametrize("heaps", [(1, 3, 5, 7), (2, 6), (4, 4, 1)])
@pytest.mark.parametrize("misere", [False, True])
def test_nim(heaps, misere):
    sizes = ";".join(map(str, heaps))
    name = f"nim(is_misere={str(misere).lower()},pile_sizes={sizes})"
    play_in_lockstep(Nim(heaps, misere), name, nim_action, 100)


def kalah_action(rules: Kalah, action: int, other: Any) -> int:
    """Its pits are 1 to 6 for the first player and 8 to 13 for the second, each from the player's left."""
    return action + (1 if other.current_player() == 0 else 8)


def test_kalah():
    play_in_lockstep(Kalah(6, 4), "mancala", kalah_action, 300)
