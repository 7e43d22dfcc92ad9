"""How a policy is beaten: games of a search that asks it what it will play, and of the same search alone.

What asking wins beyond the value of the game is a lower bound of how much the policy can be exploited. Timbers et
al., "Approximate exploitability: learning a best response", IJCAI (2022).
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from zermelo.agents.base.budget import SearchStopped
from zermelo.agents.best_response.agent import BestResponseAgent
from zermelo.agents.best_response.asking import acts_only
from zermelo.agents.best_response.exact import best_response_values
from zermelo.agents.equilibrium.sequence_form import require_few_states
from zermelo.agents.search_agent import SearchAgent
from zermelo.agents.specs import agent_spec, names_agent
from zermelo.envs.adapters.as_game import as_game
from zermelo.envs.capabilities import SupportsCopies, offers
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.spec_text import Spec
from zermelo.evaluation.analysis.attack import FILE, Attack, attack_of
from zermelo.evaluation.errors import TournamentInterrupted
from zermelo.evaluation.match.live_game import EnvDriver, drive_env
from zermelo.evaluation.match.readiness import require_fit, view_for
from zermelo.evaluation.match.sources import (
    AgentSource,
    EnvSource,
    build_agent,
    build_env,
    env_name,
    policy_name,
    policy_source,
)
from zermelo.evaluation.output.standings import Standings
from zermelo.evaluation.storage.files import write_text
from zermelo.evaluation.tournament.openings import Openings
from zermelo.evaluation.tournament.plan import Tournament
from zermelo.evaluation.tournament.run import run
from zermelo.evaluation.tournament.settings import AttackSettings, RunSettings

_PROBE: Final = 2.0  # seconds for asking the policy before the games
_STARTS: Final = 8  # games whose starts are compared
_PATIENCE: Final = 30.0  # seconds that the exact best response may take


class AttackInterrupted(TournamentInterrupted):
    """Ctrl-C during an attack, or SIGTERM or SIGHUP, with what was found so far."""

    def __init__(self, attack: Attack, interrupt: TournamentInterrupted) -> None:
        super().__init__(interrupt.standings, interrupt.number)
        self.attack = attack


@checked_call
def attack(
    env: EnvSource,
    policy: Any,
    agent: AgentSource = "auto",
    *,
    games: int = AttackSettings.games,
    seed: int = 0,
    openings: Openings | None = None,
    asks: int = AttackSettings.asks,
    states: int = AttackSettings.states,
    workers: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Attack:
    """Plays a search that asks a policy what it will do against that policy, and the same search without asking.

    Args:
        env: A name, or a function that makes an environment.
        policy: As ``evaluate_policy`` takes it, such as ``"ppo.zip"``; it has all other seats.
        agent: The agent that searches, such as ``"mcts(seconds=1)"``; ``"auto"`` chooses one, a second a move.
        games: Games of each of the two searches, seats in turn.
        seed: Decides every game.
        openings: As those of ``round_robin``: lines of moves, or how many random moves games begin with.
        asks: How often a policy that draws its moves is asked in a position, with a seed each.
        states: The exact best response is computed too in games of at most so many states; 0 for none.
        workers: Worker processes; None plays in this process.
        out: A folder for the games, which ``zermelo report`` shows; called again, it plays what is missing.
        progress: Whether to show how far it is; by default in a terminal only.

    Raises:
        UnsupportedGameError: The environment has one seat, or the search or the policy cannot play it.
        AttackInterrupted: Ctrl-C; its ``attack`` is what was found so far.
    """
    settings = AttackSettings(games=games, seed=seed, openings=openings, asks=asks, states=states)
    return run_attack(env, policy, agent, settings, RunSettings(workers=workers, out=out, progress=progress))


def run_attack(
    env: EnvSource,
    policy: Any,
    agent: AgentSource,
    settings: AttackSettings,
    how: RunSettings,
    *,
    command: str = "",
) -> Attack:
    """``attack`` by settings; the folder keeps ``command``, which was typed for it."""
    driver = drive_env(build_env(env)[0], settings.seed)
    if len(driver.seat_names) < 2:
        raise UnsupportedGameError(
            f"{env_name(env)} has one seat, so no policy can be met there: compare returns with a tournament"
        )
    policy = _fitting(policy, agent, driver)
    asking = _asking(policy, agent, settings.asks)
    named, searching = (one if isinstance(one, str) else build_agent(one).name for one in (policy, agent))
    plain = searching if searching != named else f"{searching} that does not"
    agents = {named: policy, f"{searching} that asks": asking, plain: agent}
    plan = Tournament.prepare(env, agents, settings, out=how.out)
    names = [participant.name for participant in plan.participants]
    notes = _caveats(asking, driver.env)

    def found(standings: Standings, exact: float | None, *more: str) -> Attack:
        value = _value(driver.env)
        return attack_of(standings, standings.records, names, value=value, exact=exact, notes=[*notes, *more])

    try:
        standings = run(plan, how, command=command)
    except TournamentInterrupted as interrupt:
        raise AttackInterrupted(found(interrupt.standings, None), interrupt) from None
    result = found(standings, *_exact(env, policy, settings))
    if how.out is not None:
        write_text(Path(how.out) / FILE, json.dumps(result.to_dict(), indent=2, allow_nan=False) + "\n")
    return result


def _fitting(policy: Any, agent: AgentSource, driver: EnvDriver) -> AgentSource:
    """The policy as an agent or the means to make one, once it is known to play here."""
    source = policy_source(policy, policy_name(policy))
    if isinstance(source, str) and not names_agent(source) and os.path.isdir(source):
        raise InvalidSettingError(f"{source!r} is a folder: name one model in it, or use `zermelo rate`")
    made = build_agent(source)
    if isinstance(made, SearchAgent) and not isinstance(build_agent(agent), SearchAgent):
        raise InvalidSettingError(
            f"the policy comes first, then the search, and {agent!r} does not search: were they given the wrong "
            "way round?"
        )
    require_fit(made, driver.env, made.name, view_for(made, driver))
    return source


def _asking(policy: AgentSource, agent: AgentSource, asks: int) -> AgentSource:
    """The agent that asks the policy, as text where both are."""
    made = build_agent(policy)
    backend = "clone" if acts_only(made) else "auto"
    if not isinstance(policy, str) or not isinstance(agent, str):
        name = f"{build_agent(agent).name} that asks"  # a model has no text
        return BestResponseAgent(agent=build_agent(agent), opponent=made, asks=asks, backend=backend, name=name)
    spec = {"agent": _inside(agent), "opponent": _inside(policy), "asks": asks, "backend": backend}
    return str(Spec("best_response", spec))


def _inside(agent: str) -> Spec | str:
    """An agent's text as a setting: in quotes where it names a module."""
    spec = agent_spec(agent)
    return agent if ":" in spec.name else spec


def _caveats(asking: AgentSource, env: Any) -> Sequence[str]:
    """What cannot be known of the policy, once it has been asked in a random game."""
    agent = build_agent(asking)
    assert isinstance(agent, BestResponseAgent), "made above"
    return agent.caveats(as_game(env, backend=agent.backend), probe=_PROBE)


def _value(env: Any) -> float | None:
    """What good players get of a constant sum, on average over two seats."""
    traits = as_game(env).traits
    return traits.constant / 2 if traits.is_opposed else None


def _starts_differ(env: EnvSource) -> bool:
    """Whether players see different things at the start of games with different seeds."""
    seen = set()
    for seed in range(_STARTS):
        live = drive_env(build_env(env)[0], seed).env
        seen.add(state_key([live.observe(name) for name in live.possible_agents]))
    return len(seen) > 1


def _exact(env: EnvSource, policy: AgentSource, settings: AttackSettings) -> tuple[Any, ...]:
    """What the exact best response gets on average over the seats, or None and why."""
    if not settings.states:
        return (None,)
    made, live = build_agent(policy), drive_env(build_env(env)[0], 0).env
    game = as_game(live, backend="clone" if acts_only(made) else "auto")
    if settings.openings or (offers(game, SupportsCopies) and _starts_differ(env)):
        return None, "games start differently, so that no one exact best response can be computed"
    try:
        require_few_states(game, settings.states)
        values = best_response_values(made, game, most_states=settings.states, seconds=_PATIENCE)
    except UnsupportedGameError:  # many states, or chance that can only be simulated
        return (None,)
    except InvalidSettingError as error:
        return None, f"the exact best response is not known: {error}"
    except SearchStopped:
        return None, f"the exact best response would take longer than {_PATIENCE:g} seconds"
    return (sum(values) / len(values),)
