"""Games whose states are copies of a live environment: what AEC and Gymnasium have in common."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np

from zermelo.envs.clone.clone_env import copier_for
from zermelo.envs.clone.generators import OutsideGenerators, replace_generators
from zermelo.envs.clone.quiet import QUIET
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.clone.traversal import defines_own
from zermelo.envs.errors import CloneError, EnvFailedError, GameOverError, ZermeloError, illegal_action
from zermelo.envs.game import CHANCE, Chance, Traits
from zermelo.envs.live.failures import place_of
from zermelo.envs.live.spaces import ActionCodec
from zermelo.envs.live.wrappers import game_name, is_dead
from zermelo.envs.traits.known_classes import known_facts

_SLOW: Final = 0.02
"""Seconds that a copy takes which is worth a comparison."""


@dataclass(slots=True, eq=False, repr=False)
class CopiedState:
    """A position: a copy of the environment, never stepped again, and what has been paid on the way to it.

    Attributes:
        env: The copy.
        totals: The rewards so far, seat by seat.
        mover: The seat to move, or ``CHANCE``.
        over: Whether the game has ended.
        before: Rewards up to the step that is under way; differs from ``totals`` at a chance event.
        seen: What the mover observes, where that is known: environments may be slow to find it.
        info: What ``step`` of a Gymnasium environment said besides; None where nothing has been said.
        outcomes: The outcomes of declared chance with their probabilities.
        actions: The legal actions, once somebody has asked.
        key: The key, once somebody has asked.
    """

    env: Any
    totals: tuple[float, ...]
    mover: int = 0
    over: bool = False
    before: tuple[float, ...] = ()
    seen: Any = None
    info: Mapping[str, Any] | None = None
    outcomes: tuple[tuple[Any, float], ...] = ()
    actions: tuple[int, ...] | None = None
    key: Hashable = None

    def __repr__(self) -> str:
        return f"<state of {game_name(self.env)}, {'over' if self.over else f'seat {self.mover} to move'}>"


class CopiedGame:
    """The game of an environment, in which a state is a copy of it.

    Args:
        raw: The environment, or a copy of it, below its checking wrappers.
        template: Makes the copy from which resets start.
        traits: What is known about the game.
        outside: The random generators that steps may draw from and the environment does not hold, which are put
            back after every step; by default all there are.
        seed: Where the game's own stream of random numbers starts, for ``result`` of sampled chance.

    Attributes:
        copying: Seconds that the first copy took.
    """

    def __init__(
        self,
        raw: Any,
        template: Callable[[], Any],
        traits: Traits,
        outside: OutsideGenerators | None,
        seed: int,
    ) -> None:
        begun = time.perf_counter()
        self._template = template()
        self.copying = time.perf_counter() - begun
        self._name = game_name(raw)
        facts = known_facts(raw)
        self._fast_key, self._hidden = facts.key, facts.hidden_of(raw)
        self.outside = OutsideGenerators(raw) if outside is None else outside
        self._generator = np.random.default_rng(seed)
        self._copy = copier_for(self._template)
        self._traits = traits
        self._sampled = traits.chance is Chance.SAMPLED

    @property
    def traits(self) -> Traits:
        return self._traits

    def with_traits(self, traits: Traits, outside: OutsideGenerators) -> Self:
        """This game with other traits; states of one are states of the other."""
        changed = copy.copy(self)
        changed._traits = traits
        changed._sampled = traits.chance is Chance.SAMPLED
        changed.outside = outside
        return changed

    def to_move(self, state: CopiedState) -> int:
        return state.mover

    def is_terminal(self, state: CopiedState) -> bool:
        return state.over

    def utility(self, state: CopiedState) -> tuple[float, ...]:
        """The sum of rewards over the steps since the first state, seat by seat."""
        return state.totals

    def legal_actions(self, state: CopiedState) -> tuple[int, ...]:
        actions = state.actions
        if actions is None:
            is_asked = not state.over and state.mover != CHANCE
            actions = state.actions = self._find_actions(state) if is_asked else ()
        return actions

    def chance_outcomes(self, state: CopiedState) -> tuple[tuple[int, float], ...]:
        return tuple((number, probability) for number, (_, probability) in enumerate(state.outcomes))

    def result(self, state: CopiedState, action: int) -> CopiedState:
        return self._advance(state, action, self._generator if self._sampled else None)

    def sample_result(self, state: CopiedState, action: int, generator: np.random.Generator) -> CopiedState:
        return self._advance(state, action, generator)

    def playout_state(self, state: CopiedState) -> CopiedState:
        return replace(state, env=self._copy(state.env))

    def play_on(
        self, state: CopiedState, action: int, generator: np.random.Generator | None = None
    ) -> CopiedState:
        if self._sampled and generator is None:
            generator = self._generator
        return self._advance(state, action, generator, state.env)

    def play_out(self, state: CopiedState, random: Callable[[], int]) -> None:
        return None

    def key(self, state: CopiedState) -> Hashable:
        if state.key is None:
            inside = state_key(state.env) if self._fast_key is None else self._fast_key(state.env)
            state.key = (state.mover, state.over, inside)
        return state.key

    def to_env_action(self, state: CopiedState, action: int) -> Any:
        return self._codec_of(state).to_env(action)

    # -- what an adapter says ------------------------------------------------------------------------------------

    def _codec_of(self, state: CopiedState) -> ActionCodec:
        raise NotImplementedError

    def _find_actions(self, state: CopiedState) -> tuple[int, ...]:
        raise NotImplementedError

    def _after(self, state: CopiedState, env: Any, returned: Any) -> CopiedState:
        """The state after a step of ``env``, a copy of that of ``state``."""
        raise NotImplementedError

    def _apply_outcome(self, state: CopiedState, index: int, env: Any = None) -> CopiedState:
        raise NotImplementedError

    def _draw_again(self, env: Any, generator: np.random.Generator) -> None:
        """Draws again, before a step, what the environment holds but its only player does not see."""

    def _whose(self, state: CopiedState) -> str:
        """Ends the message on an action that is not legal."""
        return f"in {self._name}"

    def _hint(self, state: CopiedState) -> str:
        """Ends the message on an action that the environment does not take."""
        return ""

    # -- stepping ------------------------------------------------------------------------------------------------

    def _position(self, live: Any, copied: Callable[[Any], Any]) -> Any:
        """A copy of a live environment: the one there is, where its own copy is slow and nothing has happened."""
        if self.copying > _SLOW and defines_own(type(live), "__deepcopy__") and not is_dead(live):
            try:
                if state_key(live) == state_key(self._template):
                    return self._template
            except CloneError:  # something in it cannot be compared
                pass
        return copied(live)

    def _reset(self, seed: int) -> tuple[Any, Any]:
        env = self._copy(self._template)
        replace_generators(env, np.random.default_rng(seed))  # for environments that do not look at the seed
        with self.outside.guard(seed % 2**32, is_reset=True), self._blame(f"reset(seed={seed})"):
            returned = env.reset(seed=seed)
        replace_generators(env, self._generator)
        return env, returned

    def _advance(
        self, state: CopiedState, action: int, generator: np.random.Generator | None, env: Any = None
    ) -> CopiedState:
        """The state after an action: of a copy of its environment, unless the environment to step is given."""
        if state.over:
            raise GameOverError(f"{self._name} is over: there is no action to play")
        if state.mover == CHANCE:
            return self._apply_outcome(state, action, env)
        actions = self.legal_actions(state) if state.actions is None else state.actions
        if action not in actions:
            raise illegal_action(action, self._whose(state), actions)
        codec = self._codec_of(state)
        env_action = action if codec.is_discrete else codec.to_env(action)
        if env is None:
            env = self._copy(state.env)
        if generator is not None:
            replace_generators(env, generator)
            self._draw_again(env, generator)
        with self._guarded(generator) if self.outside.used else QUIET:
            try:
                return self._after(state, env, env.step(env_action))
            except ZermeloError:
                raise
            except Exception as error:
                raise self._failure(f"step({env_action!r})", error, self._hint(state)) from error

    @contextmanager
    def _guarded(self, generator: np.random.Generator | None) -> Iterator[None]:
        seed = 0 if generator is None else int(generator.integers(2**32))
        with self.outside.guard(seed), QUIET:
            yield

    @contextmanager
    def _blame(self, what: str) -> Iterator[None]:
        try:
            with QUIET:
                yield
        except ZermeloError:
            raise
        except Exception as error:
            raise self._failure(what, error) from error

    def _failure(self, what: str, error: Exception, hint: str = "") -> EnvFailedError:
        return EnvFailedError(
            f"{self._name} raised {type(error).__name__} in {what} on a copy of the environment: {error}"
            f"{place_of(error)}{hint}"
        )

    # -- what inference asks (zermelo.envs.traits.observability) -----------------------------------------

    def trials(self, state: CopiedState) -> Generator[None]:
        yield from ()

    def probe(self, state: CopiedState, action: int, seed: int) -> CopiedState:
        return self._advance(state, action, np.random.default_rng(seed))

    def draws_from(self) -> frozenset[str]:
        return frozenset(self.outside.drawn)

    def comparable(self, state: CopiedState) -> Hashable:
        return state.mover, state.over, state.totals, self.position(state)

    def position(self, state: CopiedState) -> Any:
        return state_key(state.env)

    def environment(self, state: CopiedState) -> Any:
        return state.env
