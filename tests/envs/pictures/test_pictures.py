"""Pictures of boards: shapes, letters, and the colours where stones lie."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from doubles.game_envs import started

from zermelo.envs import make
from zermelo.envs.pictures.boards import draw
from zermelo.envs.pictures.canvas import Canvas, text_size

WHITE, BLACK = (255, 255, 255), (0, 0, 0)


def blackness(canvas: Canvas) -> float:
    """How many pixels are black, grey ones counted by their part."""
    return float((255 - canvas.image()[:, :, 0].astype(float)).sum() / 255)


@pytest.mark.parametrize(
    ("shape", "arguments", "area"),
    [
        ("disk", (50.3, 49.8, 20), math.pi * 400),
        ("ring", (50, 50, 30, 6), math.pi * (33**2 - 27**2)),
        ("rectangle", (10, 20, 30, 40), 1200),
        ("rectangle", (10, 20.5, 30, 40, BLACK, 10), 1200 - (4 - math.pi) * 100),
        ("line", (20, 30, 60, 60, 8), 50 * 8 + math.pi * 16),
        ("line", (50, 50, 50, 50, 10), math.pi * 25),  # of no length: a dot
        ("disk", (0, 0, 20), math.pi * 100),  # a quarter of it is on the canvas
        ("disk", (-50, 20, 10), 0),
        ("rectangle", (90, 90, 30, 30), 100),
        ("line", (200, 200, 300, 300, 5), 0),
        ("ring", (300, 300, 30, 6), 0),
    ],
)
def test_areas_of_shapes(shape: str, arguments: tuple[Any, ...], area: float) -> None:
    canvas = Canvas(100, 100, WHITE)
    colour = () if BLACK in arguments else (BLACK,)
    getattr(canvas, shape)(*arguments, *colour)
    assert blackness(canvas) == pytest.approx(area, rel=0.01, abs=1)


def test_letters() -> None:
    assert text_size("abc", 2) == (2 * 17, 2 * 7)
    assert text_size("a\nbcd", 1) == (17, 17)
    assert text_size("", 3) == (0, 21)
    canvas = Canvas(21, 21, WHITE)
    canvas.text(10.5, 10.5, "T", 1, BLACK)
    rows = ["".join("#" if pixel == 0 else "." for pixel in row[8:13]) for row in canvas.image()[7:14, :, 0]]
    assert rows == ["#####"] + ["..#.."] * 6
    other = Canvas(21, 21, WHITE)
    other.text(10.5, 10.5, "é", 1, BLACK)  # not among the letters: a box
    assert blackness(other) == 20
    edge = Canvas(10, 10, WHITE)
    edge.text(0, 0, "WWWW", 4, BLACK)  # what is outside is left out
    assert 0 < blackness(edge) < 100


def test_every_letter_is_a_different_one() -> None:
    pictures = set()
    for code in range(32, 127):
        canvas = Canvas(9, 9, WHITE)
        canvas.text(4.5, 4.5, chr(code), 1, BLACK)
        pictures.add(canvas.image().tobytes())
    assert len(pictures) == 95


def square(picture: np.ndarray, row: int, column: int) -> tuple[int, ...]:
    """The colour in the middle of a square."""
    return tuple(int(part) for part in picture[16 + 64 * row + 32, 16 + 64 * column + 32])


def position(name: str, moves: tuple[int, ...]) -> np.ndarray:
    live = started(make(name, render_mode="rgb_array"), moves=moves)
    picture: np.ndarray = live.render()
    assert (draw(live.unwrapped.rules, live.unwrapped.position) == picture).all()
    return picture


def test_stones_lie_where_they_were_put() -> None:
    picture = position("zermelo/ConnectFour-v0", (3, 3, 0))
    red, yellow, empty = square(picture, 5, 3), square(picture, 4, 3), square(picture, 0, 0)
    assert len({red, yellow, empty}) == 3
    assert square(picture, 5, 0) == red
    assert [square(picture, row, column) for row in range(6) for column in range(7)].count(empty) == 39

    picture = position("zermelo/Othello-v0", (19,))
    black, white = square(picture, 2, 3), square(picture, 4, 4)
    colours = [square(picture, row, column) for row in range(8) for column in range(8)]
    assert (colours.count(black), colours.count(white)) == (4, 1)

    picture = position("zermelo/Chomp-v0", (9,))  # row 1, column 2
    eaten = square(picture, 1, 2)
    assert [square(picture, row, column) for row in range(4) for column in range(7)].count(eaten) == 15
    assert len({square(picture, 0, 0), square(picture, 0, 1), eaten}) == 3


@pytest.mark.parametrize(
    "name",
    [
        "zermelo/Kalah-v0(houses=1, seeds=1)",
        "zermelo/Kalah-v0(houses=8, seeds=7)",
        "zermelo/DotsAndBoxes-v0(rows=1, columns=1, players=10)",
        "zermelo/Hexapawn-v0(rows=3, columns=1)",
        "zermelo/Domineering-v0(rows=1, columns=2)",
        "zermelo/MNK-v0(m=1, n=1, k=1)",
        "zermelo/ConnectFour-v0(rows=1, columns=1)",
    ],
)
def test_the_smallest_and_the_greatest_are_drawn_in_one_size(name: str) -> None:
    live = started(make(name, render_mode="rgb_array"))
    shapes, moves = {live.render().shape}, 0
    while actions := live.unwrapped.legal_actions():
        live.step(actions[0])
        moves += 1
        if moves < 20 or not live.unwrapped.legal_actions():
            shapes.add(live.render().shape)
    assert len(shapes) == 1
    assert max(next(iter(shapes))) <= 1200
