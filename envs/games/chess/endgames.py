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
    divisor = _divisor(state, strong, weak)
    if divisor > 1:
        return score // divisor
    if weak & _men(state) != 0 or strong & (state.knights | state.diagonal | state.straight) == 0:
        return score
    own_king, king = bit_index(strong & ~_men(state)), bit_index(weak & ~_men(state))
    bonus = 12 * _from_centre(king) + 4 * (14 - _steps(king, own_king))
    bishops = state.diagonal & ~state.straight
    if strong & (state.pawns | state.straight) == 0 and strong & state.knights != 0:
        # Knight and bishop mate only in a corner of the bishop's colour.
        first, second = (7, 56) if strong & bishops & _LIGHT != 0 else (0, 63)
        bonus += 20 * (7 - min(_far(king, first), _far(king, second)))
    return score + bonus if score > 0 else score - bonus


def is_won(state: ChessState) -> bool:
    """True if one player has a bare king, and the other one has pieces that can mate it."""
    is_bare = state.other & _men(state) == 0
    strong, weak = (state.own, state.other) if is_bare else (state.other, state.own)
    pieces = strong & (state.knights | state.diagonal | state.straight)
    return weak & _men(state) == 0 and pieces != 0 and _divisor(state, strong, weak) == 1


def _men(state: ChessState) -> Any:
    return state.pawns | state.knights | state.diagonal | state.straight


def _divisor(state: ChessState, strong: int, weak: int) -> int:
    """The divisor of an ending's score; more than 1 if the ending is likely a draw."""
    pawns, knights = state.pawns, state.knights
    bishops, rooks = state.diagonal & ~state.straight, state.straight & ~state.diagonal
    queens = state.diagonal & state.straight
    if strong & pawns == 0:
        lead = _points(strong, knights | bishops, rooks, queens) - _points(weak, knights | bishops, rooks, queens)
        are_knights = strong & (bishops | state.straight) == 0 and popcount(strong & knights) <= 2
        if lead < _ENOUGH or are_knights:
            return _DRAWN
    light = strong & bishops & _LIGHT != 0
    if strong & (knights | state.straight) == 0 and popcount(strong & bishops) == 1:
        on_a_file = strong & pawns & ~whole(A_FILE) == 0
        if strong & pawns != 0 and (on_a_file or strong & pawns & ~whole(H_FILE) == 0):
            corner = (0 if on_a_file else 7) + (56 if strong == state.own else 0)
            king = bit_index(weak & ~_men(state))
            if (whole(1 << corner) & _LIGHT != 0) != light and _far(king, corner) <= 1:
                return _DRAWN
        alone = weak & (knights | state.straight) == 0 and popcount(weak & bishops) == 1
        if alone and (weak & bishops & _LIGHT != 0) != light:
            return 2  # bishops of opposite colours
    return 1


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
