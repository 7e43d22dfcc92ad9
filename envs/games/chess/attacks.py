"""Attacks of sliding pieces, checks and pins.

Sliding pieces see along a line by subtraction: of the pieces on the line, less the slider, the lowest one ahead is
where the borrow stops ("hyperbola quintessence", the Chess Programming Wiki; R. Hyatt and G. Isenberg). The bytes
swapped, the same finds the first piece behind. Rows, which a swap of bytes leaves as they are, are looked up.
"""

from __future__ import annotations

from zermelo.envs.games.chess.tables import BETWEEN, DOWNHILL, FILES, KING, KNIGHT, RANKS, UPHILL
from zermelo.envs.rules.bits import bit_index, shift_right, swapped_bytes, wrapped_difference
from zermelo.envs.rules.boards import whole

A_FILE = 0x0101010101010101
H_FILE = whole(0x8080808080808080)


def square_bit(square: int) -> int:
    """The board with one square."""
    return whole(1 << square)


def _along(occupied: int, line: int, here: int, here_swapped: int) -> int:
    """The squares that a slider attacks on a line (without its own square) that is no row."""
    ahead = occupied & line
    behind = wrapped_difference(swapped_bytes(ahead), here_swapped)
    return (wrapped_difference(ahead, here) ^ swapped_bytes(behind)) & line


def bishop_attacks(square: int, occupied: int) -> int:
    """The squares that a bishop attacks, the first piece in each direction included."""
    here = square_bit(square)
    swapped = swapped_bytes(here)
    uphill = _along(occupied, int(UPHILL[square]), here, swapped)
    return uphill | _along(occupied, int(DOWNHILL[square]), here, swapped)


def rook_attacks(square: int, occupied: int) -> int:
    """The squares that a rook attacks, the first piece in each direction included."""
    here = square_bit(square)
    row = square & 56
    inner = shift_right(occupied, row + 1) & 63
    along_row = whole(int(RANKS[(square & 7) << 6 | inner]) << row)
    return along_row | _along(occupied, int(FILES[square]), here, swapped_bytes(here))


def pawn_attacks(pawns: int) -> int:
    """The squares that pawns moving up attack."""
    return whole((pawns & ~A_FILE) << 7 | (pawns & ~H_FILE) << 9)


def is_attacked(
    square: int, occupied: int, by: int, pawns: int, knights: int, diagonal: int, straight: int
) -> bool:
    """Whether pieces of the player who moves down (``by``) attack a square; the others are either player's."""
    if KNIGHT[square] & knights & by != 0 or pawn_attacks(square_bit(square)) & pawns & by != 0:
        return True
    if KING[square] & by & ~(pawns | knights | diagonal | straight) != 0:
        return True
    if bishop_attacks(square, occupied) & diagonal & by != 0:
        return True
    return rook_attacks(square, occupied) & straight & by != 0


def checks_and_pins(
    king: int, own: int, by: int, pawns: int, knights: int, diagonal: int, straight: int
) -> tuple[int, int]:
    """The pieces of ``by``, who moves down, that check a king, and the king's own pieces that are pinned."""
    checkers = by & (int(KNIGHT[king]) & knights | pawn_attacks(square_bit(king)) & pawns)
    pinned = 0
    diagonals = int(UPHILL[king]) | int(DOWNHILL[king])
    rows = int(FILES[king]) | whole(255 << (king & 56))
    snipers = by & (diagonals & diagonal | rows & straight)
    while snipers != 0:
        sniper = bit_index(snipers)
        snipers ^= square_bit(sniper)
        between = int(BETWEEN[king << 6 | sniper]) & (own | by)
        if between == 0:
            checkers |= square_bit(sniper)
        elif between == between & -between:
            pinned |= between & own
    return checkers, pinned
