"""Connect Four on boards of any size that fits.

Rules: M. Bradley's game of 1974, as given by V. Allis, "A knowledge-based approach of Connect-Four", 1988. Players
take turns to drop a stone into a column that is not full; it falls to the lowest free square. Four stones in a
row, straight or diagonally, win. A full board is a draw.

Actions: the column, 0 at the left.
"""

# In a state squares are numbered up the columns with one spare square on top of each,
# ``bit = column * (rows + 1) + row``, so that a shift in any of the four directions never joins two columns (the
# layout of J. Tromp's Fhourstones; the tests on whole boards follow from it).

from __future__ import annotations

from typing import Any, Final, NamedTuple

from zermelo.envs.pictures.boards import disk, marks_image
from zermelo.envs.pictures.squares import Squares, whole_text
from zermelo.envs.rules import loss_in, popcount, rows_of, win_in
from zermelo.envs.rules.about import EquivalentRules
from zermelo.envs.rules.board_methods import SymmetricBoard, require_limits
from zermelo.envs.rules.boards import board_seen, first_column, has_row, stones_of

_DISKS: Final = {
    ".": [disk((226, 233, 244), 0.4)],
    "X": [disk((214, 66, 58), 0.4)],
    "O": [disk((246, 200, 60), 0.4)],
}


class ConnectFourState(NamedTuple):
    """The stones of the player to move, and all stones."""

    mover: int
    stones: int


# Fitted to win, draw and loss in 15,000 positions solved exactly, then set by matches between variants. Measured
# and left out, as they won no more games: threats on the other player's squares and threats worth more as the
# board fills, which foretold those values a little better, and leaves that ``bounds`` settles.
_WINDOW: Final = 10
_FIRST_THREAT: Final = 170
_SECOND_THREAT: Final = 120
_ALTERNATE: Final = 0x5555_5555_5555_5555
"""Every other bit."""


class _ConnectFourParameters(NamedTuple):
    rows: int = 6
    columns: int = 7


class ConnectFour(SymmetricBoard, _ConnectFourParameters):
    """Drop stones into columns; four in a row win, a full board is a draw.

    Attributes:
        rows: Height of the board.
        columns: Width of the board; ``columns * (rows + 1)`` must be at most 62.
    """

    __slots__ = ()
    image = marks_image(_DISKS, frame=(44, 86, 158))
    marks = "XO"
    board_squares = Squares(rows_named=False, path=whole_text)

    def check(self) -> None:
        squares = "columns * (rows + 1)", self.columns * (self.rows + 1), 62
        require_limits(self, squares, rows=(1, 61), columns=(1, 31))

    def num_actions(self) -> int:
        return self.columns

    def initial_state(self) -> ConnectFourState:
        return ConnectFourState(0, 0)

    def to_move(self, state: ConnectFourState) -> int:
        return popcount(state.stones) & 1

    def legal_actions(self, state: ConnectFourState, actions: list[int]) -> int:
        height = self.rows + 1
        count = 0
        for column in range(self.columns):
            if not state.stones >> (column * height + self.rows - 1) & 1:
                actions[count] = column
                count += 1
        return count

    def result(self, state: ConnectFourState, action: int) -> ConnectFourState:
        bottom = 1 << (action * (self.rows + 1))
        return ConnectFourState(state.mover ^ state.stones, state.stones | (state.stones + bottom))

    def is_terminal(self, state: ConnectFourState) -> bool:
        return self._four(state.mover ^ state.stones) or state.stones == self._board()

    def utility(self, state: ConnectFourState, seat: int) -> int:
        if not self._four(state.mover ^ state.stones):
            return 0
        return -1 if seat == self.to_move(state) else 1

    def key(self, state: ConnectFourState) -> int:
        """All stones plus the mover's: no two positions have the same sum."""
        return state.mover + state.stones

    def key_bits(self) -> int:
        return self.columns * (self.rows + 1)

    def symmetries(self) -> int:
        return 2

    def symmetric_state(self, state: ConnectFourState, symmetry: int) -> ConnectFourState:
        layout = self.layout()
        return ConnectFourState(
            board_seen(state.mover, layout, symmetry), board_seen(state.stones, layout, symmetry)
        )

    def layout(self) -> tuple[int, int, int, int, int]:
        return self.rows, self.columns, self.rows - 1, -1, self.rows + 1

    def planes(self, state: ConnectFourState, seat: int) -> tuple[int, ...]:
        """The observer's stones, the opponent's; the top row first."""
        other = state.mover ^ state.stones
        return (state.mover, other) if seat == self.to_move(state) else (other, state.mover)

    def table_part(self, state: ConnectFourState) -> int:
        return self.rows * self.columns - popcount(state.stones)

    def _bottom(self) -> int:
        """The lowest square of each column, by shifts: the compiler leaves a division inside loops."""
        height = self.rows + 1
        ones = 1 | 1 << height
        ones |= ones << min(2 * height, 62)
        ones |= ones << min(4 * height, 62)
        ones |= ones << min(8 * height, 62)
        ones |= ones << min(16 * height, 62)
        return ones & ((1 << (self.columns * height)) - 1)

    def _board(self) -> int:
        return self._bottom() * ((1 << self.rows) - 1)

    def _four(self, stones: int) -> bool:
        return has_row(stones, 4, self.rows + 1)

    # -- for searches

    def evaluation(self, state: ConnectFourState, seat: int) -> int:
        """Open windows and deciding threats of the seat, less those of the opponent.

        A window is four squares in a row without a stone of the opponent's: 1 for one stone, 3 for two, 4 for
        three. A threat is an empty square that completes a four. When only the column of a threat is left, the
        players fill it in turn, so one of them always gets its odd and the other its even squares: only threats on
        the owner's own squares count, and in each column only the lowest (V. Allis, "A Knowledge-Based Approach of
        Connect-Four", 1988, on odd and even threats). The first player's are worth more.
        """
        first = state.mover if self.to_move(state) == 0 else state.mover ^ state.stones
        second = first ^ state.stones
        bottom, empty = self._bottom(), self._board() ^ state.stones
        value = 0
        for step in (1, self.rows, self.rows + 1, self.rows + 2):
            value += _windows(first, first | empty, step) - _windows(second, second | empty, step)
        value *= _WINDOW
        # Whose squares: with all other columns full, the first player moves if the number of stones is even.
        parity = (self.columns - 1) * self.rows & 1
        own = bottom * (_ALTERNATE << parity & ((1 << self.rows) - 1))
        mine = self._fours(first) & empty & own
        theirs = self._fours(second) & empty & ~own
        threats = mine | theirs | bottom << self.rows  # one on top of every column, so that it has a lowest
        lowest = threats & ~(threats - bottom)
        value += _FIRST_THREAT * popcount(lowest & mine) - _SECOND_THREAT * popcount(lowest & theirs)
        return value if seat == 0 else -value

    def ordering_hint(self, state: ConnectFourState, action: int) -> int:
        """The number of empty squares that would complete a four afterwards."""
        after = self.result(state, action)
        return popcount(self._fours(after.mover ^ after.stones) & (self._board() ^ after.stones))

    def proof_hint(self, state: ConnectFourState, action: int) -> int:
        """``ordering_hint``; last, columns in which the opponent then takes a square that would make a four."""
        on_top = (self.result(state, action).stones ^ state.stones) << 1 & self._board()
        return self.ordering_hint(state, action) - (8 if self._fours(state.mover) & on_top else 0)

    def bounds(self, state: ConnectFourState) -> tuple[int, int]:
        """A four that can be made, or cannot be stopped, settles the score; else it takes three plies or more."""
        board = self._board()
        free = (state.stones + self._bottom()) & board
        if self._fours(state.mover) & free:
            return win_in(1), win_in(1)
        threats = self._fours(state.mover ^ state.stones) & board
        forced = threats & free
        if forced & (forced - 1) != 0 or _safe(free, threats) == 0:
            return loss_in(2), loss_in(2)
        left = popcount(board ^ state.stones)
        highest = win_in(3) if left >= 3 else 0
        if left & 1 == 0:
            highest = self._follow_up(state, free, highest)
        return loss_in(4) if left >= 4 else 0, highest

    def _follow_up(self, state: ConnectFourState, free: int, highest: int) -> int:
        """The highest score of the mover if the opponent can follow up, and ``highest`` if that is not enough.

        An even number of squares is empty, so the opponent can always answer in the same column, or in another one
        with an odd number of empty squares if this one had one (V. Allis, 1988, on follow-up and claimeven).
        """
        empty, opponent = self._board() ^ state.stones, state.mover ^ state.stones
        answers = empty & self._bottom() * (_ALTERNATE << (self.rows + 1 & 1) & ((1 << self.rows) - 1))
        if self._four(state.mover | free | empty ^ answers):
            return highest
        return loss_in(popcount(empty)) if self._four(opponent | answers & ~free) else 0

    def safe_actions(self, state: ConnectFourState, actions: list[int]) -> int:
        """The columns after which the opponent has no four to make at once, middle first."""
        board, height = self._board(), self.rows + 1
        safe = _safe((state.stones + self._bottom()) & board, self._fours(state.mover ^ state.stones) & board)
        column_mask = (1 << self.rows) - 1
        count = 0
        for step in range(self.columns):
            column = self.columns // 2 + (1 - 2 * (step % 2)) * (step + 1) // 2
            actions[count] = column
            count += 1 if safe >> (column * height) & column_mask else 0  # no jump for the processor to guess
        return count

    def _fours(self, stones: int) -> int:
        """The squares, some of them taken or off the board, that complete a four for the owner of the stones."""
        up = self.rows + 1
        on_top = (stones << 1) & (stones << 2) & (stones << 3)
        return on_top | _fourth_along(stones, up) | _fourth_along(stones, up - 1) | _fourth_along(stones, up + 1)


def _safe(free: int, threats: int) -> int:
    """The free squares that stop a threat, if there is one, and none above which there is one."""
    forced = threats & free
    return (forced if forced else free) & ~(threats >> 1)


def _windows(stones: int, room: int, step: int) -> int:
    """Windows of four squares ``step`` bits apart, all in ``room``: 1, 3 or 4 for one, two or three stones.

    The stones of all windows are added up at once, in two bits: those of squares 1 and 2, then of 3 and 4.
    """
    open_windows = rows_of(room, 4, step)
    one = stones ^ (stones >> step)
    two = stones & (stones >> step)
    low = one ^ (one >> 2 * step)
    high = two ^ (two >> 2 * step) ^ (one & (one >> 2 * step))
    return popcount(low & open_windows) + 3 * popcount(high & open_windows)


def _fourth_along(stones: int, step: int) -> int:
    """The squares that would make four in a row with three of the stones, ``step`` bits apart."""
    above = (stones << step) & (stones << 2 * step)
    below = (stones >> step) & (stones >> 2 * step)
    upper = above & (stones << 3 * step) | above & (stones >> step)
    return upper | below & (stones << step) | below & (stones >> 3 * step)


_PETTINGZOO_SQUARES: Final = [cell % 7 * 7 + 5 - cell // 7 for cell in range(42)]
_LOWEST_ROW: Final = first_column(7, 7)


def _read_connect_four(env: Any) -> ConnectFourState | None:
    """PettingZoo's cells are numbered row by row from the top."""
    found = stones_of(env.board, _PETTINGZOO_SQUARES)
    if found is None or found[1] & ~(found[1] << 1 | _LOWEST_ROW):
        return None
    return ConnectFourState(*found)


PETTINGZOO: Final = EquivalentRules(ConnectFour(6, 7), _read_connect_four)
"""PettingZoo's environment of this game."""


def from_openspiel(rows: int, columns: int, x_in_row: int, egocentric_obs_tensor: bool) -> ConnectFour | None:
    """Its rows of four alone."""
    return ConnectFour(rows, columns) if x_in_row == 4 else None
