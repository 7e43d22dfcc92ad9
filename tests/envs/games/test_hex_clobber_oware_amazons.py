"""Hex, Clobber, Oware and Amazons: known results, and rules by hand; test_games_openspiel.py has whole games.

Sources: Hex, J. Nash (1948) for who wins square boards, M. Gardner, *The Scientific American Book of Mathematical
Puzzles and Diversions* (1959), for boards with sides of different lengths. Clobber in one row, M. H. Albert, J. P.
Grossman, R. J. Nowakowski and D. Wolfe, "An introduction to Clobber", INTEGERS 5(2), 2005.
The first turns of Amazons are counted in many papers.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from oracles.plain_minimax import Values, value

from zermelo.agents import solve
from zermelo.envs import check_rules, perft
from zermelo.envs.games import Amazons, Clobber, Hex, Oware
from zermelo.envs.games.mancala.oware import OwareState
from zermelo.envs.rules import RulesGame, Words


def played(rules: Any, *actions: int) -> Any:
    """The state after legal actions."""
    game = RulesGame(rules)
    state = game.initial_state()
    for action in actions:
        assert action in game.legal_actions(state)
        state = game.result(state, action)
    return state


# -- Hex ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "columns", "wins"),
    [(1, 1, True), (2, 2, True), (3, 3, True), (2, 3, True), (2, 4, True), (3, 2, False), (4, 2, False)],
)
def test_hex_is_won_by_who_starts_or_has_the_shorter_way(rows, columns, wins):
    assert value(Hex(rows, columns)) == (1 if wins else -1)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "columns", "wins"), [(4, 4, True), (3, 4, True), (4, 3, False)])
def test_larger_boards_of_hex(rows, columns, wins):
    assert solve(Hex(rows, columns)).value == (1 if wins else -1)


def test_hex_2x2_is_won_from_the_short_diagonal():
    rules = Hex(2, 2)
    values = Values(rules)
    assert [values.of(rules.result(rules.initial_state(), cell)) for cell in range(4)] == [-1, 1, 1, -1]


def test_a_chain_that_is_joined_late_wins():
    rules = Hex(4, 3)
    state = played(rules, 9, 0, 7, 2, 4, 3)  # from the lower edge up, not yet linked with the upper one
    assert rules.text(state) == "O . O\n O X .\n  . X .\n   X . ."
    assert not rules.is_terminal(state)
    assert state.linked == (0b1001,)
    end = rules.result(state, 1)
    assert rules.is_terminal(end)
    assert (rules.utility(end, 0), rules.utility(end, 1)) == (1, -1)


def test_rows_of_hex_lie_to_the_right_of_those_above():
    rules = Hex(2, 2)
    assert rules.is_terminal(played(rules, 1, 0, 2))  # b1 and a2 touch
    assert not rules.is_terminal(played(rules, 0, 1, 3))  # a1 and b2 do not


# -- Clobber ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", range(1, 13))
def test_clobber_in_one_row(length):
    """Whoever starts wins with as many stones on either side, but for three."""
    if length % 2 == 0:
        assert value(Clobber(1, length)) == (1 if length != 6 else -1)
    assert value(Clobber(length, 1)) == value(Clobber(1, length))


def test_clobber_by_hand():
    rules = Clobber(2, 3)
    assert rules.text(rules.initial_state()) == "O X O\nX O X"
    assert [rules.action_text(rules.initial_state(), action) for action in (5, 7, 6, 12)] == [
        "b2c2",
        "b2a2",
        "b2b1",
        "a1a2",
    ]
    state = played(rules, 5)
    assert rules.text(state) == "O . X\nX O X"
    assert RulesGame(rules).legal_actions(state) == [2, 17, 19]
    end = rules.result(state, 19)
    assert rules.text(end) == "O . X\nO . X"
    assert rules.is_terminal(end)
    assert rules.utility(end, 0) == -1


# -- Oware --------------------------------------------------------------------------------------------------------


def houses(*seeds: int) -> int:
    return sum(count << 8 * house for house, count in enumerate(seeds))


@pytest.mark.parametrize(
    ("mine", "theirs", "action", "after", "captured"),
    [
        # twos and threes are captured backwards, up to the first other number
        ((0, 0, 0, 0, 0, 4), (5, 1, 2, 1, 0, 3), 5, ((6, 0, 0, 0, 0, 3), (0,) * 6), 2 + 3 + 2),
        ((1, 0, 0, 0, 0, 1), (3, 2, 0, 0, 0, 0), 5, ((4, 2, 0, 0, 0, 0), (1,)), 0),
        # all that the opponent has is not captured
        ((1, 0, 0, 0, 0, 2), (1, 2, 0, 0, 0, 0), 5, ((2, 3, 0, 0, 0, 0), (1,)), 0),
        # a whole round leaves out the house that was emptied
        ((0, 0, 0, 0, 0, 12), (1, 1, 1, 1, 1, 1), 5, ((0, 2, 2, 2, 2, 2), (1, 1, 1, 1, 1, 0)), 3),
        # what ends in one's own houses captures nothing
        ((1, 1, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0), 0, ((1, 0, 0, 0, 0, 0), (0, 2)), 0),
    ],
)
def test_sowing_and_capturing(mine, theirs, action, after, captured):
    rules = Oware()
    state = rules.result(OwareState(houses(*mine), houses(*theirs), 3, 4, 0, 5), action)
    assert (state.mover, state.other) == tuple(houses(*side) for side in after)
    assert (state.mover_store, state.other_store) == (4, 3 + captured)
    assert (state.seat, state.quiet) == (1, 0 if captured else 6)


def test_an_opponent_without_seeds_must_be_given_some():
    game = RulesGame(Oware())
    assert game.legal_actions(OwareState(houses(6, 2, 0, 0, 0, 1), 0, 3, 4, 0, 0)) == [0, 5]
    end = game.rules.result(OwareState(houses(1), houses(0, 0, 0, 0, 0, 2), 3, 4, 1, 0), 0)
    assert not game.is_terminal(end)
    end = game.rules.result(OwareState(houses(0, 1), houses(), 3, 4, 1, 0), 1)  # nobody can give anything
    assert game.is_terminal(end)
    assert (end.mover_store, end.other_store) == (4, 3 + 1)


def test_a_position_that_comes_again_ends_the_game():
    game = RulesGame(Oware(2, 1))
    start = OwareState(houses(1, 0), houses(1, 0), 1, 0, 0, 0)
    state, seen = start, 0
    while not game.is_terminal(state) and seen < 20:
        state, seen = game.result(state, game.legal_actions(state)[0]), seen + 1
    assert game.is_terminal(state)
    assert game.utility(state)[0] == -game.utility(state)[1]


# -- Amazons ------------------------------------------------------------------------------------------------------


def test_the_first_turns_of_amazons():
    assert [perft(RulesGame(Amazons()), depth) for depth in (1, 2, 3)] == [4, 80, 2176]


def test_amazons_by_hand():
    rules = Amazons(4)
    assert rules.text(rules.initial_state()) == ". O O .\nO . . O\nX . . X\n. X X ."
    state = played(rules, 8, 5)
    assert rules.text(state) == ". O O .\nO x . O\n. . . X\n. X X ."
    assert RulesGame(rules).legal_actions(state) == [0, 6, 8, 9, 10, 15]  # where it came from is free
    state = rules.result(state, 8)
    assert rules.text(state) == ". O O .\nO X . O\n# . . X\n. X X ."
    assert rules.to_move(state) == 1
    turn = (8, 5, 8)
    texts = [rules.action_text(played(rules, *turn[:done]), action) for done, action in enumerate(turn)]
    assert texts == ["a3", "-b2", "xa3"]


def test_who_cannot_move_an_amazon_has_lost():
    game = RulesGame(Amazons(4))
    start = game.initial_state()
    free = [square for square in range(16) if start.free[0] >> square & 1]

    def without(*closed):
        return start._replace(free=Words([sum(1 << s for s in free if s not in closed)]))

    blocked = without(0, 3, 5, 6, 9, 10)
    assert game.legal_actions(blocked) == [8, 11, 13, 14]
    blocked = without(0, 3, 5, 6, 9, 10, 12, 15)
    assert game.is_terminal(blocked)
    assert game.utility(blocked) == (-1.0, 1.0)


# -- all ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rules", [Oware(1, 3), Oware(2, 9)], ids=repr)
def test_games_that_end_by_repetition_keep_the_contract(rules):
    check_rules(rules, games=3)
    game, generator, ends = RulesGame(rules), random.Random(1), []
    for _ in range(20):
        state = game.initial_state()
        while not game.is_terminal(state):
            state = game.result(state, generator.choice(game.legal_actions(state)))
        ends.append(rules.is_terminal(state))
    assert False in ends  # the rules alone, without the past, would have gone on
