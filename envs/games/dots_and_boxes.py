"""Dots and Boxes for two or more players.

Rules: E. R. Berlekamp, J. H. Conway and R. K. Guy, *Winning Ways for your Mathematical Plays*, chapter 16. Between
the dots of a grid, a move draws one line of length one. A player who completes one or two boxes gets them and
moves again, if lines are left. When all lines are drawn, more boxes win.

For more than two players, a seat's utility is the number of players with fewer boxes less the number with more;
with a margin it is the sum of its differences to all other players. Either way utilities add up to zero, and for
two players they are the usual ones.

Actions, for a grid of ``rows`` x ``columns`` boxes:

    =====================================  ==============================================================
    ``row * columns + column``             the horizontal line above box (row, column); ``row`` may be
                                           ``rows``: the lines at the bottom
    the number of horizontal lines,        the vertical line at the left of box (row, column); ``column``
    plus ``row * (columns + 1) + column``  may be ``columns``: the lines at the right
    =====================================  ==============================================================
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from zermelo.envs.pictures.boards import CELL, FAINT, INK, MARGIN, PAPER, PLAYERS
from zermelo.envs.pictures.canvas import Canvas
from zermelo.envs.pictures.squares import Spot, Squares, whole_text
from zermelo.envs.rules import LOSS, WIN, all_squares, first_column, loss_in, popcount, win_in
from zermelo.envs.rules.bits import bit_index
from zermelo.envs.rules.board_methods import require_limits
from zermelo.envs.rules.boards import mirrored_columns, mirrored_rows, transposed


class DotsAndBoxesState(NamedTuple):
    """The lines drawn, the boxes of each player, and the seat to move.

    Lines are bits of the dot at their upper left end, ``row * (columns + 1) + column``; the players' numbers of
    boxes have six bits each, seat 0 lowest.
    """

    horizontal: int
    vertical: int
    boxes: int
    seat: int


def _dot(row: float, column: float) -> tuple[float, float]:
    return 1.5 * MARGIN + column * CELL, 1.5 * MARGIN + row * CELL


def _lines(rules: Any) -> Iterator[tuple[str, int, int]]:
    """The kind of each line, horizontal or vertical, and the row and column of its first dot."""
    for row, column in itertools.product(range(rules.rows + 1), range(rules.columns)):
        yield "h", row, column
    for row, column in itertools.product(range(rules.rows), range(rules.columns + 1)):
        yield "v", row, column


def paint_lines(rules: Any, state: Any) -> Canvas:
    """Lines, boxes and each player's number of boxes."""
    canvas = Canvas(rules.columns * CELL + 3 * MARGIN, rules.rows * CELL + 3 * MARGIN + CELL // 2, PAPER)
    dots = [*itertools.product(range(rules.rows + 1), range(rules.columns + 1))]
    horizontal, vertical, stride = state.horizontal, state.vertical, rules.columns + 1
    boxes = horizontal & horizontal >> stride & vertical & vertical >> 1
    for number, dot in enumerate(dots):
        if boxes >> number & 1:
            canvas.rectangle(*_dot(*dot), CELL, CELL, (232, 206, 150))
    for kind, row, column in _lines(rules):
        is_drawn = (horizontal if kind == "h" else vertical) >> row * stride + column & 1
        to = _dot(row, column + 1) if kind == "h" else _dot(row + 1, column)
        canvas.line(*_dot(row, column), *to, 6 if is_drawn else 2, INK if is_drawn else FAINT)
    for dot in dots:
        canvas.disk(*_dot(*dot), 7, INK)
    share = canvas.width / rules.players
    for seat in range(rules.players):
        count = str(state.boxes >> 6 * seat & 63)
        canvas.text(share * (seat + 0.5), canvas.height - CELL * 0.4, count, 3, PLAYERS[seat % len(PLAYERS)])
    return canvas


def _spots(rules: Any, names: None) -> Iterator[Spot]:
    wide = CELL * 0.4
    for kind, row, column in _lines(rules):
        middle, size = _dot(row + 0.5, column), (wide, CELL - wide)
        if kind == "h":
            middle, size = _dot(row, column + 0.5), (CELL - wide, wide)
        yield Spot(f"{kind}{row + 1},{column + 1}", *middle, *size)


class _DotsAndBoxesParameters(NamedTuple):
    rows: int = 3
    columns: int = 3
    players: int = 2
    margin: bool = False


class DotsAndBoxes(_DotsAndBoxesParameters):
    """Complete boxes; each one lets you move again.

    Attributes:
        rows: Boxes from top to bottom, at least 1.
        columns: Boxes from left to right, at least 1; ``(rows + 1) * (columns + 1)`` must be at most 64.
        players: Number of players, 2 to 10.
        margin: Whether the utility is the difference of boxes, instead of 1, 0 or -1.
    """

    __slots__ = ()
    board_squares = Squares(size=None, spots=_spots, path=whole_text)

    def check(self) -> None:
        dots = "(rows + 1) * (columns + 1)", (self.rows + 1) * (self.columns + 1), 64
        require_limits(self, dots, rows=(1, 31), columns=(1, 31), players=(2, 10), margin=bool)

    def seats(self) -> int:
        return self.players

    def num_actions(self) -> int:
        return self._horizontals() + self.rows * (self.columns + 1)

    def utility_bounds(self) -> tuple[int, int]:
        if self.margin:
            return (-self._all_boxes(), (self.players - 1) * self._all_boxes())
        return (1 - self.players, self.players - 1)

    def initial_state(self) -> DotsAndBoxesState:
        return DotsAndBoxesState(0, 0, 0, 0)

    def to_move(self, state: DotsAndBoxesState) -> int:
        return state.seat

    def legal_actions(self, state: DotsAndBoxesState, actions: list[int]) -> int:
        count = 0
        for row in range(self.rows + 1):
            line = state.horizontal >> row * (self.columns + 1)
            for column in range(self.columns):
                if not line >> column & 1:
                    actions[count] = row * self.columns + column
                    count += 1
        first = self._horizontals()
        for bit in range(self.rows * (self.columns + 1)):
            if not state.vertical >> bit & 1:
                actions[count] = first + bit
                count += 1
        return count

    def result(self, state: DotsAndBoxesState, action: int) -> DotsAndBoxesState:
        lying, standing = self._line(action)
        horizontal, vertical = state.horizontal | lying, state.vertical | standing
        completed = self._complete(horizontal, vertical) - self._complete(state.horizontal, state.vertical)
        seat = state.seat if completed else (state.seat + 1) % self.players
        return DotsAndBoxesState(horizontal, vertical, state.boxes + (completed << 6 * state.seat), seat)

    def is_terminal(self, state: DotsAndBoxesState) -> bool:
        return self._complete(state.horizontal, state.vertical) == self._all_boxes()

    def utility(self, state: DotsAndBoxesState, seat: int) -> int:
        mine = state.boxes >> 6 * seat & 63
        if self.margin:
            return self.players * mine - self._all_boxes()
        places = 0
        for player in range(self.players):
            theirs = state.boxes >> 6 * player & 63
            places += (theirs < mine) - (theirs > mine)
        return places

    def received(self, state: DotsAndBoxesState, seat: int) -> int:
        """With a margin, the boxes taken: the lines to come do not depend on whose they are."""
        return self.players * (state.boxes >> 6 * seat & 63) if self.margin else 0

    def future(self, state: DotsAndBoxesState) -> DotsAndBoxesState:
        return state._replace(boxes=0) if self.margin else state

    def symmetries(self) -> int:
        return 8 if self.rows == self.columns else 4

    def symmetric_state(self, state: DotsAndBoxesState, symmetry: int) -> DotsAndBoxesState:
        horizontal, vertical = self._seen(state.horizontal, state.vertical, symmetry)
        return DotsAndBoxesState(horizontal, vertical, state.boxes, state.seat)

    def symmetric_action(self, action: int, symmetry: int) -> int:
        lying, standing = self._line(action)
        lying, standing = self._seen(lying, standing, symmetry)
        return self._action(lying, standing)

    def _seen(self, horizontal: int, vertical: int, symmetry: int) -> tuple[int, int]:
        rows, columns, stride = self.rows, self.columns, self.columns + 1
        if symmetry & 1:
            horizontal = mirrored_columns(horizontal, rows + 1, columns, stride)
            vertical = mirrored_columns(vertical, rows, columns + 1, stride)
        if symmetry & 2:
            horizontal = mirrored_rows(horizontal, rows + 1, stride)
            vertical = mirrored_rows(vertical, rows, stride)
        if symmetry & 4:
            lying = transposed(vertical, rows, columns + 1, stride, stride)
            vertical = transposed(horizontal, rows + 1, columns, stride, stride)
            horizontal = lying
        return horizontal, vertical

    def table_part(self, state: DotsAndBoxesState) -> int:
        """Lines that are not drawn."""
        return self.num_actions() - popcount(state.horizontal) - popcount(state.vertical)

    def text(self, state: DotsAndBoxesState) -> str:
        lines = []
        for row in range(self.rows + 1):
            first = row * (self.columns + 1)
            above = ["---" if state.horizontal >> (first + c) & 1 else "   " for c in range(self.columns)]
            lines.append("+" + "+".join(above) + "+")
            if row < self.rows:
                beside = ["|" if state.vertical >> (first + c) & 1 else " " for c in range(self.columns + 1)]
                lines.append("   ".join(beside))
        boxes = ", ".join(str(state.boxes >> 6 * seat & 63) for seat in range(self.players))
        return "\n".join([*lines, f"boxes: {boxes}"])

    def image(self, state: DotsAndBoxesState) -> Any:
        return paint_lines(self, state).image()

    def observation_box(self) -> tuple[tuple[int, int, int], tuple[int, int], str]:
        return (self.rows + 1, self.columns + 1, 2 + self.players), (0, self._all_boxes()), "int8"

    def write_observation(self, state: DotsAndBoxesState, seat: int, numbers: Any) -> None:
        """Planes of shape (rows + 1, columns + 1, 2 + players): lines drawn, and each player's number of boxes.

        Lines to the right of each dot, then lines below it; then the number of boxes of each player, in all
        squares of a plane, the observer's first and the others' in turn.
        """
        planes = 2 + self.players
        for dot in range((self.rows + 1) * (self.columns + 1)):
            numbers[dot * planes] = state.horizontal >> dot & 1
            numbers[dot * planes + 1] = state.vertical >> dot & 1
            for turn in range(self.players):
                numbers[dot * planes + 2 + turn] = state.boxes >> 6 * ((seat + turn) % self.players) & 63

    def action_text(self, state: DotsAndBoxesState, action: int) -> str:
        first = self._horizontals()
        row, column = divmod(action, self.columns) if action < first else divmod(action - first, self.columns + 1)
        return f"{'h' if action < first else 'v'}{row + 1},{column + 1}"

    def _horizontals(self) -> int:
        return (self.rows + 1) * self.columns

    def _line(self, action: int) -> tuple[int, int]:
        """The line of an action, as a horizontal or a vertical one."""
        if action < self._horizontals():
            return 1 << (action + action // self.columns), 0
        return 0, 1 << (action - self._horizontals())

    def _action(self, horizontal: int, vertical: int) -> int:
        """The action that draws the first of some lines."""
        if horizontal:
            return bit_index(horizontal) - bit_index(horizontal) // (self.columns + 1)
        return self._horizontals() + bit_index(vertical)

    def _all_boxes(self) -> int:
        return self.rows * self.columns

    def _complete(self, horizontal: int, vertical: int) -> int:
        """Counts boxes with all four sides. Lines at the lower and right ends are no upper or left sides."""
        return popcount(horizontal & horizontal >> (self.columns + 1) & vertical & vertical >> 1)

    def evaluation(self, state: DotsAndBoxesState, seat: int) -> int:
        """The differences of boxes so far."""
        taken = self._complete(state.horizontal, state.vertical)
        ahead: int = self.players * (state.boxes >> 6 * seat & 63) - taken
        return ahead * (1024 if self.margin else 1000 // self._all_boxes())

    def ordering_hint(self, state: DotsAndBoxesState, action: int) -> int:
        """Lines that complete boxes first, then those after which few boxes can be completed."""
        after: DotsAndBoxesState = self.result(state, action)
        before: int = self._complete(state.horizontal, state.vertical)
        gained = self._complete(after.horizontal, after.vertical) - before
        return 64 * gained - (0 if gained else self._ready(after.horizontal, after.vertical))

    def is_noisy(self, state: DotsAndBoxesState, action: int) -> bool:
        after: DotsAndBoxesState = self.result(state, action)
        return after.boxes != state.boxes

    def bounds(self, state: DotsAndBoxesState) -> tuple[int, int]:
        """Boxes taken stay taken, boxes that can be completed at once can all be taken; the length is known."""
        if self.players > 2:
            return LOSS, WIN
        every = self._all_boxes()
        mine, theirs = state.boxes >> 6 * state.seat & 63, state.boxes >> 6 * (1 - state.seat) & 63
        sure = mine + self._ready(state.horizontal, state.vertical)
        if self.margin and every > 1:
            return 2 * (2 * sure - every), 2 * (every - 2 * theirs)
        left = self.num_actions() - popcount(state.horizontal) - popcount(state.vertical)
        lower = win_in(left) if 2 * sure > every else 0 if 2 * sure == every else loss_in(left)
        upper = loss_in(left) if 2 * theirs > every else 0 if 2 * theirs == every else win_in(left)
        return lower, upper

    def safe_actions(self, state: DotsAndBoxesState, actions: list[int]) -> int:
        """One line that completes a box on each of its sides that has one, if there is such a line; else all.

        No other line is better: any other line has no side in common with these boxes, so it can be drawn next
        instead; and the player who draws this line gains what it completes and moves again.
        """
        if self.players == 2:
            lying, standing = self._completing(state.horizontal, state.vertical)
            if lying | standing:
                actions[0] = self._action(lying, standing)
                return 1
        count: int = self.legal_actions(state, actions)
        return count

    def _ready(self, horizontal: int, vertical: int) -> int:
        below, right = horizontal >> (self.columns + 1), vertical >> 1
        lying, standing = horizontal & below & self._boxes(), vertical & right & self._boxes()
        return popcount(lying & (vertical ^ right) | standing & (horizontal ^ below))

    def _boxes(self) -> int:
        return first_column(self.rows, self.columns + 1) * all_squares(self.columns)

    def _completing(self, horizontal: int, vertical: int) -> tuple[int, int]:
        """Horizontal and vertical lines that complete a box on every side where they have one."""
        stride = self.columns + 1
        below, right = horizontal >> stride, vertical >> 1
        lying, standing = horizontal & below & self._boxes(), vertical & right & self._boxes()
        of_lower, of_upper = standing & below & ~horizontal, (standing & horizontal & ~below) << stride
        of_right, of_left = lying & right & ~vertical, (lying & vertical & ~right) << 1
        top = all_squares(self.columns)
        left = first_column(self.rows, stride)
        lying = of_lower & (of_upper | top) | of_upper & top << self.rows * stride
        return lying, of_right & (of_left | left) | of_left & left << self.columns


def from_openspiel(num_rows: int, num_cols: int, utility_margin: bool) -> DotsAndBoxes:
    """Its parameters under our names."""
    return DotsAndBoxes(num_rows, num_cols, margin=utility_margin)
