"""The positions that a network learns from: the latest ones of its games, seen through symmetries."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.learning.alphazero.self_play import Samples
from zermelo.agents.learning.layout import BATCH, Batch
from zermelo.agents.learning.vector_games import Observer
from zermelo.envs.jit.build import Kernel, build
from zermelo.envs.jit.history import starter
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.words import flat


class Lesson(NamedTuple):
    """A learning step's input: observations, probability of each action (-1: illegal), and return from -1 to 1."""

    observations: NDArray[Any]
    policies: NDArray[np.float32]
    values: NDArray[np.float32]


class Replay:
    """The latest samples, ``capacity`` of them at most; ``added`` is how many there have been."""

    def __init__(self, game: RulesGame, capacity: int, *, value_mix: float = 0.0, symmetries: bool = True) -> None:
        rules = game.rules
        start = starter(rules, 0)(game.initial_state())
        width, words = max(game.max_legal_actions, 1), len(flat(start[1]))
        self.added, self.capacity = 0, capacity
        self._game, self._start, self._mix = game, start, value_mix
        self._symmetries = game.symmetries if symmetries else 1
        self._observer = Observer(game)
        self._rows = Samples(
            np.zeros((capacity, words), np.int64),
            np.full((capacity, width), -1, np.int32),
            np.zeros((capacity, width), np.float32),
            np.zeros(capacity, np.float32),
            np.zeros(capacity, np.float32),
        )
        from zermelo.agents.learning.alphazero.self_play_kernel import present

        constants = tuple(sorted(self._observer.constants.items()))
        self._kernel = build(rules, Kernel(present, ("int64", "int64", BATCH), constants))

    def __len__(self) -> int:
        """Number of samples."""
        return min(self.added, self.capacity)

    def add(self, samples: Samples) -> None:
        """Adds samples, in the place of the oldest."""
        count = len(samples.outcomes)
        places = (self.added + np.arange(count)) % self.capacity
        for name in Samples._fields:
            getattr(self._rows, name)[places[-self.capacity :]] = getattr(samples, name)[-self.capacity :]
        self.added += count

    def draw(self, count: int, generator: np.random.Generator) -> Lesson:
        """Draws samples uniformly, each seen through a random symmetry."""
        return self.lesson(*(generator.integers(most, size=count) for most in (len(self), self._symmetries)))

    def lesson(self, places: NDArray[Any], symmetries: NDArray[Any]) -> Lesson:
        """The samples at some places of the ring, each through a symmetry."""
        rows, count = self._rows, len(places)
        choices = int(self._game.traits.num_actions or 0)
        batch, targets = Batch(), np.empty((count, choices))
        written, states = np.zeros((count, self._observer.size), self._observer.dtype), rows.states[places]
        batch.hold("states", states)
        batch.hold("actions", rows.actions[places].astype(np.int64))
        batch.hold("policies", rows.policies[places].astype(np.float64))
        batch.hold("symmetries", np.asarray(symmetries, np.int64))
        batch.hold("observations", written)
        batch.hold("targets", targets)
        batch.state_words, batch.position_words = rows.states.shape[1], self._observer.words
        batch.width, batch.observed, batch.choices = rows.actions.shape[1], self._observer.size, choices
        self._kernel(*self._start, 0, count, batch)
        values = self._mix * rows.searched[places] + (1 - self._mix) * rows.outcomes[places]
        return Lesson(self._observer.seen(written, states), targets.astype(np.float32), values.astype(np.float32))

    def state(self) -> dict[str, Any]:
        """All samples, for a checkpoint."""
        rows = self._rows._asdict().items()
        return {"replay_added": self.added, **{f"replay_{name}": column[: len(self)] for name, column in rows}}

    def restore(self, kept: dict[str, Any]) -> None:
        """Goes on from what ``state`` gave."""
        self.added = int(kept["replay_added"])
        for name, column in self._rows._asdict().items():
            column[: len(self)] = kept[f"replay_{name}"]
