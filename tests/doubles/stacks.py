"""Pieces upon pieces: a small game whose players are shown planes that overlap, and an environment of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from doubles.game_envs import SmallEnv

from zermelo.envs.game import Chance

PIECES = 3
"""Of each player: two small ones and a large one, with planes of their own."""


class Stacks(NamedTuple):
    """For each piece, those of the first player first, where it stands on a board of 2 x 2; -1 for nowhere."""

    places: tuple[int, ...] = (-1,) * 2 * PIECES
    mover: int = 0


class StackingGame:
    """Pieces are put on cells where no piece of their size or a larger one stands, until the mover cannot.

    Whoever then has more pieces on the first two cells wins: no mirror or turn but one leaves that as it is.
    """

    traits = SimpleNamespace(name="stacks", seats=2, chance=Chance.NONE)

    def to_move(self, state: Stacks) -> int:
        return state.mover

    def legal_actions(self, state: Stacks) -> list[int]:
        return [
            4 * piece + cell
            for piece in range(PIECES)
            for cell in range(4)
            if state.places[PIECES * state.mover + piece] < 0 and self._is_free(state, cell, piece == 2)
        ]

    def _is_free(self, state: Stacks, cell: int, large: bool) -> bool:
        here = [piece % PIECES == 2 for piece, place in enumerate(state.places) if place == cell]
        return not any(here) and (large or not here)

    def result(self, state: Stacks, action: int) -> Stacks:
        piece, cell = divmod(action, 4)
        places = list(state.places)
        places[PIECES * state.mover + piece] = cell
        return Stacks(tuple(places), 1 - state.mover)

    def is_terminal(self, state: Stacks) -> bool:
        return not self.legal_actions(state)

    def utility(self, state: Stacks) -> tuple[float, float]:
        ahead = sum(place in (0, 1) for place in state.places[:PIECES])
        ahead -= sum(place in (0, 1) for place in state.places[PIECES:])
        return float(ahead), float(-ahead)

    def observation(self, state: Stacks, seat: int) -> Any:
        """A player's own pieces first."""
        seen = np.zeros((2, 2, 2 * PIECES), np.int8)
        for piece, place in enumerate(state.places):
            if place >= 0:
                seen[place // 2, place % 2, (piece + PIECES * seat) % (2 * PIECES)] = 1
        return seen


class StackingEnv(SmallEnv):
    """The same as an AEC environment, whose observations know the mask."""

    def __init__(self) -> None:
        super().__init__(["first", "second"], 4 * PIECES)

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.stacks = Stacks()

    def observe(self, agent: Any) -> Any:
        seat = self.possible_agents.index(agent)
        mask = np.zeros(4 * PIECES, np.int8)
        if seat == self.stacks.mover:
            mask[StackingGame().legal_actions(self.stacks)] = 1
        return {"observation": StackingGame().observation(self.stacks, seat), "action_mask": mask}

    def play(self, agent: Any, action: int) -> None:
        game = StackingGame()
        self.stacks = game.result(self.stacks, action)
        if game.is_terminal(self.stacks):
            self.rewards = dict(zip(self.possible_agents, game.utility(self.stacks), strict=True))
            self.end()
        self.next_agent()
