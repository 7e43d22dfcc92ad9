"""Decorators of rules: limits of parameters, and methods that follow from the boards of a state.

``@board`` takes the method ``planes(state, seat)``, the boards that a seat sees, its own pieces first, and adds
the observation, the text, and the names of squares. Fields of the state that are declared as ``Board`` or
``Square`` are mirrored and turned by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.pictures.squares import HEXAGONS, Squares, squares_of
from zermelo.envs.rules.boards import board_seen, symmetric_square
from zermelo.envs.rules.words import contains
from zermelo.envs.support.source import run_text

Board: TypeAlias = Annotated[int, "Board"]
"""A set of squares: square ``row * columns + column`` is the bit of that number."""
Square: TypeAlias = Annotated[int, "Square"]


class Sides(NamedTuple):
    """The pieces of the player to move, those of the opponent, and the seat to move."""

    mover: Board
    other: Board
    seat: int


_Class = TypeVar("_Class", bound=type)
_SQUARES = Squares()


def limits(
    *together: tuple[str, Callable[[Any], int], int], **ranges: tuple[float, float] | type[bool]
) -> Callable[[_Class], _Class]:
    """Declares the lowest and highest value of parameters, or that they are flags; checked before a game begins.

    A method ``check`` of the rules may check more. A parameter ``players`` is the number of seats.

    Args:
        together: What several parameters make: in words, as a function of the rules, and at most how much.
        ranges: By parameter; ``squares`` is ``rows * columns``.
    """

    def add(rules_class: _Class) -> _Class:
        more = getattr(rules_class, "check", None)

        def check(self: Any) -> None:
            needs = [_range(name, values) for name, values in ranges.items()]
            needs += [f"{what} of at most {most}" for what, _, most in together]
            given = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            for name, values in ranges.items():
                value = self.rows * self.columns if name == "squares" else getattr(self, name)
                fits = values[0] <= value <= values[1] if isinstance(values, tuple) else value in (0, 1)
                if not fits or any(function(self) > most for _, function, most in together):
                    raise InvalidSettingError(f"{type(self).__name__} needs {' and '.join(needs)}, not {given}")
            if more is not None:
                more(self)

        rules_class.check = check  # type: ignore[attr-defined]
        if "players" in ranges and not hasattr(rules_class, "seats"):
            rules_class.seats = _seats  # type: ignore[attr-defined]
        return rules_class

    return add


def _seats(self: Any) -> int:
    return int(self.players)


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

    Their class has ``__new__`` and ``_asdict``, and ``_field_defaults``, for the parameters as they are written.
    """

    __slots__ = ()

    def __getnewargs__(self: Any) -> tuple[Any, ...]:
        return tuple(self._asdict().values())

    def __repr__(self: Any) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"


def with_methods(shared: type) -> Callable[[_Class], _Class]:
    """Adds the methods of another class that a class of rules does not write itself."""

    def add(rules_class: _Class) -> _Class:
        for name, method in vars(shared).items():
            if not name.startswith("__") and not hasattr(rules_class, name):
                setattr(rules_class, name, method)
        return rules_class

    return add


def observes(
    shape: Callable[[Any], tuple[int, ...]],
    bounds: Callable[[Any], tuple[int, int]] = lambda rules: (0, 1),
    dtype: str = "int8",
) -> Callable[[_Class], _Class]:
    """Declares the shape of what ``write_observation`` writes, the bounds of its numbers, and their type."""

    def add(rules_class: _Class) -> _Class:
        rules_class.observation_box = lambda self: (shape(self), bounds(self), dtype)  # type: ignore[attr-defined]
        return rules_class

    return add


def layout(self: Any) -> tuple[int, int, int, int, int]:
    """The boards of ``zermelo.envs.rules.boards``, row 0 on top."""
    return self.rows, self.columns, 0, self.columns, 1


def _square_layout(self: Any) -> tuple[int, int, int, int, int]:
    return self.size, self.size, 0, self.size, 1


def write_planes(self: Any, state: Any, seat: int, numbers: Any) -> None:
    """Writes the planes of a seat, of shape (rows, columns, planes)."""
    rows, columns, first, down, right = self.layout()
    planes = self.planes(state, seat)
    for plane in range(len(planes)):
        squares = planes[plane]
        for row in range(rows):
            for column in range(columns):
                place = first + row * down + column * right
                numbers[(row * columns + column) * len(planes) + plane] = contains(squares, place)


def _box(self: Any) -> tuple[tuple[int, ...], tuple[int, int], str]:
    rows, columns = self.layout()[:2]
    return (rows, columns, len(self.planes(self.initial_state(), 0))), (0, 1), "int8"


def _symmetries(self: Any) -> int:
    rows, columns = self.layout()[:2]
    return 8 if rows == columns else 4


def _symmetric_action(self: Any, action: int, symmetry: int) -> int:
    rows, columns = self.layout()[:2]
    return symmetric_square(action, rows, columns, symmetry) if action < rows * columns else action


def _num_actions(self: Any) -> int:
    rows, columns = self.layout()[:2]
    return int(rows * columns)


def _to_move(self: Any, state: Any) -> int:
    return int(state.seat)


def _planes(self: Any, state: Any, seat: int) -> tuple[Any, ...]:
    """The observer's pieces, the opponent's."""
    return (state.mover, state.other) if seat == state.seat else (state.other, state.mover)


_SOURCE = """
def symmetric_state(self, state, symmetry):
    layout = self.layout()
    return State({parts})
"""


def _symmetric_state(state_class: Any) -> Callable[..., Any]:
    """The function of a class of states that sees their boards and squares through a symmetry."""
    through = {
        "Board": "board_seen(state.{}, layout, symmetry)",
        "Square": "symmetric_square(state.{}, layout[0], layout[1], symmetry)",
    }
    kinds = {
        name: getattr(kind, "__forward_arg__", getattr(kind, "__metadata__", ("",))[0])
        for name, kind in state_class.__annotations__.items()
    }
    parts = [through.get(kind, "state.{}").format(name) for name, kind in kinds.items()]
    space = {
        "State": state_class,
        "board_seen": board_seen,
        "symmetric_square": symmetric_square,
        "__name__": __name__,
    }
    run_text(_SOURCE.format(parts=", ".join(parts)), space)
    made: Callable[..., Any] = space["symmetric_state"]
    return made


def board_lines(rules: Any, planes: Sequence[Any], marks: str, empty: str = ".") -> Iterator[str]:
    """The rows of a board as text: the mark of the first plane that has a square."""
    rows, columns, first, down, right = rules.layout()
    for row in range(rows):
        places = [first + row * down + column * right for column in range(columns)]
        yield " ".join(
            next((mark for mark, plane in zip(marks, planes, strict=False) if contains(plane, place)), empty)
            for place in places
        )


def board(
    marks: str,
    *,
    empty: str = ".",
    symmetric: type | None = None,
    squares: Squares = _SQUARES,
    hexagons: bool = False,
) -> Callable[[_Class], _Class]:
    """Declares that ``planes(state, seat)`` says what there is on the squares of a board.

    What the class does not write itself is added: ``layout`` (how squares are numbered), ``num_actions`` and
    ``action_text`` for actions that are squares, ``text``, ``observation_box`` and ``write_observation``, and
    the names of squares for people.

    Args:
        marks: In the text, a mark for each of the first planes of seat 0.
        empty: The mark of other squares.
        symmetric: The class of states, if mirrors and turns of the board (all eight, if it is square) are
            symmetries of the game; ``symmetries``, ``symmetric_state`` and ``symmetric_action`` are added then,
            ``to_move`` if there is a field ``seat``, and for ``Sides`` the ``planes`` of both.
            Actions are squares, but for higher ones, which no symmetry changes.
        squares: How squares are named and clicked; by default row 1 is the uppermost one.
        hexagons: Whether cells are hexagons: each row lies half a cell to the right of the one above.
    """

    def add(rules_class: _Class) -> _Class:
        def text(self: Any, state: Any) -> str:
            lines = board_lines(self, self.planes(state, 0), marks, empty)
            return "\n".join(" " * row * hexagons + line for row, line in enumerate(lines))

        made: dict[str, Callable[..., Any]] = {
            "layout": _square_layout if "size" in rules_class._fields else layout,  # type: ignore[attr-defined]
            "num_actions": _num_actions,
            "text": text,
            "action_text": lambda self, state, action: squares.square(self, action),
            "observation_box": _box,
            "write_observation": write_planes,
        }
        if "seat" in getattr(symmetric, "_fields", ()):
            made["to_move"] = _to_move
        if symmetric is Sides:
            made["planes"] = _planes
        if symmetric is not None:
            made |= {
                "symmetries": _symmetries,
                "symmetric_state": _symmetric_state(symmetric),
                "symmetric_action": _symmetric_action,
            }
        for name, function in made.items():
            if not hasattr(rules_class, name):
                setattr(rules_class, name, function)
        squares_of(rules_class, HEXAGONS if hexagons else squares)
        return rules_class

    return add
