"""Pentago against the same game written slowly, and facts about its boards."""

import itertools

import pytest

from zermelo.agents import RandomAgent
from zermelo.envs import perft
from zermelo.envs.games import Pentago
from zermelo.envs.games.pentago import turned
from zermelo.envs.rules import symmetric_board
from zermelo.evaluation import round_robin


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
