"""Legal actions of a live environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.live.failures import place_of
from zermelo.envs.live.masks import gym_mask, shown_mask, wants_numpy, writes_own_last
from zermelo.envs.live.spaces import ActionCodec
from zermelo.envs.live.wrappers import game_name, innermost, is_aec, require_reset
from zermelo.envs.support.calls import checked_call
from zermelo.envs.traits.known_classes import known_class


def codec_for(env: Any, agent: Any = None) -> ActionCodec:
    """The codec of an agent's action space, by default of the agent to move."""
    if is_aec(env):
        agent = env.agent_selection if agent is None else agent
        return ActionCodec(space_of(env, agent), f"agent {agent!r} in {game_name(env)}")
    return ActionCodec(env.action_space, game_name(env))


def space_of(env: Any, agent: Any) -> Any:
    """The action space of an agent of an AEC environment, whose ``action_space`` may fail."""
    try:
        return env.action_space(agent)
    except Exception as error:
        spaces = getattr(env, "action_spaces", None)
        if isinstance(spaces, Mapping) and agent in spaces:
            return spaces[agent]
        raise UnsupportedGameError(
            f"action_space({agent!r}) of {game_name(env)} raises {type(error).__name__}: {error}{place_of(error)}"
            "; it must return the space of that agent's actions"
        ) from error


@checked_call
def legal_actions(env: Any) -> list[Any]:
    """The legal actions of the agent to move in a live environment, ascending, as ``env.step`` takes them.

    The environment, an AEC or a Gymnasium one that has been reset, is not changed. There are none for an agent
    that is dead, or when the game is over.

    Raises:
        UnsupportedGameError: It is neither, it has not been reset, or its actions cannot be enumerated.
    """
    require_reset(env)
    if not is_aec(env):
        codec = codec_for(env)
        mask = gym_mask(env)
    else:
        raw = innermost(env)
        if not raw.agents:
            return []
        agent = raw.agent_selection
        if raw.terminations.get(agent) or raw.truncations.get(agent):
            return []
        fast = known_class(raw).legal_actions
        if fast is not None:
            return list(fast(raw))
        codec = codec_for(raw, agent)
        if writes_own_last(raw):
            seen, *_, info = clone_env(raw).last()
        else:
            seen, info = raw.observe(agent), raw.infos.get(agent)
        mask = shown_mask(seen, info, codec, raw)
    actions = codec.all_actions() if mask is None else codec.masked(mask)
    if actions:
        codec.as_numpy = wants_numpy(env, codec, actions[0])
    return [codec.to_env(action) for action in actions]
