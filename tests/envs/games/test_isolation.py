"""Isolation against the same game written slowly, and small boards with known winners."""

import pytest

from zermelo.envs.games import Isolation
from zermelo.envs.rules import RulesGame


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
