"""Chess, whose games end as in PettingZoo's environment.

Rules: FIDE, "Laws of Chess" (2023). A game is drawn as soon as the player to move may claim a draw: when fifty
moves of each player without a capture or a pawn's move have passed, or would have after one of its moves; or when
the position has been there twice before, or would have been after one of its moves. It is also drawn when neither
player has the pieces to give mate: kings alone, with one knight or bishop, or with bishops that all go on squares
of one colour. PettingZoo asks python-chess (``can_claim_draw``, ``is_insufficient_material``), which says the
same.

Actions are numbered as in PettingZoo and AlphaZero: ``(8 * column + row) * 73 + plane``. Column and row are those
of the square that a piece leaves, seen by its player. Planes 0 to 55 are moves of a queen, ``8 * (distance - 1) +
direction``, and all other moves but these: 56 to 63 are a knight's, 64 to 72 promotions to a knight, bishop or
rook.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, NamedTuple

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games.chess.attacks import square_bit
from zermelo.envs.games.chess.endings import ChessEndings
from zermelo.envs.games.chess.evaluation import ChessKnowledge
from zermelo.envs.games.chess.fen import START, read_fen, write_fen
from zermelo.envs.games.chess.moves import (
    after,
    allowed,
    any_move,
    count_moves,
    destinations,
    without_move,
    write_actions,
)
from zermelo.envs.games.chess.notation import algebraic, coordinates
from zermelo.envs.games.chess.picture import IMAGE, SQUARES
from zermelo.envs.games.chess.state import ChessState, key_of, king_square, mirrored, position, set_up, turned
from zermelo.envs.games.chess.tables import LIGHT, MOVES, PLANES
from zermelo.envs.rules.about import EquivalentRules
from zermelo.envs.rules.bits import bit_index, mix, popcount, swapped_bytes
from zermelo.envs.rules.board_methods import BoardMethods, Written
from zermelo.envs.rules.history import with_past

_CLOCK_MATTERS = 50


class _Start(NamedTuple):
    """The start of a game: the numbers of a state that do not follow from others, and the number of the move."""

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
    number: int


class Chess(ChessKnowledge, ChessEndings, BoardMethods, Written, _Start):
    """Chess; the game ends as soon as the player to move may claim a draw.

    Attributes:
        fen: Where the game starts, in Forsyth-Edwards Notation.
    """

    __slots__ = ()
    marks = "PNBRQKpnbrqk"
    board_squares = SQUARES
    image = IMAGE

    _field_defaults: ClassVar[dict[str, Any]] = {"fen": START}  # type: ignore[misc]  # as people write it

    start_parameters = ("fen",)
    """Parameters that only say where a game starts: networks are the same for all of them."""

    def __new__(cls, fen: str = START) -> Chess:
        state, number = read_fen(fen)
        return super().__new__(cls, *state[:10], number)

    def _asdict(self) -> dict[str, Any]:
        return {"fen": self.fen}

    @property
    def fen(self) -> str:
        """The start of the game in Forsyth-Edwards Notation."""
        return write_fen(ChessState(*self[:10], 0, 0, 0), self.number)

    def num_actions(self) -> int:
        return 64 * PLANES

    def max_legal_actions(self) -> int:
        """The largest number known in any position that a game can reach."""
        return 218

    def initial_state(self) -> ChessState:
        return set_up(ChessState(*self[:10], 0, 0, 0))

    def legal_actions(self, state: ChessState, actions: list[int]) -> int:
        return write_actions(state, -1, actions)

    def count_legal(self, state: ChessState, actions: list[int]) -> int:
        return count_moves(state)

    def result(self, state: ChessState, action: int) -> ChessState:
        move = int(MOVES[action])
        return after(state, move & 63, move >> 6 & 63, move >> 12)

    def is_terminal(self, state: ChessState) -> bool:
        if not any_move(state) or _is_dead(state):
            return True
        return state.clock >= 99 and _may_claim_fifty(state)

    def utility(self, state: ChessState, seat: int) -> int:
        if state.checkers == 0 or any_move(state):
            return 0
        return -1 if seat == state.seat else 1

    def key(self, state: ChessState) -> int:
        """The position, and from 50 on the clock: below, only a search 50 moves deep could see it count."""
        return state.key if state.clock < _CLOCK_MATTERS else state.key ^ mix(state.clock)

    def repetition_key(self, state: ChessState) -> int:
        """The position with its rights to castle and to capture en passant."""
        return state.key if state.key != 0 else 1

    def repetition_is_claimed(self) -> bool:
        return True

    def reversible_plies(self, state: ChessState) -> int:
        return state.clock

    def pass_turn(self, state: ChessState) -> ChessState:
        """Nobody passes in check, or with pawns alone, where having to move may hurt (zugzwang)."""
        pieces = state.own & (state.knights | state.diagonal | state.straight)
        if state.checkers != 0 or pieces == 0:
            return state
        return without_move(state)

    def mirror_image(self, state: ChessState) -> ChessState:
        """The position with left and right exchanged, unless somebody may castle."""
        if state.castling != 0:
            return state
        own, other, pawns = mirrored(state.own), mirrored(state.other), mirrored(state.pawns)
        knights, diagonal, straight = mirrored(state.knights), mirrored(state.diagonal), mirrored(state.straight)
        boards, passed, seat = (own, other, pawns, knights, diagonal, straight), mirrored(state.passed), state.seat
        key = key_of(ChessState(*boards, 0, passed, state.clock, seat, 0, 0, 0))
        return position(boards, 0, passed, state.clock, seat, key)

    def seat_names(self) -> tuple[str, ...]:
        return ("white", "black")

    def action_text(self, state: ChessState, action: int) -> str:
        return algebraic(state, action)

    def action_aliases(self, state: ChessState, action: int) -> tuple[str, ...]:
        return (coordinates(state, action),)

    def layout(self) -> tuple[int, int, int, int, int]:
        return 8, 8, 56, -8, 1

    def planes(self, state: ChessState, seat: int) -> tuple[int, ...]:
        """The pieces of the observer and of the opponent, castling, en passant, who plays and moves, the clock.

        The observer's last row is first. There are six planes for its pieces (pawns, knights, bishops, rooks,
        queens, king) and six for the opponent's; the rooks that may castle; the en passant square; all ones if
        the observer is black; all ones if it is not to move; plies since the last capture or pawn move, as a bit
        in the square of that number, counted from the observer's first row.
        """
        boards, castling, passed = state[:6], state.castling, state.passed
        if seat != state.seat:
            boards, castling, passed = turned(boards), swapped_bytes(castling), swapped_bytes(passed)
        own, other, pawns, knights, diagonal, straight = boards
        queens, kings = diagonal & straight, ~(pawns | knights | diagonal | straight)
        bishops, rooks = diagonal & ~queens, straight & ~queens
        mine = own & pawns, own & knights, own & bishops, own & rooks, own & queens, own & kings
        theirs = other & pawns, other & knights, other & bishops, other & rooks, other & queens, other & kings
        rest = castling, passed, -seat, -(seat ^ state.seat), square_bit(min(state.clock, 63))
        return (*mine, *theirs, *rest)


def _is_dead(state: ChessState) -> bool:
    """True if neither player has the pieces to mate."""
    if (state.pawns | state.straight) != 0:
        return False
    if state.knights != 0:
        return popcount(state.knights | state.diagonal) == 1
    return state.diagonal & LIGHT == 0 or state.diagonal & ~LIGHT == 0


def _may_claim_fifty(state: ChessState) -> bool:
    """True if the clock is at 100, or is after some move that neither ends the game nor resets it."""
    if state.clock >= 100:
        return True
    king = king_square(state)
    targets = allowed(state, king)
    movers = state.own & ~state.pawns
    while movers != 0:
        square = bit_index(movers)
        movers ^= square_bit(square)
        found = destinations(state, square, king, targets) & ~state.other
        while found != 0:
            target = bit_index(found)
            found ^= square_bit(target)
            if any_move(after(state, square, target, 0)):
                return True
    return False


_RULES: Final = Chess()
_PROMOTIONS: Final = {None: 0, 2: 1, 3: 2, 4: 3, 5: 0}
"""What a pawn becomes, as actions number it, by python-chess's number of the piece."""


def _read_chess(env: Any) -> Any | None:
    """The position of PettingZoo's board, and those before it since the last capture or pawn's move."""
    board = env.board.copy(stack=env.board.halfmove_clock)
    try:
        state, _ = read_fen(board.root().fen())
    except InvalidSettingError:
        return None
    keys = []
    for move in board.move_stack:
        turned = 56 * state.seat
        keys.append(_RULES.repetition_key(state))
        state = after(state, move.from_square ^ turned, move.to_square ^ turned, _PROMOTIONS[move.promotion])
    return with_past(_RULES, state, keys)


PETTINGZOO: Final = EquivalentRules(_RULES, _read_chess)
"""PettingZoo's environment of this game."""
