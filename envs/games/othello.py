"""Othello (Reversi with the fixed start), on boards of 4x4 to 8x8.

Rules: World Othello Federation, "Official rules for the game Othello". Black moves first. A move puts a disc on an
empty square so that it encloses, with another disc of the mover, a straight line of the opponent's discs in at
least one of eight directions; all discs so enclosed are turned over. A player without such a move must pass;
nobody else may. The game ends when neither side can move; more discs win. A margin is the difference of discs on
the board: empty squares count for nobody (tournaments give them to the winner).

Actions:

    ======================  ========================================================================
    0 to squares - 1        a disc on square ``row * columns + column``; row 0 is the top row, where
                            players write 1, column 0 is column a
    squares                 pass; the only legal action when there is no move, illegal otherwise
    ======================  ========================================================================

The board starts with white discs on the upper left and lower right, black ones on the upper right and lower left
of the four squares in the middle (of a side that is odd, the middle four nearest to a1).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from zermelo.envs.pictures.boards import disk, marks_image, tile
from zermelo.envs.pictures.canvas import Colour
from zermelo.envs.rules.bits import popcount, shift_right
from zermelo.envs.rules.board_methods import Sides, SidesBoard, require_limits
from zermelo.envs.rules.boards import all_squares, first_column, list_squares, square_text, whole

_BLACK: Final[Colour] = (34, 36, 40)
_EDGE: Final[Colour] = (36, 90, 59)
_WHITE: Final[Colour] = (246, 245, 240)
_SQUARE: Final = tile((52, 128, 84), 1, 0)
_PIECES: Final = {".": [_SQUARE], "X": [_SQUARE, disk(_BLACK, 0.4)], "O": [_SQUARE, disk(_WHITE, 0.4)]}


class _OthelloParameters(NamedTuple):
    rows: int = 8
    columns: int = 8
    margin: bool = False


class Othello(SidesBoard, _OthelloParameters):
    """Enclose the opponent's discs to turn them over; more discs at the end win.

    Attributes:
        rows: Height of the board, 4 to 8.
        columns: Width of the board, 4 to 8.
        margin: Whether the utility is the difference of discs, instead of 1, 0 or -1.
    """

    __slots__ = ()
    image = marks_image(_PIECES, frame=_EDGE)
    marks = "XO"

    def check(self) -> None:
        require_limits(self, rows=(4, 8), columns=(4, 8), margin=bool)

    def num_actions(self) -> int:
        return self.rows * self.columns + 1

    def utility_bounds(self) -> tuple[int, int]:
        return (-self.rows * self.columns, self.rows * self.columns) if self.margin else (-1, 1)

    def initial_state(self) -> Sides:
        corner = 1 << ((self.rows // 2 - 1) * self.columns + self.columns // 2 - 1)
        return Sides(corner << 1 | corner << self.columns, corner | corner << (self.columns + 1), 0)

    def legal_actions(self, state: Sides, actions: list[int]) -> int:
        moves = self._moves(state.mover, state.other)
        if moves == 0:
            actions[0] = self.rows * self.columns
            return 1
        return list_squares(moves, actions)

    def result(self, state: Sides, action: int) -> Sides:
        if action == self.rows * self.columns:
            return Sides(state.other, state.mover, 1 - state.seat)
        turned = self._turned(state.mover, state.other, action)
        return Sides(whole(state.other ^ turned), whole(state.mover | turned | 1 << action), 1 - state.seat)

    def is_terminal(self, state: Sides) -> bool:
        return self._moves(state.mover, state.other) == 0 and self._moves(state.other, state.mover) == 0

    def utility(self, state: Sides, seat: int) -> int:
        difference = popcount(state.mover) - popcount(state.other)
        if seat != state.seat:
            difference = -difference
        if self.margin:
            return difference
        return 1 if difference > 0 else -1 if difference < 0 else 0

    def evaluation(self, state: Sides, seat: int) -> int:
        """Eight points a corner and one a legal move, for the seat less for the opponent."""
        corners = self._corners()
        score = 8 * (popcount(state.mover & corners) - popcount(state.other & corners))
        score += popcount(self._moves(state.mover, state.other)) - popcount(self._moves(state.other, state.mover))
        score *= 1024 if self.margin else 12
        return score if seat == state.seat else -score

    def ordering_hint(self, state: Sides, action: int) -> int:
        """Corners first, then moves that leave the opponent few moves."""
        after = self.result(state, action)
        corner = popcount(after.other & ~state.mover & ~state.other & self._corners())
        return 16 * corner - popcount(self._moves(after.mover, after.other))

    def pass_turn(self, state: Sides) -> Sides:
        return Sides(state.other, state.mover, 1 - state.seat)

    def search_settings(self, search: str) -> dict[str, float]:
        """Futility gained 52 Elo (12 to 92) at equal time and 30,000 nodes; null moves and reductions nothing."""
        return {"futility": 0.15} if search == "selective" and not self.margin else {}

    def seat_names(self) -> tuple[str, ...]:
        return ("black", "white")

    def table_part(self, state: Sides) -> int:
        return self.rows * self.columns - popcount(state.mover | state.other)

    def action_text(self, state: Sides, action: int) -> str:
        return "pass" if action == self.rows * self.columns else square_text(action, self.columns)

    def _corners(self) -> int:
        row = 1 | 1 << (self.columns - 1)
        return row | row << ((self.rows - 1) * self.columns)

    def _inside(self, discs: int) -> tuple[int, int]:
        """The discs that can be turned over along a row, and along a column: those that are not at its ends."""
        columns = first_column(self.rows, self.columns) * (all_squares(self.columns - 2) << 1)
        return discs & columns, discs & all_squares((self.rows - 2) * self.columns) << self.columns

    def _moves(self, mover: int, other: int) -> int:
        """The empty squares where a disc of the mover encloses others."""
        sideways, upwards = self._inside(other)
        found = _beyond(mover, sideways, 1) | _beyond(mover, upwards, self.columns)
        found |= _beyond(mover, sideways & upwards, self.columns - 1)
        found |= _beyond(mover, sideways & upwards, self.columns + 1)
        return whole(found & ~(mover | other) & all_squares(self.rows * self.columns))

    def _turned(self, mover: int, other: int, action: int) -> int:
        sideways, upwards = self._inside(other)
        turned = _enclosed(mover, sideways, action, 1) | _enclosed(mover, upwards, action, self.columns)
        turned |= _enclosed(mover, sideways & upwards, action, self.columns - 1)
        return turned | _enclosed(mover, sideways & upwards, action, self.columns + 1)


def _beyond(mover: int, between: int, step: int) -> int:
    """The squares at the far end of lines of ``between`` that start next to a disc of the mover.

    Lines of at most six discs: one, then one more, then twice two more at a time (parallel prefix).
    """
    up = between & (mover << step)
    down = between & shift_right(mover, step)
    up |= between & (up << step)
    down |= between & (down >> step)
    pairs_up = between & (between << step)
    pairs_down = between & (between >> step)
    up |= pairs_up & (up << 2 * step)
    down |= pairs_down & (down >> 2 * step)
    up |= pairs_up & (up << 2 * step)
    down |= pairs_down & (down >> 2 * step)
    return up << step | down >> step


def _enclosed(mover: int, between: int, square: int, step: int) -> int:
    """The line of ``between`` on either side of a square, where a disc of the mover ends it."""
    enclosed = 0
    run = 0
    at = 1 << square << step
    while at & between:
        run |= at
        at <<= step
    if at & mover:
        enclosed = run
    run = 0
    at = shift_right(1 << square, step)
    while at & between:
        run |= at
        at >>= step
    if at & mover:
        enclosed |= run
    return enclosed
