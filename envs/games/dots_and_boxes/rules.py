"""Dots and Boxes for two or more players.

Rules: E. R. Berlekamp, J. H. Conway and R. K. Guy, *Winning Ways for your Mathematical Plays*, chapter 16. Between
the dots of a grid, a move draws one line of length one. Who completes one or two boxes gets them and moves again,
if lines are left. When all lines are drawn, more boxes win.

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

from typing import Any, NamedTuple

from zermelo.envs.games.dots_and_boxes.evaluation import DotsAndBoxesKnowledge
from zermelo.envs.games.dots_and_boxes.picture import SQUARES, paint_lines
from zermelo.envs.pictures.boards import draws
from zermelo.envs.pictures.squares import squares_of
from zermelo.envs.rules.bits import bit_index, popcount
from zermelo.envs.rules.board_methods import limits, observes, with_methods
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


@limits(
    ("(rows + 1) * (columns + 1)", lambda rules: (rules.rows + 1) * (rules.columns + 1), 64),
    rows=(1, 31),
    columns=(1, 31),
    players=(2, 10),
    margin=bool,
)
@observes(
    lambda rules: (rules.rows + 1, rules.columns + 1, 2 + rules.players),
    lambda rules: (0, rules.rows * rules.columns),
)
@with_methods(DotsAndBoxesKnowledge)
class DotsAndBoxes(NamedTuple):
    """Complete boxes; each one lets you move again.

    Attributes:
        rows: Boxes from top to bottom, at least 1.
        columns: Boxes from left to right, at least 1; ``(rows + 1) * (columns + 1)`` must be at most 64.
        players: 2 to 10.
        margin: Whether the utility is the difference of boxes, instead of 1, 0 or -1.
    """

    rows: int = 3
    columns: int = 3
    players: int = 2
    margin: bool = False

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
        """The lines seen through a symmetry."""
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


draws(DotsAndBoxes)(paint_lines)
squares_of(DotsAndBoxes, SQUARES)


def from_openspiel(num_rows: int, num_cols: int, utility_margin: bool) -> DotsAndBoxes:
    """Its parameters under our names."""
    return DotsAndBoxes(num_rows, num_cols, margin=utility_margin)
