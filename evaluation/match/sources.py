"""Environments and agents as people give them: by name, by a function that makes one, or as a live object."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeGuard

from zermelo.agents.agent import Agent
from zermelo.agents.specs import make_agent, require_env
from zermelo.agents.training.schedules import agent_of, is_agent
from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.clone.outside_state import is_known_to_clone
from zermelo.envs.errors import CloneError, InvalidSettingError, ZermeloError
from zermelo.envs.live.failures import place_of
from zermelo.envs.live.wrappers import game_name, is_aec, is_gymnasium
from zermelo.envs.registration.make import make
from zermelo.evaluation.errors import AgentStartError, EnvironmentFailureError
from zermelo.evaluation.match.faults import ends_the_run
from zermelo.evaluation.match.text import kept_name

EnvSource = Any
"""A name, a function (or class, or PettingZoo module) that makes an environment, or a live environment."""

AgentSource = str | Agent | Callable[[], Agent]
"""The text of an agent, a live agent, or a function (or class) that makes one."""


def is_live(source: EnvSource) -> bool:
    """Whether this is an environment already, rather than the means to make one."""
    return not isinstance(source, type | str) and (is_aec(source) or is_gymnasium(source))


def env_name(source: EnvSource) -> str:
    """The environment's name in records and tables."""
    if isinstance(source, str):
        return source
    if is_live(source):
        return kept_name(game_name(source))
    if isinstance(source, ModuleType):
        return source.__name__
    if isinstance(source, functools.partial):
        return env_name(source.func)
    module = getattr(source, "__module__", "")
    return f"{module}:{getattr(source, '__qualname__', type(source).__name__)}"


def env_title(source: EnvSource, live: Any) -> str:
    """The environment's own name, for people, where it is not called by one of a registry; else empty."""
    is_registered = isinstance(source, str) and ":" not in source
    return "" if is_registered else kept_name(game_name(live))


def build_env(source: EnvSource) -> tuple[Any, str]:
    """The live environment and its name."""
    require_env(source)
    name = env_name(source)
    if is_live(source):
        return source, name
    try:
        if isinstance(source, str):
            return make(source), name
        if isinstance(source, ModuleType) and hasattr(source, "env"):
            return source.env(), name
        if callable(source):
            return source(), name
    except ZermeloError:
        raise
    except Exception as error:
        raise EnvironmentFailureError(
            f"the environment {name} cannot be made: {type(error).__name__}: {error}{place_of(error)}"
        ) from error
    raise InvalidSettingError(
        f"env must be a name such as 'classic/connect_four-v3', a function that makes an environment, or a live "
        f"environment, not {source!r}: it comes before the agents, and after a policy"
    )


def policy_source(policy: Any, name: str = "policy") -> AgentSource:
    """A policy, as ``agent_of`` takes it, as tournaments take agents."""
    policy = os.fspath(policy) if isinstance(policy, os.PathLike) else policy
    if isinstance(policy, type | str) or is_agent(policy):
        source: AgentSource = policy
        return source
    return agent_of(policy, name)


def policy_name(policy: Any) -> str:
    """What tables and titles call a policy: its text, an agent's name, a function's, or a model's class."""
    if isinstance(policy, str | os.PathLike):
        return kept_name(os.fspath(policy))
    if is_agent(policy) and not isinstance(policy, type):
        return kept_name(getattr(policy, "name", "") or type(policy).__name__)
    if isinstance(policy, functools.partial):
        return policy_name(policy.func)
    name = getattr(policy, "__name__", type(policy).__name__)
    return "policy" if name == "<lambda>" else kept_name(name)


class FreshEnvs:
    """Makes environments; a live one is handed out itself."""

    def __init__(self, source: EnvSource) -> None:
        self._source = source
        self._unused: Any = None
        self._asked = False

    def make(self) -> Any:
        """An environment in which nothing has been played, not yet reset.

        Where clones are known to be right, which takes less time than making one, it is a clone of one never used.
        """
        if self._unused is not None:
            return clone_env(self._unused)
        made = build_env(self._source)[0]
        if not self._asked and not is_live(self._source) and is_known_to_clone(made):
            with contextlib.suppress(CloneError):  # then each is made
                self._unused = clone_env(made)
        self._asked = True
        return made


def _is_agent(source: Any) -> TypeGuard[Agent]:
    methods = (getattr(source, name, None) for name in ("act", "reset"))
    return not isinstance(source, type) and all(callable(method) for method in methods)


def _needs_arguments(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(
        one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in parameters
    )


def build_agent(source: AgentSource) -> Agent:
    """The live agent."""
    if isinstance(source, str):
        source_name: str = source
        builder: Callable[[], Any] = functools.partial(make_agent, source)
    elif _is_agent(source):
        return source
    elif callable(source):
        source_name, builder = getattr(source, "__qualname__", repr(source)), source
        if inspect.isfunction(source) and _needs_arguments(source):
            raise AgentStartError(
                f"the agent {source_name} cannot be made: a function in place of an agent makes one, without "
                "arguments; a policy goes in as PolicyAgent(policy=function)"
            )
    else:
        raise InvalidSettingError(
            "an agent is text such as 'alphabeta(depth=4)', an object with act(env) and reset(seed), or a "
            f"function that makes one, not {source!r}"
        )
    try:
        agent = builder()
    except ZermeloError:
        raise
    except BaseException as error:
        if ends_the_run(error):
            raise
        reason = f"{type(error).__name__}: {error}{place_of(error)}"
        raise AgentStartError(f"the agent {source_name} cannot be made: {reason}") from error
    if not _is_agent(agent):
        raise InvalidSettingError(f"{source_name} made {agent!r}, which has no act(env) and reset(seed)")
    return agent
