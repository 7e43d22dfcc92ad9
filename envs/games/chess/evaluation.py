"""Chess knowledge for searches: evaluation and move ordering."""

from __future__ import annotations

from typing import Any

from zermelo.envs.games.chess.attacks import square_bit
from zermelo.envs.games.chess.endgames import FEW, is_won, judged
from zermelo.envs.games.chess.exchange import value_of, wins_exchange
from zermelo.envs.games.chess.moves import ROW_8, write_actions
from zermelo.envs.games.chess.state import ChessState, kind_of, turned
from zermelo.envs.games.chess.tables import MOVES
from zermelo.envs.games.chess.terms import TEMPO, WEIGHTS, phase, side

_HALF = 1 << 31
_CAPTURE = 1 << 26
"""Hints of at least this come before killers (``zermelo.agents.core.tree_search``)."""
_HALF_WAY = 400
"""Hundredths of a pawn that are half of a win."""


def balance(state: ChessState) -> Any:
    """The sum of the weights of the player to move, less that of the opponent."""
    own, other, pawns, knights, diagonal, straight = turned(state[:6])
    mine = side(state.own, state.other, state.pawns, state.knights, state.diagonal, state.straight)
    return mine - side(own, other, pawns, knights, diagonal, straight) + WEIGHTS[TEMPO]


class ChessKnowledge:
    """The methods for searches."""

    def evaluation(self: Any, state: ChessState, seat: int) -> int:
        """Centipawns by weights fitted to games, mapped to 1024ths: 400 are half a win, none are a whole one."""
        total = int(balance(state))
        middle = (total + _HALF & 2 * _HALF - 1) - _HALF
        end = (total - middle) >> 32
        part = phase(state.knights, state.diagonal, state.straight)
        score = (middle * part + end * (24 - part)) // 24
        if part <= FEW:
            score = judged(state, score)
        size = abs(score)
        worth = 1023 * size // (size + _HALF_WAY)
        return worth if (seat == state.seat) == (score > 0) else -worth

    def ordering_hint(self: Any, state: ChessState, action: int) -> int:
        """Winning captures first, then quiet moves, then losing captures."""
        move = int(MOVES[action])
        origin, target, promotion = move & 63, move >> 6 & 63, move >> 12
        gained, mover, kind = _gain(state, origin, target, promotion)
        if gained == 0:
            return -1 if promotion != 0 else 0
        if value_of(mover) > gained and not wins_exchange(state, origin, target, gained, kind):
            return 8 * gained - mover - 100
        return _CAPTURE + 8 * gained - mover

    def is_noisy(self: Any, state: ChessState, action: int) -> bool:
        """True for captures that lose nothing and for promotions to a queen."""
        move = int(MOVES[action])
        origin, target, promotion = move & 63, move >> 6 & 63, move >> 12
        gained, _, kind = _gain(state, origin, target, promotion)
        return gained != 0 and promotion == 0 and wins_exchange(state, origin, target, gained, kind)

    def noisy_actions(self: Any, state: ChessState, actions: list[int]) -> int:
        legal = write_actions(state, state.other | state.passed | ROW_8, actions)
        count = 0
        for index in range(legal):
            action = actions[index]
            if self.is_noisy(state, action):
                actions[count] = action
                count += 1
        return count

    def is_losing(self: Any, state: ChessState, action: int) -> bool:
        """True if captures that follow on its square win something."""
        move = int(MOVES[action])
        origin, target, promotion = move & 63, move >> 6 & 63, move >> 12
        gained, _, kind = _gain(state, origin, target, promotion)
        return not wins_exchange(state, origin, target, gained, kind)

    def is_known_win(self: Any, state: ChessState) -> bool:
        return phase(state.knights, state.diagonal, state.straight) <= FEW and is_won(state)

    def is_urgent(self: Any, state: ChessState) -> bool:
        return state.checkers != 0

    def search_settings(self: Any, search: str) -> dict[str, float]:
        """The settings of selective search that gained in games against Stockfish at low node counts."""
        selective = {"late_move_reductions": 2, "null_move": 2, "futility": 0.15, "share_positions": True}
        return selective if search == "selective" else {}


def _gain(state: ChessState, origin: int, target: int, promotion: int) -> tuple[int, int, int]:
    """The immediate gain of a move in pawns, the kind of piece that moves, and its kind afterwards."""
    here, there = square_bit(origin), square_bit(target)
    mover = kind_of(state, here)
    gained = value_of(kind_of(state, there)) if state.other & there != 0 else 0
    kind = mover
    if mover == 0:
        if there == state.passed:
            gained = 1
        elif target >= 56:
            kind = 4 if promotion == 0 else promotion
            gained += value_of(kind) - 1
    return gained, mover, kind
