"""The main job: an environment and some agents go in, standings come out.

    standings = round_robin("classic/connect_four-v3", ["random", "alphabeta(depth=4)"], games=20, seed=0)
    print(standings)

Stages, each of which knows only the next: schedule -> play -> store -> standings.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypedDict, Unpack

from zermelo.agents import Agent
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.envs import InvalidSettingError, UnknownNameError, UnsupportedGameError, as_game
from zermelo.evaluation.errors import TournamentInterrupted
from zermelo.evaluation.match.env_driver import drive_env
from zermelo.evaluation.match.play import MAX_MOVES, checked_seed
from zermelo.evaluation.match.record import GameRecord, versions
from zermelo.evaluation.match.sources import AgentSource, EnvSource, build_env, env_name, is_live
from zermelo.evaluation.output.progress import RunningTable
from zermelo.evaluation.runners.choice import RunnerChoice
from zermelo.evaluation.runners.participants import Participant, participants, require_picklable
from zermelo.evaluation.runners.serial import GamePlayer, Runner, SerialRunner
from zermelo.evaluation.sandbox import Isolation
from zermelo.evaluation.schedule import Pairings, Schedule
from zermelo.evaluation.stats.standings import Standings
from zermelo.evaluation.stats.tables import files_of
from zermelo.evaluation.storage.database import FILE, open_reader, read_spec, totals
from zermelo.evaluation.storage.sqlite_store import SqliteStore
from zermelo.evaluation.storage.store import MemoryStore, Store, read_games
from zermelo.evaluation.storage.totals import GameTotals
from zermelo.evaluation.tournament.openings import Openings, openings_for
from zermelo.evaluation.tournament.running import Interrupts, Run
from zermelo.evaluation.tournament.stopping import LeaderTest

__all__ = ["Tournament", "gauntlet", "read_standings", "round_robin"]


class PlanSettings(TypedDict, total=False):
    """What decides the games; see ``round_robin``."""

    games: int
    seed: int
    openings: Openings | None
    until_sure: bool
    max_moves: int
    isolation: Isolation | None
    anchor: str | None


class RunSettings(TypedDict, total=False):
    """What does not; see ``round_robin``."""

    workers: int | None
    runner: RunnerChoice | str
    ray_address: str | None
    out: str | os.PathLike[str] | None
    progress: bool | None
    on_game: Callable[[GameRecord], None] | None


class Settings(PlanSettings, RunSettings):
    """All settings of a tournament."""


def round_robin(
    env: EnvSource,
    agents: Sequence[AgentSource] | Mapping[str, AgentSource],
    *,
    games: int = 10,
    seed: int = 0,
    workers: int | None = None,
    runner: RunnerChoice | str = RunnerChoice.LOCAL,
    ray_address: str | None = None,
    out: str | os.PathLike[str] | None = None,
    openings: Openings | None = None,
    until_sure: bool = False,
    max_moves: int = MAX_MOVES,
    isolation: Isolation | None = None,
    anchor: str | None = None,
    progress: bool | None = None,
    on_game: Callable[[GameRecord], None] | None = None,
) -> Standings:
    """Every agent plays every other.

    The same environment, agents, games and seed give the same games, whatever the number of workers, unless an
    agent is limited by time.

    Args:
        env: A name (``"classic/connect_four-v3"``) or a function that makes an environment; with one worker also
            a live environment.
        agents: Texts (``"alphabeta(depth=4)"``), agents, or functions that make them; or a mapping of names for
            the tables to such.
        games: For each pairing; seats rotate. A single-player environment is played that often by each agent.
        seed: Decides every game.
        workers: Processes. With 1, the default, the games are played in this process; with more, an agent that
            ends its process loses that game only. On Ray, by default one for each processor of the cluster.
        runner: ``"local"``, or ``"ray"`` to play on a Ray cluster (``zermelo.evaluation.runners.ray``).
        ray_address: The cluster's; by default that in ``RAY_ADDRESS``, or one started on this machine.
        out: A folder for the run: a database of the games (``games.sqlite``), the same as text (``games.jsonl``)
            and the standings. With a folder that has a part of this very run, the rest is played: killed at any
            moment and called again, the run ends with the games and the ratings of one that was left alone.
        openings: What games begin with, each opening once from each seat: how many random legal plies, a file
            with an opening a line (actions separated by commas), or a list of lists of actions.
        until_sure: Stop before ``games`` as soon as the leader is known
            (``zermelo.evaluation.tournament.stopping``).
        max_moves: A game that is longer ends there, and the rewards so far are compared.
        isolation: The limits on time and memory of each agent, and which agents get processes of their own; by
            default those that are named by text and run somebody's own code.
        anchor: The agent whose rating is 0; by default ``random`` if it plays, else the average.
        progress: Whether to show on standard error how far the run is and who leads: drawn in a terminal, and
            elsewhere as a line every half minute. By default in a terminal only.
        on_game: Called with each game's record once it is kept for good.

    Raises:
        ZermeloError: A name or setting is wrong, an agent cannot play the game, or the folder cannot be used.
            Failures of agents in play are no errors: they are in the standings.
        TournamentInterrupted: Ctrl-C; its ``standings`` are those so far.
    """
    plan = Tournament.prepare(
        env, agents, games=games, seed=seed, openings=openings, until_sure=until_sure, max_moves=max_moves,
        isolation=isolation, anchor=anchor,
    )  # fmt: skip
    return plan.run(
        workers=workers, runner=runner, ray_address=ray_address, out=out, progress=progress, on_game=on_game
    )


def gauntlet(
    env: EnvSource,
    agents: Sequence[AgentSource] | Mapping[str, AgentSource],
    **settings: Unpack[Settings],
) -> Standings:
    """The first agent plays every other; the others do not meet.

    Args:
        env: As for ``round_robin``.
        agents: Likewise; the first one is to be judged by its games against the others.
        settings: Those of ``round_robin``.

    Raises:
        ZermeloError: As for ``round_robin``.
        TournamentInterrupted: Ctrl-C; its ``standings`` are those so far.
    """
    of_run = {key: value for key, value in settings.items() if key in RunSettings.__annotations__}
    of_plan = {key: value for key, value in settings.items() if key not in of_run}
    plan = Tournament.prepare(env, agents, pairings=Pairings.GAUNTLET, **of_plan)  # type: ignore[arg-type]  # split above
    return plan.run(**of_run)  # type: ignore[arg-type]  # likewise


@dataclass(frozen=True)
class Tournament:
    """Everything that is known before the first game.

    Attributes:
        env: What makes the environment.
        seat_names: The environment's seats.
        participants: The agents.
        games: For each pairing.
        seed: Decides every game.
        max_moves: The limit on moves of a game.
        schedule: The games, in order.
        pairings: Who meets.
        openings: What was asked for, as plain values.
        test: Stops the run once the leader is known, or None.
        isolation: The limits of agents, and which of them get processes of their own.
        anchor: The agent whose rating is to be 0, or None.
    """

    env: EnvSource
    seat_names: tuple[str, ...]
    participants: tuple[Participant, ...]
    games: int
    seed: int
    max_moves: int
    schedule: Schedule
    pairings: Pairings = Pairings.ROUND_ROBIN
    openings: Any = None
    test: LeaderTest | None = None
    isolation: Isolation = field(default_factory=Isolation)
    anchor: str | None = None

    @classmethod
    def prepare(
        cls,
        env: EnvSource,
        agents: Sequence[AgentSource] | Mapping[str, AgentSource],
        *,
        games: int = 10,
        seed: int = 0,
        pairings: Pairings = Pairings.ROUND_ROBIN,
        openings: Openings | None = None,
        until_sure: bool = False,
        max_moves: int = MAX_MOVES,
        isolation: Isolation | None = None,
        anchor: str | None = None,
    ) -> Tournament:
        """Makes and resets the environment once, makes every agent once, and lays out the schedule.

        Raises:
            ZermeloError: Something in that cannot be.
        """
        seed = checked_seed(seed)
        if isinstance(max_moves, bool) or not isinstance(max_moves, int) or max_moves < 1:
            raise InvalidSettingError(f"max_moves must be a whole number of at least 1, not {max_moves!r}")
        live = build_env(env)[0]
        driver = drive_env(live, seed)
        limits = isolation or Isolation()
        found = participants(agents, limits)
        for participant in found:
            if participant.may_be_made_here:
                require_fit(participant.build(), driver.env, participant.name)
        names = [participant.name for participant in found]
        if anchor is not None and anchor not in names:
            raise UnknownNameError(f"the anchor {anchor!r} does not play: choose one of {', '.join(names)}")
        seats = len(driver.seat_names)
        schedule = Schedule(names, seats=seats, games=games, seed=seed, pairings=pairings)
        prefixes = openings_for(openings, live, count=schedule.blocks, seed=seed)
        if prefixes:
            schedule = Schedule(names, seats=seats, games=games, seed=seed, pairings=pairings, openings=prefixes)
        test = LeaderTest.of(schedule, len(names)) if until_sure else None
        return cls(
            env, driver.seat_names, found, games, seed, max_moves, schedule, pairings,
            _openings_described(openings, prefixes), test, limits, anchor,
        )  # fmt: skip

    def run(
        self,
        *,
        workers: int | None = None,
        runner: RunnerChoice | str = RunnerChoice.LOCAL,
        ray_address: str | None = None,
        out: str | os.PathLike[str] | None = None,
        progress: bool | None = None,
        on_game: Callable[[GameRecord], None] | None = None,
    ) -> Standings:
        """Plays what the folder lacks, or everything; see ``round_robin``."""
        plays = self.runner(workers, runner, ray_address)
        with contextlib.ExitStack() as stack:
            store: Store
            if out is None:
                store = MemoryStore(self.schedule)
            else:
                store = stack.enter_context(SqliteStore(out, self.to_dict(), self.schedule))
            interrupts = stack.enter_context(Interrupts())
            run = Run(self.schedule, store, self.test)
            try:
                run.play(plays, interrupts, table=self._running_table, progress=progress, on_game=on_game)
            except KeyboardInterrupt as interrupt:
                interrupts.off()
                store.flush()
                standings = self._standings(store, run, interrupted=True)
                store.finish(files_of(standings))
                raise TournamentInterrupted(standings) from interrupt
            standings = self._standings(store, run)
            store.finish(files_of(standings))
            return standings

    def runner(
        self,
        workers: int | None = None,
        runner: RunnerChoice | str = RunnerChoice.LOCAL,
        ray_address: str | None = None,
    ) -> Runner:
        """The runner for that many workers; see ``round_robin``.

        Raises:
            InvalidSettingError: There is no such number or runner, or workers cannot be sent what they need.
            MissingDependencyError: Ray is not installed.
        """
        if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
            raise InvalidSettingError(f"workers must be a whole number of at least 1, not {workers!r}")
        if runner not in list(RunnerChoice):
            raise InvalidSettingError(f"runner must be {' or '.join(RunnerChoice)}, not {runner!r}")
        on_ray = runner == RunnerChoice.RAY
        if ray_address is not None and not on_ray:
            raise InvalidSettingError(f"the address of a Ray cluster ({ray_address!r}) needs runner='ray'")
        by_name = {participant.name: participant for participant in self.participants}
        player = GamePlayer(self.env, env_name(self.env), self.seat_names, by_name, self.max_moves)
        if not on_ray and workers in (None, 1):
            return SerialRunner(player)
        if is_live(self.env):
            sharers = "a Ray cluster" if on_ray else f"{workers} workers"
            raise InvalidSettingError(
                f"a live environment ({env_name(self.env)}) cannot be shared by {sharers}: give its name, or a "
                "function that makes it, or play with workers=1" + " and runner='local'" * on_ray
            )
        if on_ray:
            from zermelo.evaluation.runners.ray import RayRunner

            return RayRunner(player, workers, ray_address)
        require_picklable(self.env, "the environment", env_name(self.env))
        for participant in self.participants:
            require_picklable(participant, "the agent", participant.name)
        from zermelo.evaluation.runners.processes import ProcessRunner

        return ProcessRunner(player, workers or 1)

    def _standings(self, store: Store, run: Run, *, interrupted: bool = False) -> Standings:
        notes = []
        if self.test is not None and not interrupted:
            notes.append(self.test.said(run.leader, run.wanted))
        return Standings.from_totals(
            store.totals(),
            store.records,
            agents=[participant.name for participant in self.participants],
            planned=run.wanted,
            env=env_name(self.env),
            seat_names=self.seat_names,
            anchor=self.anchor,
            notes=notes,
        )

    def _running_table(self, before: GameTotals) -> RunningTable:
        names = [participant.name for participant in self.participants]
        return RunningTable(names, env_name(self.env), self.seat_names, before)

    def to_dict(self) -> dict[str, Any]:
        """The specification as plain values, with the versions and the machine it ran on."""
        return {
            "kind": str(self.pairings),
            "env": env_name(self.env),
            "seats": list(self.seat_names),
            "agents": [
                {"name": participant.name, "source": _described(participant.source)}
                for participant in self.participants
            ],
            "games": self.games,
            "seed": self.seed,
            "openings": self.openings,
            "until_sure": None if self.test is None else {"looks": self.test.looks, "alpha": self.test.alpha},
            "max_moves": self.max_moves,
            "isolation": asdict(self.isolation),
            "scheduled": len(self.schedule),
            "anchor": self.anchor,
            "versions": versions(),
            "machine": {"system": platform.platform(), "processors": os.cpu_count()},
        }


def read_standings(folder: str | os.PathLike[str]) -> Standings:
    """The standings of a run in a folder, also while it goes on; the games are counted, not read.

    Raises:
        StoreError: There is no run there, or it is damaged.
    """
    records, path = read_games(folder), Path(folder) / FILE
    if not path.exists():
        return Standings.from_records(records)
    with open_reader(path) as db:
        spec = read_spec(db) or {}
        seats = len(spec["seats"])
        counted = totals(db, seats)
        planned, notes = spec["scheduled"], []
        if spec["until_sure"] is not None:
            test = LeaderTest(
                tuple(spec["until_sure"]["looks"]), len(spec["agents"]) - 1, spec["until_sure"]["alpha"]
            )
            leader = test.leader(counted) if counted.games in test.looks else None
            if leader is not None or counted.games == planned:
                notes, planned = [test.said(leader, counted.games)], counted.games
    return Standings.from_totals(
        counted,
        records,
        agents=[agent["name"] for agent in spec["agents"]],
        planned=planned,
        env=spec["env"],
        seat_names=spec["seats"],
        anchor=spec["anchor"],
        notes=notes,
    )


def _openings_described(wanted: Openings | None, openings: Sequence[tuple[Any, ...]]) -> Any:
    """Enough to tell other openings from these."""
    if not openings:
        return None
    digest = hashlib.sha256(json.dumps(openings).encode()).hexdigest()[:16]
    return {"plies": wanted if isinstance(wanted, int) else None, "count": len(openings), "sha256": digest}


def require_fit(agent: Agent, env: Any, name: str) -> None:
    """Asks a search whether it can play this kind of game, before any game is lost over it.

    Raises:
        UnsupportedGameError: It cannot; the message says which agent can.
    """
    if not isinstance(agent, SearchAgent):
        return
    try:
        agent.check_game(as_game(env, backend=agent.backend, traits=agent.traits).traits)
    except UnsupportedGameError as error:
        raise UnsupportedGameError(f"{name} cannot play here: {error}") from error


def _described(source: AgentSource) -> str:
    if isinstance(source, str):
        return source
    kind = source if isinstance(source, type) or not hasattr(source, "act") else type(source)
    return f"{kind.__module__}:{getattr(kind, '__qualname__', type(kind).__qualname__)}"
