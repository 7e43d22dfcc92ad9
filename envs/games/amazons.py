"""The Game of the Amazons on square boards.

Rules: W. Zamkauskas, 1988, as given by J. Lieberum, "An evaluation function for the game of Amazons", Theoretical
Computer Science 349, 2005. Each player has four amazons, which move like queens in chess: any number of empty
squares straight or diagonally. A turn is a move of one amazon and then an arrow, which flies from where she is now
as far as a queen could move, and closes the square it lands on for good. Who cannot move has lost.

Actions are squares, ``row * size + column``; row 0 is the upper edge. A turn is three of them: where the amazon
stands, where she moves to, and where her arrow lands.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from zermelo.envs.pictures.boards import FAINT, FIRST, INK, SECOND, draws_marks, man, ring, tile
from zermelo.envs.rules import (
    OpenSpielTwin,
    Words,
    board,
    board_lines,
    count,
    limits,
    listed,
    openspiel_twin,
    single,
    square_text,
    union,
)
from zermelo.envs.rules.words import (
    difference,
    intersection,
    is_empty,
    list_places,
    moved_down,
    moved_up,
    no_places,
)

_CHOOSE: Final = 0
_MOVE: Final = 2
_SHOOT: Final = 4
_SQUARE: Final = 8
_FREE, _CLOSED, _CHOSEN = tile(FAINT), tile(INK), ring(INK, 0.42, 4)


class AmazonsState(NamedTuple):
    """Both players' amazons, the free squares, and the turn; rows lie ``size + 1`` places apart.

    ``turn`` is the seat to move, plus what it chooses next (``_CHOOSE`` an amazon, ``_MOVE`` where she moves to,
    ``_SHOOT`` where she shoots), plus eight times the square of the chosen amazon.
    """

    first: Words
    second: Words
    free: Words
    turn: int


@listed()
@limits(size=(4, 11))
@board("XO#")
@draws_marks(
    {
        ".": [_FREE],
        "#": [_CLOSED],
        **{mark: [_FREE, man(colour)] for mark, colour in (("X", FIRST), ("O", SECOND))},
        **{mark: [_FREE, man(colour), _CHOSEN] for mark, colour in (("x", FIRST), ("o", SECOND))},
    }
)
class Amazons(NamedTuple):
    """Move an amazon and shoot an arrow; who cannot move loses.

    Attributes:
        size: Height and width of the board, 4 to 11.
    """

    size: int = 10

    def num_actions(self) -> int:
        return self.size * self.size

    def initial_state(self) -> AmazonsState:
        none = no_places(self.size * (self.size + 1))
        first = second = none
        last, third = self.size - 1, (self.size - 1) // 3
        for column in (0, third, last - third, last):
            from_edge = third if column in (0, last) else 0
            second = union(second, self._square(none, from_edge * self.size + column))
            first = union(first, self._square(none, (last - from_edge) * self.size + column))
        return AmazonsState(first, second, difference(self._board(none), union(first, second)), _CHOOSE)

    def to_move(self, state: AmazonsState) -> int:
        return state.turn & 1

    def legal_actions(self, state: AmazonsState, actions: list[int]) -> int:
        if state.turn & 6 == _CHOOSE:
            places = self._movable(state)
        else:
            places = self._reached(self._square(state.free, state.turn // _SQUARE), state.free)
        number = list_places(places, actions)
        for index in range(number):
            actions[index] -= actions[index] // (self.size + 1)
        return number

    def result(self, state: AmazonsState, action: int) -> AmazonsState:
        first, second, free, turn = state
        seat, step = turn & 1, turn & 6
        if step == _CHOOSE:
            return AmazonsState(first, second, free, seat | _MOVE | _SQUARE * action)
        target = self._square(free, action)
        free = difference(free, target)
        if step == _SHOOT:
            return AmazonsState(first, second, free, 1 - seat)
        origin = self._square(free, turn // _SQUARE)
        if seat:
            second = union(difference(second, origin), target)
        else:
            first = union(difference(first, origin), target)
        return AmazonsState(first, second, union(free, origin), seat | _SHOOT | _SQUARE * action)

    def is_terminal(self, state: AmazonsState) -> bool:
        return state.turn & 6 == _CHOOSE and is_empty(self._movable(state))

    def utility(self, state: AmazonsState, seat: int) -> int:
        return -1 if seat == state.turn & 1 else 1

    def evaluation(self, state: AmazonsState, seat: int) -> int:
        """The number of moves of the seat's amazons less that of the opponent's."""
        return 3 * (self._mobility(state, seat) - self._mobility(state, 1 - seat))

    def layout(self) -> tuple[int, int, int, int, int]:
        return self.size, self.size, 0, self.size + 1, 1

    def planes(self, state: AmazonsState, seat: int) -> tuple[Words, ...]:
        """Own amazons, the opponent's, closed squares, the chosen amazon, and the phase.

        The last two are all ones where the chosen amazon is to move, and where it is to shoot.
        """
        own, other = _amazons(state, seat), _amazons(state, 1 - seat)
        step, board = state.turn & 6, self._board(own)
        none = difference(own, own)
        chosen = self._square(own, state.turn // _SQUARE) if step != _CHOOSE else none
        closed = difference(board, union(state.free, union(own, other)))
        return own, other, closed, chosen, board if step == _MOVE else none, board if step == _SHOOT else none

    def text(self, state: AmazonsState) -> str:
        """A small letter is the chosen amazon."""
        first, second, closed, chosen, *_ = self.planes(state, 0)
        planes = intersection(first, chosen), intersection(second, chosen), first, second, closed
        return "\n".join(board_lines(self, planes, "xoXO#"))

    def action_text(self, state: AmazonsState, action: int) -> str:
        return ("", "-", "x")[(state.turn & 6) // 2] + square_text(action, self.size)

    def _square(self, like: Words, action: int) -> Words:
        return single(like, action + action // self.size)

    def _board(self, like: Words) -> Words:
        """All squares."""
        board = difference(like, like)
        for square in range(self.size * self.size):
            board = union(board, self._square(like, square))
        return board

    def _movable(self, state: AmazonsState) -> Words:
        """The mover's amazons that have a free square beside them."""
        beside = union(moved_up(state.free, 1), moved_down(state.free, 1))
        row = union(state.free, beside)
        rows = union(moved_up(row, self.size + 1), moved_down(row, self.size + 1))
        return intersection(_amazons(state, state.turn & 1), union(beside, rows))

    def _reached(self, origins: Words, free: Words) -> Words:
        """The free squares a queen's move away from some squares."""
        reached = difference(free, free)
        for step in (1, self.size, self.size + 1, self.size + 2):
            up, down = intersection(moved_up(origins, step), free), intersection(moved_down(origins, step), free)
            while not is_empty(union(up, down)):
                reached = union(reached, union(up, down))
                up, down = intersection(moved_up(up, step), free), intersection(moved_down(down, step), free)
        return reached

    def _mobility(self, state: AmazonsState, seat: int) -> int:
        """The number of moves of a seat's amazons: in one direction no two reach the same square."""
        own, free, moves = _amazons(state, seat), state.free, 0
        for step in (1, self.size, self.size + 1, self.size + 2):
            up, down = intersection(moved_up(own, step), free), intersection(moved_down(own, step), free)
            while not is_empty(union(up, down)):
                moves += count(up) + count(down)
                up, down = intersection(moved_up(up, step), free), intersection(moved_down(down, step), free)
        return moves


def _amazons(state: AmazonsState, seat: int) -> Words:
    return state.second if seat else state.first


@openspiel_twin("amazons")
def _openspiel(board_size: int) -> OpenSpielTwin:
    return OpenSpielTwin(rules=Amazons(board_size))
