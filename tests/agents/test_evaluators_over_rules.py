"""The evaluators of lines of stones say the same of a position seen as rules and seen through its copy."""

from __future__ import annotations

import random

import pytest

from zermelo.agents.evaluators.boards import read_grid
from zermelo.agents.evaluators.registry import make_evaluator
from zermelo.envs import as_game, make
from zermelo.envs.rules import MNK, ConnectFour, Kalah, RulesGame


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
