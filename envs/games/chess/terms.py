"""Terms of the evaluation of chess: sums of weights, one or more for each piece.

Weights are in hundredths of a pawn, fitted to games; ``weights.json`` has them for each term. A weight is two in
one integer, ``middle + (end << 32)``: its value in the middle game and in the end game. The sums are plain: with a
matrix of unit vectors in the place of ``WEIGHTS`` they are the features.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np

from zermelo.envs.games.chess.attacks import A_FILE, H_FILE, bishop_attacks, pawn_attacks, rook_attacks, square_bit
from zermelo.envs.games.chess.tables import FILES, KING, KNIGHT, LIGHT
from zermelo.envs.rules.bits import bit_index, popcount, shift_right
from zermelo.envs.rules.boards import whole


def _read() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    terms = json.loads(Path(__file__).with_name("weights.json").read_text()).values()
    middle, end = np.array([pair for term in terms for pair in term], np.int64).T
    found: np.ndarray[tuple[int], np.dtype[np.int64]] = middle + (end << 32)
    found.flags.writeable = False
    return found


WEIGHTS: Final = _read()

MOBILITY: Final = 384
PASSED: Final = MOBILITY + 4 * 28
OWN_KING: Final = PASSED + 8
THEIR_KING: Final = OWN_KING + 8
ISOLATED: Final = THEIR_KING + 8
DOUBLED: Final = ISOLATED + 1
DEFENDED: Final = DOUBLED + 1
BESIDE: Final = DEFENDED + 1
PAIR: Final = BESIDE + 1
HALF_OPEN: Final = PAIR + 1
OPEN: Final = HALF_OPEN + 1
SHIELD: Final = OPEN + 1
OPEN_KING: Final = SHIELD + 7
ATTACK: Final = OPEN_KING + 4
PAWN_THREAT: Final = ATTACK + 32
MINOR_THREAT: Final = PAWN_THREAT + 1
TEMPO: Final = MINOR_THREAT + 1


def phase(knights: int, diagonal: int, straight: int) -> int:
    """The pieces left, 24 at the start: one for a knight or bishop, two for a rook, four for a queen."""
    many = popcount(knights) + popcount(diagonal) + 2 * popcount(straight) + popcount(diagonal & straight)
    return min(many, 24)


def distance(first: int, second: int) -> int:
    """A king's moves between squares."""
    return max(abs((first >> 3) - (second >> 3)), abs((first & 7) - (second & 7)))


def side(own: int, other: int, pawns: int, knights: int, diagonal: int, straight: int) -> Any:
    """The sum of the weights for one player, who moves up."""
    kings = ~(pawns | knights | diagonal | straight)
    king, their_king = bit_index(own & kings), bit_index(other & kings)
    total = _pawns(own & pawns, other & pawns, king, their_king)
    total += WEIGHTS[320 + king]
    shield = whole((int(KING[king]) | square_bit(king)) << 8) | int(KING[king])
    total += WEIGHTS[SHIELD + min(popcount(shield & whole(-1 << (king & 56)) & own & pawns), 6)]
    bare = 0
    for file in range(max((king & 7) - 1, 0), min((king & 7) + 2, 8)):
        bare += 1 if whole(A_FILE << file) & own & pawns == 0 else 0
    total += WEIGHTS[OPEN_KING + bare]
    guarded = shift_right(other & pawns & ~A_FILE, 9) | shift_right(other & pawns & ~H_FILE, 7)
    area = ~(own & pawns | guarded)
    zone = int(KING[their_king]) | square_bit(their_king)
    occupied = own | other
    attack = 0
    movers = own & ~(pawns | kings)
    while movers != 0:
        square = bit_index(movers)
        here = square_bit(square)
        movers ^= here
        if knights & here != 0:
            kind, seen = 1, int(KNIGHT[square])
        elif straight & here == 0:
            kind, seen = 2, bishop_attacks(square, occupied ^ (diagonal & own))
        else:
            kind, seen = 3, rook_attacks(square, occupied ^ (straight & own))
            if diagonal & here != 0:
                kind, seen = 4, seen | bishop_attacks(square, occupied)
        total += WEIGHTS[kind << 6 | square]
        total += WEIGHTS[MOBILITY + 28 * (kind - 1) + popcount(seen & area)]
        hits = popcount(seen & zone)
        if hits != 0:
            attack += hits + kind
        if kind <= 2:
            total += popcount(seen & other & straight) * WEIGHTS[MINOR_THREAT]
        elif kind == 3:
            file = int(FILES[square])
            if file & own & pawns == 0:
                total += WEIGHTS[OPEN if file & pawns == 0 else HALF_OPEN]
    total += WEIGHTS[ATTACK + min(attack, 31)]
    total += popcount(pawn_attacks(own & pawns) & other & ~(pawns | kings)) * WEIGHTS[PAWN_THREAT]
    bishops = own & diagonal & ~straight
    if bishops & LIGHT != 0 and bishops & ~LIGHT != 0:
        total += WEIGHTS[PAIR]
    return total


def _pawns(own: int, other: int, king: int, their_king: int) -> Any:
    defended = pawn_attacks(own)
    beside = whole((own & ~H_FILE) << 1) | shift_right(own & ~A_FILE, 1)
    total = popcount(own & defended) * WEIGHTS[DEFENDED]
    total += popcount(own & beside) * WEIGHTS[BESIDE]
    left = own
    while left != 0:
        square = bit_index(left)
        left ^= square_bit(square)
        total += WEIGHTS[square]
        file = int(FILES[square]) | square_bit(square)
        sides = shift_right(file & ~A_FILE, 1) | whole((file & ~H_FILE) << 1)
        ahead = whole(-1 << ((square & 56) + 8))
        if sides & own == 0:
            total += WEIGHTS[ISOLATED]
        if file & ahead & own != 0:
            total += WEIGHTS[DOUBLED]
        elif (file | sides) & ahead & other == 0:
            total += WEIGHTS[PASSED + (square >> 3)]
            total += WEIGHTS[OWN_KING + distance(king, square + 8)]
            total += WEIGHTS[THEIR_KING + distance(their_king, square + 8)]
    return total
