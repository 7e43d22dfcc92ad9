"""Chess knowledge for searches: evaluation and move ordering."""

from __future__ import annotations

from typing import Any, Final

from zermelo.envs.games.chess.attacks import A_FILE, H_FILE, bishop_attacks, pawn_attacks, rook_attacks, square_bit
from zermelo.envs.games.chess.moves import ROW_8, write_actions
from zermelo.envs.games.chess.state import ChessState, kind_of, of_kind, turned
from zermelo.envs.games.chess.tables import KING, KNIGHT, LIGHT, MOVES
from zermelo.envs.games.chess.terms import TEMPO, WEIGHTS, distance, phase, side
from zermelo.envs.rules.bits import bit_index, popcount, shift_right
from zermelo.envs.rules.boards import whole


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


FEW: Final = 8
"""Up to this ``phase`` there are few pieces."""
_DRAWN: Final = 16  # divisor of the score of a position that is drawn in spite of the material
_ENOUGH: Final = 4  # points of material by which one who has no pawns must be ahead; a minor piece has 3


def judged(state: ChessState, score: int) -> int:
    """A score in hundredths of a pawn, of a position with few pieces, for the player to move."""
    strong, weak = (state.own, state.other) if score > 0 else (state.other, state.own)
    divisor = _divisor(state, strong, weak)
    if divisor > 1:
        return score // divisor
    if weak & _men(state) != 0 or strong & (state.knights | state.diagonal | state.straight) == 0:
        return score
    own_king, king = bit_index(strong & ~_men(state)), bit_index(weak & ~_men(state))
    row, column = king >> 3, king & 7
    steps = abs(row - (own_king >> 3)) + abs(column - (own_king & 7))
    from_centre = max(3 - row, row - 4) + max(3 - column, column - 4)
    bonus = 12 * from_centre + 4 * (14 - steps)
    bishops = state.diagonal & ~state.straight
    if strong & (state.pawns | state.straight) == 0 and strong & state.knights != 0:
        # Knight and bishop mate only in a corner of the bishop's colour.
        first, second = (7, 56) if strong & bishops & LIGHT != 0 else (0, 63)
        bonus += 20 * (7 - min(distance(king, first), distance(king, second)))
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
    light = strong & bishops & LIGHT != 0
    if strong & (knights | state.straight) == 0 and popcount(strong & bishops) == 1:
        on_a_file = strong & pawns & ~whole(A_FILE) == 0
        if strong & pawns != 0 and (on_a_file or strong & pawns & ~whole(H_FILE) == 0):
            corner = (0 if on_a_file else 7) + (56 if strong == state.own else 0)
            king = bit_index(weak & ~_men(state))
            if (whole(1 << corner) & LIGHT != 0) != light and distance(king, corner) <= 1:
                return _DRAWN
        alone = weak & (knights | state.straight) == 0 and popcount(weak & bishops) == 1
        if alone and (weak & bishops & LIGHT != 0) != light:
            return 2  # bishops of opposite colours
    return 1


def _points(side: int, minor: int, rooks: int, queens: int) -> Any:
    return 3 * popcount(side & minor) + 5 * popcount(side & rooks) + 9 * popcount(side & queens)


_HALF = 1 << 31
_CAPTURE = 1 << 26  # hints of at least this come before killers (``zermelo.agents.tree_search.interface``)
_HALF_WAY = 400  # hundredths of a pawn that are half of a win


def balance(state: ChessState) -> Any:
    """The sum of the weights of the player to move, less that of the opponent."""
    own, other, pawns, knights, diagonal, straight = turned(state[:6])
    mine = side(state.own, state.other, state.pawns, state.knights, state.diagonal, state.straight)
    return mine - side(own, other, pawns, knights, diagonal, straight) + WEIGHTS[TEMPO]


class ChessKnowledge:
    """The methods for searches."""

    __slots__ = ()

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
