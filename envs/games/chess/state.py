"""A position of chess, and what follows from where the pieces are: checks, pins, the key.

Everything is seen by the player to move: ``own`` pieces move up, and black's boards are turned when it moves.
"""

from __future__ import annotations

from typing import NamedTuple

from zermelo.envs.games.chess.attacks import (
    A_FILE,
    H_FILE,
    bishop_attacks,
    checks_and_pins,
    rook_attacks,
    square_bit,
)
from zermelo.envs.games.chess.tables import KEYS
from zermelo.envs.rules.bits import bit_index, shift_right, swapped_bytes
from zermelo.envs.rules.boards import whole

MARKS = 12 * 64
"""Where in ``KEYS`` those of castling, taking in passing and the player to move are."""
BLACK_TO_MOVE = MARKS + 27
_SECOND, _PAIRS, _FOURS = 0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F


class ChessState(NamedTuple):
    """A position, seen by the player to move, whose pieces are ``own``; the next four boards have either player's.

    Attributes:
        diagonal: Bishops and queens.
        straight: Rooks and queens.
        castling: The rooks that may still castle.
        passed: The square that a pawn has just passed, if it can be taken in passing; else nothing.
        clock: Moves of either player since the last capture or pawn's move.
        seat: Who is to move: 0 for white.
        key: A hash of all of this but the clock.
        checkers: The opponent's pieces that give check.
        pinned: Own pieces that stand between the king and a piece that would check it.
    """

    own: int
    other: int
    pawns: int
    knights: int
    diagonal: int
    straight: int
    castling: int
    passed: int
    clock: int
    seat: int
    key: int
    checkers: int
    pinned: int


Boards = tuple[int, int, int, int, int, int]
"""The first six fields of a state."""


def turned(boards: Boards) -> Boards:
    """The boards as the other player sees them."""
    own, other, pawns, knights, diagonal, straight = boards
    pawns, knights = swapped_bytes(pawns), swapped_bytes(knights)
    diagonal, straight = swapped_bytes(diagonal), swapped_bytes(straight)
    return swapped_bytes(other), swapped_bytes(own), pawns, knights, diagonal, straight


def mirrored(bits: int) -> int:
    """A board with the squares of each row in reverse."""
    bits = shift_right(bits, 1) & _SECOND | (bits & _SECOND) << 1
    bits = shift_right(bits, 2) & _PAIRS | (bits & _PAIRS) << 2
    return whole(shift_right(bits, 4) & _FOURS | (bits & _FOURS) << 4)


def position(boards: Boards, castling: int, passed: int, clock: int, seat: int, key: int) -> ChessState:
    """A state with its checks and pins found."""
    own, other, pawns, knights, diagonal, straight = boards
    king = bit_index(own & ~(pawns | knights | diagonal | straight))
    checkers, pinned = checks_and_pins(king, own, other, pawns, knights, diagonal, straight)
    return ChessState(*boards, castling, passed, clock, seat, key, checkers, pinned)


def king_square(state: ChessState) -> int:
    """The square of the king of the player to move."""
    return bit_index(state.own & ~(state.pawns | state.knights | state.diagonal | state.straight))


def kind_of(state: ChessState, here: int) -> int:
    """The piece on a square that is not empty: 0 to 5 for pawn, knight, bishop, rook, queen, king."""
    if state.pawns & here != 0:
        return 0
    if state.knights & here != 0:
        return 1
    if state.diagonal & here != 0:
        return 2 if state.straight & here == 0 else 4
    return 3 if state.straight & here != 0 else 5


def of_kind(state: ChessState, kind: int) -> int:
    """Either player's pieces of a kind."""
    if kind == 0:
        return state.pawns
    if kind == 1:
        return state.knights
    if kind == 2:
        return state.diagonal & ~state.straight
    if kind == 3:
        return state.straight & ~state.diagonal
    if kind == 4:
        return state.diagonal & state.straight
    return ~(state.pawns | state.knights | state.diagonal | state.straight)


def key_of(state: ChessState) -> int:
    """The key of a state, from all of its pieces."""
    turned = 56 * state.seat
    key = int(KEYS[BLACK_TO_MOVE]) if state.seat != 0 else 0
    for square in range(64):
        here = square_bit(square)
        if (state.own | state.other) & here != 0:
            seat = state.seat if state.own & here != 0 else 1 - state.seat
            key ^= int(KEYS[(6 * seat + kind_of(state, here)) << 6 | square ^ turned])
        if (state.castling | state.passed) & here != 0:
            key ^= int(KEYS[MARKS + (square ^ turned)])
    return key


def can_take(state: ChessState, passed: int, here: int) -> bool:
    """Whether the pawn on a square, which is next to a pawn that has passed, may take it: no check may be left."""
    king = king_square(state)
    taken = shift_right(passed, 8)
    occupied = (state.own | state.other) ^ here ^ taken | passed
    if state.checkers & (state.knights | state.pawns) & ~taken != 0:
        return False
    if bishop_attacks(king, occupied) & state.other & state.diagonal != 0:
        return False
    return rook_attacks(king, occupied) & state.other & state.straight == 0


def passed_pawn(state: ChessState, passed: int) -> int:
    """The square that a pawn has passed, if one of the player to move may take it; else nothing."""
    beside = (shift_right(passed, 9) & ~H_FILE | shift_right(passed, 7) & ~A_FILE) & state.own & state.pawns
    while beside != 0:
        here = square_bit(bit_index(beside))
        if can_take(state, passed, here):
            return passed
        beside ^= here
    return 0


def set_up(state: ChessState) -> ChessState:
    """A position with its checks, pins and key found, and ``passed`` kept only where a pawn may be taken."""
    found = position(state[:6], state.castling, 0, state.clock, state.seat, 0)
    found = found._replace(passed=passed_pawn(found, state.passed) if state.passed else 0)
    return found._replace(key=key_of(found))
