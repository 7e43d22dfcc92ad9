"""Environments and agents as people give them: by name, by a function that makes one, or as a live object."""

from __future__ import annotations

import copy
import functools
import pickle
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard

from zermelo.agents import Agent
from zermelo.envs import InvalidSettingError, ZermeloError
from zermelo.envs.adapters.wrappers import game_name, is_aec, is_gymnasium
from zermelo.evaluation.errors import AgentStartError, EnvironmentFailureError

if TYPE_CHECKING:
    from zermelo.evaluation.isolation.keeping import Keeper
    from zermelo.evaluation.isolation.settings import Isolation

__all__ = [
    "AgentSource",
    "Entrant",
    "EnvSource",
    "build_agent",
    "build_env",
    "entrants",
    "env_name",
    "is_live",
    "require_picklable",
]

EnvSource = Any
"""A name, a function (or class, or PettingZoo module) that makes an environment, or a live environment."""

AgentSource = str | Agent | Callable[[], Agent]
"""The text of an agent, a live agent, or a function (or class) that makes one."""


def is_live(source: EnvSource) -> bool:
    """Whether this is an environment already, rather than the means to make one."""
    return not isinstance(source, type | str) and (is_aec(source) or is_gymnasium(source))


def env_name(source: EnvSource) -> str:
    """What records and tables call the environment."""
    if isinstance(source, str):
        return source
    if is_live(source):
        return game_name(source)
    if isinstance(source, ModuleType):
        return source.__name__
    module = getattr(source, "__module__", "")
    return f"{module}:{getattr(source, '__qualname__', type(source).__name__)}"


def build_env(source: EnvSource) -> tuple[Any, str]:
    """The live environment and its name.

    Raises:
        UnknownNameError: No environment has that name.
        InvalidSettingError: It is neither a name nor an environment nor something that makes one.
        EnvironmentFailureError: Making it raised.
    """
    name = env_name(source)
    if is_live(source):
        return source, name
    try:
        if isinstance(source, str):
            from zermelo.envs import make_env

            return make_env(source), name
        if isinstance(source, ModuleType) and hasattr(source, "env"):
            return source.env(), name
        if callable(source):
            return source(), name
    except ZermeloError:
        raise
    except Exception as error:
        raise EnvironmentFailureError(
            f"the environment {name} cannot be made: {type(error).__name__}: {error}"
        ) from error
    raise InvalidSettingError(
        f"env must be a name such as 'classic/connect_four-v3', a function that makes an environment, or a live "
        f"environment, not {source!r}"
    )


def _is_agent(source: Any) -> TypeGuard[Agent]:
    """Whether this can play; unlike the protocol's own check, it may lack a name."""
    methods = (getattr(source, name, None) for name in ("act", "reset"))
    return not isinstance(source, type) and all(callable(method) for method in methods)


def build_agent(source: AgentSource) -> Agent:
    """The live agent.

    Raises:
        UnknownNameError: No agent has that name.
        InvalidSettingError: It is neither the text of an agent nor an agent nor something that makes one.
        AgentStartError: Making it raised.
    """
    if isinstance(source, str):
        from zermelo.agents import make_agent

        source_name: str = source
        make: Callable[[], Any] = functools.partial(make_agent, source)
    elif _is_agent(source):
        return source
    elif callable(source):
        source_name, make = getattr(source, "__qualname__", repr(source)), source
    else:
        raise InvalidSettingError(
            "an agent is text such as 'alphabeta(depth=4)', an object with act(env) and reset(seed), or a "
            f"function that makes one, not {source!r}"
        )
    try:
        agent = make()
    except ZermeloError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise AgentStartError(f"the agent {source_name} cannot be made: {reason}") from error
    if not _is_agent(agent):
        raise InvalidSettingError(f"{source_name} made {agent!r}, which has no act(env) and reset(seed)")
    return agent


@dataclass(frozen=True)
class Entrant:
    """One agent of a tournament: its unique name in the tables, and what makes it.

    Attributes:
        name: In the tables.
        source: What makes it.
        isolation: The limits that it runs under in a process of its own; None for an agent inside the worker.
    """

    name: str
    source: AgentSource
    isolation: Isolation | None = None

    @property
    def may_be_made_here(self) -> bool:
        """Whether making it in this process runs none but this package's code."""
        return self.isolation is None or _is_builtin(self.source)

    def player(self, keeper: Keeper, copies: int = 0) -> Agent:
        """The agent as matches need it: itself, or what speaks for it in a process of the keeper's.

        Raises:
            AgentStartError: As ``build`` does.
        """
        if self.isolation is None:
            return self.build(copies)
        from zermelo.evaluation.isolation.isolated import IsolatedAgent

        return IsolatedAgent(self.source, self.name, self.isolation, keeper)

    def build(self, copies: int = 0) -> Agent:
        """The agent; a live one is handed out itself at first and then in copies.

        Raises:
            AgentStartError: A live agent is needed in two seats and cannot be copied.
        """
        agent = build_agent(self.source)
        if agent is not self.source or not copies:
            return agent
        try:
            return copy.deepcopy(agent)
        except Exception as error:
            raise AgentStartError(
                f"{self.name} is needed in two seats of a game and cannot be copied ({error}): give a function "
                "that makes it instead"
            ) from error


def entrants(
    agents: Sequence[AgentSource] | Mapping[str, AgentSource], isolation: Isolation | None = None
) -> tuple[Entrant, ...]:
    """The agents of a tournament, each made once to see that it can be, under names that differ.

    Args:
        agents: Agents, or agents by the names that the tables should use. Equal names get ``#1``, ``#2``.
        isolation: Which of them get processes of their own, and are made there; None for none of them.

    Raises:
        ZermeloError: One of them cannot be made; no game should start.
    """
    if isinstance(agents, str) or not isinstance(agents, Sequence | Mapping):
        raise InvalidSettingError(f"agents must be a list of agents, not {agents!r}")
    sources = list(agents.values()) if isinstance(agents, Mapping) else list(agents)
    limits = [isolation if isolation and isolation.applies_to(source) else None for source in sources]
    own_names = _own_names(sources, limits)
    if isinstance(agents, Mapping):
        return tuple(map(Entrant, map(str, agents), sources, limits))
    names = [name or _called(source) for name, source in zip(own_names, sources, strict=True)]
    counts, seen = Counter(names), Counter[str]()
    result = []
    for name, source, limit in zip(names, sources, limits, strict=True):
        seen[name] += 1
        result.append(Entrant(f"{name}#{seen[name]}" if counts[name] > 1 else name, source, limit))
    return tuple(result)


def _own_names(sources: Sequence[AgentSource], limits: Sequence[Isolation | None]) -> list[str | None]:
    """What each agent calls itself, once it has been made."""
    from zermelo.evaluation.isolation.isolated import IsolatedAgent
    from zermelo.evaluation.isolation.keeping import Keeper

    keeper = Keeper()
    names: list[str | None] = []
    try:
        for source, limit in zip(sources, limits, strict=True):
            if limit is None:
                name = getattr(build_agent(source), "name", None)
                names.append(None if name is None else str(name))
            else:
                trial = IsolatedAgent(source, _called(source), limit, keeper)
                name = trial.start()
                # A name made of a function inside another one says less than the text that it was made from.
                nameless = name is not None and ("<locals>" in name or "<lambda>" in name)
                names.append(None if nameless and isinstance(source, str) else name)
                trial.close()
    finally:
        keeper.close()
    return names


def _is_builtin(source: AgentSource) -> bool:
    from zermelo.agents.specs import runs_own_code

    if isinstance(source, str):
        return not runs_own_code(source)
    return type(source).__module__.startswith("zermelo.agents.") and not isinstance(source, type)


def _called(source: AgentSource) -> str:
    return source if isinstance(source, str) else getattr(source, "__qualname__", type(source).__name__)


def require_picklable(value: Any, what: str, name: str) -> None:
    """Checks that worker processes can be given this.

    Raises:
        InvalidSettingError: It cannot be pickled, or is a live environment.
    """
    advice = "give a name or a function at the top level of a module, or play with workers=1"
    try:
        pickle.dumps(value)
    except Exception as error:
        raise InvalidSettingError(
            f"{what} {name} cannot be sent to worker processes ({type(error).__name__}: {error}): {advice}"
        ) from error
