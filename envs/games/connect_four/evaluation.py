"""Connect Four knowledge for searches and proofs: evaluation, bounds and move ordering."""

from __future__ import annotations

from typing import Final

from zermelo.envs.games.connect_four.rules import ConnectFourRules, ConnectFourState
from zermelo.envs.rules.about import listed
from zermelo.envs.rules.bits import popcount
from zermelo.envs.rules.scores import loss_in, win_in

# Fitted to win, draw and loss in 15,000 positions solved exactly, then set by matches between variants. Measured
# and left out, as they won no more games: threats on the other player's squares and threats worth more as the
# board fills, which foretold those values a little better, and leaves that ``bounds`` settles.
_WINDOW: Final = 10
_FIRST_THREAT: Final = 170
_SECOND_THREAT: Final = 120
_ALTERNATE: Final = 0x5555_5555_5555_5555
"""Every other bit."""


@listed()
class ConnectFour(ConnectFourRules):
    """Drop stones into columns; four in a row wins, a full board is a draw. Actions are columns from the left.

    Attributes:
        rows: Height of the board.
        columns: Width of the board; ``columns * (rows + 1)`` must be at most 62.
    """

    __slots__ = ()

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
        bottom = self.bottom()
        empty = bottom * ((1 << self.rows) - 1) ^ state.stones
        value = _WINDOW * (self._windows(first, first | empty) - self._windows(second, second | empty))
        # Whose squares: with all other columns full, the first player moves if the number of stones is even.
        parity = (self.columns - 1) * self.rows & 1
        own = bottom * (_ALTERNATE << parity & ((1 << self.rows) - 1))
        mine = self._fours(first) & empty & own
        theirs = self._fours(second) & empty & ~own
        threats = mine | theirs | bottom << self.rows  # one on top of every column, so that it has a lowest
        lowest = threats & ~(threats - bottom)
        value += _FIRST_THREAT * popcount(lowest & mine) - _SECOND_THREAT * popcount(lowest & theirs)
        return value if seat == 0 else -value

    def bounds(self, state: ConnectFourState) -> tuple[int, int]:
        """A four that can be made, or cannot be stopped, settles the score; else it takes three plies or more."""
        bottom = self.bottom()
        board = bottom * ((1 << self.rows) - 1)
        free = (state.stones + bottom) & board
        empty = board ^ state.stones
        if self._fours(state.mover) & free:
            return win_in(1), win_in(1)
        threats = self._fours(state.mover ^ state.stones) & empty
        forced = threats & free
        if forced & (forced - 1) != 0 or (forced if forced else free) & ~(threats >> 1) == 0:
            return loss_in(2), loss_in(2)
        left = popcount(empty)
        return loss_in(4) if left >= 4 else 0, win_in(3) if left >= 3 else 0

    def bounds_see_ends(self) -> bool:
        return True

    def safe_actions(self, state: ConnectFourState, actions: list[int]) -> int:
        """The columns after which the opponent has no four to make at once, middle first."""
        bottom = self.bottom()
        board = bottom * ((1 << self.rows) - 1)
        free = (state.stones + bottom) & board
        threats = self._fours(state.mover ^ state.stones) & board
        forced = threats & free
        safe = (forced if forced else free) & ~(threats >> 1)
        height = self.rows + 1
        column_mask = (1 << self.rows) - 1
        count = 0
        for step in range(self.columns):
            column = self.columns // 2 + (1 - 2 * (step % 2)) * (step + 1) // 2
            actions[count] = column
            count += 1 if safe >> (column * height) & column_mask else 0  # no jump for the processor to guess
        return count

    def ordering_hint(self, state: ConnectFourState, action: int) -> int:
        """The number of empty squares that would complete a four afterwards."""
        after = self.result(state, action)
        return popcount(self._fours(after.mover ^ after.stones) & (self.board() ^ after.stones))

    def _windows(self, stones: int, room: int) -> int:
        """The value of the open windows within ``room``, by the stones in them."""
        height = self.rows + 1
        return (
            _windows_along(stones, room, 1)
            + _windows_along(stones, room, height)
            + _windows_along(stones, room, height - 1)
            + _windows_along(stones, room, height + 1)
        )

    def _fours(self, stones: int) -> int:
        """The squares, some of them taken or off the board, that complete a four for the owner of the stones."""
        height = self.rows + 1
        return (
            (stones << 1) & (stones << 2) & (stones << 3)
            | _fourth_along(stones, height)
            | _fourth_along(stones, height - 1)
            | _fourth_along(stones, height + 1)
        )


def _windows_along(stones: int, room: int, step: int) -> int:
    """Windows of four squares ``step`` bits apart, all in ``room``: 1, 3 or 4 for one, two or three stones.

    The stones of all windows are added up at once, in two bits: those of squares 1 and 2, then of 3 and 4.
    """
    pairs = room & (room >> step)
    open_windows = pairs & (pairs >> 2 * step)
    one = stones ^ (stones >> step)
    two = stones & (stones >> step)
    low = one ^ (one >> 2 * step)
    high = two ^ (two >> 2 * step) ^ (one & (one >> 2 * step))
    return popcount(low & open_windows) + 3 * popcount(high & open_windows)


def _fourth_along(stones: int, step: int) -> int:
    """The squares that would make four in a row with three of the stones, ``step`` bits apart."""
    above = (stones << step) & (stones << 2 * step)
    below = (stones >> step) & (stones >> 2 * step)
    return (
        above & (stones << 3 * step)
        | above & (stones >> step)
        | below & (stones << step)
        | below & (stones >> 3 * step)
    )
