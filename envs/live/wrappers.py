"""The kind of an environment, and the environment under its wrappers.

A search works below the wrappers that only check; those that change the game are part of it and are kept.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from zermelo.envs.clone.kinds import full_name
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.live.failures import GYM_REPLACED

_CHECKING_WRAPPERS = frozenset(
    {
        "pettingzoo.utils.wrappers.base.BaseWrapper",
        "pettingzoo.utils.wrappers.order_enforcing.OrderEnforcingWrapper",
        "pettingzoo.utils.wrappers.assert_out_of_bounds.AssertOutOfBoundsWrapper",
        "pettingzoo.utils.wrappers.terminate_illegal.TerminateIllegalWrapper",
        "pettingzoo.utils.wrappers.capture_stdout.CaptureStdoutWrapper",
        "gymnasium.wrappers.common.OrderEnforcing",
        "gymnasium.wrappers.common.PassiveEnvChecker",
        "gymnasium.wrappers.common.RecordEpisodeStatistics",
        "gymnasium.wrappers.rendering.HumanRendering",
        "gymnasium.wrappers.rendering.RecordVideo",
        "gymnasium.wrappers.rendering.RenderCollection",
    }
)
TIME_LIMIT = "gymnasium.wrappers.common.TimeLimit"
_KEPT = (TIME_LIMIT, "zermelo.envs.live.sides_env.SidesEnv")


def _class_in(module: str, name: str) -> Any:
    """A class of a module that is already imported, or None: an object of it could not exist otherwise."""
    return getattr(sys.modules.get(module), name, None)


def _is_of(env: Any, name: str, module: str = "pettingzoo.utils.env") -> bool:
    base = _class_in(module, name)
    return base is not None and isinstance(env, base)


def is_aec(env: Any) -> bool:
    """Whether this is an AEC environment: a PettingZoo ``AECEnv``, or an object with the same methods."""
    if _is_of(env, "AECEnv"):
        return True
    methods = ("reset", "step", "observe", "action_space")
    return not is_gymnasium(env) and all(callable(getattr(env, name, None)) for name in methods)


def is_gymnasium(env: Any) -> bool:
    """Whether this is a Gymnasium environment."""
    return _is_of(env, "Env", "gymnasium.core") and not _is_of(env, "AECEnv")


def is_parallel(env: Any) -> bool:
    """Whether this is a PettingZoo ``ParallelEnv``, whose agents move at the same time."""
    return _is_of(env, "ParallelEnv") and not _is_of(env, "AECEnv") and not is_gymnasium(env)


def of_reset(returned: Any) -> tuple[Any, Any]:
    """The observation and the info from what ``reset`` returned; Gym's had no info."""
    if isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], Mapping):
        return returned
    return returned, {}


def of_step(returned: Any) -> Any:
    """Observation, reward, terminated, truncated and info from what ``step`` returned.

    Gym before 0.26 returned four values: the third says that the episode is over, the info whether by a limit.
    """
    if isinstance(returned, tuple) and len(returned) == 4 and isinstance(returned[3], Mapping):
        observation, reward, is_over, info = returned
        is_cut = bool(is_over) and bool(info.get("TimeLimit.truncated", False))
        return observation, reward, bool(is_over) and not is_cut, is_cut, info
    return returned


def innermost(env: Any) -> Any:
    """The environment below the wrappers that only check; a subclass of one may do more, and stays."""
    while full_name(type(env)) in _CHECKING_WRAPPERS:
        env = env.env
    return env


def thin(copy: Any) -> Any:
    """Takes the wrappers that only check out of a copy, also below ``TimeLimit`` and ``sides``, and returns it."""
    copy = innermost(copy)
    if full_name(type(copy)) in _KEPT:
        copy.env = thin(copy.env)
    return copy


def is_patched(raw: Any) -> bool:
    """Whether somebody has put another method in the place of one of an environment's."""
    return not {"step", "observe", "reset"}.isdisjoint(vars(raw))


def game_layers(env: Any) -> list[Any]:
    """The layers that are part of the game, outermost first: all but the wrappers that only check."""
    return [layer for layer in layers(env) if full_name(type(layer)) not in _CHECKING_WRAPPERS]


def layers(env: Any) -> list[Any]:
    """The environment and everything it wraps, outermost first."""
    found = [env]
    while True:
        inner = getattr(found[-1], "__dict__", {}).get("env")
        if inner is None or not (is_aec(inner) or is_gymnasium(inner) or is_parallel(inner)):
            return found
        found.append(inner)


def game_name(env: Any) -> str:
    """The environment's name in messages: its ``metadata["name"]``, its Gymnasium id, or its class."""
    spec = getattr(env, "spec", None)
    metadata = getattr(env, "metadata", None)
    name = getattr(spec, "id", None) or (metadata.get("name") if isinstance(metadata, dict) else None)
    return str(name or type(getattr(env, "unwrapped", env)).__name__)


def require_reset(env: Any) -> None:
    """Raises ``UnsupportedGameError`` for what is no environment with a game in progress."""
    if isinstance(env, type):
        raise UnsupportedGameError(f"{env.__name__} is a class: make an environment of it and reset that")
    if not (is_aec(env) or is_gymnasium(env)) and any(map(is_parallel, layers(env))):
        raise UnsupportedGameError(
            f"{game_name(env)} is a parallel environment, whose agents move at the same time: "
            "pettingzoo.utils.parallel_to_aec(env) makes one of it in which they are asked in turn; reset that"
        )
    all_reset = all(getattr(layer, "__dict__", {}).get("_has_reset", True) for layer in layers(env))
    if is_gymnasium(env):
        if not all_reset:
            raise UnsupportedGameError(f"{game_name(env)} has not been reset: call env.reset() first")
        return
    if not is_aec(env):
        if any(full_name(cls) == "gym.core.Env" for cls in type(env).__mro__):
            raise UnsupportedGameError(
                f"{type(env).__name__} is an environment of Gym, which Gymnasium follows: before its import, "
                f"{GYM_REPLACED}"
            )
        if _is_of(env, "VectorEnv", "gymnasium.vector.vector_env"):
            raise UnsupportedGameError(
                f"{type(env).__name__} steps several environments at once, and a search needs one: give it one of "
                "those that it was made of"
            )
        raise UnsupportedGameError(
            f"cannot see a game in {type(env).__name__} object {shortened(env, 60)}: give an AEC environment, a "
            "Gymnasium environment, an OpenSpiel game or a zermelo Game"
        )
    raw = innermost(env)
    lacking = [name for name in _STATE_OF_PLAY if getattr(raw, name, None) is None]
    if not getattr(raw, "agents", True):  # the game is over, and nobody is selected
        lacking = [name for name in lacking if name != "agent_selection"]
    base = _class_in("pettingzoo.utils.env", "AECEnv")
    uses_base = base is not None and getattr(type(raw), "last", None) is base.last
    was_reset = all_reset and (not uses_base or bool(lacking) or hasattr(raw, "_cumulative_rewards"))
    if was_reset and lacking and getattr(raw, "agents", None) and "agent_selection" not in lacking:
        raise UnsupportedGameError(
            f"{game_name(raw)} has agents, and {raw.agent_selection!r} to move, but no "
            f"{' and no '.join(lacking)}, which an AEC environment has once it is reset: call env.reset(), or if "
            "that was done, pettingzoo.test.api_test(env) says what it lacks"
        )
    if lacking or not was_reset:
        is_rebuilt = any(cls.__name__ == "EzPickle" for cls in type(raw).__mro__)
        hint = "; if it is a copy by copy.deepcopy, the copy lost the game: use zermelo.envs.clone_env"
        raise UnsupportedGameError(
            f"{game_name(raw)} has not been reset: call env.reset() first{hint if is_rebuilt else ''}"
        )


_STATE_OF_PLAY = ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos")


def mute_env(env: Any) -> Any:
    """Sets ``render_mode`` of a copy to None in every layer; a search would open windows and wait for frames."""
    for layer in layers(env):
        attributes = getattr(layer, "__dict__", {})
        if attributes.get("render_mode") is not None:
            attributes["render_mode"] = None
    return env


def is_dead(env: Any) -> bool:
    """Whether an AEC environment asks an agent that is out of the game, whose only action is None."""
    raw = innermost(env)
    agent = getattr(raw, "agent_selection", None)
    if agent is None or not getattr(raw, "agents", None):
        return False
    dead = getattr(raw, "terminations", {}).get(agent) or getattr(raw, "truncations", {}).get(agent)
    return bool(dead) and is_aec(raw)


def seat_agents(raw: Any) -> tuple[Any, ...]:
    """The agents in seat order: ``possible_agents``, or the agents of now where that is not offered."""
    agents = getattr(raw, "possible_agents", None) or raw.agents
    if not agents:
        raise UnsupportedGameError(f"{game_name(raw)} has no agents")
    return tuple(agents)


def shortened(value: Any, most: int = 120) -> str:
    """The ``repr`` of a value, of so many characters at most."""
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 3]}..."
