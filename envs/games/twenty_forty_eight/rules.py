"""2048 on boards of any size that fits, for one player.

Rules: G. Cirulli, "2048", 2014. A move pushes all tiles to one side, as far as they go. Two equal tiles that meet
become one of their sum, which the score grows by; a tile that has just come from two does not join again in the
same move, and of three equal ones the two nearer to that side join. A move must change something. After it a new
tile comes to an empty square, each as likely: a 2 with probability 0.9, a 4 with 0.1. At the start two tiles come
like this. The game ends when no move changes anything; it does not end at 2048. The utility is the score.

Actions: 0 up, 1 right, 2 down, 3 left. Chance outcomes: ``2 * square`` for a 2, ``2 * square + 1`` for a 4,
squares being numbered row by row from the upper left corner.

OpenSpiel's 2048 is another game: it ends at 2048, and some moves that only join tiles are not legal there.

Two tiles of 2 ** 31 do not join.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from zermelo.envs.game import CHANCE
from zermelo.envs.games.twenty_forty_eight.packed import fits, moves_of, pack, push, unpack
from zermelo.envs.games.twenty_forty_eight.weights import expected
from zermelo.envs.pictures.boards import INK, IVORY, Piece, letter, marks_image, tile
from zermelo.envs.rules.board_methods import require_limits
from zermelo.envs.rules.boards import list_squares, symmetric_direction, symmetric_square
from zermelo.envs.rules.protocol import GENERAL_SUM
from zermelo.envs.rules.words import WORD, Words, no_places, spread, window

_FOUR: Final = 0.1  # how likely a new tile is a 4


def _drawn(exponent: int) -> list[Piece]:
    """How a tile is drawn, the darker the larger it is."""
    heat, late = min(exponent, 6), min(max(exponent - 6, 0), 12)
    square = tile((244 - 15 * late, 232 - 22 * heat, 220 - 24 * heat), 3, 6)
    return [square, letter(str(1 << exponent), INK if exponent < 3 else IVORY)]


_MARKS: Final = {".": [tile((205, 193, 180), 3, 6)]} | {str(1 << power): _drawn(power) for power in range(1, 32)}


class Game2048State(NamedTuple):
    """The board, the score, and how many tiles chance has still to bring.

    The board has five bits a square, twelve squares in a word: the exponent of two of its tile, or 0.
    """

    board: Words
    score: int
    tiles_to_come: int


class Game2048(NamedTuple):
    """Push tiles together; equal ones double, and their sum is the score.

    Attributes:
        rows: Height of the board.
        columns: Width of the board; ``rows * columns`` must be 2 to 72.
    """

    rows: int = 4
    columns: int = 4

    def check(self) -> None:
        require_limits(self, rows=(1, 72), columns=(1, 72), squares=(2, 72))

    def num_actions(self) -> int:
        return 4

    def num_outcomes(self) -> int:
        return 2 * self.rows * self.columns

    def seats(self) -> int:
        return 1

    def utility_bounds(self) -> tuple[int, int]:
        """From no score to the most that the largest tiles that fit can have given."""
        squares = self.rows * self.columns
        return 0, squares << min(squares + 2, 36)

    def utility_sum(self) -> int:
        return GENERAL_SUM

    def received(self, state: Game2048State, seat: int) -> int:
        """The score: it only grows, and the moves to come do not depend on it."""
        return state.score

    def future(self, state: Game2048State) -> Game2048State:
        return state._replace(score=0)

    def initial_state(self) -> Game2048State:
        return Game2048State(no_places(_bit(self.rows * self.columns - 1) + 1), 0, 2)

    def to_move(self, state: Game2048State) -> int:
        return CHANCE if state.tiles_to_come else 0

    def legal_actions(self, state: Game2048State, actions: list[int]) -> int:
        return list_squares(self._moves(state), actions)

    def chance_outcomes(self, state: Game2048State, outcomes: list[int], probabilities: list[float]) -> int:
        count = 0
        for square in range(self.rows * self.columns):
            if not _tile(state, square):
                outcomes[count] = 2 * square
                outcomes[count + 1] = 2 * square + 1
                count += 2
        for number in range(0, count, 2):
            probabilities[number] = (1.0 - _FOUR) * 2.0 / count
            probabilities[number + 1] = _FOUR * 2.0 / count
        return count

    def result(self, state: Game2048State, action: int) -> Game2048State:
        board, score, to_come = state
        if to_come:
            return Game2048State(board | spread(board, _bit(action // 2), 1 + action % 2), score, to_come - 1)
        if self._is_packed(state):
            pushed, gain = push(packed(board), action)
            if gain >= 0:
                low, high = unpack(pushed)
                return Game2048State(spread(board, 0, low) | spread(board, WORD, high), score + gain, 1)
        board = board - board
        length = self.rows if action % 2 == 0 else self.columns
        for line in range(self.columns if action % 2 == 0 else self.rows):
            # The next free place, and the tile that has gone as far as it can, if it may still join.
            free = waiting = 0
            for place in range(length + 1):
                tile = _tile(state, self._square(action, line, place)) if place < length else 0
                if place < length and tile == 0:
                    continue
                put, following = waiting, tile
                if tile and tile == waiting and tile < 31:
                    put, following = tile + 1, 0
                    score += 1 << put
                if waiting:
                    board = board | spread(board, _bit(self._square(action, line, free)), put)
                    free += 1
                waiting = following
        return Game2048State(board, score, 1)

    def is_terminal(self, state: Game2048State) -> bool:
        return state.tiles_to_come == 0 and self._moves(state) == 0

    def utility(self, state: Game2048State, seat: int) -> int:
        return state.score

    def evaluation(self, state: Game2048State, seat: int) -> int:
        """The score plus, on 4x4 boards, the learned value of what is to come (``weights``).

        On other boards ten points for each empty square.
        """
        if self.rows == 4 and self.columns == 4:
            to_come = expected(packed(state.board))
            return 1024 * min(state.score + max(to_come, 0), self.utility_bounds()[1])
        empty = 0
        for square in range(self.rows * self.columns):
            empty += _tile(state, square) == 0
        return 1024 * (state.score + 10 * empty)

    def evaluates_before_chance(self) -> bool:
        return self.rows == 4 and self.columns == 4

    def symmetries(self) -> int:
        return 8 if self.rows == self.columns else 4

    def symmetric_state(self, state: Game2048State, symmetry: int) -> Game2048State:
        board = state.board - state.board
        for square in range(self.rows * self.columns):
            moved = symmetric_square(square, self.rows, self.columns, symmetry)
            board = board | spread(board, _bit(moved), _tile(state, square))
        return Game2048State(board, state.score, state.tiles_to_come)

    def symmetric_action(self, action: int, symmetry: int) -> int:
        return symmetric_direction(action, symmetry)

    def tiles(self, state: Game2048State) -> npt.NDArray[np.int8]:
        """The exponents of the tiles, 0 where there is none, of shape (rows, columns)."""
        squares = [_tile(state, square) for square in range(self.rows * self.columns)]
        return np.array(squares, dtype=np.int8).reshape(self.rows, self.columns)

    def text(self, state: Game2048State) -> str:
        marks = [[str(1 << tile) if tile else "." for tile in row] for row in self.tiles(state).tolist()]
        width = max(len(mark) for row in marks for mark in row)
        rows = ["  ".join(mark.rjust(width) for mark in row) for row in marks]
        return "\n".join([*rows, f"score: {state.score}"])

    def image(self, state: Game2048State) -> Any:
        return marks_image(_MARKS, frame=(187, 173, 160))(self, state)

    def action_text(self, state: Game2048State, action: int) -> str:
        if state.tiles_to_come:
            row, column = divmod(action // 2, self.columns)
            return f"{2 + 2 * (action % 2)} at row {row + 1}, column {column + 1}"
        return ("up", "right", "down", "left")[action]

    def observation_box(self) -> tuple[tuple[int, int], tuple[int, int], str]:
        return (self.rows, self.columns), (0, 31), "int8"

    def write_observation(self, state: Game2048State, seat: int, numbers: Any) -> None:
        """The exponents of two of the tiles, 0 for none, of shape (rows, columns)."""
        for square in range(self.rows * self.columns):
            numbers[square] = _tile(state, square)

    def _is_packed(self, state: Game2048State) -> bool:
        """True if tables of lines apply: on 4x4 boards whose tiles fit."""
        return self.rows == 4 and self.columns == 4 and fits(*_halves(state.board))

    def _moves(self, state: Game2048State) -> int:
        """The moves that change something, as bits."""
        if self._is_packed(state):
            return moves_of(packed(state.board))
        moves = 0
        for direction in range(4):
            moves |= int(self.result(state, direction).board != state.board) << direction
        return moves

    def _square(self, direction: int, line: int, place: int) -> int:
        if direction % 2 == 0:
            return (place if direction == 0 else self.rows - 1 - place) * self.columns + line
        return line * self.columns + (self.columns - 1 - place if direction == 1 else place)


def _bit(square: int) -> int:
    """The first place of a square."""
    return WORD * (square // 12) + 5 * (square % 12)


def _tile(state: Game2048State, square: int) -> int:
    return window(state.board, _bit(square), 5)


def _halves(board: Words) -> tuple[int, int]:
    return window(board, 0, 60), window(board, WORD, 60)


def packed(board: Words) -> int:
    """A board of four by four as ``push`` takes it."""
    low, high = _halves(board)
    return pack(low, high)
