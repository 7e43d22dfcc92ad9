"""PettingZoo's Hanabi by the OpenSpiel state inside, with its cheap copies and its exact chance."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from zermelo.envs.adapters.adapter import Adapted, Adapter
from zermelo.envs.adapters.facts.declared import declared_traits
from zermelo.envs.adapters.facts.hanabi import sees_all
from zermelo.envs.adapters.openspiel.game import HiddenHands
from zermelo.envs.adapters.wrappers import game_name, innermost
from zermelo.envs.clone.kinds import full_name
from zermelo.envs.game import TraitSource
from zermelo.envs.traits import merge_traits


class HanabiGame(HiddenHands):
    """The game of PettingZoo's Hanabi. Its states are OpenSpiel's.

    Args:
        env: The environment below its checking wrappers.
        given: Fields of ``Traits`` that the caller gave.
    """

    def __init__(self, env: Any, given: Mapping[str, Any]) -> None:
        super().__init__(env.hanabi_env, given)
        self._sees_all = sees_all(env)
        named = replace(self._traits, name=game_name(env), seat_names=tuple(map(str, env.possible_agents)))
        self._traits = merge_traits(
            named, (TraitSource.GIVEN, given), (TraitSource.DECLARED, declared_traits(env))
        )

    def fits(self, env: Any) -> bool:
        return super().fits(env.hanabi_env) and sees_all(env) == self._sees_all

    def snapshot(self, env: Any) -> Any:
        inside = getattr(innermost(env), "hanabi_env", env)
        return super().snapshot(inside)

    def information_state_key(self, state: Any, seat: int) -> Hashable:
        return tuple(state.history()) if self._sees_all else super().information_state_key(state, seat)

    def resample(self, state: Any, seat: int, generator: np.random.Generator) -> Any:
        return state if self._sees_all else super().resample(state, seat, generator)


def _make(raw: Any, given: Mapping[str, Any], deadline: float) -> Adapted:
    return Adapted(HanabiGame(raw, given), {})


ADAPTER = Adapter(
    # With a random start player the environment itself asks the wrong agent first.
    accepts=lambda raw: (
        full_name(type(raw)) == "pettingzoo.classic.hanabi.hanabi.raw_env"
        and not raw._config["random_start_player"]
    ),
    make=_make,
)
