"""Games whose states are copies of a live environment: what AEC and Gymnasium have in common."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Generator, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Self

import numpy as np

from zermelo.envs.adapters.facts.known import known_facts
from zermelo.envs.adapters.failures import place_of
from zermelo.envs.adapters.wrappers import game_name, is_dead
from zermelo.envs.clone.clone_env import copier_for
from zermelo.envs.clone.outside_generators import OutsideGenerators
from zermelo.envs.clone.quiet import QUIET
from zermelo.envs.clone.random_state import replace_generators
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.clone.traversal import defines_own
from zermelo.envs.errors import CloneError, EnvFailedError, ZermeloError
from zermelo.envs.game import Chance, Traits

_SLOW: Final = 0.02
"""Seconds that a copy takes which is worth a comparison."""


class CopiedGame:
    """The game of an environment; its states have attributes ``env``, ``over`` and ``key``.

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
        self._fast_key, self._redraw_hidden = facts.key, facts.redraw_hidden
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

    def is_terminal(self, state: Any) -> bool:
        over: bool = state.over
        return over

    def result(self, state: Any, action: int) -> Any:
        return self._advance(state, action, self._generator if self._sampled else None)

    def sample_result(self, state: Any, action: int, generator: np.random.Generator) -> Any:
        return self._advance(state, action, generator)

    def play_on(self, state: Any, action: int, generator: np.random.Generator | None = None) -> Any:
        if self._sampled and generator is None:
            generator = self._generator
        return self._advance(state, action, generator, state.env)

    def key(self, state: Any) -> Hashable:
        if state.key is None:
            inside = state_key(state.env) if self._fast_key is None else self._fast_key(state.env)
            state.key = (self.to_move(state), state.over, inside)
        key: Hashable = state.key
        return key

    # -- what an adapter says ------------------------------------------------------------------------------------

    def to_move(self, state: Any) -> int:
        raise NotImplementedError

    def utility(self, state: Any) -> tuple[float, ...]:
        raise NotImplementedError

    def _advance(self, state: Any, action: int, generator: np.random.Generator | None, env: Any = None) -> Any:
        """The state after an action: of a copy, unless the environment to step is given."""
        raise NotImplementedError

    def _after(self, state: Any, env: Any, returned: Any) -> Any:
        """The state after a step of ``env``, a copy of that of ``state``."""
        raise NotImplementedError

    def _hint(self, state: Any) -> str:
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

    def _step(self, state: Any, action: Any, generator: np.random.Generator | None, env: Any) -> Any:
        """The state after a step of a copy of a state's environment, or of the one given."""
        if env is None:
            env = self._copy(state.env)
        if generator is not None:
            replace_generators(env, generator)
            if self._redraw_hidden is not None:
                self._redraw_hidden(env, generator)
        with self._guarded(generator) if self.outside else QUIET:
            try:
                return self._after(state, env, env.step(action))
            except ZermeloError:
                raise
            except Exception as error:
                raise self._failure(f"step({action!r})", error, self._hint(state)) from error

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

    # -- what inference asks (zermelo.envs.adapters.facts.probe) -------------------------------------------------

    def trials(self, state: Any) -> Generator[None]:
        yield from ()

    def probe(self, state: Any, action: int, seed: int) -> Any:
        return self._advance(state, action, np.random.default_rng(seed))

    def draws_from(self) -> frozenset[str]:
        return frozenset(self.outside.drawn)

    def comparable(self, state: Any) -> Hashable:
        return self.to_move(state), state.over, self.utility(state), self.position(state)

    def position(self, state: Any) -> Any:
        return state_key(state.env)

    def environment(self, state: Any) -> Any:
        return state.env
