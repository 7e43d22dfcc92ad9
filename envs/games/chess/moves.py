"""Legal moves, without trying any: pinned pieces stay in line with their king, a check is taken or blocked.

What is written here runs compiled; a move is its first square, its last, and what a pawn becomes.
"""

from __future__ import annotations

from typing import Any

from zermelo.envs.games.chess.attacks import (
    A_FILE,
    H_FILE,
    bishop_attacks,
    is_attacked,
    pawn_attacks,
    rook_attacks,
    square_bit,
)
from zermelo.envs.games.chess.state import (
    BLACK_TO_MOVE,
    MARKS,
    ChessState,
    can_take,
    kind_of,
    king_square,
    passed_pawn,
    position,
    turned,
)
from zermelo.envs.games.chess.tables import ACTIONS, BETWEEN, KEYS, KING, KNIGHT, LINES, PLANES
from zermelo.envs.rules.bits import bit_index, popcount, shift_right, swapped_bytes
from zermelo.envs.rules.boards import whole

ROW_1 = 255
ROW_3 = 255 << 16
ROW_7 = 255 << 48
ROW_8 = whole(255 << 56)
_LONG, _SHORT = 0x0E, 0x60  # what must be empty between king and rook


def allowed(state: ChessState, king: int) -> int:
    """The squares that pieces other than the king may go to: all, those that end a check, or none."""
    checkers = state.checkers
    if checkers == 0:
        return ~state.own
    first = bit_index(checkers)
    if checkers != square_bit(first):
        return 0
    return int(BETWEEN[king << 6 | first]) | checkers


def _king_moves(state: ChessState, king: int) -> int:
    """The squares that the king can go to, castling included."""
    here = square_bit(king)
    occupied = (state.own | state.other) ^ here
    moves = 0
    targets = int(KING[king]) & ~state.own
    while targets != 0:
        target = bit_index(targets)
        there = square_bit(target)
        targets ^= there
        if not _is_attacked(state, target, occupied):
            moves |= there
    if state.castling & ROW_1 != 0 and state.checkers == 0:
        if state.castling & 1 != 0 and occupied & _LONG == 0 and moves & 8 != 0:
            moves |= 0 if _is_attacked(state, 2, occupied) else 4
        if state.castling & 128 != 0 and occupied & _SHORT == 0 and moves & 32 != 0:
            moves |= 0 if _is_attacked(state, 6, occupied) else 64
    return moves


def _is_attacked(state: ChessState, square: int, occupied: int) -> bool:
    return is_attacked(square, occupied, state.other, state.pawns, state.knights, state.diagonal, state.straight)


def destinations(state: ChessState, square: int, king: int, targets: int) -> int:
    """The squares that the piece on a square can go to; ``targets`` limits pieces other than the king."""
    if square == king:
        return _king_moves(state, king)
    here = square_bit(square)
    occupied = state.own | state.other
    moves = 0
    if state.pawns & here != 0:
        step = whole(here << 8) & ~occupied
        moves = step | whole((step & ROW_3) << 8) & ~occupied | pawn_attacks(here) & state.other
    elif state.knights & here != 0:
        moves = int(KNIGHT[square])
    else:
        if state.diagonal & here != 0:
            moves = bishop_attacks(square, occupied)
        if state.straight & here != 0:
            moves |= rook_attacks(square, occupied)
    moves &= targets
    if state.pinned & here != 0:
        moves &= int(LINES[king << 6 | square])
    if state.passed != 0 and state.pawns & here != 0 and pawn_attacks(here) & state.passed != 0:
        moves |= state.passed if can_take(state, state.passed, here) else 0
    return moves


def any_move(state: ChessState) -> bool:
    """True if there is a legal move."""
    king = king_square(state)
    targets = allowed(state, king)
    movers = state.own
    while movers != 0:
        square = bit_index(movers)
        if destinations(state, square, king, targets) != 0:
            return True
        movers ^= square_bit(square)
    return False


def count_moves(state: ChessState) -> int:
    """Counts the legal moves, those of pawns that are not pinned all at once."""
    king = king_square(state)
    targets = allowed(state, king)
    occupied = state.own | state.other
    pawns = state.own & state.pawns & ~state.pinned
    step = whole(pawns << 8) & ~occupied
    double = whole((step & ROW_3) << 8) & ~occupied & targets
    step &= targets
    left = whole((pawns & ~A_FILE) << 7) & state.other & targets
    right = whole((pawns & ~H_FILE) << 9) & state.other & targets
    count = popcount(step) + popcount(double) + popcount(left) + popcount(right)
    if pawns & ROW_7 != 0:
        count += 3 * (popcount(step & ROW_8) + popcount(left & ROW_8) + popcount(right & ROW_8))
    if state.passed != 0:
        beside = pawns & (shift_right(state.passed, 9) & ~H_FILE | shift_right(state.passed, 7) & ~A_FILE)
        while beside != 0:
            here = square_bit(bit_index(beside))
            beside ^= here
            count += 1 if can_take(state, state.passed, here) else 0
    movers = state.own & ~pawns
    while movers != 0:
        square = bit_index(movers)
        here = square_bit(square)
        movers ^= here
        found = destinations(state, square, king, targets)
        count += popcount(found)
        if state.pawns & here != 0:
            count += 3 * popcount(found & ROW_8)
    return count


def _transposed(board: int) -> int:
    """Rows and columns exchanged, as actions number squares."""
    swap = 0x0F0F0F0F00000000 & (board ^ whole(board << 28))
    board ^= swap ^ shift_right(swap, 28)
    swap = 0x3333000033330000 & (board ^ whole(board << 14))
    board ^= swap ^ shift_right(swap, 14)
    swap = 0x5500550055005500 & (board ^ whole(board << 7))
    return board ^ swap ^ shift_right(swap, 7)


def _insert(actions: Any, first: int, count: int, action: int) -> None:
    """Puts an action to its place among those from number ``first`` on."""
    place = count
    while place > first and actions[place - 1] > action:
        actions[place] = actions[place - 1]
        place -= 1
    actions[place] = action


def write_actions(state: ChessState, kept: int, actions: Any) -> int:
    """Writes the legal actions, ascending, that end on squares of a board, and returns how many."""
    king = king_square(state)
    targets = allowed(state, king)
    count = 0
    movers = _transposed(state.own)
    while movers != 0:
        number = bit_index(movers)
        movers ^= square_bit(number)
        square = (number & 7) << 3 | number >> 3
        found = destinations(state, square, king, targets) & kept
        first = count
        promotes = square >= 48 and state.pawns & square_bit(square) != 0
        while found != 0:
            target = bit_index(found)
            found ^= square_bit(target)
            _insert(actions, first, count, int(ACTIONS[square << 6 | target]))
            count += 1
            if promotes:
                less = number * PLANES + 64 + 3 * (target - square - 7)
                for piece in range(3):
                    _insert(actions, first, count, less + piece)
                    count += 1
    return count


def after(state: ChessState, origin: int, target: int, promotion: int) -> ChessState:
    """The position after a move, seen by the other player."""
    here, there = square_bit(origin), square_bit(target)
    gone = ~(here | there)
    flip = 56 * state.seat
    mine, theirs = 384 * state.seat, 384 - 384 * state.seat
    key = state.key ^ int(KEYS[BLACK_TO_MOVE])
    if state.passed != 0:
        key ^= int(KEYS[MARKS + (bit_index(state.passed) ^ flip)])
    own, other = state.own ^ here | there, state.other & ~there
    pawns, knights = state.pawns & gone, state.knights & gone
    diagonal, straight, castling = state.diagonal & gone, state.straight & gone, state.castling & gone
    clock, passed = state.clock + 1, 0
    if state.other & there != 0:
        clock = 0
        key ^= int(KEYS[theirs + (kind_of(state, there) << 6 | target ^ flip)])
    kind = kind_of(state, here)
    key ^= int(KEYS[mine + (kind << 6 | origin ^ flip)])
    if kind == 0:
        clock = 0
        if there == state.passed:
            taken = shift_right(there, 8)
            other ^= taken
            pawns ^= taken
            key ^= int(KEYS[theirs + ((target - 8) ^ flip)])
        elif target - origin == 16:
            passed = whole(here << 8)
        if target >= 56:
            kind = 4 if promotion == 0 else promotion
    elif kind == 5:
        castling &= ~ROW_1
        if (target - origin == 2 and origin == 4) or (origin - target == 2 and origin == 4):
            rook, beside = (7, 5) if target == 6 else (0, 3)
            own ^= square_bit(rook) | square_bit(beside)
            straight ^= square_bit(rook) | square_bit(beside)
            key ^= int(KEYS[mine + (192 | rook ^ flip)]) ^ int(KEYS[mine + (192 | beside ^ flip)])
    key ^= int(KEYS[mine + (kind << 6 | target ^ flip)])
    if kind == 0:
        pawns |= there
    elif kind == 1:
        knights |= there
    elif kind != 5:
        diagonal |= there if kind != 3 else 0
        straight |= there if kind != 2 else 0
    lost = state.castling ^ castling
    while lost != 0:
        rook = bit_index(lost)
        lost ^= square_bit(rook)
        key ^= int(KEYS[MARKS + (rook ^ flip)])
    boards, castling = turned((own, other, pawns, knights, diagonal, straight)), swapped_bytes(castling)
    found = position(boards, castling, 0, clock, 1 - state.seat, key)
    if passed != 0:
        passed = passed_pawn(found, swapped_bytes(passed))
        if passed != 0:
            key ^= int(KEYS[MARKS + (bit_index(passed) ^ 56 * found.seat)])
            found = position(boards, castling, passed, clock, found.seat, key)
    return found


def without_move(state: ChessState) -> ChessState:
    """The position with the other player to move, who is not in check; nobody may take in passing."""
    key = state.key ^ int(KEYS[BLACK_TO_MOVE])
    if state.passed != 0:
        key ^= int(KEYS[MARKS + (bit_index(state.passed) ^ 56 * state.seat)])
    return position(turned(state[:6]), swapped_bytes(state.castling), 0, 0, 1 - state.seat, key)
