"""The main job: an environment and some agents go in, standings come out.

    standings = round_robin("classic/connect_four-v3", ["random", "alphabeta(depth=4)"], games=20, seed=0)
    print(standings)

Stages, each of which knows only the next: schedule -> play -> store -> standings.
"""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from zermelo.agents import Agent
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.envs import InvalidSettingError, UnknownNameError, UnsupportedGameError, as_game
from zermelo.envs.adapters.wrappers import innermost
from zermelo.evaluation.errors import StoreError, TournamentInterrupted
from zermelo.evaluation.match.env_driver import drive_env
from zermelo.evaluation.match.fingerprint import fingerprint
from zermelo.evaluation.match.play import MAX_MOVES, checked_seed
from zermelo.evaluation.match.record import GameRecord, versions
from zermelo.evaluation.match.sources import AgentSource, EnvSource, build_env, env_name, is_live
from zermelo.evaluation.output.progress import RunningTable
from zermelo.evaluation.runners.choice import RunnerChoice
from zermelo.evaluation.runners.participants import Participant, participants, require_picklable
from zermelo.evaluation.runners.serial import GamePlayer, Runner, SerialRunner
from zermelo.evaluation.sandbox import Isolation
from zermelo.evaluation.schedule import Pairings, Schedule, derived_seed
from zermelo.evaluation.stats.ratings import Sprt
from zermelo.evaluation.stats.standings import Standings
from zermelo.evaluation.stats.tables import files_of
from zermelo.evaluation.storage.database import FILE, open_reader, read_spec, totals
from zermelo.evaluation.storage.identity import openings_hash
from zermelo.evaluation.storage.sqlite_store import SqliteStore
from zermelo.evaluation.storage.store import MemoryStore, Store, read_games
from zermelo.evaluation.storage.totals import GameTotals
from zermelo.evaluation.tournament.openings import Openings, openings_for
from zermelo.evaluation.tournament.running import Interrupts, Run
from zermelo.evaluation.tournament.stopping import LeaderTest, SprtTest, StoppingRule, described, rule_of

__all__ = ["Tournament", "gauntlet", "read_standings", "round_robin"]


class PlanSettings(TypedDict, total=False):
    """What decides the games; see ``round_robin``."""

    games: int
    seed: int
    openings: Openings | None
    until_sure: bool
    sprt: Sprt | None
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
    sprt: Sprt | None = None,
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
        sprt: Stop a run of two agents as soon as a sequential test has decided.
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
        env, agents, games=games, seed=seed, openings=openings, until_sure=until_sure, sprt=sprt,
        max_moves=max_moves, isolation=isolation, anchor=anchor,
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
        test: Stops the run early, or None.
        isolation: The limits of agents, and which of them get processes of their own.
        anchor: The agent whose rating is to be 0, or None.
        env_fingerprint: What decides the environment (``zermelo.evaluation.match.fingerprint``).
        numbers: The agents' in the schedule, or None for their places.
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
    test: StoppingRule | None = None
    isolation: Isolation = field(default_factory=Isolation)
    anchor: str | None = None
    env_fingerprint: Mapping[str, str] = field(default_factory=dict)
    numbers: tuple[int, ...] | None = None

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
        sprt: Sprt | None = None,
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
        test: StoppingRule | None = LeaderTest.of(schedule, len(names)) if until_sure else None
        if sprt is not None:
            if until_sure:
                raise InvalidSettingError("a run stops either by until_sure or by sprt: choose one of them")
            test = SprtTest.of(schedule, tuple(names), sprt)
        return cls(
            env, driver.seat_names, found, games, seed, max_moves, schedule, pairings,
            _openings_described(openings, prefixes), test, limits, anchor, fingerprint(env, innermost(live)),
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
        if out is not None and (grown := self._after(out)) is not None:
            return grown.run(
                workers=workers,
                runner=runner,
                ray_address=ray_address,
                out=out,
                progress=progress,
                on_game=on_game,
            )
        plays = self.runner(workers, runner, ray_address)
        crowding = self._crowding(workers if runner == RunnerChoice.LOCAL else None)
        if crowding is not None and progress is not False:
            print(f"zermelo: {crowding}", file=sys.stderr)
        with contextlib.ExitStack() as stack:
            store: Store
            if out is not None and not os.fspath(out):
                raise InvalidSettingError("out is empty: name a folder for the run, or leave it out")
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
                standings = self._standings(store, run, crowding, interrupted=True)
                store.finish(files_of(standings))
                raise TournamentInterrupted(standings, interrupts.number) from interrupt
            standings = self._standings(store, run, crowding)
            store.finish(files_of(standings))
            return standings

    def _after(self, out: str | os.PathLike[str]) -> Tournament | None:
        """This tournament as it goes on after the folder's run of some of its agents; None if it need not change.

        The folder's agents keep their places and further ones come after them. Who begins in a game depends on the
        agents' numbers, and a further agent's depends on its name alone: so the order in which agents are added
        does not matter.
        """
        path = Path(out) / FILE
        if not path.exists() or not path.stat().st_size:
            return None
        try:
            with open_reader(path) as db:
                there = (read_spec(db) or {}).get("agents", [])
        except StoreError:  # without tables, or damaged: the store that is opened next says so where it matters
            return None
        by_name = {participant.name: participant for participant in self.participants}
        old = [agent["name"] for agent in there]
        if not set(old) <= by_name.keys() or (self.pairings is Pairings.GAUNTLET and old[:1] != [*by_name][:1]):
            return None
        names = [*old, *(name for name in by_name if name not in old)]
        numbers = [agent.get("number", place) for place, agent in enumerate(there)]
        numbers += [derived_seed("number", name) for name in names[len(old) :]]
        if names == [*by_name] and numbers == [*(self.numbers or range(len(names)))]:
            return None
        schedule = Schedule(
            names,
            seats=len(self.seat_names),
            games=self.games,
            seed=self.seed,
            pairings=self.pairings,
            openings=self.schedule.openings,
            numbers=numbers,
        )
        participants = tuple(by_name[name] for name in names)
        return replace(self, participants=participants, schedule=schedule, numbers=tuple(numbers))

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
        player = GamePlayer(
            self.env, env_name(self.env), self.seat_names, by_name, self.max_moves, self.isolation.hang_seconds
        )
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

    def _crowding(self, workers: int | None) -> str | None:
        """A note on time limits that hold for a share of a processor only."""
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        timed = [who.name for who in self.participants if who.fingerprint.get("seconds", "None") != "None"]
        if workers is None or workers <= processors or not (timed or self.isolation.timed):
            return None
        what = f"the time limit of {timed[0]}" if timed else "the limit on time"
        return (
            f"{workers} workers share {processors} processor{'s' * (processors > 1)}, so agents have less time to "
            f"think than {what} says, and may lose by TIMEOUT what they would not lose alone: use at most "
            f"{processors} workers, or limit nodes instead."
        )

    def _standings(self, store: Store, run: Run, crowding: str | None, *, interrupted: bool = False) -> Standings:
        notes = [] if crowding is None else [crowding]
        if self.test is not None and not interrupted:
            notes.append(self.test.said(run.verdict, store.totals()))
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
            "env_fingerprint": dict(self.env_fingerprint),
            "agents": [
                {
                    "name": participant.name,
                    "source": _described(participant.source),
                    "fingerprint": dict(participant.fingerprint),
                    "number": place if self.numbers is None else self.numbers[place],
                }
                for place, participant in enumerate(self.participants)
            ],
            "games": self.games,
            "seed": self.seed,
            "openings": self.openings,
            **described(self.test),
            "max_moves": self.max_moves,
            "isolation": self.isolation.to_dict(),
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
        missing = {"seats", "agents", "scheduled", "until_sure", "env", "anchor"} - spec.keys()
        if missing:
            raise StoreError(f"what {path} holds is no specification of a run: put back a copy of it")
        seats = len(spec["seats"])
        counted = totals(db, seats)
        planned, notes = spec["scheduled"], []
        if (test := rule_of(spec)) is not None:
            verdict = test.verdict(counted) if counted.games in test.looks else None
            if verdict is not None or counted.games == planned:
                notes, planned = [test.said(verdict, counted)], counted.games
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
    plies = wanted if isinstance(wanted, int) else None
    return {"plies": plies, "count": len(openings), "sha256": openings_hash(openings)}


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
