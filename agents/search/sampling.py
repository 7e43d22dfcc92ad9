"""Chance that can only be simulated, as chance that can be searched: sparse sampling.

An action of the player leads to a chance state that stands for ``width`` draws; equal draws (by the game's key)
are one outcome with their share of the probability. Every random number comes from the search's seed and the path,
so the same seed gives the same tree, and the environment's own next draw is never seen.

Kearns, Mansour and Ng, "A sparse sampling algorithm for near-optimal planning in large Markov decision processes",
Machine Learning 49 (2002).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from zermelo.envs import CHANCE, Traits

__all__ = ["Draws", "LookingInside", "Sampled", "SampledGame", "as_sampled", "looking_inside"]


class Sampled(NamedTuple):
    """A state of the game, and the seed of everything that is drawn from it on."""

    state: Any
    seed: int


class Draws(NamedTuple):
    """A chance state: the states that were drawn, with the share of draws that gave each."""

    outcomes: tuple[tuple[Sampled, float], ...]


class SampledGame:
    """A game of sampled chance, with chance states made of draws.

    Args:
        game: The game; it has ``sample_result(state, action, generator)``.
        width: How many draws stand for a chance state.
    """

    def __init__(self, game: Any, width: int) -> None:
        self._game = game
        self._width = width

    @property
    def inside(self) -> Any:
        """The game that is sampled."""
        return self._game

    @property
    def traits(self) -> Traits:
        """Those of the game."""
        traits: Traits = self._game.traits
        return traits

    def root(self, state: Any, seed: int) -> Sampled:
        """A state of the game as one of this game, where ``seed`` decides all draws."""
        return Sampled(state, seed)

    def initial_state(self) -> Sampled:
        """The game's initial state, with seed 0."""
        return Sampled(self._game.initial_state(), 0)

    def to_move(self, state: Sampled | Draws) -> int:
        """The seat to move, or ``CHANCE`` at draws."""
        if isinstance(state, Draws):
            return CHANCE
        mover: int = self._game.to_move(state.state)
        return mover

    def legal_actions(self, state: Sampled) -> Sequence[int]:
        """The legal actions."""
        actions: Sequence[int] = self._game.legal_actions(state.state)
        return actions

    def chance_outcomes(self, state: Draws) -> Sequence[tuple[int, float]]:
        """Each different draw and its share."""
        return [(index, share) for index, (_, share) in enumerate(state.outcomes)]

    def result(self, state: Sampled | Draws, action: int) -> Sampled | Draws:
        """Draws for an action, or one of the draws; only one state if all draws agree."""
        if isinstance(state, Draws):
            return state.outcomes[action][0]
        seeds = np.random.SeedSequence((state.seed, action)).spawn(self._width)
        drawn: dict[Hashable, list[Sampled]] = {}
        for child_seed in seeds:
            generator = np.random.default_rng(child_seed)
            after = self._game.sample_result(state.state, action, generator)
            sample = Sampled(after, int(generator.integers(2**62)))
            # Keys may leave out rewards already received; the draws of one action must not.
            drawn.setdefault((self._game.key(after), self._game.utility(after)), []).append(sample)
        if len(drawn) == 1:
            return next(iter(drawn.values()))[0]
        return Draws(tuple((equals[0], len(equals) / self._width) for equals in drawn.values()))

    def is_terminal(self, state: Sampled | Draws) -> bool:
        """Whether the game has ended."""
        return isinstance(state, Sampled) and bool(self._game.is_terminal(state.state))

    def utility(self, state: Sampled) -> tuple[float, ...]:
        """The rewards so far."""
        utility: tuple[float, ...] = self._game.utility(state.state)
        return utility

    def key(self, state: Sampled) -> Hashable:
        """The game's key: positions reached twice are sampled once."""
        key: Hashable = self._game.key(state.state)
        return key

    def to_env_action(self, state: Sampled, action: int) -> Any:
        """What ``env.step`` takes."""
        return self._game.to_env_action(state.state, action)


class LookingInside:
    """A function of game and state (an evaluator, a cut-off test), so that it sees the game that is sampled.

    Args:
        function: What to call with the game and the state inside.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        watched = getattr(function, "watched", None)
        if watched is not None:
            self.watched = lambda check: LookingInside(watched(check))

    def __call__(self, game: Any, state: Any, *rest: Any) -> Any:
        """What the function says of the state inside."""
        return self._function(game.inside, state.state, *rest)


def looking_inside(function: Any) -> Any:
    """A function of game and state, or None, as searches of sampled games call it."""
    return None if function is None else LookingInside(function)


def as_sampled(
    game: Any, state: Any, width: int, generator: np.random.Generator, evaluator: Any, cutoff: Any
) -> tuple[SampledGame, Sampled, Any, Any]:
    """A game of sampled chance, a state of it, an evaluator and a cut-off test, as a search takes them.

    Args:
        game: The game.
        state: Where the search starts.
        width: How many draws stand for a chance state.
        generator: Gives the seed of all draws.
        evaluator: Of the game, or None.
        cutoff: Of the game, or None.
    """
    sampled = SampledGame(game, width)
    root = sampled.root(state, int(generator.integers(2**62)))
    return sampled, root, looking_inside(evaluator), looking_inside(cutoff)
