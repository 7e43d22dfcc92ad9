"""Endgames that material misjudges: draws in spite of it, and the way to mate a bare king.

From the chess programming wiki, "Draw evaluation", "Wrong color bishop" and "Mop-up evaluation".
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.envs.games.chess.attacks import A_FILE, H_FILE
from zermelo.envs.games.chess.state import ChessState
from zermelo.envs.rules.bits import bit_index, popcount
from zermelo.envs.rules.boards import whole

FEW: Final = 8
"""Up to this ``phase`` there are few pieces."""
_LIGHT: Final = whole(0x55AA55AA55AA55AA)
_DRAWN: Final = 16
"""Divisor of the score of a position that is drawn in spite of the material."""
_ENOUGH: Final = 4
"""Points of material by which one who has no pawns must be ahead; a minor piece has 3."""


def judged(state: ChessState, score: int) -> int:
    """A score in hundredths of a pawn, of a position with few pieces, for the player to move."""
    strong, weak = (state.own, state.other) if score > 0 else (state.other, state.own)
    pawns, knights = state.pawns, state.knights
    bishops, rooks = state.diagonal & ~state.straight, state.straight & ~state.diagonal
    queens = state.diagonal & state.straight
    kings = ~(pawns | knights | state.diagonal | state.straight)
    own_king, king = bit_index(strong & kings), bit_index(weak & kings)
    if strong & pawns == 0:
        lead = _points(strong, knights | bishops, rooks, queens) - _points(weak, knights | bishops, rooks, queens)
        are_knights = strong & ~(knights | kings) == 0 and popcount(strong & knights) <= 2
        if lead < _ENOUGH or are_knights:
            return score // _DRAWN
    light = strong & bishops & _LIGHT != 0
    if strong & ~(pawns | bishops | kings) == 0 and popcount(strong & bishops) == 1:
        on_a_file = strong & pawns & ~whole(A_FILE) == 0
        if strong & pawns != 0 and (on_a_file or strong & pawns & ~whole(H_FILE) == 0):
            corner = (0 if on_a_file else 7) + (56 if score > 0 else 0)
            if (whole(1 << corner) & _LIGHT != 0) != light and _far(king, corner) <= 1:
                return score // _DRAWN
        alone = weak & ~(pawns | bishops | kings) == 0 and popcount(weak & bishops) == 1
        if alone and (weak & bishops & _LIGHT != 0) != light:
            return score // 2  # bishops of opposite colours
    if weak & ~kings == 0 and strong & ~(pawns | kings) != 0:
        bonus = 12 * _from_centre(king) + 4 * (14 - _steps(king, own_king))
        if strong & ~(knights | bishops | kings) == 0 and strong & knights != 0:
            # Knight and bishop mate only in a corner of the bishop's colour.
            first, second = (7, 56) if light else (0, 63)
            bonus += 20 * (7 - min(_far(king, first), _far(king, second)))
        return score + bonus if score > 0 else score - bonus
    return score


def _points(side: int, minor: int, rooks: int, queens: int) -> Any:
    return 3 * popcount(side & minor) + 5 * popcount(side & rooks) + 9 * popcount(side & queens)


def _far(square: int, other: int) -> int:
    """A king's moves between squares."""
    return max(abs((square >> 3) - (other >> 3)), abs((square & 7) - (other & 7)))


def _steps(square: int, other: int) -> int:
    return abs((square >> 3) - (other >> 3)) + abs((square & 7) - (other & 7))


def _from_centre(square: int) -> int:
    """Ranks and files between a square and the four in the middle."""
    row, column = square >> 3, square & 7
    return max(3 - row, row - 4) + max(3 - column, column - 4)
