"""Any other Gymnasium environment as a single-player game whose states are copies of it.

Rewards, ends and masks come from what ``step`` returns. A live environment keeps none of these, so the first state
is never an end, and its mask is asked of the environment (``zermelo.envs.adapters.masks``). A time limit that
wraps the environment is part of the game.
"""

from __future__ import annotations

import copy
from collections.abc import Generator, Hashable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from zermelo.envs.adapters.actions import codec_for
from zermelo.envs.adapters.adapter import Adapted, Adapter
from zermelo.envs.adapters.facts.found_traits import with_traits
from zermelo.envs.adapters.facts.known import known_facts
from zermelo.envs.adapters.failures import place_of
from zermelo.envs.adapters.masks import GymMask, own_mask, shown_mask
from zermelo.envs.adapters.template import Template
from zermelo.envs.adapters.wrappers import game_name, is_gymnasium, quieten, require_reset, thin
from zermelo.envs.clone.clone_env import clone_env, copier_for
from zermelo.envs.clone.outside_generators import OutsideGenerators
from zermelo.envs.clone.quiet import QUIET
from zermelo.envs.clone.random_state import replace_generators
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.errors import EnvFailedError, GameOverError, ZermeloError, illegal_action
from zermelo.envs.game import Chance, Traits


class GymState:
    """A position: a copy of the environment, never stepped again, and what its last step returned."""

    __slots__ = ("actions", "env", "info", "key", "observation", "over", "total")

    def __init__(
        self, env: Any, total: float, over: bool, info: Mapping[str, Any] | None, observation: Any = None
    ) -> None:
        self.env = env
        self.observation = observation
        self.total = total
        self.over = over
        self.info = info
        self.actions: tuple[int, ...] | None = None
        self.key: Hashable = None


class GymGame:
    """The game of a Gymnasium environment; see the module's text.

    Args:
        env: A live environment that has been reset. It is copied and neither kept nor changed.
        traits: What is known about the game.
        outside: The random generators that steps may draw from and the environment does not hold, which are put
            back after every step; by default all there are.
        seed: Where the game's own stream of random numbers starts.
    """

    def __init__(
        self, env: Any, traits: Traits, *, outside: OutsideGenerators | None = None, seed: int = 0
    ) -> None:
        require_reset(env)
        self.template = Template(lambda live: quieten(thin(clone_env(live))), env)
        raw = self.template.env
        self._name = game_name(raw)
        self._codec = codec_for(raw, None, self._name)
        self._traits = traits
        self._sampled = traits.chance is Chance.SAMPLED
        self.outside = OutsideGenerators(raw) if outside is None else outside
        self._generator = np.random.default_rng(seed)
        self._copy = copier_for(raw)
        facts = known_facts(raw)
        self._mask: GymMask | None = None
        self._redraw_hidden = facts.redraw_hidden
        self._fast_key = facts.key

    @property
    def traits(self) -> Traits:
        return self._traits

    def with_traits(self, traits: Traits, outside: OutsideGenerators) -> GymGame:
        """This game with other traits; states of one are states of the other."""
        changed = copy.copy(self)
        changed._traits = traits
        changed._sampled = traits.chance is Chance.SAMPLED
        changed.outside = outside
        return changed

    def snapshot(self, env: Any) -> GymState:
        require_reset(env)
        raw = self.template.position(env)
        replace_generators(raw, self._generator)
        return GymState(raw, 0.0, False, None)

    def initial_state(self, seed: int = 0) -> GymState:
        env = self._copy(self.template.env)
        replace_generators(env, np.random.default_rng(seed))  # for environments that do not look at the seed
        with self.outside.guard(seed % 2**32, is_reset=True), self._blame(f"reset(seed={seed})"):
            observation, info = env.reset(seed=seed)
        replace_generators(env, self._generator)
        return GymState(env, 0.0, False, info, observation)

    def to_move(self, state: GymState) -> int:
        return 0

    def is_terminal(self, state: GymState) -> bool:
        return state.over

    def utility(self, state: GymState) -> tuple[float, ...]:
        return (state.total,)

    def chance_outcomes(self, state: GymState) -> tuple[tuple[int, float], ...]:
        return ()

    def legal_actions(self, state: GymState) -> tuple[int, ...]:
        if state.actions is None:
            if state.over:
                state.actions = ()
            else:
                with self._blame("its action mask"):
                    mask = shown_mask(state.observation, state.info, self._codec, self._name)
                    if mask is None:
                        mask = self._live_mask(state.env) if state.info is None else own_mask(state.env)
                state.actions = self._codec.all_actions() if mask is None else self._codec.masked(mask)
                if not state.actions:
                    raise GameOverError(f"{self._name} is not over, but its action mask allows no action")
        return state.actions

    def _live_mask(self, env: Any) -> Any:
        """The mask of the first state, of which no step has returned anything."""
        if self._mask is None:
            self._mask = GymMask(env)
        return self._mask.mask(env)

    def result(self, state: GymState, action: int) -> GymState:
        return self._advance(state, action, self._generator if self._sampled else None)

    def sample_result(self, state: GymState, action: int, generator: np.random.Generator) -> GymState:
        return self._advance(state, action, generator)

    def playout_state(self, state: GymState) -> GymState:
        made = GymState(self._copy(state.env), state.total, state.over, state.info, state.observation)
        made.actions = state.actions
        return made

    def play_on(self, state: GymState, action: int, generator: np.random.Generator | None = None) -> GymState:
        if self._sampled and generator is None:
            generator = self._generator
        return self._advance(state, action, generator, state.env)

    def _advance(
        self, state: GymState, action: int, generator: np.random.Generator | None, env: Any = None
    ) -> GymState:
        """The state after an action: of a copy, unless the environment to step is given."""
        if state.over:
            raise GameOverError(f"{self._name} is over: there is no action to play")
        if action not in self.legal_actions(state):
            raise illegal_action(action, f"in {self._name}", self.legal_actions(state))
        env = self._copy(state.env) if env is None else env
        guard: Any = nullcontext()
        if self.outside:
            guard = self.outside.guard(0 if generator is None else int(generator.integers(2**32)))
        if generator is not None:
            replace_generators(env, generator)
            if self._redraw_hidden is not None:
                self._redraw_hidden(env, generator)
        env_action = self._codec.to_env(action)
        with guard, self._blame(f"step({env_action!r})"):
            observation, reward, terminated, truncated, info = env.step(env_action)
            over = bool(terminated or truncated)
            return GymState(env, state.total + float(reward), over, info, observation)

    def key(self, state: GymState) -> Hashable:
        if state.key is None:
            inside = state_key(state.env) if self._fast_key is None else self._fast_key(state.env)
            state.key = (state.over, inside)
        return state.key

    def to_env_action(self, state: GymState, action: int) -> Any:
        return self._codec.to_env(action)

    # -- what inference asks (zermelo.envs.adapters.facts.probe) ----------------------------------------

    def probe(self, state: GymState, action: int, seed: int) -> GymState:
        return self._advance(state, action, np.random.default_rng(seed))

    def draws_from(self) -> frozenset[str]:
        return frozenset(self.outside.drawn)

    def trials(self, state: GymState) -> Generator[None]:
        yield from ()

    def comparable(self, state: GymState) -> Hashable:
        return state.over, state.total, self.position(state)

    def position(self, state: GymState) -> Any:
        return state_key(state.env)

    def sight(self, state: GymState, seat: int) -> Hashable:
        return None if state.observation is None else state_key(state.observation)

    def environment(self, state: GymState) -> Any:
        return state.env

    @contextmanager
    def _blame(self, what: str, hint: str = "") -> Iterator[None]:
        try:
            with QUIET:
                yield
        except ZermeloError:
            raise
        except Exception as error:
            raise EnvFailedError(
                f"{self._name} raised {type(error).__name__} in {what} on a copy of the environment: {error}"
                f"{place_of(error)}{hint}"
            ) from error


def _make(raw: Any, given: Mapping[str, Any], deadline: float) -> Adapted:
    about: dict[str, Any] = {"actions": codec_for(raw, None).size, "deals_again": False}
    return with_traits(GymGame, raw, given, deadline, seats=("player",), **about)


ADAPTER = Adapter(accepts=is_gymnasium, make=_make, copies=True)
