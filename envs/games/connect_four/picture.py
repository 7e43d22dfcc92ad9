"""Connect Four as it is drawn, and PettingZoo's and OpenSpiel's of it."""

from __future__ import annotations

from typing import Any, Final

from zermelo.envs.games.connect_four.evaluation import ConnectFour
from zermelo.envs.games.connect_four.rules import ConnectFourState
from zermelo.envs.pictures.boards import CELL, board_canvas, draws, each_mark, shade, text_rows
from zermelo.envs.pictures.canvas import Canvas, Colour
from zermelo.envs.rules.about import OpenSpielTwin, openspiel_twin, twin

__all__: list[str] = []

_BLUE: Final[Colour] = (44, 86, 158)
_HOLE: Final[Colour] = (226, 233, 244)
_RED: Final[Colour] = (214, 66, 58)
_YELLOW: Final[Colour] = (246, 200, 60)


@draws(ConnectFour)
def _connect_four(rules: Any, state: Any) -> Canvas:
    rows = text_rows(rules, state)
    canvas = board_canvas(len(rows), len(rows[0]))
    canvas.rectangle(4, 4, canvas.width - 8, canvas.height - 8, _BLUE, radius=14)

    def paint(x: float, y: float, mark: str) -> None:
        colour = {"X": _RED, "O": _YELLOW}.get(mark)
        canvas.disk(x, y, CELL * 0.42, shade(_BLUE, 0.8))
        canvas.disk(x, y, CELL * 0.39, _HOLE if colour is None else colour)
        if colour is not None:
            canvas.ring(x, y, CELL * 0.27, 3, shade(colour, 0.85))

    each_mark(rows, paint)
    return canvas


@twin("pettingzoo.classic.connect_four.connect_four.raw_env", ConnectFour(6, 7))
def _read_connect_four(env: Any) -> ConnectFourState | None:
    """PettingZoo's cells are numbered row by row from the top."""
    board = env.board
    if len(board) != 42:
        return None
    sides = [0, 0, 0]
    for cell, piece in enumerate(board):
        if piece:
            if piece not in (1, 2):
                return None
            sides[piece] |= 1 << (cell % 7 * 7 + 5 - cell // 7)
    first, second = sides[1], sides[2]
    stones = first | second
    turn = first.bit_count() - second.bit_count()
    bottom = sum(1 << column * 7 for column in range(7))
    floating = stones & ~(stones << 1 | bottom)
    if turn not in (0, 1) or floating:
        return None
    return ConnectFourState(second if turn else first, stones)


@openspiel_twin("connect_four")
def _openspiel(rows: int, columns: int, x_in_row: int, egocentric_obs_tensor: bool) -> OpenSpielTwin | None:
    return OpenSpielTwin(rules=ConnectFour(rows, columns)) if x_in_row == 4 else None
