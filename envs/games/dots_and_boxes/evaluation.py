"""Dots and Boxes knowledge for searches: evaluation, move ordering, and what a solver leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zermelo.envs.rules import LOSS, WIN, all_squares, first_column, loss_in, popcount, win_in

if TYPE_CHECKING:
    from zermelo.envs.games.dots_and_boxes.rules import DotsAndBoxesState


class DotsAndBoxesKnowledge:
    """The methods for searches."""

    def evaluation(self: Any, state: DotsAndBoxesState, seat: int) -> int:
        """The differences of boxes so far."""
        taken = self._complete(state.horizontal, state.vertical)
        ahead: int = self.players * (state.boxes >> 6 * seat & 63) - taken
        return ahead * (1024 if self.margin else 1000 // self._all_boxes())

    def ordering_hint(self: Any, state: DotsAndBoxesState, action: int) -> int:
        """Lines that complete boxes first, then those after which few boxes can be completed."""
        after: DotsAndBoxesState = self.result(state, action)
        gained: int = self._complete(after.horizontal, after.vertical) - self._complete(
            state.horizontal, state.vertical
        )
        return 64 * gained - (0 if gained else self._ready(after.horizontal, after.vertical))

    def is_noisy(self: Any, state: DotsAndBoxesState, action: int) -> bool:
        after: DotsAndBoxesState = self.result(state, action)
        return after.boxes != state.boxes

    def bounds(self: Any, state: DotsAndBoxesState) -> tuple[int, int]:
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

    def safe_actions(self: Any, state: DotsAndBoxesState, actions: list[int]) -> int:
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

    def _ready(self: Any, horizontal: int, vertical: int) -> int:
        below, right = horizontal >> (self.columns + 1), vertical >> 1
        lying, standing = horizontal & below & self._boxes(), vertical & right & self._boxes()
        return popcount(lying & (vertical ^ right) | standing & (horizontal ^ below))

    def _boxes(self: Any) -> int:
        return first_column(self.rows, self.columns + 1) * all_squares(self.columns)

    def _completing(self: Any, horizontal: int, vertical: int) -> tuple[int, int]:
        """Horizontal and vertical lines that complete a box on every side where they have one."""
        stride = self.columns + 1
        below, right = horizontal >> stride, vertical >> 1
        lying, standing = horizontal & below & self._boxes(), vertical & right & self._boxes()
        of_lower, of_upper = standing & below & ~horizontal, (standing & horizontal & ~below) << stride
        of_right, of_left = lying & right & ~vertical, (lying & vertical & ~right) << 1
        top = all_squares(self.columns)
        left = first_column(self.rows, stride)
        return (
            of_lower & (of_upper | top) | of_upper & top << self.rows * stride,
            of_right & (of_left | left) | of_left & left << self.columns,
        )
