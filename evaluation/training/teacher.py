"""Games of a written evaluation against itself, at native speed, to learn from how they end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from zermelo.agents.evaluators.observed import FeatureSet
from zermelo.envs import Chance
from zermelo.envs.jit.build import Kernel, build
from zermelo.envs.jit.compiling import why_not_compiled
from zermelo.envs.jit.history import starter
from zermelo.envs.rules.history import has_history
from zermelo.evaluation.training.self_play import Played, after

__all__ = ["Teacher"]

_KERNEL_ARGUMENTS: Final = ("int64",) * 7


class Teacher:
    """Plays games of a search of fixed depth with the rules' evaluation; openings and some moves are random.

    Args:
        game, starts: The game, and states to begin at.
        features: What is written down of positions.
        depth: How many moves it looks ahead.
        opening: The most random actions at the beginning.
        explore: The probability of a random action after that.
        longest: Moves after which a game is given up.
        positions: The most that are taken from one game, drawn: neighbours say the same.
        generator: Of all that is drawn.
    """

    def __init__(
        self,
        game: Any,
        starts: Sequence[Any],
        features: FeatureSet,
        *,
        depth: int,
        opening: int,
        explore: float,
        longest: int,
        positions: int,
        generator: np.random.Generator,
    ) -> None:
        from zermelo.evaluation.training import teacher_kernel

        self.game, self.starts, self.features, self.generator = game, starts, features, generator
        self.depth, self.opening, self.longest, self.positions = depth, opening, longest, positions
        self._explore = round(1024 * explore)
        self._kernel = build(game.rules, Kernel(teacher_kernel.play, _KERNEL_ARGUMENTS))
        self._start = starter(game.rules, longest)
        self._size = int(game.max_legal_actions)
        self._memory = np.empty(depth * self._size, np.int64)
        self._dice = np.array([generator.integers(1 << 62), 0], np.int64)
        self._rows = np.empty((longest, len(starts[0])), np.int64)

    @staticmethod
    def can_play(game: Any) -> bool:
        """Whether it has compiled rules with an evaluation, for two players, without chance and history."""
        rules = getattr(game, "rules", None)
        if rules is None or why_not_compiled() or has_history(rules) or not hasattr(rules, "evaluation"):
            return False
        numbers = all(isinstance(part, int) for part in rules.initial_state())
        return numbers and game.traits.seats == 2 and game.traits.chance is Chance.NONE

    def play(self) -> list[Played]:
        """One game; none if it was over before anything was written down, or too long."""
        game, generator = self.game, self.generator
        state = self.starts[int(generator.integers(len(self.starts)))]
        for _ in range(int(generator.integers(self.opening + 1))):
            if game.is_terminal(state):
                return []
            actions = game.legal_actions(state)
            state = after(game, state, actions[int(generator.integers(len(actions)))], generator)
        memory, dice, rows = (array.ctypes.data for array in (self._memory, self._dice, self._rows))
        length = self._kernel(
            *self._start(state), self.depth, memory, self._size, dice, rows, self.longest, self._explore
        )
        if length < 1:
            return []
        chosen = np.sort(generator.permutation(length)[: self.positions])
        states = [type(state)(*row) for row in self._rows[chosen].tolist()]
        entries = self.features.entries(game, states)
        first = float(self._dice[1])
        returns = np.array([first, game.traits.constant - first])[entries.seats]
        received = [game.utility(state)[seat] for state, seat in zip(states, entries.seats, strict=True)]
        return [Played(states, entries, returns - received)]
