"""Isolation against the same game written slowly, and small boards with known winners."""

import random

import pytest
from doubles.checked import assert_keeps_contract

from zermelo.envs import InvalidSettingError
from zermelo.envs.games import Isolation
from zermelo.envs.rules import RulesGame


class Slow:
    """Isolation over sets of squares, as a person would write it down."""

    def __init__(self, rows, columns):
        self.columns = columns
        self.squares = {(row, column) for row in range(rows) for column in range(columns)}
        self.pawns = [(0, columns // 2), (rows - 1, columns - 1 - columns // 2)]
        self.seat, self.stepped = 0, False

    def legal(self):
        empty = self.squares - set(self.pawns)
        if not self.stepped:
            row, column = self.pawns[self.seat]
            empty = {(r, c) for r, c in empty if max(abs(r - row), abs(c - column)) == 1}
        return sorted(r * self.columns + c for r, c in empty)

    def play(self, action):
        square = divmod(action, self.columns)
        if self.stepped:
            self.squares.discard(square)
            self.seat = 1 - self.seat
        else:
            self.pawns[self.seat] = square
        self.stepped = not self.stepped


@pytest.mark.parametrize("sizes", [(6, 8), (8, 8), (2, 1), (3, 3), (4, 2), (2, 32)])
def test_plays_as_the_slow_rules_do(sizes):
    game = RulesGame(Isolation(*sizes))
    generator = random.Random(0)
    for _ in range(10):
        state, other = game.initial_state(), Slow(*sizes)
        while other.legal():
            assert not game.is_terminal(state)
            assert game.legal_actions(state) == other.legal()
            action = generator.choice(other.legal())
            assert game.to_move(state) == other.seat
            state = game.result(state, action)
            other.play(action)
        assert game.is_terminal(state)
        assert game.utility(state)[other.seat] == -1


@pytest.mark.thorough
def test_keeps_the_contract():
    assert_keeps_contract(Isolation(4, 4), games=2)


def mover_wins(game, state, known):
    if game.is_terminal(state):
        return False
    if state not in known:
        seat = game.to_move(state)
        after = (game.result(state, action) for action in game.legal_actions(state))
        known[state] = any(mover_wins(game, then, known) is (game.to_move(then) == seat) for then in after)
    return known[state]


@pytest.mark.parametrize(("sizes", "first_wins"), [((2, 1), False), ((3, 1), True), ((2, 2), False)])
def test_small_boards(sizes, first_wins):
    game = RulesGame(Isolation(*sizes))
    assert mover_wins(game, game.initial_state(), {}) is first_wins


def test_board_as_text_and_actions_as_squares():
    rules = Isolation(3, 4)
    state = rules.result(rules.result(rules.initial_state(), 5), 3)
    assert rules.text(state) == ". . . #\n. X . .\n. O . ."
    assert rules.action_text(rules.initial_state(), 5) == "b2"
    assert rules.action_text(rules.result(rules.initial_state(), 5), 3) == "xd1"


def test_a_board_that_does_not_fit_is_refused():
    with pytest.raises(InvalidSettingError, match="not rows=9, columns=8"):
        RulesGame(Isolation(9, 8))
