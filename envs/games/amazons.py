"""The Game of the Amazons on square boards.

Rules: W. Zamkauskas, 1988, as given by J. Lieberum, "An evaluation function for the game of Amazons", Theoretical
Computer Science 349, 2005. Each player has four amazons, which move like queens in chess: any number of empty
squares straight or diagonally. A turn is a move of one amazon and then an arrow, which flies from where she is now
as far as a queen could move, and closes the square it lands on for good. A player who cannot move has lost.

Actions are squares, ``row * size + column``; row 0 is the upper edge. A turn is three of them: where the amazon
stands, where she moves to, and where her arrow lands.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from zermelo.envs.pictures.boards import FAINT, FIRST, INK, SECOND, man, marks_image, ring, tile
from zermelo.envs.rules import Words, contains, count, first_places, is_empty
from zermelo.envs.rules.board_methods import BoardMethods, MoverLoses, board_lines, require_limits
from zermelo.envs.rules.boards import square_text
from zermelo.envs.rules.words import list_places, lowest, no_places, single

_CHOOSE, _MOVE, _SHOOT, _SQUARE = 0, 2, 4, 8
_FREE, _CLOSED, _CHOSEN = tile(FAINT), tile(INK), ring(INK, 0.42, 4)
_PIECES: Final = {
    ".": [_FREE],
    "#": [_CLOSED],
    **{mark: [_FREE, man(colour)] for mark, colour in (("X", FIRST), ("O", SECOND))},
    **{mark: [_FREE, man(colour), _CHOSEN] for mark, colour in (("x", FIRST), ("o", SECOND))},
}


class AmazonsState(NamedTuple):
    """Both players' amazons, the free squares, and the turn.

    ``turn`` is the seat to move, plus what it chooses next (``_CHOOSE`` an amazon, ``_MOVE`` where she moves to,
    ``_SHOOT`` where she shoots), plus eight times the square of the chosen amazon.
    """

    first: Words
    second: Words
    free: Words
    turn: int


class _AmazonsParameters(NamedTuple):
    size: int = 10


class Amazons(MoverLoses, BoardMethods, _AmazonsParameters):
    """Move an amazon and shoot an arrow; a player who cannot move loses.

    Attributes:
        size: Height and width of the board, 4 to 11.
    """

    __slots__ = ()
    image = marks_image(_PIECES)

    def check(self) -> None:
        require_limits(self, size=(4, 11))

    def layout(self) -> tuple[int, int, int, int, int]:
        return self.size, self.size, 0, self.size, 1

    def initial_state(self) -> AmazonsState:
        none = no_places(self.size * self.size)
        first = second = none
        last, third = self.size - 1, (self.size - 1) // 3
        for column in (0, third, last - third, last):
            from_edge = third if column in (0, last) else 0
            second = second | single(none, from_edge * self.size + column)
            first = first | single(none, (last - from_edge) * self.size + column)
        return AmazonsState(first, second, first_places(none, self.size * self.size) - (first | second), _CHOOSE)

    def to_move(self, state: AmazonsState) -> int:
        return state.turn & 1

    def legal_actions(self, state: AmazonsState, actions: list[int]) -> int:
        if state.turn & 6 != _CHOOSE:
            return list_places(self._reached(state.free, state.turn // _SQUARE), actions)
        own, number = _amazons(state, state.turn & 1), 0
        while not is_empty(own):
            square = lowest(own)
            own = own - single(own, square)
            if self._can_move(state.free, square):
                actions[number] = square
                number += 1
        return number

    def result(self, state: AmazonsState, action: int) -> AmazonsState:
        first, second, free, turn = state
        seat, step = turn & 1, turn & 6
        if step == _CHOOSE:
            return AmazonsState(first, second, free, seat | _MOVE | _SQUARE * action)
        target = single(free, action)
        free = free - target
        if step == _SHOOT:
            return AmazonsState(first, second, free, 1 - seat)
        origin = single(free, turn // _SQUARE)
        if seat:
            second = second - origin | target
        else:
            first = first - origin | target
        return AmazonsState(first, second, free | origin, seat | _SHOOT | _SQUARE * action)

    def is_terminal(self, state: AmazonsState) -> bool:
        if state.turn & 6 != _CHOOSE:
            return False
        own = _amazons(state, state.turn & 1)
        while not is_empty(own):
            square = lowest(own)
            if self._can_move(state.free, square):
                return False
            own = own - single(own, square)
        return True

    def evaluation(self, state: AmazonsState, seat: int) -> int:
        """The number of moves of the seat's amazons less that of the opponent's."""
        return 3 * (self._mobility(state, seat) - self._mobility(state, 1 - seat))

    def planes(self, state: AmazonsState, seat: int) -> tuple[Words, ...]:
        """Own amazons, the opponent's, closed squares, the chosen amazon, and the phase.

        The last two are all ones where the chosen amazon is to move, and where it is to shoot.
        """
        own, other = _amazons(state, seat), _amazons(state, 1 - seat)
        step, board = state.turn & 6, first_places(own, self.size * self.size)
        none = own - own
        chosen = single(own, state.turn // _SQUARE) if step != _CHOOSE else none
        closed = board - (state.free | own | other)
        return own, other, closed, chosen, board if step == _MOVE else none, board if step == _SHOOT else none

    def text(self, state: AmazonsState) -> str:
        """A small letter is the chosen amazon."""
        first, second, closed, chosen, *_ = self.planes(state, 0)
        planes = first & chosen, second & chosen, first, second, closed
        return "\n".join(board_lines(self, planes, "xoXO#"))

    def action_text(self, state: AmazonsState, action: int) -> str:
        return ("", "-", "x")[(state.turn & 6) // 2] + square_text(action, self.size)

    def _can_move(self, free: Words, square: int) -> bool:
        row, column = square // self.size, square % self.size
        for down in range(-1, 2):
            for right in range(-1, 2):
                inside = 0 <= row + down < self.size and 0 <= column + right < self.size
                if inside and contains(free, square + down * self.size + right):
                    return True
        return False

    def _reached(self, free: Words, square: int) -> Words:
        reached = free - free
        row, column = square // self.size, square % self.size
        for down in range(-1, 2):
            for right in range(-1, 2):
                if down == 0 and right == 0:
                    continue
                upto = self.size
                if down:
                    upto = min(upto, self.size - 1 - row if down > 0 else row)
                if right:
                    upto = min(upto, self.size - 1 - column if right > 0 else column)
                step, at = down * self.size + right, square
                for _ in range(upto):
                    at += step
                    target = single(free, at) & free
                    if is_empty(target):
                        break
                    reached = reached | target
        return reached

    def _mobility(self, state: AmazonsState, seat: int) -> int:
        own, moves = _amazons(state, seat), 0
        while not is_empty(own):
            square = lowest(own)
            own = own - single(own, square)
            moves += count(self._reached(state.free, square))
        return moves


def _amazons(state: AmazonsState, seat: int) -> Words:
    return state.second if seat else state.first


def from_openspiel(board_size: int) -> Amazons:
    """Its boards are square too."""
    return Amazons(board_size)
