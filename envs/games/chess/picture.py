"""Chess as it is drawn, and PettingZoo's environment of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games.chess.fen import read_fen
from zermelo.envs.games.chess.moves import after
from zermelo.envs.games.chess.rules import Chess
from zermelo.envs.pictures.boards import CELL, Piece, draws_marks
from zermelo.envs.pictures.canvas import Canvas, Colour
from zermelo.envs.pictures.squares import Squares, squares_of
from zermelo.envs.rules.about import EquivalentRules
from zermelo.envs.rules.history import with_past

__all__: list[str] = []

_BLACK: Final[Colour] = (34, 36, 40)
_DARK: Final[Colour] = (176, 136, 98)
_LIGHT: Final[Colour] = (240, 225, 196)
_WHITE: Final[Colour] = (246, 245, 240)

_BASE: Final = (-0.2, 0.28, 0.2, 0.28, 0.12)
_STROKES: Final[dict[str, tuple[tuple[float, ...], ...]]] = {
    # Lines (from, to, width) and disks (middle, radius), in squares from the middle of the square.
    "p": (_BASE, (0, 0.22, 0, 0.0, 0.16), (0, -0.12, 0.13)),
    "n": (
        _BASE,
        (-0.02, 0.2, 0.06, -0.12, 0.26),
        (0.02, -0.16, -0.2, -0.02, 0.16),
        (0.08, -0.2, 0.12, -0.3, 0.06),
    ),
    "b": (_BASE, (0, 0.22, 0, 0.02, 0.14), (0, -0.08, 0.15), (0, -0.16, 0, -0.26, 0.14), (0, -0.34, 0.045)),
    "r": (
        _BASE,
        (0, 0.22, 0, -0.1, 0.26),
        (-0.18, -0.16, 0.18, -0.16, 0.12),
        *((x, -0.2, x, -0.27, 0.09) for x in (-0.18, 0.0, 0.18)),
    ),
    "q": (
        _BASE,
        (0, 0.22, 0, 0.08, 0.3),
        *((0, 0.1, x, y, 0.09) for x, y in ((-0.28, -0.2), (0, -0.28), (0.28, -0.2))),
    ),
    "k": (_BASE, (0, 0.22, 0, 0.0, 0.3), (0, -0.04, 0, -0.34, 0.08), (-0.1, -0.22, 0.1, -0.22, 0.08)),
}


def _drawn(mark: str) -> Piece:
    """A piece, in its player's colour with a rim of the other."""
    fill, edge = (_WHITE, _BLACK) if mark.isupper() else (_BLACK, _WHITE)

    def paint(canvas: Canvas, x: float, y: float) -> None:
        for colour, more in ((edge, 3.0), (fill, 0.0)):
            for stroke in _STROKES[mark.lower()]:
                *places, size = (CELL * part for part in stroke)
                if len(places) == 2:
                    canvas.disk(x + places[0], y + places[1], size + more / 2, colour)
                else:
                    canvas.line(x + places[0], y + places[1], x + places[2], y + places[3], size + more, colour)

    return paint


draws_marks({mark: [_drawn(mark)] for mark in "pnbrqkPNBRQK"}, frame=_DARK, squares=(_LIGHT, _DARK))(Chess)


def _path(texts: Sequence[str], seat: int) -> list[list[str]]:
    """From where and to where, of the texts but the usual one: moves as engines write them."""
    return [[text[:2], text[2:4]] for text in texts[1:]]


squares_of(Chess, Squares(from_below=True, path=_path, turns=True))


_RULES: Final = Chess()
_PROMOTIONS: Final = {None: 0, 2: 1, 3: 2, 4: 3, 5: 0}
"""What a pawn becomes, as actions number it, by python-chess's number of the piece."""


def _read_chess(env: Any) -> Any | None:
    """The position of PettingZoo's board, and those before it since the last capture or pawn's move."""
    board = env.board.copy(stack=env.board.halfmove_clock)
    try:
        state, _ = read_fen(board.root().fen())
    except InvalidSettingError:
        return None
    keys = []
    for move in board.move_stack:
        turned = 56 * state.seat
        keys.append(_RULES.repetition_key(state))
        state = after(state, move.from_square ^ turned, move.to_square ^ turned, _PROMOTIONS[move.promotion])
    return with_past(_RULES, state, keys)


PETTINGZOO: Final = EquivalentRules(_RULES, _read_chess)
"""PettingZoo's environment of this game."""
