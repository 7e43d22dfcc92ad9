"""Games of which a search sees another form: their states hold a state of the game inside."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from zermelo.agents.base.branches import skip_branch
from zermelo.agents.evaluators.registry import evaluator_name
from zermelo.envs.capabilities import GameView
from zermelo.envs.errors import EnvFailedError
from zermelo.envs.game import CHANCE


class Sampled(NamedTuple):
    """A state of the game, and the seed of everything that is drawn from it on."""

    state: Any
    seed: int


class SampledOutcomes(NamedTuple):
    """A chance state: the states drawn after an action that was taken in ``before``, with the share of each."""

    before: Sampled
    action: int
    outcomes: tuple[tuple[Sampled, float], ...]


class SampledGame(GameView):
    """A game of chance that can only be simulated, as one that can be searched: sparse sampling.

    An action leads to a chance state that stands for ``width`` draws, of which equal ones are one outcome. Every
    random number comes from the search's seed and the path. Kearns, Mansour and Ng, "A sparse sampling algorithm
    for near-optimal planning in large Markov decision processes", Machine Learning 49 (2002).
    """

    def __init__(self, game: Any, width: int) -> None:
        super().__init__(game)
        self._sample: Callable[..., Any] = game.sample_result
        self._width = width

    def root(self, state: Any, seed: int = 0) -> Sampled:
        return Sampled(state, seed)

    def inner(self, state: Sampled) -> Any:
        return state.state

    def to_move(self, state: Sampled | SampledOutcomes) -> int:
        return CHANCE if isinstance(state, SampledOutcomes) else super().to_move(state)

    def chance_outcomes(self, state: SampledOutcomes) -> Sequence[tuple[int, float]]:
        return [(index, share) for index, (_, share) in enumerate(state.outcomes)]

    def result(self, state: Sampled | SampledOutcomes, action: int) -> Sampled | SampledOutcomes:
        """The states that an action leads to; one state if all draws agree."""
        if isinstance(state, SampledOutcomes):
            return state.outcomes[action][0]
        drawn: dict[Hashable, list[Sampled]] = {}
        failed: EnvFailedError | None = None
        for child_seed in np.random.SeedSequence((state.seed, action)).spawn(self._width):
            generator = np.random.default_rng(child_seed)
            try:
                after = self._sample(state.state, action, generator)
            except EnvFailedError as error:  # the other draws count
                failed = error
                skip_branch(self.inside, error)
                continue
            sample = Sampled(after, int(generator.integers(2**62)))
            # Keys may leave out rewards already received; the draws of one action must not.
            drawn.setdefault((self.inside.key(after), self.inside.utility(after)), []).append(sample)
        if failed is not None and not drawn:
            raise failed
        if len(drawn) == 1:
            return next(iter(drawn.values()))[0]
        count = sum(map(len, drawn.values()))
        outcomes = tuple((equals[0], len(equals) / count) for equals in drawn.values())
        return SampledOutcomes(state, action, outcomes)

    def is_terminal(self, state: Sampled | SampledOutcomes) -> bool:
        return isinstance(state, Sampled) and super().is_terminal(state)

    def legal_actions(self, state: Sampled | SampledOutcomes) -> Sequence[int]:
        return () if isinstance(state, SampledOutcomes) else super().legal_actions(state)

    def utility(self, state: Sampled | SampledOutcomes) -> tuple[float, ...]:
        """Rewards so far; of a chance state those before the action, of which each draw pays its own."""
        return super().utility(state.before if isinstance(state, SampledOutcomes) else state)

    def key(self, state: Sampled | SampledOutcomes) -> Hashable:
        if isinstance(state, SampledOutcomes):
            return super().key(state.before), state.before.seed, state.action
        return super().key(state)


class LookingInside:
    """A function of game and state (an evaluator, a stop test), so that it sees the game that is sampled."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        watched = getattr(function, "watched", None)
        if watched is not None:
            self.watched = lambda check: LookingInside(watched(check))

    def spec(self) -> str:
        return evaluator_name(self._function)

    def __call__(self, game: Any, state: Any, *rest: Any) -> Any:
        return self._function(game.inside, state.state, *rest)


def looking_inside(function: Any) -> Any:
    """A function of game and state, or None, as searches of sampled games call it."""
    return None if function is None else LookingInside(function)
