"""The m,n,k games: tic-tac-toe is (3, 3, 3), Gomoku without its special rules (15, 15, 5).

Rules: players take turns to put a stone of their own on an empty square. ``k`` stones in a row, straight or
diagonally, win. A full board is a draw. With more than two players the winner gets 1 from every other player.

Actions are squares, ``row * m + column``.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from zermelo.envs.pictures.squares import Squares
from zermelo.envs.rules.about import EquivalentRules
from zermelo.envs.rules.bits import popcount
from zermelo.envs.rules.board_methods import SymmetricBoard, board_lines, require_limits
from zermelo.envs.rules.boards import board_seen, first_column, has_row, rows_of, stones_of


class MNKState(NamedTuple):
    """A position: the stones of the player to move, and all stones.

    Rows are one bit longer than the board (``bit = row * (m + 1) + column``), so that a shift never joins two.
    With three players or more, ``last`` has the stones of who moved last; with four, ``before`` has those of who
    moved before that. The player to move next has the others. ``passes`` is how many turns were skipped, less
    whole rounds: none in a game that is played.
    """

    mover: int
    stones: int
    last: int = 0
    before: int = 0
    passes: int = 0


class _MNKParameters(NamedTuple):
    m: int = 3
    n: int = 3
    k: int = 3
    players: int = 2


class MNK(SymmetricBoard, _MNKParameters):
    """Take turns to place a stone on an empty square; ``k`` in a row win, a full board is a draw.

    Attributes:
        m: Columns.
        n: Rows; ``(m + 1) * n`` must be at most 62.
        k: How many in a row win.
        players: Number of players, 2 to 4.
    """

    __slots__ = ()
    board_squares = Squares(from_below=True)

    def check(self) -> None:
        bits = "(m + 1) * n", (self.m + 1) * self.n, 62
        require_limits(self, bits, m=(1, 61), n=(1, 31), k=(1, 62), players=(2, 4))

    def seats(self) -> int:
        return self.players

    def utility_bounds(self) -> tuple[int, int]:
        return -1, self.players - 1

    def initial_state(self) -> MNKState:
        return MNKState(0, 0, 0, 0, 0)

    def to_move(self, state: MNKState) -> int:
        number = popcount(state.stones) + state.passes
        return number & 1 if self.players == 2 else number % self.players

    def legal_actions(self, state: MNKState, actions: list[int]) -> int:
        count = action = 0
        bit = 1
        for _ in range(self.n):
            for _ in range(self.m):
                if not state.stones & bit:
                    actions[count] = action
                    count += 1
                action += 1
                bit <<= 1
            bit <<= 1
        return count

    def result(self, state: MNKState, action: int) -> MNKState:
        bit = self._bit(action)
        following = state.mover ^ state.stones ^ state.last ^ state.before
        if self.players == 2:
            return MNKState(following, state.stones | bit, 0, 0, state.passes)
        before = state.last if self.players == 4 else 0
        return MNKState(following, state.stones | bit, state.mover | bit, before, state.passes)

    def pass_turn(self, state: MNKState) -> MNKState:
        """A stone more never hurts, so a player gets at least what it has after a skipped turn."""
        following = state.mover ^ state.stones ^ state.last ^ state.before
        passes = (state.passes + 1) % self.players
        if self.players == 2:
            return MNKState(following, state.stones, 0, 0, passes)
        return MNKState(following, state.stones, state.mover, state.last if self.players == 4 else 0, passes)

    def is_terminal(self, state: MNKState) -> bool:
        return self._won(self._last(state)) or popcount(state.stones) == self.m * self.n

    def utility(self, state: MNKState, seat: int) -> int:
        if not self._won(self._last(state)):
            return 0
        return self.players - 1 if (seat + 1) % self.players == self.to_move(state) else -1

    def evaluation(self, state: MNKState, seat: int) -> int:
        """Lines still open to the seat less those open to each opponent, in proportion to all lines."""
        board = self._board()
        lines = self._lines(board)
        if lines == 0:
            return 0
        mine = self._lines(board ^ state.stones ^ self._stones(state, seat))
        difference = 0
        for player in range(self.players):
            if player != seat:
                difference += mine - self._lines(board ^ state.stones ^ self._stones(state, player))
        return 1000 * difference // lines if difference > 0 else -(-1000 * difference // lines)

    def symmetric_state(self, state: MNKState, symmetry: int) -> MNKState:
        layout = self.layout()
        mover, stones = board_seen(state.mover, layout, symmetry), board_seen(state.stones, layout, symmetry)
        last, before = board_seen(state.last, layout, symmetry), board_seen(state.before, layout, symmetry)
        return MNKState(mover, stones, last, before, state.passes)

    def layout(self) -> tuple[int, int, int, int, int]:
        return self.n, self.m, 0, self.m + 1, 1

    def text(self, state: MNKState) -> str:
        """X for the first player, O for the second, then Y and Z."""
        sides = [self._stones(state, seat) for seat in range(self.players)]
        return "\n".join(board_lines(self, sides, "XOYZ"))

    def observation_box(self) -> tuple[tuple[int, int, int], tuple[int, int], str]:
        return (self.n, self.m, self.players), (0, 1), "int8"

    def write_observation(self, state: MNKState, seat: int, numbers: Any) -> None:
        """Planes of shape (n, m, players): the observer's stones, then the others' in turn."""
        for turn in range(self.players):
            stones = self._stones(state, (seat + turn) % self.players)
            for square in range(self.m * self.n):
                numbers[square * self.players + turn] = (
                    stones >> (square // self.m * (self.m + 1) + square % self.m) & 1
                )

    def table_part(self, state: MNKState) -> int:
        return self.m * self.n - popcount(state.stones)

    def _last(self, state: MNKState) -> int:
        return state.mover ^ state.stones if self.players == 2 else state.last

    def _stones(self, state: MNKState, seat: int) -> int:
        turn = (seat - self.to_move(state)) % self.players
        if turn == 0:
            return state.mover
        if turn == 1:
            return state.mover ^ state.stones ^ state.last ^ state.before
        return state.last if turn == self.players - 1 else state.before

    def _bit(self, action: int) -> int:
        return 1 << (action + action // self.m)

    def _board(self) -> int:
        row = (1 << self.m) - 1
        return row * first_column(self.n, self.m + 1)

    def _won(self, stones: int) -> bool:
        return has_row(stones, self.k, self.m + 1)

    def _lines(self, squares: int) -> int:
        if self.k == 1:
            return popcount(squares)
        count = 0
        for step in (1, self.m, self.m + 1, self.m + 2):
            count += popcount(rows_of(squares, self.k, step))
        return count


_PETTINGZOO_SQUARES: Final = [square + square // 3 for square in range(9)]


def _read_tictactoe(env: Any) -> MNKState | None:
    """PettingZoo numbers its squares column by column: symmetry 4 swaps rows and columns."""
    found = stones_of(env.board.squares, _PETTINGZOO_SQUARES)
    return None if found is None or len(env.board.squares) != 9 else MNKState(*found)


PETTINGZOO: Final = EquivalentRules(MNK(3, 3, 3), _read_tictactoe, symmetry=4)
"""PettingZoo's environment of this game."""


def from_openspiel_tic_tac_toe() -> MNK:
    """Tic-tac-toe has no parameters there."""
    return MNK(3, 3, 3)
