"""What searches know of chess beyond its rules."""

from __future__ import annotations

from zermelo.envs.games.chess.attacks import square_bit
from zermelo.envs.games.chess.rules import ChessRules
from zermelo.envs.games.chess.state import ChessState, kind_of
from zermelo.envs.games.chess.tables import MOVES
from zermelo.envs.rules.about import listed
from zermelo.envs.rules.bits import popcount

__all__ = ["Chess"]


@listed()
class Chess(ChessRules):
    """Chess; the game ends as soon as the player to move may claim a draw.

    Attributes:
        fen: Where the game starts, in Forsyth-Edwards Notation.
    """

    __slots__ = ()

    def evaluation(self, state: ChessState, seat: int) -> int:
        """Material."""
        score = _material(state, state.own) - _material(state, state.other)
        return score // 4 if seat == state.seat else -(score // 4)

    def ordering_hint(self, state: ChessState, action: int) -> int:
        """Captures of much by little."""
        move = int(MOVES[action])
        there = square_bit(move >> 6 & 63)
        hint = 0
        if state.other & there != 0:
            hint = 8 * (1 + kind_of(state, there)) - kind_of(state, square_bit(move & 63))
        return hint

    def is_noisy(self, state: ChessState, action: int) -> bool:
        """Captures, and pawns that become queens."""
        move = int(MOVES[action])
        here, target = square_bit(move & 63), move >> 6 & 63
        there = square_bit(target)
        if state.pawns & here != 0 and (there == state.passed or (target >= 56 and move < 4096)):
            return True
        return state.other & there != 0


def _material(state: ChessState, side: int) -> int:
    return (
        100 * popcount(state.pawns & side)
        + 300 * popcount(state.knights & side)
        + 320 * popcount(state.diagonal & side)
        + 500 * popcount(state.straight & side)
        + 80 * popcount(state.diagonal & state.straight & side)
    )
