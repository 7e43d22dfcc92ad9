"""The work of a tournament: games of a schedule, one at a time."""

from __future__ import annotations

import contextlib
import copy
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zermelo.agents.agent import Agent, sees_observations
from zermelo.agents.policies.engines import EngineAgent
from zermelo.agents.specs import runs_own_code
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError, ZermeloError
from zermelo.evaluation.errors import AgentStartError, EnvironmentFailureError
from zermelo.evaluation.match.adjudication import Adjudication
from zermelo.evaluation.match.clock import MAX_MOVES, TimeControl, time_controls
from zermelo.evaluation.match.faults import AgentFault, manner_of_death, traceback_text
from zermelo.evaluation.match.fingerprint import fingerprint
from zermelo.evaluation.match.live_game import EnvDriver, drive_env
from zermelo.evaluation.match.play import play_game
from zermelo.evaluation.match.readiness import rehearse
from zermelo.evaluation.match.record import EndReason, Failure, FailureKind, GameRecord, versions
from zermelo.evaluation.match.sources import AgentSource, EnvSource, FreshEnvs, build_agent, build_env
from zermelo.evaluation.match.text import kept_name
from zermelo.evaluation.schedule import ScheduledGame
from zermelo.evaluation.workers.isolated_agent import IsolatedAgent
from zermelo.evaluation.workers.settings import AgentLimits
from zermelo.evaluation.workers.work import NOBODY, WorkerExit, seed_globals


@dataclass
class GamePlayer:
    """Plays one scheduled game at a time; worker processes are sent one of these.

    Every game has a fresh environment, so that nothing is left of the last one. Agents are made once and
    reset before each game; one that has failed is made anew. What one loads or compiles at first use is loaded
    before its first game, on no move's time. Each game seeds Python's and NumPy's global generators: in a process
    that has other work to do, play inside ``kept_globals``. ``close`` ends the agents' own processes.
    """

    env: EnvSource
    env_name: str  # in records
    seat_names: tuple[str, ...]  # the environment's, for games in which it cannot even start
    participants: Mapping[str, Participant]  # by name
    max_moves: int = MAX_MOVES
    hang_seconds: float | None = None  # see ``AgentLimits``
    adjudication: Adjudication | None = None
    _agents: dict[tuple[str, int], Agent] = field(default_factory=dict, init=False, repr=False)
    _new: list[Agent] = field(default_factory=list, init=False, repr=False)
    _envs: FreshEnvs = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._envs = FreshEnvs(self.env)

    def run(self, game: ScheduledGame, on_turn: Callable[[int], None] | None = None) -> GameRecord:
        """Returns the record of the game, whatever the agents do; a void one if the environment fails.

        Raises:
            UnsupportedGameError: An agent cannot play this kind of game at all.
        """
        try:
            agents = self._seated(game.seats)
        except AgentFault as fault:
            return self._failed_game(game, Failure(fault.kind, fault.seat, fault.message, fault.detail))
        seed_globals(game.seed)
        try:
            env = self._envs.make() if game.env is None else build_env(game.env)[0]
            driver = drive_env(env, game.seed)
            self._rehearse(driver)
            record = play_game(
                driver,
                agents,
                seed=game.seed,
                env=game.env or self.env_name,
                names=game.seats,
                game_id=game.game_id,
                opening=game.opening,
                max_moves=self.max_moves,
                controls=self._controls(game.seats),
                adjudication=self.adjudication,
                on_turn=on_turn,
            )
        except EnvironmentFailureError as error:
            failure = Failure(FailureKind.ENVIRONMENT_ERROR, None, str(error))
            return self._failed_game(game, failure)
        if record.failure is not None and record.failure.seat is not None:
            failed = agents[record.failure.seat]
            if isinstance(failed, IsolatedAgent | EngineAgent):
                failed.close()
            self._agents = {key: agent for key, agent in self._agents.items() if agent is not failed}
        return record

    def _controls(self, names: Sequence[str]) -> tuple[TimeControl, ...]:
        """The time of each agent, if there are clocks; one that is not of the run has that of another."""
        given = [one.control for one in self.participants.values() if one.control is not None]
        return tuple(self.participants[name].control or given[0] for name in names) if given else ()

    def _seated(self, names: Sequence[str]) -> list[Agent]:
        copies, seated = Counter[str](), []
        for seat, name in enumerate(names):
            key = (name, copies[name])
            copies[name] += 1
            if key not in self._agents:
                try:
                    agent = self.participants[name].player(copies=key[1])
                except AgentStartError as error:  # it could be made when the tournament began
                    if key[1]:
                        raise  # a second one is wanted, which nobody has tried before
                    detail = traceback_text(error.__cause__)
                    raise AgentFault(FailureKind.INVALID_START, str(error), detail, seat) from error
                self._agents[key] = agent
                if not isinstance(agent, IsolatedAgent):
                    self._new.append(agent)
            seated.append(self._agents[key])
        return seated

    def _rehearse(self, driver: EnvDriver) -> None:
        while self._new:
            agent = self._new.pop()
            with contextlib.suppress(EnvironmentFailureError):  # the game will say so
                rehearse(agent, driver.view() if sees_observations(agent) else driver.env)

    def lost(self, game: ScheduledGame, loss: WorkerExit) -> GameRecord:
        """Returns the record of a game whose process ended, charged to the seat whose agent ran."""
        how = manner_of_death(loss.exit_code)
        if loss.seat == NOBODY:
            what = f"did not return for {self.hang_seconds:g} s" if loss.hung else f"ended its process ({how})"
            failure = Failure(FailureKind.ENVIRONMENT_ERROR, None, f"the environment {what}")
        elif loss.hung:
            message = f"did not answer within {self.hang_seconds:g} s"
            failure = Failure(FailureKind.TIMEOUT, loss.seat, message)
        else:
            failure = Failure(FailureKind.CRASH, loss.seat, f"its process ended during its turn ({how})")
        return self._failed_game(game, failure)

    def _failed_game(self, game: ScheduledGame, failure: Failure) -> GameRecord:
        return GameRecord(
            env=game.env or self.env_name,
            agents=game.seats,
            seat_names=self.seat_names,
            seed=game.seed,
            rewards=(0.0,) * len(game.seats),
            end=EndReason.FAILURE,
            game_id=game.game_id,
            opening=game.opening,
            failure=failure,
            versions=versions(),
        )

    def close(self) -> None:
        """Ends the agents' own processes, and engines."""
        for agent in self._agents.values():
            if isinstance(agent, IsolatedAgent | EngineAgent):
                agent.close()
        self._agents.clear()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_agents": {}, "_new": [], "_envs": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _envs=FreshEnvs(state["env"]))


@dataclass(frozen=True)
class Participant:
    """One agent of a tournament: its unique name in the tables, what makes it, and its limits."""

    name: str
    source: AgentSource
    isolation: AgentLimits | None = None  # None for an agent inside the worker
    fingerprint: Mapping[str, str] = field(default_factory=dict)  # what decides how it plays
    control: TimeControl | None = None  # its time for a game, if there are clocks
    unfit: ZermeloError | None = None  # why it cannot play, as it said in a process of its own

    @property
    def may_be_made_here(self) -> bool:
        """True if making it in this process runs none but this package's code."""
        source = self.source
        if self.isolation is None:
            return True
        if isinstance(source, str):
            return not runs_own_code(source)
        return type(source).__module__.startswith("zermelo.agents.") and not isinstance(source, type)

    def player(self, copies: int = 0) -> Agent:
        """The agent as matches need it: itself, or what speaks for it in a process of its own."""
        return IsolatedAgent(self.source, self.name, self.isolation) if self.isolation else self.build(copies)

    def build(self, copies: int = 0) -> Agent:
        """The agent; a live one is handed out itself at first and then in copies."""
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


def participants(
    agents: Sequence[AgentSource] | Mapping[str, AgentSource],
    isolation: AgentLimits | None = None,
    driver: EnvDriver | None = None,
) -> tuple[Participant, ...]:
    """The agents of a tournament, each made once to see that it can be, under names that differ.

    Args:
        agents: Agents, or agents by the names that the tables should use. Equal names get ``#1``, ``#2``.
        isolation: Which of them get processes of their own, and are made there; None for none of them.
        driver: Of an environment that was just reset: those made there are asked whether they can play it.
    """
    if isinstance(agents, str) or not isinstance(agents, Sequence | Mapping):
        raise InvalidSettingError(f"agents must be a list of agents, not {agents!r}")
    sources = list(agents.values()) if isinstance(agents, Mapping) else list(agents)
    limits = [isolation if isolation and isolation.applies_to(source) else None for source in sources]
    clock = None if isolation is None else isolation.clock
    controls = [None] * len(sources) if clock is None else [*time_controls(clock, len(sources))]
    made = [_made(source, limit, driver) for source, limit in zip(sources, limits, strict=True)]
    names = [kept_name(name) for name in (agents if isinstance(agents, Mapping) else [one[0] for one in made])]
    counts, seen = Counter(names), Counter[str]()
    result = []
    for name, source, limit, control, (_, parts, unfit) in zip(
        names, sources, limits, controls, made, strict=True
    ):
        seen[name] += 1
        unique = f"{name}#{seen[name]}" if counts[name] > 1 else name
        own = parts if len({*controls}) == 1 else {**parts, "clock": str(control)}  # whose is not in the limits
        result.append(Participant(unique, source, limit, own, control, unfit))
    return tuple(result)


def _made(
    source: AgentSource, limit: AgentLimits | None, driver: EnvDriver | None
) -> tuple[str, Mapping[str, str], ZermeloError | None]:
    """The name and fingerprint of an agent, once it has been made, and why it cannot play."""
    called = source if isinstance(source, str) else getattr(source, "__qualname__", type(source).__name__)
    if limit is None:
        agent = build_agent(source)
        return str(getattr(agent, "name", None) or called), fingerprint(source, agent), None
    trial, unfit = IsolatedAgent(source, called, limit), None
    with contextlib.closing(trial):
        name = trial.start() or called
        if driver is not None and not Participant(called, source, limit).may_be_made_here:
            try:
                trial.require_fit(driver)
            except (UnsupportedGameError, InvalidSettingError) as error:
                unfit = error
    # A name made of a function inside another one says less than the text that it was made from.
    nameless = isinstance(source, str) and ("<locals>" in name or "<lambda>" in name)
    return called if nameless else name, trial.fingerprint, unfit
