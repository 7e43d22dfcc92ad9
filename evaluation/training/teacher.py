"""Games of a search against itself at native speed, to learn from how they end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from zermelo.agents.evaluators.fitted.observed import FeatureSet
from zermelo.agents.evaluators.fitted.pattern_tables import PatternTables
from zermelo.envs import Chance
from zermelo.envs.jit.build import Kernel, build
from zermelo.envs.jit.compiling import why_not_compiled
from zermelo.envs.jit.history import starter
from zermelo.envs.rules.history import has_history
from zermelo.evaluation.training import teacher_kernel
from zermelo.evaluation.training.self_play import Played
from zermelo.evaluation.training.teacher_kernel import UNKNOWN

_KERNEL_ARGUMENTS: Final = ("int64",) * 10


class Teacher:
    """Plays games of a shallow search, with the rules' evaluation or with one that was fitted.

    Some moves at the beginning of a game are random. What is written down are positions that no random move comes
    after: then how the game ends is what a position is worth between equals, also after moves that nobody would
    choose; and such positions are what searches ask about most.

    Args:
        game, starts: The game, and states to begin at.
        features: What is written down of positions.
        depths: How many moves it looks ahead: each game has one of them.
        opening: After at most how many moves none is random.
        explore: The probability of a random move until then.
        longest: Moves after which a game is given up.
        positions: The most that are taken from one game, drawn: neighbours say the same.
        generator: Of all that is drawn.
        fitted: Patterns to evaluate by in place of the rules' evaluation; every other game one seat has that.
        mixed: Of what a position is worth, the part that is how the game ended; the rest is what a search with
            those patterns said, where that is known.
    """

    def __init__(
        self,
        game: Any,
        starts: Sequence[Any],
        features: FeatureSet,
        *,
        depths: Sequence[int],
        opening: int,
        explore: float,
        longest: int,
        positions: int,
        generator: np.random.Generator,
        fitted: PatternTables | None = None,
        mixed: float = 1.0,
    ) -> None:
        self.game, self.starts, self.features, self.generator = game, starts, features, generator
        self.depths, self.opening, self.longest, self.positions = depths, opening, longest, positions
        self._fitted, self._mixed = fitted, mixed
        self._explore = round(1024 * explore)
        self._kernel = build(game.rules, Kernel(teacher_kernel.play, _KERNEL_ARGUMENTS))
        self._start = starter(game.rules, longest)
        self._size = int(game.max_legal_actions)
        self._memory = np.empty((max(depths) + teacher_kernel.QUIESCENCE + 2) * self._size, np.int64)
        self._dice = np.array([generator.integers(1 << 62), 0, 0], np.int64)
        self._rows = np.empty((longest, len(starts[0]) + 1), np.int64)

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
        until = int(generator.integers(self.opening + 1))
        depth = self.depths[int(generator.integers(len(self.depths)))]
        tables = [0, 0] if self._fitted is None else [self._fitted.address] * 2
        other = int(generator.integers(4))
        if other < 2:
            tables[other] = 0
        memory, dice, rows = (array.ctypes.data for array in (self._memory, self._dice, self._rows))
        length = self._kernel(
            *(*self._start(state), depth, memory, self._size, dice, rows, self.longest, self._explore, until),
            *tables,
        )
        if length < 1:
            return []
        chosen = np.sort(generator.permutation(length)[: self.positions])
        states = [type(state)(*row) for row in self._rows[chosen, :-1].tolist()]
        entries = self.features.entries(game, states)
        lower, upper = game.traits.utility_bounds
        said = self._rows[chosen, -1]
        looks = lower + (upper - lower) / (1.0 + np.exp(-np.where(said == UNKNOWN, 0, said) / 1024.0))
        share = np.where(said == UNKNOWN, 1.0, self._mixed)
        first = share * float(self._dice[1]) + (1.0 - share) * looks
        returns = np.where(entries.seats == 0, first, game.traits.constant - first)
        received = [game.utility(state)[seat] for state, seat in zip(states, entries.seats, strict=True)]
        return [Played(states, entries, returns - received)]
