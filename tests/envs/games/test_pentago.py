"""Pentago against the same game written slowly, and facts about its boards."""

import itertools
import random

import numpy as np
import pytest
from doubles.checked import assert_keeps_contract

from zermelo.agents import RandomAgent
from zermelo.envs import perft
from zermelo.envs.games import Pentago
from zermelo.envs.games.pentago import turned
from zermelo.envs.rules import RulesGame, symmetric_board
from zermelo.evaluation import round_robin


class Slow:
    """Pentago on an array, as a person would write it down."""

    def __init__(self):
        self.board = np.zeros((6, 6), int)
        self.seat, self.placed = 0, False

    def legal(self):
        return list(range(36, 44)) if self.placed else np.flatnonzero(self.board.ravel() == 0).tolist()

    def play(self, action):
        if not self.placed:
            self.board[divmod(action, 6)] = self.seat + 1
        else:
            row, column = divmod((action - 36) // 2, 2)
            quadrant = self.board[3 * row : 3 * row + 3, 3 * column : 3 * column + 3]
            quadrant[:] = np.rot90(quadrant, 1 if action % 2 else -1)
            self.seat = 1 - self.seat
        self.placed = not self.placed

    def five(self, player):
        for row, column in itertools.product(range(6), repeat=2):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                line = [(row + n * down, column + n * right) for n in range(5)]
                inside = all(0 <= r < 6 and 0 <= c < 6 for r, c in line)
                if inside and all(self.board[square] == player for square in line):
                    return True
        return False

    def utility(self):
        """The first player's; None while the game goes on."""
        first, second = self.five(1), self.five(2)
        if first or second:
            return first - second
        return 0 if not self.placed and self.board.all() else None


@pytest.mark.parametrize("seed", range(3))
def test_plays_as_the_slow_rules_do(seed):
    game, generator = RulesGame(Pentago()), random.Random(seed)
    for _ in range(10):
        state, other = game.initial_state(), Slow()
        while (utility := other.utility()) is None:
            assert not game.is_terminal(state)
            assert game.to_move(state) == other.seat
            assert game.legal_actions(state) == other.legal()
            action = generator.choice(other.legal())
            state = game.result(state, action)
            other.play(action)
        assert game.is_terminal(state)
        assert game.utility(state) == (utility, -utility)


def test_keeps_the_contract():
    assert_keeps_contract(Pentago(), games=2)


def test_sequences_of_actions_are_counted():
    assert [perft(Pentago(), depth) for depth in range(1, 5)] == [36, 36 * 8, 36 * 8 * 35, 36 * 8 * 35 * 8]


@pytest.mark.parametrize(("stones", "boards"), [(0, 1), (1, 3), (2, 30), (3, 227)])
def test_boards_that_differ_by_more_than_turns_and_mirrors(stones, boards):
    """As many as Irving counts: quadrants may be turned each by itself, and the board as a whole."""
    seen, found = set(), 0
    for squares in itertools.permutations(range(36), stones):
        board = sum(1 << s for s in squares[::2]), sum(1 << s for s in squares[1::2])
        if board in seen:
            continue
        found += 1
        level = {board}
        while level:
            seen |= level
            level = {
                tuple(function(side, number) for side in each)
                for each in level
                for function, number in [
                    *((turned, turn) for turn in range(0, 8, 2)),
                    *((lambda side, number: symmetric_board(side, 6, 6, number), number) for number in (1, 2, 4)),
                ]
            } - seen
    assert found == boards


def test_five_of_both_are_a_draw_and_five_before_the_turn_win():
    rules = Pentago()
    row = 0b11111
    state = rules.initial_state()._replace(first=row >> 1, second=row << 6)
    assert rules.is_terminal(state)
    assert rules.utility(state, 0) == -1
    assert rules.utility(state._replace(first=row), 0) == 0
    placed = rules.result(state._replace(first=row >> 1, second=0), 4)
    assert rules.is_terminal(placed)
    assert rules.utility(placed, 0) == 1


def test_actions_and_boards_are_written():
    rules = Pentago()
    state = rules.initial_state()
    for action, text in ((7, "b2"), (36, "1R"), (0, "a1"), (37, "1L")):
        assert rules.action_text(state, action) == text
        state = rules.result(state, action)
    assert rules.text(state).split("\n")[:3] == [". . . . . .", ". X . . . .", "O . . . . ."]


def test_a_tournament_is_played():
    standings = round_robin("zermelo/Pentago-v0", {"one": RandomAgent(), "two": RandomAgent()}, games=2)
    assert len(standings.records) == 2
