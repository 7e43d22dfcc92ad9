"""Moves of many positions at once, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from zermelo.envs.jit.build import Kernel, build
from zermelo.envs.jit.history import starter
from zermelo.envs.rules.history import has_history, without_past
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.words import flat

Longs = NDArray[np.int64]
_CHUNK: Final = 1 << 16
_ROOM: Final = 1 << 21


@dataclass(frozen=True)
class MoveArrays:
    """The moves of some positions."""

    first: int  # the number of the first of them
    exits: Longs  # for each the best that a move which ends the game gives, or NO_EXIT, or UNUSED
    repeats: Longs  # what the mover of each gains where repetition ends the game there
    counts: Longs  # how many other moves each has; a row each in what follows
    again: NDArray[np.bool_]  # whether the same player moves again
    leads: Longs  # what the player has gained
    names: Longs  # the child's part, or its key
    children: Longs  # the child's index in its part (one column), or its state


class MoveLister:
    """Lists the moves of positions of one game, which rules may number (``indexed``), compiled."""

    def __init__(self, game: RulesGame, *, indexed: bool, gains: bool) -> None:
        from zermelo.agents.knowledge.building import list_moves_kernel as kernel

        rules = game.rules
        here = kernel.__name__
        constants = {"HISTORY": has_history(rules), "INDEXED": indexed, "GAINS": gains}
        constants |= {"LEADS": hasattr(rules, "table_lead"), "REPEATS": hasattr(rules, "table_repetition")}
        what = Kernel(kernel.expand, ("int64",) * 4, tuple((f"{here}.{k}", v) for k, v in constants.items()))
        self._run = build(rules, what)
        self._like = starter(rules, 1)(game.initial_state())
        self._size = len(flat(without_past(game.initial_state())))
        self._width = kernel.HEAD + (1 if indexed else self._size)
        room = max(_ROOM, 2 * game.max_legal_actions * self._width)
        self._arrays = [np.zeros(0, np.int64), *(np.empty(_CHUNK, np.int64) for _ in range(3))]
        self._arrays += [np.empty(room, np.int64), np.empty(game.max_legal_actions, np.int64)]
        self._block = np.zeros(kernel.DONE + 1, np.int64)
        self._block[kernel.ROOM : kernel.DONE] = room, self._width, self._size

    def of_states(self, states: Longs) -> Iterator[MoveArrays]:
        self._arrays[0] = np.ascontiguousarray(states)
        return self.of_part(0, len(states))

    def of_part(self, part: int, count: int, first: int = 0) -> Iterator[MoveArrays]:
        """The expansions of the positions of a part, from number ``first`` to before ``count``, in order."""
        _, exits, counts, repeats, children, _ = self._arrays
        self._block[:6] = [each.ctypes.data for each in self._arrays]
        while first < count:
            done = self._run(*self._like, part, first, min(_CHUNK, count - first), self._block.ctypes.data)
            rows = children[: self._block[-1]].reshape(-1, self._width)
            yield MoveArrays(
                first,
                exits[:done].copy(),
                repeats[:done].copy(),
                counts[:done].copy(),
                (rows[:, 1] & 1).astype(bool),
                rows[:, 1] >> 1,
                rows[:, 0].copy(),
                rows[:, 2:].copy(),
            )
            first += done
