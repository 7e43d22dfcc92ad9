"""Self-play as tasks of a runner: actors play the games between two trainings, each its share of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.core.tasks import PureWork
from zermelo.agents.evaluators.model_files import require
from zermelo.agents.learning.alphazero.network import answers_of, make_network
from zermelo.agents.learning.alphazero.self_play import AlphaZeroSettings, Samples, SelfPlay, opposed_game


def play_positions(
    play: SelfPlay, answer: Callable[[NDArray[Any]], tuple[NDArray[Any], NDArray[Any]]], count: int
) -> Samples:
    """Plays games until they have given at least ``count`` samples, and returns these."""
    found: list[Samples] = []
    while sum(len(each.outcomes) for each in found) < count:
        samples = play.step(*answer(play.observations))
        if samples is not None:
            found.append(samples)
    return Samples.joined(found)


@dataclass
class ActorWork(PureWork):
    """The games between two trainings as tasks of a runner; an item is an actor's number and its games' state.

    Without a state the games begin.
    """

    rules: Any
    settings: AlphaZeroSettings
    weights: dict[str, NDArray[Any]]

    @functools.cached_property
    def answer(self) -> Callable[[NDArray[Any]], tuple[NDArray[Any], NDArray[Any]]]:
        """The network."""
        torch, play = require("torch", "PyTorch", "torch"), _games_of(self.rules, self.settings)
        torch.set_num_threads(1)
        network = make_network(play.shape, play.choices, self.settings)
        network.load_state_dict({name: torch.from_numpy(part) for name, part in self.weights.items()})
        return answers_of(network, "cpu")

    def run(
        self, item: tuple[int, dict[str, Any] | None], on_turn: Callable[[int], None] | None = None
    ) -> tuple[Samples, dict[str, Any]]:
        """Samples of the games that ended, and the state of the others."""
        (number, state), settings = item, self.settings
        if state is None:
            seed = int(np.random.SeedSequence([settings.seed, number]).generate_state(1)[0])
            play = SelfPlay(opposed_game(self.rules), replace(_share(settings), seed=seed), 1)
        else:
            play = _games_of(self.rules, settings)
            play.restore(state)
        samples = play_positions(play, self.answer, -(-settings.positions // settings.actors))
        return samples, play.state()


def _share(settings: AlphaZeroSettings) -> AlphaZeroSettings:
    return replace(settings, games=-(-settings.games // settings.actors))


@functools.lru_cache(maxsize=1)
def _games_of(rules: Any, settings: AlphaZeroSettings) -> SelfPlay:
    """Games to go on with, made once in a worker."""
    return SelfPlay(opposed_game(rules), _share(settings), 1)
