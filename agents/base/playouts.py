"""Random playouts: games played on at random in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from zermelo.agents.base.branches import skip_branch
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.requirements import no_legal_action
from zermelo.envs.capabilities import SupportsPlayouts, offers
from zermelo.envs.errors import EnvFailedError, GameOverError
from zermelo.envs.game import CHANCE, Chance
from zermelo.envs.rules.bits import mix, shift_right


def draw_outcome(outcomes: Sequence[tuple[int, float]], generator: np.random.Generator) -> int:
    """A chance outcome, drawn by its probability."""
    threshold = generator.random()
    for outcome, probability in outcomes:
        threshold -= probability
        if threshold < 0:
            return int(outcome)
    return int(outcomes[-1][0])


def past_chance(game: Any, state: Any, generator: np.random.Generator) -> Any:
    """The next state in which a player is to move or the game is over, chance drawn."""
    while not game.is_terminal(state) and game.to_move(state) == CHANCE:
        state = game.result(state, draw_outcome(game.chance_outcomes(state), generator))
    return state


def after(game: Any, state: Any, action: int, generator: np.random.Generator) -> Any:
    """The state after an action, drawn where chance can only be simulated."""
    if game.traits.chance is Chance.SAMPLED:
        return game.sample_result(state, action, generator)
    return game.result(state, action)


def random_game(game: Any, state: Any, generator: np.random.Generator, most: int) -> Iterator[Any]:
    """The states of a random game in which a player is to move, ``most`` of them at most."""
    for _ in range(most):
        state = past_chance(game, state, generator)
        if game.is_terminal(state):
            return
        yield state
        actions = game.legal_actions(state)
        state = after(game, state, actions[int(generator.integers(len(actions)))], generator)


class Playouts:
    """Plays a game on at random.

    Args:
        generator: Random numbers of chance that can only be simulated.
        longest: Moves after which a playout is cut off, or None.
        guide: Chooses an action from a state and random bits, or a negative number for any action; or None.
        whole: Whether the game may play to the end by itself, which no limit on nodes can stop.

    Attributes:
        own_state: Copies a state, which ``after`` may then change; None where ``after`` changes none.
    """

    cut_off = False
    """The last game did not come to its end."""

    def __init__(
        self,
        game: Any,
        random: RandomNumbers,
        generator: np.random.Generator,
        *,
        longest: int | None = None,
        guide: Callable[[Any, int], int] | None = None,
        whole: bool = False,
    ) -> None:
        self.game, self.random, self.guide = game, random, guide
        self.generator = generator if game.traits.chance is Chance.SAMPLED else None
        self.longest = math.inf if longest is None else longest
        self.mover: Callable[[Any], int] = game.to_move
        self.own_state: Callable[[Any], Any] | None = None
        self.after: Callable[..., Any] = self.result
        if offers(game, SupportsPlayouts):
            self.own_state, self.after = game.playout_state, game.play_on
        self.plays_whole = whole and longest is None and offers(game, SupportsPlayouts)

    def play(
        self, state: Any, budget: Budget, *, is_own: bool = False, ends: float = math.inf
    ) -> tuple[Any, list[tuple[int, int]]]:
        """The state in which a game ends or is cut off, and who took which actions before.

        ``is_own`` says that the state may be changed; ``ends`` is when a game is cut off, by the budget's clock.
        """
        game = self.game
        taken: list[tuple[int, int]] = []
        if self.plays_whole and not game.is_terminal(state):
            budget.check_clock()
            played = game.play_out(state, self.random.bits)
            if played is not None:
                budget.nodes += len(played[1])
                self.cut_off = False
                return played  # type: ignore[no-any-return]  # as SupportsPlayouts says
        if self.own_state is not None and not is_own:
            budget.check_clock()  # a copy may take long
            state = self.own_state(state)
        self.cut_off = True
        is_terminal, to_move, choose, after = game.is_terminal, self.mover, self.action, self.after
        is_timed = ends < math.inf
        for _ in range(MAX_PLAYOUT_STEPS):
            if is_terminal(state):
                self.cut_off = False
                break
            mover = to_move(state)
            if mover == CHANCE:
                state, _ = self.after_chance(state, budget)
                continue
            if len(taken) >= self.longest or (is_timed and budget.now() >= ends):
                break
            budget.visit(0)
            try:
                action = choose(state)
                state = after(state, action, self.generator)
            except (EnvFailedError, GameOverError) as error:
                skip_branch(game, error)
                break
            taken.append((mover, action))
        return state, taken

    def action(self, state: Any) -> Any:
        if self.guide is not None:
            action = self.guide(state, self.random.bits())
            if action >= 0:
                return action
        actions = self.game.legal_actions(state)
        if not actions:
            raise no_legal_action(self.game)
        return int(actions[self.random.below(len(actions))])

    def after_chance(self, state: Any, budget: Budget) -> tuple[Any, int]:
        outcomes = self.game.chance_outcomes(state)
        place = self.random.draw([probability for _, probability in outcomes])
        budget.visit(0)
        return self.after(state, outcomes[place][0], None), outcomes[place][0]

    def through_chance(self, state: Any, budget: Budget) -> tuple[Any, list[int]]:
        """The state once chance has decided, as far as that ever happens, and its outcomes."""
        drawn: list[int] = []
        while len(drawn) < MAX_PLAYOUT_STEPS and not self.game.is_terminal(state) and self.mover(state) == CHANCE:
            state, outcome = self.after_chance(state, budget)
            drawn.append(outcome)
        return state, drawn

    def result(self, state: Any, action: int, generator: np.random.Generator | None) -> Any:
        if generator is None:
            return self.game.result(state, action)
        return self.game.sample_result(state, action, generator)


class JointPlayouts(Playouts):
    """Plays a game of simultaneous moves on at random."""

    def __init__(self, game: Any, random: RandomNumbers, generator: np.random.Generator, *, whole: bool) -> None:
        super().__init__(game, random, generator, whole=whole)
        self.mover = lambda state: 0 if game.movers(state) else CHANCE
        self.own_state, self.after = None, self.result

    def action(self, state: Any) -> Any:
        choices = {seat: self.actions(state, seat) for seat in self.game.movers(state)}
        return {seat: actions[self.random.below(len(actions))] for seat, actions in choices.items()}

    def result(self, state: Any, action: Any, generator: np.random.Generator | None) -> Any:
        if isinstance(action, dict):
            return self.game.joint_result(state, action, generator)
        return self.game.result(state, action)

    def actions(self, state: Any, seat: int) -> Sequence[int]:
        actions: Sequence[int] = self.game.actions_of(state, seat)
        if not actions:
            raise no_legal_action(self.game)
        return actions


MAX_PLAYOUT_STEPS: Final = 10_000
"""Moves and chance events after which a playout is cut off in any game, so that it ends."""
_LOW_HALF: Final = (1 << 32) - 1


class RandomNumbers:
    """A counter, scrambled (``bits.mix``), as kernels have it: a seed gives the same numbers here and there."""

    __slots__ = ("counter",)

    def __init__(self, seed: int) -> None:
        self.counter = seed

    def bits(self) -> int:
        """The next 64 bits, as a signed integer."""
        self.counter += 1
        return mix(self.counter)

    def below(self, count: int) -> int:
        """A whole number from 0 up to ``count``, which is excluded."""
        self.counter += 1
        return (mix(self.counter) >> 32 & _LOW_HALF) * count >> 32

    def uniform(self) -> float:
        """A number from 0.0 up to 1.0, which is excluded."""
        return shift_right(self.bits(), 11) * 2.0**-53

    def draw(self, probabilities: Sequence[float]) -> int:
        """A place, as likely as it says there."""
        threshold = self.uniform()
        for place, probability in enumerate(probabilities):
            threshold -= probability
            if threshold < 0:
                return place
        return len(probabilities) - 1
