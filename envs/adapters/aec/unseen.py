"""Hidden information, dealt again inside a copy of an environment before an agent sees the copy."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from zermelo.envs.adapters.facts.declared import declared_traits, declares_information
from zermelo.envs.adapters.facts.hidden import Hidden
from zermelo.envs.adapters.facts.known import known_facts
from zermelo.envs.adapters.openspiel.game import SHIMMY, resampled
from zermelo.envs.adapters.wrappers import innermost
from zermelo.envs.clone.kinds import full_name
from zermelo.envs.game import Information


def deal_unseen(env: Any, generator: np.random.Generator, agents: Sequence[Any] | None = None) -> bool:
    """Deals again, in place, what an agent has not seen: its hand, its dice, what it has just chosen unseen.

    Returns:
        False where the environment declares, or is known, to hide something, and nothing says how to deal it.
    """
    raw = innermost(env)
    facts = known_facts(raw)
    if facts.redraw_hidden is not None:
        facts.redraw_hidden(raw, generator)
        return True
    hidden = hidden_of(raw)
    redraw = hidden.resample if hidden is not None else facts.rounds.redraw if facts.rounds is not None else None
    if redraw is not None:
        for agent in [raw.agent_selection] if agents is None else agents:
            redraw(raw, agent, generator)
        return True
    traits = {**facts.traits_of(raw), **declared_traits(raw)}
    return bool(traits.get("information") != Information.HIDDEN)


def hidden_of(raw: Any) -> Hidden | None:
    """The knowledge of an environment's agents, declared by it or known of its class; None if neither."""
    if declares_information(raw):
        return Hidden(_declared_key, _declared_resample)
    if full_name(type(raw)) == SHIMMY:
        return _hidden_of_shimmy(raw)
    return known_facts(raw).hidden


def _declared_key(env: Any, agent: Any) -> Hashable:
    key: Hashable = env.information_state_key(agent)
    return key


def _declared_resample(env: Any, agent: Any, generator: np.random.Generator) -> None:
    env.resample(agent, generator)


def _hidden_of_shimmy(env: Any) -> Hidden | None:
    """For games that OpenSpiel can deal again, and those in which nothing but simultaneous moves is hidden."""
    if _hides_more(env) and isinstance(resampled(env.game_state, 0, np.random.default_rng(0)), str):
        return None
    return Hidden(_shimmy_key, _shimmy_resample)


def _shimmy_key(env: Any, agent: Any) -> Hashable:
    key: Hashable = env.game_state.information_state_string(env.possible_agents.index(agent))
    return key


def _shimmy_resample(env: Any, agent: Any, generator: np.random.Generator) -> None:
    if _hides_more(env):
        env.game_state = resampled(env.game_state, env.possible_agents.index(agent), generator)
        env._update_observations()
    for other in env.simultaneous_actions:
        if other != agent:
            actions = env.game_state.legal_actions(env.possible_agents.index(other))
            env.simultaneous_actions[other] = actions[int(generator.integers(len(actions)))]


def _hides_more(env: Any) -> bool:
    import pyspiel

    return bool(env.game_type.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION)
