"""What players observe in environments of rules."""

from __future__ import annotations

import numpy as np
import pytest
from doubles.own_envs import EVERY, every_env

from zermelo.envs import (
    make,
)
from zermelo.envs.clone.plan import compile_copier


def observed(name: str, moves: tuple[int, ...]) -> list[np.ndarray]:
    """What every agent observes after some moves."""
    live = make(name)
    live.reset()
    for move in moves:
        live.step(move)
    return [live.observe(agent)["observation"] for agent in live.possible_agents]


@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("zermelo/MNK-v0(m=4, n=3)", (0, 5, 6)),
        ("zermelo/ConnectFour-v0(rows=5, columns=4)", (0, 0, 3, 1)),
        ("zermelo/Othello-v0(rows=6, columns=6)", (8, 7)),
    ],
)
def test_planes_of_stones_are_the_text_seen_from_either_side(name: str, moves: tuple[int, ...]) -> None:
    live = make(name, render_mode="ansi")
    live.reset()
    for move in moves:
        if move in live.unwrapped.legal_actions():
            live.step(move)
    rows = [line.split() for line in live.render().split("\n")]
    first, second = (live.observe(agent)["observation"] for agent in live.possible_agents)
    for plane, mark in enumerate("XO"):
        assert first[:, :, plane].tolist() == [[int(square == mark) for square in row] for row in rows]
        assert second[:, :, 1 - plane].tolist() == first[:, :, plane].tolist()


@pytest.mark.parametrize("name", ["zermelo/Breakthrough-v0(rows=6, columns=5)", "zermelo/Hexapawn-v0"])
def test_pawns_are_observed_on_the_board_as_it_is_drawn(name: str) -> None:
    live = make(name, render_mode="ansi")
    live.reset()
    live.step(live.unwrapped.legal_actions()[0])
    rows = [line.split() for line in live.render().split("\n")]
    first, second = (live.observe(agent)["observation"] for agent in live.possible_agents)
    for plane, mark in enumerate("XO"):
        assert first[:, :, plane].tolist() == [[int(square == mark) for square in row] for row in rows]
        assert second[:, :, 1 - plane].tolist() == first[:, :, plane].tolist()
    assert not first[:, :, 2].any()
    assert second[:, :, 2].all()


def test_kalah_is_observed_from_the_observers_left() -> None:
    first, second = observed("zermelo/Kalah-v0(houses=3, seeds=2)", (1, 0))  # the first ends in the store: again
    assert first.tolist() == [[0, 1, 4, 1], [2, 2, 2, 0]]
    assert second.tolist() == first.tolist()[::-1]


def test_lines_and_boxes_are_observed() -> None:
    first, second = observed("zermelo/DotsAndBoxes-v0(rows=1, columns=2)", (0, 2, 4, 5))  # the second makes a box
    for seen in (first, second):
        assert seen[:, :, 0].tolist() == [[1, 0, 0], [1, 0, 0]]
        assert seen[:, :, 1].tolist() == [[1, 1, 0], [0, 0, 0]]
    assert [int(first[:, :, plane].max()) for plane in (2, 3)] == [0, 1]
    assert [int(second[:, :, plane].min()) for plane in (2, 3)] == [1, 0]


def test_the_others_are_observed() -> None:
    first, second = observed("zermelo/Domineering-v0(rows=2, columns=3)", (1,))
    assert first[:, :, 0].tolist() == second[:, :, 0].tolist() == [[0, 1, 0], [0, 1, 0]]
    assert not first[:, :, 1].any()
    assert second[:, :, 1].all()
    assert observed("zermelo/Nim-v0(heaps=[3, 1])", (1,))[0].tolist() == [1, 1]
    assert observed("zermelo/Chomp-v0(rows=2, columns=3)", (4,))[1][:, :, 0].tolist() == [[1, 1, 1], [1, 0, 0]]


@every_env
def test_a_copier_is_written_for_every_game(name: str) -> None:
    live = EVERY[name]().unwrapped
    live.reset(seed=0)
    assert compile_copier(live, loose=False) is not None
