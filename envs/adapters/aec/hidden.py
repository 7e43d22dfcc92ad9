"""AEC environments that hide something of which more is known; and the adapter of all AEC.

Of some it is known what agents have seen, of others that agents move at the same time, though they are asked in
turn. ``parallel_to_aec`` makes such environments of parallel ones. In the middle of a round they hold what some
agents have chosen and the others do not see. So a round is always seen from its start: all its agents are the
movers, and ``joint_result`` first takes back, in its copy, whatever has been chosen.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from zermelo.envs.adapters.actions import codec_for
from zermelo.envs.adapters.adapter import Adapted, Adapter
from zermelo.envs.adapters.aec.game import AECGame
from zermelo.envs.adapters.copies import CopiedState
from zermelo.envs.adapters.facts.declared import checked_outcomes, declared_traits
from zermelo.envs.adapters.facts.found_traits import with_traits
from zermelo.envs.adapters.facts.known import known_facts
from zermelo.envs.adapters.wrappers import innermost, is_gymnasium, seat_agents
from zermelo.envs.clone.generators import replace_generators
from zermelo.envs.errors import EnvFailedError, GameOverError, require_actions_of
from zermelo.envs.game import CHANCE, Information, Traits


class InformedAECGame(AECGame):
    """An AEC environment's game where it is known what seats have seen, and how to deal the rest again."""

    def __init__(self, env: Any, traits: Traits, **settings: Any) -> None:
        super().__init__(env, traits, **settings)
        hidden = self._hidden
        assert hidden is not None, "such games are made only of environments of which it is known"
        assert hidden.information_state_key is not None, "as above"
        self._seen_by, self._deal_again = hidden.information_state_key, hidden.resample

    def information_state_key(self, state: CopiedState, seat: int) -> Hashable:
        with self._blame("information_state_key"):
            return state.mover, state.over, self._seen_by(state.env, self.agents[seat])

    def resample(self, state: CopiedState, seat: int, generator: np.random.Generator) -> CopiedState:
        if state.over:
            return state
        env = self._copy(state.env)
        replace_generators(env, generator)
        with self._blame("resample"):
            self._deal_again(env, self.agents[seat], generator)
            outcomes = tuple(env.chance_outcomes()) if state.mover == CHANCE else ()
        dealt = CopiedState(env, state.totals, state.mover, state.over, state.before)
        dealt.outcomes = checked_outcomes(outcomes, self._name) if outcomes else ()
        if self.information_state_key(dealt, seat) != self.information_state_key(state, seat):
            raise EnvFailedError(f"resample() of {self._name} changed what {self.agents[seat]!r} has seen")
        return dealt


class SimultaneousAECGame(AECGame):
    """An AEC environment's game whose agents move at the same time."""

    def __init__(self, env: Any, traits: Traits, **settings: Any) -> None:
        super().__init__(env, traits, **settings)
        hidden = self._hidden
        assert hidden is not None, "such games are made only of classes of which it is known"
        assert hidden.round_start is not None, "as above"
        self._rewind, self._hides_more = hidden.round_start, hidden.hides_more

    def movers(self, state: CopiedState) -> Sequence[int]:
        if state.over or state.mover == CHANCE:
            return ()
        env = state.env
        return [
            seat
            for seat, agent in enumerate(self.agents)
            if agent in env.agents and not (env.terminations.get(agent) or env.truncations.get(agent))
        ]

    def actions_of(self, state: CopiedState, seat: int) -> tuple[int, ...]:
        if seat == state.mover:
            return self.legal_actions(state)
        try:
            return self._masked_actions(state, seat)
        except GameOverError:  # masks that allow something only to who is asked
            asked = self._round_start(state)
            while asked.mover != seat:
                asked = self.play_on(asked, self.legal_actions(asked)[0])
            return self.legal_actions(asked)

    def joint_result(
        self, state: CopiedState, actions: Mapping[int, int], generator: np.random.Generator | None = None
    ) -> CopiedState:
        movers = self.movers(state)
        require_actions_of(movers, actions, self._name)
        after = self._round_start(state)
        for _ in movers:
            after = self.play_on(after, actions[after.mover], generator)
        return after

    def _round_start(self, state: CopiedState) -> CopiedState:
        """The state in which nobody of this round has been asked, as a state of its own."""
        env = self._copy(state.env)
        with self._blame("the start of the round"):
            self._rewind(env)
        return CopiedState(env, state.totals, self._seat(env.agent_selection, env.agents), False, state.before)

    def hides_more(self) -> bool | None:
        return False if self._traits.information is Information.PERFECT else self._hides_more


class SimultaneousInformedGame(SimultaneousAECGame, InformedAECGame):
    """One of which it is known besides what its agents have seen."""


def deal_unseen(env: Any, generator: np.random.Generator, agents: Sequence[Any] = ()) -> bool:
    """Deals again, in place, what the agent to move has not seen: hands, dice, what has just been chosen unseen.

    Args:
        env: A copy of an environment, which an agent is to see.
        generator: Draws what is dealt.
        agents: The agents in place of the one to move.

    Returns:
        False where the environment declares, or is known, to hide something, and nothing says how to deal it.
    """
    raw = innermost(env)
    facts = known_facts(raw)
    hidden = facts.hidden_of(raw)
    if hidden is None:
        traits = {**facts.traits_of(raw), **declared_traits(raw)}
        return bool(traits.get("information") != Information.HIDDEN)
    for agent in agents or [getattr(raw, "agent_selection", None)]:
        hidden.resample(raw, agent, generator)
    return True


def _make(raw: Any, given: Mapping[str, Any], deadline: float) -> Adapted:
    agents = seat_agents(raw)
    actions = max(codec_for(raw, agent).size for agent in agents)
    hidden = known_facts(raw).hidden_of(raw)
    informed = hidden is not None and hidden.information_state_key is not None
    game: type[AECGame] = InformedAECGame if informed else AECGame
    if hidden is not None and hidden.round_start is not None:
        game = SimultaneousInformedGame if informed else SimultaneousAECGame
    about: dict[str, Any] = {"actions": actions, "deals_again": hidden is not None}
    return with_traits(game, raw, given, deadline, seats=tuple(map(str, agents)), **about)


ADAPTER = Adapter(accepts=lambda raw: not is_gymnasium(raw), make=_make, copies=True)
