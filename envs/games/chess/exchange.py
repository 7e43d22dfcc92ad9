"""Static exchange evaluation: the gain of captures on one square, least valuable piece first.

No move is made, and pins are ignored.
"""

from __future__ import annotations

from zermelo.envs.games.chess.attacks import A_FILE, H_FILE, bishop_attacks, pawn_attacks, rook_attacks, square_bit
from zermelo.envs.games.chess.state import ChessState, of_kind
from zermelo.envs.games.chess.tables import KING, KNIGHT
from zermelo.envs.rules.bits import bit_index, shift_right


def value_of(kind: int) -> int:
    """The value of a piece in exchanges, in pawns; a king is never given up."""
    return 0x63_09_05_03_03_01 >> 8 * kind & 255


def _least(state: ChessState, attackers: int) -> int:
    if attackers & state.pawns != 0:
        return 0
    if attackers & state.knights != 0:
        return 1
    if attackers & state.diagonal & ~state.straight != 0:
        return 2
    if attackers & state.straight & ~state.diagonal != 0:
        return 3
    return 4 if attackers & state.straight != 0 else 5


def wins_exchange(state: ChessState, origin: int, target: int, gained: int, kind: int) -> bool:
    """True if a move loses nothing by the captures that may follow on its square.

    ``gained`` is the value of what it takes, and ``kind`` the piece that stands on ``target`` then.
    """
    # ``balance`` is what the mover has if nobody takes any more. The opponent takes while that is not less than
    # nothing, the mover while it is.
    there = square_bit(target)
    occupied = (state.own | state.other) & ~square_bit(origin) | there
    balance, standing, is_own = gained, value_of(kind), False
    if balance >= standing:
        return True
    below = shift_right(there, 9) & ~H_FILE | shift_right(there, 7) & ~A_FILE
    fixed = int(KNIGHT[target]) & state.knights | int(KING[target]) & of_kind(state, 5)
    fixed |= below & state.own & state.pawns | pawn_attacks(there) & state.other & state.pawns
    while True:
        attackers = fixed | bishop_attacks(target, occupied) & state.diagonal
        attackers = (attackers | rook_attacks(target, occupied) & state.straight) & occupied & ~there
        side = attackers & (state.own if is_own else state.other)
        if side == 0:
            return not is_own
        least = _least(state, side)
        if least == 5 and attackers & ~side != 0:
            return not is_own
        if is_own:
            balance += standing
            if balance < 0:
                return False
        else:
            balance -= standing
            if balance >= 0:
                return True
        standing = value_of(least)
        occupied ^= square_bit(bit_index(side & of_kind(state, least)))
        is_own = not is_own
