"""EinStein würfelt nicht! on square boards, with stones placed by the players or by chance.

Rules: I. Althöfer, 2004, as given by W. Turner, "EinStein würfelt nicht! An Analysis of Endgame Play", ICGA
Journal 35(2), 2012. Each player puts six stones, numbered from 1, on the six squares of the triangle in a corner
of the board, in any order; the first player's corner is the upper left one, the second player's the lower right
one. Then they move in turn. The mover rolls a die and moves its stone of that number; if it is gone, the remaining
stone with the next higher or the next lower number. A stone moves one square towards the opposite corner: along
its row, along its column, or diagonally. A stone of either player on that square is taken off. The first to reach
the opposite corner, or to leave the opponent without stones, has won.

Placing is part of the game: the first player places its stones 1 to 6, then the second player, who has seen them.
With ``random_start`` chance places them, each order being as likely as any other.

Actions: ``3 * square + direction`` moves the stone on a square, squares being numbered row by row from the upper
left corner; direction 0 is along the row, 1 diagonally, 2 along the column, always towards the opposite corner.
``3 * size * size + place`` puts the mover's next stone on a square of its triangle; the places are numbered row by
row from its own corner. Chance outcomes: 0 to 5, the die shows one more, or a place of the triangle.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from zermelo.envs.game import CHANCE
from zermelo.envs.pictures.boards import FAINT, FIRST, IVORY, SECOND, letter, man, marks_image, tile
from zermelo.envs.rules.board_methods import BoardMethods, board_lines, require_limits
from zermelo.envs.rules.boards import list_evenly, list_squares, square_text

_STONES: Final = 6
_NOWHERE: Final = 63
_NONE: Final = (1 << 6 * _STONES) - 1  # no stone is on the board
_FREE: Final = tile(FAINT)
_PIECES: Final = (
    {".": [_FREE]}
    | {mark: [_FREE, man(FIRST), letter(str(number + 1), IVORY)] for number, mark in enumerate("ABCDEF")}
    | {mark: [_FREE, man(SECOND), letter(mark, IVORY)] for mark in "123456"}
)


class EinSteinState(NamedTuple):
    """The stones, how many were placed, the seat to move, and the die, 0 before it is rolled.

    A player's stones have six bits each for their square, stone 1 lowest; 63 is a stone that is not on the board.
    """

    first: int
    second: int
    placed: int
    seat: int
    die: int


class _EinSteinParameters(NamedTuple):
    size: int = 5
    random_start: bool = False


class EinStein(BoardMethods, _EinSteinParameters):
    """Move the stone that the die says towards the opposite corner; reach it, or take everything.

    Attributes:
        size: Rows and columns of the board, 4 to 7; five in the published game.
        random_start: Whether chance places the stones, instead of the players.
    """

    __slots__ = ()
    image = marks_image(_PIECES)

    def check(self) -> None:
        require_limits(self, size=(4, 7), random_start=bool)

    def layout(self) -> tuple[int, int, int, int, int]:
        return self.size, self.size, 0, self.size, 1

    def num_actions(self) -> int:
        return 3 * self.size * self.size + (0 if self.random_start else _STONES)

    def num_outcomes(self) -> int:
        return _STONES

    def initial_state(self) -> EinSteinState:
        return EinSteinState(_NONE, _NONE, 0, 0, 0)

    def to_move(self, state: EinSteinState) -> int:
        waits = self.random_start if state.placed < 2 * _STONES else state.die == 0
        return CHANCE if waits else state.seat

    def legal_actions(self, state: EinSteinState, actions: list[int]) -> int:
        if state.placed < 2 * _STONES:
            count = list_squares(self._places(state), actions)
            for number in range(count):
                actions[number] += 3 * self.size * self.size
            return count
        stones = state.second if state.seat else state.first
        lower = higher = _NOWHERE
        for stone in range(_STONES):
            square = stones >> 6 * stone & 63
            if square != _NOWHERE and stone < state.die:
                lower = square
            if square != _NOWHERE and stone + 1 >= state.die and higher == _NOWHERE:
                higher = square
        count = 0
        for square in (min(lower, higher), max(lower, higher)):
            if square == _NOWHERE or (count and lower == higher):
                continue
            row, column = square // self.size, square % self.size
            goal = 0 if state.seat else self.size - 1
            if column != goal:
                actions[count] = 3 * square
                count += 1
                if row != goal:
                    actions[count] = 3 * square + 1
                    count += 1
            if row != goal:
                actions[count] = 3 * square + 2
                count += 1
        return count

    def chance_outcomes(self, state: EinSteinState, outcomes: list[int], probabilities: list[float]) -> int:
        places = self._places(state) if state.placed < 2 * _STONES else (1 << _STONES) - 1
        return list_evenly(places, outcomes, probabilities)

    def result(self, state: EinSteinState, action: int) -> EinSteinState:
        if state.placed < 2 * _STONES:
            return self._place(state, action if self.random_start else action - 3 * self.size * self.size)
        if state.die == 0:
            return EinSteinState(state.first, state.second, state.placed, state.seat, action + 1)
        square, target = action // 3, self._target(state, action)
        first, second = _moved(state.first, target, _NOWHERE), _moved(state.second, target, _NOWHERE)
        if state.seat:
            second = _moved(second, square, target)
        else:
            first = _moved(first, square, target)
        goal = 0 if state.seat else self.size * self.size - 1
        won = target == goal or (first if state.seat else second) == _NONE
        return EinSteinState(first, second, state.placed, 1 - state.seat, state.die if won else 0)

    def is_terminal(self, state: EinSteinState) -> bool:
        if state.placed < 2 * _STONES:
            return False
        mover, other = (state.second, state.first) if state.seat else (state.first, state.second)
        corner = self.size * self.size - 1 if state.seat else 0
        return mover == _NONE or _has(other, corner)

    def utility(self, state: EinSteinState, seat: int) -> int:
        return 1 if seat != state.seat else -1

    def evaluation(self, state: EinSteinState, seat: int) -> int:
        """The distance of the opponent's foremost stone to its corner, less that of the seat's."""
        if state.placed < 2 * _STONES:
            return 0
        ahead = self._distance(state, 1 - seat) - self._distance(state, seat)
        return 1000 * ahead // self.size if ahead > 0 else -(-1000 * ahead // self.size)

    def evaluates_before_chance(self) -> bool:
        return True

    def ordering_hint(self, state: EinSteinState, action: int) -> int:
        if action >= 3 * self.size * self.size:
            return 0
        wins = self._target(state, action) == (0 if state.seat else self.size * self.size - 1)
        return 2 if wins else 1 if action % 3 == 1 else 0

    def text(self, state: EinSteinState) -> str:
        """The first player's stones as A to F, the second player's as 1 to 6, and the die."""
        sides = state.first, state.second
        squares = [1 << (side >> 6 * stone & 63) for side in sides for stone in range(_STONES)]
        die = f"die: {state.die or '-'}, {'second' if state.seat else 'first'} player"
        return "\n".join([*board_lines(self, squares, "ABCDEF123456"), die])

    def action_text(self, state: EinSteinState, action: int) -> str:
        if state.placed < 2 * _STONES:
            place = self._square(action if self.random_start else action - 3 * self.size * self.size, state.seat)
            return f"{state.placed % _STONES + 1} on {square_text(place, self.size)}"
        if state.die == 0:
            return str(action + 1)
        return f"{square_text(action // 3, self.size)}-{square_text(self._target(state, action), self.size)}"

    def observation_box(self) -> tuple[tuple[int, int, int], tuple[int, int], str]:
        return (self.size, self.size, 4), (-_STONES, _STONES), "int8"

    def write_observation(self, state: EinSteinState, seat: int, numbers: Any) -> None:
        """Planes (size, size, 4): own numbers, the other's, the mover's die, whether the observer is second."""
        for plane in range(2):
            stones = state.first if plane == seat else state.second
            for stone in range(_STONES):
                square = stones >> 6 * stone & 63
                if square != _NOWHERE:
                    numbers[4 * square + plane] = stone + 1
        for square in range(self.size * self.size):
            numbers[4 * square + 2] = state.die if seat == state.seat else -state.die
            numbers[4 * square + 3] = seat

    def _places(self, state: EinSteinState) -> int:
        """The free places of the mover's triangle, as bits."""
        stones = state.second if state.seat else state.first
        free = 0
        for place in range(_STONES):
            if not _has(stones, self._square(place, state.seat)):
                free |= 1 << place
        return free

    def _place(self, state: EinSteinState, place: int) -> EinSteinState:
        square = self._square(place, state.seat)
        shift = 6 * (state.placed % _STONES)
        placed = state.placed + 1
        seat = 1 if _STONES <= placed < 2 * _STONES else 0
        if state.seat:
            return EinSteinState(state.first, state.second ^ (square ^ _NOWHERE) << shift, placed, seat, 0)
        return EinSteinState(state.first ^ (square ^ _NOWHERE) << shift, state.second, placed, seat, 0)

    def _target(self, state: EinSteinState, action: int) -> int:
        step = (1, self.size + 1, self.size)[action % 3]
        return action // 3 + (-step if state.seat else step)

    def _square(self, place: int, seat: int) -> int:
        """The square of a place of a player's triangle: three in the row of its corner, two, one."""
        row = 0 if place < 3 else 1 if place < 5 else 2
        column = place - (0, 3, 5)[row]
        square = row * self.size + column
        return self.size * self.size - 1 - square if seat else square

    def _distance(self, state: EinSteinState, seat: int) -> int:
        """The fewest moves to the corner; the number of rows if no stone is left."""
        stones = state.second if seat else state.first
        nearest = self.size
        for stone in range(_STONES):
            square = stones >> 6 * stone & 63
            if square != _NOWHERE:
                row, column = square // self.size, square % self.size
                distance = max(row, column) if seat else self.size - 1 - min(row, column)
                nearest = min(nearest, distance)
        return nearest


def _has(stones: int, square: int) -> bool:
    return _moved(stones, square, square ^ 1) != stones


def _moved(stones: int, square: int, target: int) -> int:
    """The stones with the one on a square, if there is one, on another."""
    for stone in range(_STONES):
        if stones >> 6 * stone & 63 == square:
            stones ^= (square ^ target) << 6 * stone
    return stones
