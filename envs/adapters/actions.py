"""Legal actions of a live environment."""

from __future__ import annotations

from typing import Any

from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.live.masks import gym_mask, require_mask_before_last, shown_mask, writes_own_last
from zermelo.envs.live.spaces import ActionCodec
from zermelo.envs.live.wrappers import game_name, innermost, is_aec, require_reset
from zermelo.envs.traits.known_classes import known_actions


def codec_for(env: Any, agent: Any, owner: str = "") -> ActionCodec:
    """The codec of an agent's action space (of the one action space, for a Gymnasium environment)."""
    if is_aec(env):
        return ActionCodec(env.action_space(agent), owner or f"agent {agent!r} in {game_name(env)}")
    return ActionCodec(env.action_space, owner or game_name(env))


def legal_actions(env: Any) -> list[Any]:
    """The legal actions of the agent to move in a live environment, as ``env.step`` takes them.

    The environment is not changed: for agents that only need to know what is allowed. Actions come in ascending
    order; there are none for an agent that is dead, or when the game is over.

    Args:
        env: An AEC environment, or a Gymnasium environment, that has been reset.

    Raises:
        UnsupportedGameError: It is neither, it has not been reset, or its actions cannot be enumerated.
    """
    require_reset(env)
    if not is_aec(env):
        codec = codec_for(env, None)
        mask = gym_mask(env)
    else:
        raw = innermost(env)
        if not raw.agents:
            return []
        agent = raw.agent_selection
        if raw.terminations.get(agent) or raw.truncations.get(agent):
            return []
        fast = known_actions(raw)
        if fast is not None:
            return list(fast(raw))
        codec = codec_for(raw, agent)
        if writes_own_last(raw):
            require_mask_before_last(clone_env(raw), agent)
        mask = shown_mask(raw.observe(agent), raw.infos.get(agent), codec, f"{agent!r} in {game_name(raw)}")
    actions = codec.all_actions() if mask is None else codec.masked(mask)
    return [codec.to_env(action) for action in actions]
