"""The evaluators of lines of stones say the same of a position seen as rules and seen through its copy."""

from __future__ import annotations

import random

import pytest

from zermelo.agents.evaluators.boards import read_grid
from zermelo.agents.evaluators.protocol import squash
from zermelo.agents.evaluators.registry import make_evaluator
from zermelo.envs import UnsupportedGameError, as_game, make
from zermelo.envs.games import MNK, Backgammon, ConnectFour, Kalah
from zermelo.envs.rules import RulesGame


@pytest.mark.parametrize("name", ["tictactoe", "connect_four"])
@pytest.mark.parametrize("seed", range(5))
def test_twins_are_evaluated_alike(name: str, seed: int) -> None:
    evaluator = make_evaluator(name)
    env = make(f"classic/{name}-v3")
    env.reset()
    draw = random.Random(seed)
    while True:
        by_rules, by_clone = as_game(env), as_game(env, backend="clone")
        state, copied = by_rules.snapshot(env), by_clone.snapshot(env)
        if by_rules.is_terminal(state):
            break
        assert list(evaluator(by_rules, state)) == list(evaluator(by_clone, copied))
        env.step(draw.choice(by_rules.legal_actions(state)))


@pytest.mark.parametrize(
    ("rules", "moves", "cells", "shape"),
    [
        (MNK(4, 2, 3), (1, 7), {1: 0, 7: 1}, (2, 4, 3, False)),
        (ConnectFour(3, 2), (1, 1, 0), {5: 0, 3: 1, 4: 0}, (3, 2, 4, True)),
    ],
)
def test_boards_of_other_sizes(
    rules: MNK | ConnectFour, moves: tuple[int, ...], cells: dict[int, int], shape: tuple[int, int, int, bool]
) -> None:
    game = RulesGame(rules)
    state = game.initial_state()
    for move in moves:
        state = game.result(state, move)
    grid = read_grid(game, state)
    assert grid is not None
    assert grid[1:] == shape
    assert {cell: seat for cell, seat in enumerate(grid.cells) if seat >= 0} == cells


def test_other_games_have_no_lines() -> None:
    game = RulesGame(Kalah())
    assert read_grid(game, game.initial_state()) is None


def test_pips() -> None:
    game = RulesGame(Backgammon())
    state = game.result(game.initial_state(), 6 * 5)  # the first player has 6-1
    evaluator = make_evaluator("pips")
    assert evaluator(game, state) == (0, 0)
    state = game.result(state, 26 * 13 + 8)  # 13/7 8/7
    assert game.to_move(game.result(state, 0)) == 1
    assert evaluator(game, state) == (squash(7 / 150), -squash(7 / 150))
    with pytest.raises(UnsupportedGameError, match="'pips' cannot find a backgammon board in Kalah"):
        evaluator(RulesGame(Kalah()), RulesGame(Kalah()).initial_state())
