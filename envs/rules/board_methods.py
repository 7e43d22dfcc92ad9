"""Methods that classes of rules inherit: those of games on boards, and of rules with parameters of their own form.

A game on a board inherits from a named tuple of its parameters and from ``BoardMethods``, ``SymmetricBoard`` or
``SidesBoard``, and writes ``planes(state, seat)``; observation, text and names of squares follow from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.pictures.squares import HEXAGONS, Squares, find_squares
from zermelo.envs.rules.boards import board_seen, symmetric_square
from zermelo.envs.rules.words import contains


class Sides(NamedTuple):
    """The pieces of the player to move, those of the opponent, and the seat to move."""

    mover: int
    other: int
    seat: int


def require_limits(rules: Any, *joined: tuple[str, int, int], **ranges: tuple[float, float] | type[bool]) -> None:
    """Checks the lowest and highest value of parameters, or that they are flags; for the method ``check``.

    Args:
        rules: The rules.
        joined: What several parameters make: in words, its value, and its highest value.
        ranges: By parameter; ``squares`` is ``rows * columns``.

    Raises:
        InvalidSettingError: A value is out of range.
    """
    needs, given = list[str](), dict[str, Any]()
    for name, values in ranges.items():
        value = rules.rows * rules.columns if name == "squares" else getattr(rules, name)
        if not (values[0] <= value <= values[1] if isinstance(values, tuple) else value in (0, 1)):
            needs.append(_range(name, values))
            given |= {
                part: getattr(rules, part) for part in (("rows", "columns") if name == "squares" else (name,))
            }
    for what, value, most in joined:
        if value > most:
            needs.append(f"{what} of at most {most}")
            given = rules._asdict()
    if needs:
        written = ", ".join(f"{name}={value!r}" for name, value in given.items())
        raise InvalidSettingError(f"{type(rules).__name__} needs {' and '.join(needs)}, not {written}")


def _range(name: str, values: tuple[float, float] | type[bool]) -> str:
    what = "rows * columns" if name == "squares" else name
    if not isinstance(values, tuple):
        return f"{what} of True or False"
    lower, upper = values
    if values == (0, 1):
        return f"{what} of 0 or 1"
    return f"{what} of at least {lower}" if upper == math.inf else f"{what} of {lower} to {upper}"


class Written:
    """Rules whose parameters people write in another form than compiled code takes them.

    Their class has ``__new__``, ``_asdict`` and ``_field_defaults`` for the parameters as they are written.
    """

    __slots__ = ()

    def __getnewargs__(self: Any) -> tuple[Any, ...]:
        return tuple(self._asdict().values())

    def __repr__(self: Any) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"


class BoardMethods:
    """Methods of a game on a board that follow from ``planes(state, seat)``.

    Actions are squares and states have a field ``seat``, unless the class of rules says otherwise.

    Attributes:
        marks: In the text, a mark for each of the first planes of seat 0.
        empty_mark: The mark of other squares.
        board_squares: How squares are named and clicked; by default row 1 is the uppermost one. With ``HEXAGONS``
            each row lies half a cell to the right of the one above.
    """

    __slots__ = ()
    marks: ClassVar[str]
    empty_mark: ClassVar[str] = "."
    board_squares: ClassVar[Squares] = Squares()

    def layout(self: Any) -> tuple[int, int, int, int, int]:
        """How planes number squares; here as ``zermelo.envs.rules.boards`` does, row 0 on top."""
        return self.rows, self.columns, 0, self.columns, 1

    def num_actions(self: Any) -> int:
        rows, columns = self.layout()[:2]
        return int(rows * columns)

    def to_move(self: Any, state: Any) -> int:
        return int(state.seat)

    def text(self: Any, state: Any) -> str:
        return "\n".join(board_lines(self, self.planes(state, 0), self.marks, self.empty_mark))

    def action_text(self: Any, state: Any, action: int) -> str:
        name: str = self.board_squares.square(self, action)
        return name

    def observation_box(self: Any) -> tuple[tuple[int, ...], tuple[int, int], str]:
        rows, columns = self.layout()[:2]
        return (rows, columns, len(self.planes(self.initial_state(), 0))), (0, 1), "int8"

    def write_observation(self: Any, state: Any, seat: int, numbers: Any) -> None:
        """Writes the planes of a seat, of shape (rows, columns, planes)."""
        rows, columns, first, down, right = self.layout()
        planes = self.planes(state, seat)
        for plane in range(len(planes)):
            squares = planes[plane]
            for row in range(rows):
                for column in range(columns):
                    place = first + row * down + column * right
                    numbers[(row * columns + column) * len(planes) + plane] = contains(squares, place)


class MoverLoses:
    """The utility of games at whose end the player to move has lost."""

    __slots__ = ()

    def utility(self: Any, state: Any, seat: int) -> int:
        return -1 if seat == self.to_move(state) else 1


class SymmetricBoard(BoardMethods):
    """A board whose mirrors and turns (all eight, if it is square) are symmetries of the game.

    The class of rules writes ``symmetric_state``, with ``board_seen`` for each board of a state. Actions are
    squares, but for higher ones, which no symmetry changes.
    """

    __slots__ = ()

    def symmetries(self: Any) -> int:
        rows, columns = self.layout()[:2]
        return 8 if rows == columns else 4

    def symmetric_action(self: Any, action: int, symmetry: int) -> int:
        rows, columns = self.layout()[:2]
        return symmetric_square(action, rows, columns, symmetry) if action < rows * columns else action


class SidesBoard(SymmetricBoard):
    """A symmetric board whose states are ``Sides``."""

    __slots__ = ()

    def planes(self: Any, state: Sides, seat: int) -> tuple[Any, ...]:
        """The observer's pieces, the opponent's."""
        return (state.mover, state.other) if seat == state.seat else (state.other, state.mover)

    def symmetric_state(self: Any, state: Sides, symmetry: int) -> Sides:
        layout = self.layout()
        mover = board_seen(state.mover, layout, symmetry)
        return Sides(mover, board_seen(state.other, layout, symmetry), state.seat)


def board_lines(rules: Any, planes: Sequence[Any], marks: str, empty: str = ".") -> Iterator[str]:
    """The rows of a board as text: the mark of the first plane that has a square."""
    rows, columns, first, down, right = rules.layout()
    slant = " " if find_squares(rules) is HEXAGONS else ""
    for row in range(rows):
        places = [first + row * down + column * right for column in range(columns)]
        yield slant * row + " ".join(
            next((mark for mark, plane in zip(marks, planes, strict=False) if contains(plane, place)), empty)
            for place in places
        )
