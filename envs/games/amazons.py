"""The Game of the Amazons on square boards.

Rules: W. Zamkauskas, 1988, as given by J. Lieberum, "An evaluation function for the game of Amazons", Theoretical
Computer Science 349, 2005. Each player has four amazons, which move like queens in chess: any number of empty
squares straight or diagonally. A turn is a move of one amazon and then an arrow, which flies from where she is now
as far as a queen could move, and closes the square it lands on for good. Who cannot move has lost.

Actions are squares, ``row * size + column``; row 0 is the upper edge. A turn is three of them: where the amazon
stands, where she moves to, and where her arrow lands.

A state is seven integers: the amazons of the first player (X), those of the second (O), and the closed squares,
two integers each (``zermelo.envs.games.wide_boards``); and the seat to move, plus two times what it chooses next
(0 an amazon, 1 where she moves to, 2 where she shoots), plus eight times the square of the chosen amazon.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games.wide_boards import board_of, has, high_bit, list_squares, low_bit, pop_square
from zermelo.envs.pictures.boards import CELL, FAINT, FIRST, INK, SECOND, draws_marks
from zermelo.envs.pictures.canvas import Canvas
from zermelo.envs.rules.about import OpenSpielTwin, listed, openspiel_twin
from zermelo.envs.rules.bits import popcount
from zermelo.envs.rules.boards import draw, square_text

_CHOOSE: Final = 0
_MOVE: Final = 2
_SHOOT: Final = 4
_SQUARE: Final = 8


class AmazonsState(NamedTuple):
    """A position: both players' amazons, the closed squares, whose turn it is and what comes next."""

    first_low: int
    first_high: int
    second_low: int
    second_high: int
    closed_low: int
    closed_high: int
    turn: int


@listed()
class Amazons(NamedTuple):
    """Move an amazon and shoot an arrow; who cannot move loses.

    Attributes:
        size: Height and width of the board, 4 to 11.
    """

    size: int = 10

    def check(self) -> None:
        if not 4 <= self.size <= 11:
            raise InvalidSettingError(f"Amazons needs a size of 4 to 11, not size={self.size}")

    def num_actions(self) -> int:
        return self.size * self.size

    def initial_state(self) -> AmazonsState:
        last, third = self.size - 1, (self.size - 1) // 3
        first_low = first_high = second_low = second_high = 0
        for column in (0, third, last - third, last):
            from_edge = third if column in (0, last) else 0
            square = from_edge * self.size + column
            second_low, second_high = second_low | low_bit(square), second_high | high_bit(square)
            square = (last - from_edge) * self.size + column
            first_low, first_high = first_low | low_bit(square), first_high | high_bit(square)
        return AmazonsState(first_low, first_high, second_low, second_high, 0, 0, _CHOOSE)

    def to_move(self, state: AmazonsState) -> int:
        return state.turn & 1

    def legal_actions(self, state: AmazonsState, actions: list[int]) -> int:
        seat, step = state.turn & 1, state.turn & 6
        free_low, free_high = self._free(state)
        if step != _CHOOSE:
            low, high = self._reached(free_low, free_high, state.turn // _SQUARE)
            return list_squares(low, high, actions)
        low, high = _amazons(state, seat)
        count = 0
        while low | high:
            square, low, high = pop_square(low, high)
            if self._can_move(free_low, free_high, square):
                actions[count] = square
                count += 1
        return count

    def result(self, state: AmazonsState, action: int) -> AmazonsState:
        first_low, first_high, second_low, second_high, closed_low, closed_high, turn = state
        seat, step = turn & 1, turn & 6
        if step == _CHOOSE:
            turn = seat | _MOVE | _SQUARE * action
        elif step == _MOVE:
            square = turn // _SQUARE
            low, high = low_bit(square) | low_bit(action), high_bit(square) | high_bit(action)
            if seat:
                second_low, second_high = second_low ^ low, second_high ^ high
            else:
                first_low, first_high = first_low ^ low, first_high ^ high
            turn = seat | _SHOOT | _SQUARE * action
        else:
            closed_low, closed_high = closed_low | low_bit(action), closed_high | high_bit(action)
            turn = 1 - seat
        return AmazonsState(first_low, first_high, second_low, second_high, closed_low, closed_high, turn)

    def is_terminal(self, state: AmazonsState) -> bool:
        if state.turn & 6 != _CHOOSE:
            return False
        free_low, free_high = self._free(state)
        low, high = _amazons(state, state.turn & 1)
        while low | high:
            square, low, high = pop_square(low, high)
            if self._can_move(free_low, free_high, square):
                return False
        return True

    def utility(self, state: AmazonsState, seat: int) -> int:
        return -1 if seat == state.turn & 1 else 1

    def evaluation(self, state: AmazonsState, seat: int) -> int:
        """The number of moves of the seat's amazons less that of the opponent's."""
        return 3 * (self._mobility(state, seat) - self._mobility(state, 1 - seat))

    def text(self, state: AmazonsState) -> str:
        """X and O for amazons, a small letter for the chosen one, # for closed squares."""
        chosen = state.turn // _SQUARE if state.turn & 6 != _CHOOSE else -1

        def mark(square: int) -> str:
            if has(state.first_low, state.first_high, square):
                return "x" if square == chosen else "X"
            if has(state.second_low, state.second_high, square):
                return "o" if square == chosen else "O"
            return "#" if has(state.closed_low, state.closed_high, square) else "."

        return draw(self.size, self.size, mark)

    def observation_shape(self) -> tuple[int, int, int]:
        """Planes of shape (size, size, 6): own amazons, the opponent's, closed squares, the chosen one, the phase.

        The last two are all ones where the chosen amazon is to move, and where it is to shoot.
        """
        return self.size, self.size, 6

    def write_observation(self, state: AmazonsState, seat: int, numbers: Any) -> None:
        step = state.turn & 6
        chosen = state.turn // _SQUARE if step != _CHOOSE else -1
        for square in range(self.size * self.size):
            numbers[6 * square + seat] = has(state.first_low, state.first_high, square)
            numbers[6 * square + 1 - seat] = has(state.second_low, state.second_high, square)
            numbers[6 * square + 2] = has(state.closed_low, state.closed_high, square)
            numbers[6 * square + 3] = square == chosen
            numbers[6 * square + 4] = step == _MOVE
            numbers[6 * square + 5] = step == _SHOOT

    def action_text(self, state: AmazonsState, action: int) -> str:
        return ("", "-", "x")[(state.turn & 6) // 2] + square_text(action, self.size)

    def _free(self, state: AmazonsState) -> tuple[int, int]:
        low, high = board_of(self.size * self.size)
        low &= ~(state.first_low | state.second_low | state.closed_low)
        high &= ~(state.first_high | state.second_high | state.closed_high)
        return low, high

    def _can_move(self, free_low: int, free_high: int, square: int) -> bool:
        row, column = square // self.size, square % self.size
        for down in range(-1, 2):
            for right in range(-1, 2):
                inside = 0 <= row + down < self.size and 0 <= column + right < self.size
                if inside and has(free_low, free_high, square + down * self.size + right):
                    return True
        return False

    def _reached(self, free_low: int, free_high: int, square: int) -> tuple[int, int]:
        """The free squares a queen's move away from a square."""
        low = high = 0
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
                    if not has(free_low, free_high, at):
                        break
                    low, high = low | low_bit(at), high | high_bit(at)
        return low, high

    def _mobility(self, state: AmazonsState, seat: int) -> int:
        free_low, free_high = self._free(state)
        low, high = _amazons(state, seat)
        count = 0
        while low | high:
            square, low, high = pop_square(low, high)
            reached_low, reached_high = self._reached(free_low, free_high, square)
            count += popcount(reached_low) + popcount(reached_high)
        return count


def _amazons(state: AmazonsState, seat: int) -> tuple[int, int]:
    if seat:
        return state.second_low, state.second_high
    return state.first_low, state.first_high


# -- picture -----------------------------------------------------------------------------------------------------


@draws_marks(Amazons)
def _amazons_board(canvas: Canvas, x: float, y: float, mark: str) -> None:
    colour = INK if mark == "#" else FAINT
    canvas.rectangle(x - CELL / 2 + 1, y - CELL / 2 + 1, CELL - 2, CELL - 2, colour, radius=4)
    if mark in "XOxo":
        canvas.disk(x, y, CELL * 0.34, INK)
        canvas.disk(x, y, CELL * 0.3, FIRST if mark in "Xx" else SECOND)
    if mark in "xo":
        canvas.ring(x, y, CELL * 0.42, 4, INK)


# -- twin ------------------------------------------------------------------------------------------------------


@openspiel_twin("amazons")
def _openspiel(board_size: int) -> OpenSpielTwin:
    return OpenSpielTwin(rules=Amazons(board_size))
