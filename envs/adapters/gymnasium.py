"""Any other Gymnasium environment as a single-player game whose states are copies of it.

Rewards, ends and masks come from what ``step`` returns. A live environment keeps none of these, so the first state
is never an end, and its mask is asked of the environment (``zermelo.envs.adapters.masks``). A time limit that
wraps the environment is part of the game.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from zermelo.envs.adapters.actions import codec_for
from zermelo.envs.adapters.adapter import Adapted, Adapter
from zermelo.envs.adapters.copies import CopiedGame
from zermelo.envs.adapters.facts.found_traits import with_traits
from zermelo.envs.adapters.masks import GymMask, own_mask, shown_mask
from zermelo.envs.adapters.wrappers import is_gymnasium, quieten, require_reset, thin
from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.clone.outside_generators import OutsideGenerators
from zermelo.envs.clone.random_state import replace_generators
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.errors import GameOverError, illegal_action
from zermelo.envs.game import Traits


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


class GymGame(CopiedGame):
    """The game of a Gymnasium environment; see the module's text."""

    def __init__(
        self, env: Any, traits: Traits, *, outside: OutsideGenerators | None = None, seed: int = 0
    ) -> None:
        require_reset(env)
        super().__init__(env, lambda: _quiet_copy(env), traits, outside, seed)
        self._codec = codec_for(self._template, None, self._name)
        self._mask: GymMask | None = None

    def snapshot(self, env: Any) -> GymState:
        require_reset(env)
        raw = self._position(env, _quiet_copy)
        replace_generators(raw, self._generator)
        return GymState(raw, 0.0, False, None)

    def initial_state(self, seed: int = 0) -> GymState:
        env, (observation, info) = self._reset(seed)
        return GymState(env, 0.0, False, info, observation)

    def to_move(self, state: GymState) -> int:
        return 0

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

    def playout_state(self, state: GymState) -> GymState:
        made = GymState(self._copy(state.env), state.total, state.over, state.info, state.observation)
        made.actions = state.actions
        return made

    def _advance(
        self, state: GymState, action: int, generator: np.random.Generator | None, env: Any = None
    ) -> Any:
        if state.over:
            raise GameOverError(f"{self._name} is over: there is no action to play")
        if action not in self.legal_actions(state):
            raise illegal_action(action, f"in {self._name}", self.legal_actions(state))
        return self._step(state, self._codec.to_env(action), generator, env)

    def _after(self, state: GymState, env: Any, returned: Any) -> GymState:
        observation, reward, terminated, truncated, info = returned
        return GymState(env, state.total + float(reward), bool(terminated or truncated), info, observation)

    def to_env_action(self, state: GymState, action: int) -> Any:
        return self._codec.to_env(action)

    def sight(self, state: GymState, seat: int) -> Hashable:
        return None if state.observation is None else state_key(state.observation)


def _quiet_copy(env: Any) -> Any:
    """A copy for search: it draws nothing on the screen and has no checking wrappers."""
    return quieten(thin(clone_env(env)))


def _make(raw: Any, given: Mapping[str, Any], deadline: float) -> Adapted:
    about: dict[str, Any] = {"actions": codec_for(raw, None).size, "deals_again": False}
    return with_traits(GymGame, raw, given, deadline, seats=("player",), **about)


ADAPTER = Adapter(accepts=is_gymnasium, make=_make, copies=True)
