"""Before an agent's first game: whether it can play there, and what it compiles or loads at first use."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any

from zermelo.agents.agent import Agent
from zermelo.agents.base.configured_agent import ConfiguredAgent
from zermelo.agents.base.machine import default_threads
from zermelo.agents.base.requirements import trusted_traits
from zermelo.agents.policies.models import OnnxAgent, Sb3Agent, TorchAgent
from zermelo.agents.policies.observation import Observation
from zermelo.agents.policies.policy import ViewAgent
from zermelo.agents.search_agent import SearchAgent
from zermelo.envs.adapters.as_game import as_game
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError, ZermeloError
from zermelo.envs.jit.kernel import Wanted
from zermelo.envs.jit.parallel_compile import start_compilers
from zermelo.envs.position import position, search_game
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.evaluation.errors import EnvironmentFailureError
from zermelo.evaluation.match.live_game import EnvDriver


def require_fit(agent: Agent, env: Any, name: str, view: Observation | None = None) -> None:
    """Asks an agent of ours whether it can play this environment, before any game is lost over it.

    A policy is asked for one action: in what the player to move sees, which is ``view`` or read from ``env``.
    """
    try:
        if isinstance(agent, ConfiguredAgent):
            agent.check_fit(env, view)
    except (UnsupportedGameError, InvalidSettingError) as error:
        raise unfit(name, error) from error


def assumptions(agents: Iterable[Agent], env: Any) -> tuple[str, ...]:
    """What searches among the agents take for granted of an environment, and how to say that it is so: a note."""
    if not any(isinstance(agent, SearchAgent) for agent in agents):
        return ()
    traits = as_game(env).traits
    assumed = trusted_traits(traits)
    if not assumed:
        return ()
    told = {name: str(getattr(traits, name)) for name in traits.assumed}
    remedy = f" Where that is right, say so in its class: zermelo_traits = {told}." if told else ""
    return (f"Searches rest on what play did not contradict: {'; '.join(assumed)}.{remedy}",)


def view_for(agent: Agent, driver: EnvDriver) -> Observation | None:
    """What the player to move sees, for a policy; None where the environment fails, as games will say."""
    if isinstance(agent, ViewAgent):
        with contextlib.suppress(EnvironmentFailureError):
            return driver.view()
    return None


def unfit(name: str, error: Exception) -> UnsupportedGameError | InvalidSettingError:
    """The error for an agent that cannot play an environment, with its name."""
    kind = UnsupportedGameError if isinstance(error, UnsupportedGameError) else InvalidSettingError
    return kind(f"{name} cannot play here: {error}")


def start_compiling(agents: Sequence[Agent], env: Any) -> None:
    """Starts to compile what agents of ours will need for a game of rules, on as many processors as there are."""
    searching = [agent for agent in agents if _is_our_search(agent)]  # others' games are not tried for this
    try:
        if len(searching) < 2 or not isinstance(search_game(env), RulesGame):
            return
    except ZermeloError:
        return
    start_compilers([kernel for agent in searching for kernel in _kernels(agent, env)], default_threads())


def _kernels(agent: Any, env: Any) -> list[Wanted]:
    with contextlib.suppress(Exception):  # the game will say so
        root = position(env, backend=agent.backend, traits=agent.traits)
        return agent.kernels(root)  # type: ignore[no-any-return]
    return []


def rehearse(agent: Any, shown: Any, *, strict: bool = False) -> None:
    """Has an agent of ours decide something small: compiled searches and models load what they need at first use.

    An agent of somebody else's is not asked: it may count how often it is. Failures are left to the game, but with
    ``strict`` not those of an agent that does not fit. ``shown`` is an environment or an observation, as it needs.
    """
    try:
        if _is_our_search(agent):
            agent.prepare(shown)
        elif isinstance(agent, OnnxAgent | Sb3Agent | TorchAgent):
            agent.act_on(shown)
    except (UnsupportedGameError, InvalidSettingError) as error:
        if strict:
            raise unfit(agent.name, error) from error
    except Exception:  # noqa: S110 - the game will say so
        pass


def _is_our_search(agent: Any) -> bool:
    return isinstance(agent, SearchAgent) and type(agent).__module__.startswith("zermelo.")
