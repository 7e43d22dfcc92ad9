"""Tables of chess: where pieces can go on an empty board, squares in line, action numbers, keys.

Square ``8 * row + column`` is that bit of a board: a1 is 0, h1 is 7, a8 is 56. All tables are for the player who
moves up, whose own first row is row 0; the other player's boards are seen from the other side.

An action's number is PettingZoo's, that of AlphaZero: ``(8 * column + row) * 73 + plane``. Column and row are
those of the square that a piece leaves, seen by its player; the plane says where it goes. Planes 0 to 55 are the
queen's moves, ``8 * (distance - 1) + direction``, which include all others but those that follow; 56 to 63 are the
knight's; 64 to 72 promotions to less than a queen, ``64 + 3 * sideways + piece``: to a knight, bishop or rook.
Directions are numbered from the lowest column, and within a column from the lowest row.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from zermelo.envs.rules.bits import mix
from zermelo.envs.rules.boards import whole

LIGHT: Final = 0x55AA55AA55AA55AA
"""The white squares."""
PLANES: Final = 73
"""Action numbers of a square."""
STEPS: Final = tuple((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y)
"""The king's steps, sideways and up, in the order of their planes."""
_LEAPS: Final = tuple((x, y) for x in (-2, -1, 0, 1, 2) for y in (-2, -1, 0, 1, 2) if abs(x) + abs(y) == 3)


def _table(size: int, kind: type[np.signedinteger[Any]] = np.int64) -> npt.NDArray[Any]:
    return np.zeros(size, kind)


KNIGHT: Final = _table(64)
"""Where a knight on a square can go."""
KING: Final = _table(64)
"""Where a king can go."""
FILES: Final = _table(64)
"""The other squares of a square's column."""
UPHILL: Final = _table(64)
"""The other squares of its diagonal that goes up to the right."""
DOWNHILL: Final = _table(64)
"""The other squares of its diagonal that goes down to the right."""
BETWEEN: Final = _table(64 * 64)
"""Of two squares in line, ``64 * first + second``: those between them."""
LINES: Final = _table(64 * 64)
"""Of two squares in line: all squares of that line, themselves included."""
RANKS: Final = _table(8 * 64, np.int16)
"""Where a rook in some column can go within its row, ``64 * column + pieces in columns b to g``."""
ACTIONS: Final = _table(64 * 64, np.int16)
"""The number of the action from a square to another, ``64 * first + second``; of the last nine planes none."""
MOVES: Final = _table(64 * PLANES, np.int16)
"""Of an action: from, plus 64 times to, plus 4096 times what it promotes to (1 to 3: knight, bishop, rook)."""
KEYS: Final = np.array([mix(number) for number in range(13 * 64)], np.int64)
"""A random word for each kind of piece on each square, ``64 * kind + square``; behind them for the rooks that may
castle, by their square, for a pawn that may be taken in passing, by the square it has passed, and for black to
move, by square 27. Kinds are pawn, knight, bishop, rook, queen, king, first white's; squares are white's."""


def _fill() -> None:
    board = range(8)
    for here in range(64):
        row, column = divmod(here, 8)
        first = (8 * column + row) * PLANES
        king = knight = 0
        lines = [0, 0, 0]  # up, uphill, downhill
        for plane, (x, y) in enumerate(_LEAPS):
            if column + x in board and row + y in board:
                knight |= 1 << here + 8 * y + x
                _number(first + 56 + plane, here, here + 8 * y + x)
        for direction, (x, y) in enumerate(STEPS):
            ahead, behind = _ray(column, row, x, y), _ray(column, row, -x, -y)
            line, passed = sum(1 << square for square in (here, *ahead, *behind)), 0
            for steps, square in enumerate(ahead):
                _number(first + 8 * steps + direction, here, square)
                BETWEEN[64 * here + square], LINES[64 * here + square] = whole(passed), whole(line)
                passed |= 1 << square
            if ahead:
                king |= 1 << ahead[0]
            if y:
                lines[0 if x == 0 else 1 if x == y else 2] |= passed
        KNIGHT[here], KING[here] = whole(knight), whole(king)
        FILES[here], UPHILL[here], DOWNHILL[here] = map(whole, lines)
        if row == 6:
            for sideways in range(3):
                for piece in range(3 if column + sideways - 1 in board else 0):
                    there = here + 7 + sideways
                    MOVES[first + 64 + 3 * sideways + piece] = here + 64 * there + 4096 * (1 + piece)
    for place in range(512):
        RANKS[place] = _along(place >> 6, (place & 63) << 1)


def _number(action: int, here: int, there: int) -> None:
    ACTIONS[64 * here + there] = action
    MOVES[action] = here + 64 * there


def _ray(column: int, row: int, x: int, y: int) -> list[int]:
    """The squares ahead in a direction, the nearest first."""
    places = ((column + step * x, row + step * y) for step in range(1, 8))
    return [8 * there + across for across, there in places if across in range(8) and there in range(8)]


def _along(column: int, pieces: int) -> int:
    """The columns that a rook sees in its row, the first piece on either side included."""
    seen = 0
    for step, edge in ((1, 8), (-1, -1)):
        for there in range(column + step, edge, step):
            seen |= 1 << there
            if pieces >> there & 1:
                break
    return seen


_fill()
for _each in (KNIGHT, KING, FILES, UPHILL, DOWNHILL, BETWEEN, LINES, RANKS, ACTIONS, MOVES, KEYS):
    _each.flags.writeable = False
