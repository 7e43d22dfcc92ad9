"""AEC environments of which it is known what each agent has seen."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from zermelo.envs.adapters.aec.game import AECGame
from zermelo.envs.adapters.aec.state import EnvState
from zermelo.envs.adapters.aec.unseen import hidden_of
from zermelo.envs.adapters.facts.declared import checked_outcomes
from zermelo.envs.adapters.wrappers import innermost
from zermelo.envs.clone.random_state import replace_generators
from zermelo.envs.errors import EnvFailedError
from zermelo.envs.game import CHANCE, Traits


class InformedAECGame(AECGame):
    """An AEC environment's game where it is known what seats have seen, and how to deal the rest again."""

    def __init__(self, env: Any, traits: Traits, **settings: Any) -> None:
        super().__init__(env, traits, **settings)
        hidden = hidden_of(innermost(env))
        assert hidden is not None, "such games are made only of environments of which it is known"
        self._hidden = hidden

    def information_state_key(self, state: EnvState, seat: int) -> Hashable:
        with self._blame("information_state_key"):
            return state.mover, state.over, self._hidden.key(state.env, self.agents[seat])

    def resample(self, state: EnvState, seat: int, generator: np.random.Generator) -> EnvState:
        if state.over:
            return state
        env = self._copy(state.env)
        replace_generators(env, generator)
        with self._blame("resample"):
            self._hidden.resample(env, self.agents[seat], generator)
            outcomes = tuple(env.chance_outcomes()) if state.mover == CHANCE else ()
        dealt = EnvState(env, state.before, state.totals, state.mover, state.over)
        dealt.outcomes = checked_outcomes(outcomes, self._name) if outcomes else None
        if self.information_state_key(dealt, seat) != self.information_state_key(state, seat):
            raise EnvFailedError(f"resample() of {self._name} changed what {self.agents[seat]!r} has seen")
        return dealt
