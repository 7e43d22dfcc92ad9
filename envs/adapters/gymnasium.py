"""Any other Gymnasium environment as a single-player game whose states are copies of it.

Rewards, ends and masks come from what ``step`` returns; the mask of the first state is asked of the environment.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np

from zermelo.envs.adapters.actions import codec_for
from zermelo.envs.adapters.adapting import adapt
from zermelo.envs.adapters.copied_state import CopiedState
from zermelo.envs.adapters.copies import CopiedGame
from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.clone.generators import OutsideGenerators, replace_generators
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.errors import GameOverError, UnsupportedGameError
from zermelo.envs.game import Traits
from zermelo.envs.live.masks import mask_reader, own_mask, shown_mask
from zermelo.envs.live.sides import sides_said
from zermelo.envs.live.wrappers import mute_env, of_reset, of_step, require_reset, thin
from zermelo.envs.traits.merging import AdaptedGame


class GymGame(CopiedGame):
    """The game of a Gymnasium environment; see the module's text."""

    def __init__(
        self, env: Any, traits: Traits, *, outside: OutsideGenerators | None = None, seed: int = 0
    ) -> None:
        require_reset(env)
        super().__init__(env, lambda: _quiet_copy(env), traits, outside, seed)

    def snapshot(self, env: Any) -> CopiedState:
        require_reset(env)
        raw = self._position(env, _quiet_copy)
        replace_generators(raw, self._generator)
        return CopiedState(raw, (0.0,))

    def initial_state(self, seed: int = 0) -> CopiedState:
        env, returned = self._reset(seed)
        observation, info = of_reset(returned)
        return CopiedState(env, (0.0,), seen=observation, info=info)

    def _space(self, state: CopiedState, seat: int) -> Any:
        return state.env.action_space

    def _find_actions(self, state: CopiedState) -> tuple[int, ...]:
        codec = self._codec_of(state)
        with self._blame("its action mask"):
            mask = shown_mask(state.seen, state.info, codec, state.env)
            if mask is None:
                mask = self._read_mask(state.env) if state.info is None else own_mask(state.env)
        actions = codec.all_actions() if mask is None else codec.masked(mask)
        if not actions:
            raise GameOverError(f"{self._name} is not over, but its action mask allows no action")
        return actions

    @functools.cached_property
    def _read_mask(self) -> Callable[[Any], Any]:  # of the first state, of which no step has returned anything
        return mask_reader(self._template)

    def _after(self, state: CopiedState, env: Any, returned: Any) -> CopiedState:
        try:
            observation, reward, terminated, truncated, info = of_step(returned)
        except (TypeError, ValueError):
            many = f"{len(returned)} values" if isinstance(returned, tuple) else type(returned).__name__
            raise UnsupportedGameError(
                f"step of {self._name} must return observation, reward, terminated, truncated and info, not {many}"
            ) from None
        try:
            paid = float(reward) if np.ndim(reward) == 0 else None
        except (TypeError, ValueError):
            paid = None
        if paid is None:
            raise UnsupportedGameError(
                f"a reward of {self._name} must be one number, not {reward!r}: of an array of one return "
                "float(reward[0])"
            )
        if not math.isfinite(paid):
            raise UnsupportedGameError(
                f"a reward of {self._name} must be a finite number, not {reward!r}: pay a number that is large "
                "enough instead, or mask actions that are not allowed"
            )
        over = bool(terminated or truncated)
        return CopiedState(env, (state.totals[0] + paid,), over=over, seen=observation, info=info)

    def _draw_again(self, env: Any, generator: np.random.Generator) -> None:
        super()._draw_again(env, generator)
        if self._hidden is not None:
            self._hidden.resample(env, None, generator)

    def sides_said(self, state: CopiedState) -> Mapping[str, Any]:
        return sides_said(state.env, state.seen, state.info)

    def observation_key(self, state: CopiedState, seat: int) -> Hashable:
        return None if state.seen is None else state_key(state.seen)


def _quiet_copy(env: Any) -> Any:
    """A copy for search: it draws nothing on the screen and has no checking wrappers."""
    return mute_env(thin(clone_env(env)))


def make_game(raw: Any, given: Mapping[str, Any], patience: float) -> AdaptedGame:
    """The game of an environment; see ``as_game.Ecosystem``."""
    about: dict[str, Any] = {"actions": codec_for(raw, None).size, "deals_again": False}
    return adapt(GymGame, raw, given, patience, seats=("player",), **about)
