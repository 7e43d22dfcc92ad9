"""Perft against published counts."""

from __future__ import annotations

from typing import Any

import pettingzoo
import pytest
from doubles.game_envs import DeclaredDice, started

from zermelo.envs import as_game, perft
from zermelo.envs.errors import InvalidSettingError


def classic(name: str) -> Any:
    return started(pettingzoo.make("aec", f"classic/{name}"))


@pytest.mark.thorough
@pytest.mark.parametrize(("depth", "leaves"), list(enumerate([1, 7, 49, 343, 2401, 16807, 117649, 823536])))
def test_connect_four(depth: int, leaves: int) -> None:
    assert perft(classic("connect_four-v3"), depth) == leaves


# https://www.chessprogramming.org/Perft_Results
@pytest.mark.parametrize(("depth", "leaves"), [(1, 20), (2, 400), (3, 8902)])
def test_chess(depth: int, leaves: int) -> None:
    assert perft(classic("chess-v6"), depth) == leaves


def test_tic_tac_toe_games_end_before_the_depth() -> None:
    env = classic("tictactoe-v3")
    for action in (0, 1, 4, 2):
        env.step(action)
    # X wins at once by 8; four other moves leave four replies each.
    assert perft(env, 1) == 5
    assert perft(env, 2) == 4 * 4


def test_the_position_now_and_a_given_state() -> None:
    env = classic("connect_four-v3")
    for _ in range(6):
        env.step(3)
    assert perft(env, 1) == 6
    game = as_game(env)
    assert perft(game, 1) == 7
    assert perft(game, 2, state=game.snapshot(env)) == 36


def test_the_split_by_action() -> None:
    env = classic("connect_four-v3")
    split = perft(env, 3, split=True)
    assert split == dict.fromkeys(range(7), 49)


@pytest.mark.thorough
def test_chance_events_are_moves() -> None:
    env = started(DeclaredDice())
    # Roll (then three faces) or hold.
    assert perft(env, 1) == 2
    assert perft(env, 2) == 3 + 2
    assert perft(env, 2, split=True) == {0: 3, 1: 2}


@pytest.mark.parametrize(
    ("depth", "split", "least"), [(-1, False, 0), (0, True, 1), (True, False, 0), (1.5, False, 0)]
)
def test_depths_that_are_none(depth: Any, split: bool, least: int) -> None:
    with pytest.raises(
        InvalidSettingError, match=f"depth must be a whole number of at least {least}, not {depth!r}"
    ):
        perft(classic("connect_four-v3"), depth, split=split)
