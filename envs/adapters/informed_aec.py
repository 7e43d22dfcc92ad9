"""AEC environments of which it is known what each agent has seen; and the adapter of all AEC environments."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from zermelo.envs.adapters.actions import codec_for
from zermelo.envs.adapters.adapter import Adapter
from zermelo.envs.adapters.aec import AECGame, EnvState
from zermelo.envs.adapters.facts.cards import Hidden
from zermelo.envs.adapters.facts.declared import declares_information
from zermelo.envs.adapters.facts.found_traits import with_traits
from zermelo.envs.adapters.facts.known import known_facts
from zermelo.envs.adapters.wrappers import innermost, is_gymnasium, seat_agents
from zermelo.envs.clone.random_state import replace_generators
from zermelo.envs.errors import EnvFailedError
from zermelo.envs.game import CHANCE, Traits

__all__ = ["ADAPTER", "InformedAECGame"]


class InformedAECGame(AECGame):
    """An AEC environment's game where it is known what seats have seen, and how to deal the rest again."""

    def __init__(self, env: Any, traits: Traits, **settings: Any) -> None:
        super().__init__(env, traits, **settings)
        raw = innermost(env)
        self._hidden = Hidden(_declared_key, _declared_resample)
        if not declares_information(raw):
            self._hidden = known_facts(raw).hidden or self._hidden

    def information_state_key(self, state: EnvState, seat: int) -> Hashable:
        """All that a seat has seen and done, as the environment, or what is known of its class, says."""
        with self._blame(state.env, "information_state_key"):
            return state.mover, state.over, self._hidden.key(state.env, self.agents[seat])

    def resample(self, state: EnvState, seat: int, generator: np.random.Generator) -> EnvState:
        """A state that the seat cannot tell from this one; at the end, where nothing is to come, this one.

        Raises:
            EnvFailedError: The environment dealt again something that the seat had seen.
        """
        if state.over:
            return state
        env = self._copy(state.env)
        replace_generators(env, generator)
        with self._blame(env, "resample"):
            self._hidden.resample(env, self.agents[seat], generator)
            outcomes = tuple(env.chance_outcomes()) if state.mover == CHANCE else ()
        dealt = EnvState(env, state.before, state.totals, state.mover, state.over)
        dealt.outcomes = self._checked(outcomes) if outcomes else None
        if self.information_state_key(dealt, seat) != self.information_state_key(state, seat):
            raise EnvFailedError(f"resample() of {self._name} changed what {self.agents[seat]!r} has seen")
        return dealt


def _declared_key(env: Any, agent: Any) -> Hashable:
    key: Hashable = env.information_state_key(agent)
    return key


def _declared_resample(env: Any, agent: Any, generator: np.random.Generator) -> None:
    env.resample(agent, generator)


def _make(raw: Any, given: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    agents = seat_agents(raw)
    actions = max(codec_for(raw, agent).size for agent in agents)
    informed = declares_information(raw) or known_facts(raw).hidden is not None
    game = InformedAECGame if informed else AECGame
    return with_traits(game, raw, given, seats=tuple(map(str, agents)), actions=actions)


ADAPTER = Adapter(accepts=lambda raw: not is_gymnasium(raw), make=_make, copies=True)
