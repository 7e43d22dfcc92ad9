"""The main job: an environment and some agents go in, standings come out.

    standings = round_robin("classic/connect_four-v3", ["random", "alphabeta(depth=4)"], games=20, seed=0)
    print(standings)

Stages, each of which knows only the next: plan -> play -> store -> standings.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

from zermelo.agents.base.settings import check_whole
from zermelo.agents.kernels.threads import default_threads
from zermelo.envs import InvalidSettingError
from zermelo.evaluation.errors import StoreError, TournamentInterrupted
from zermelo.evaluation.match.play import MAX_MOVES
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.sources import AgentSource, EnvSource, env_name, is_live
from zermelo.evaluation.match.text import printable
from zermelo.evaluation.output.progress import RunningTable
from zermelo.evaluation.output.standings import Standings
from zermelo.evaluation.schedule import Pairings
from zermelo.evaluation.stats.ratings import Sprt
from zermelo.evaluation.storage.counting import results
from zermelo.evaluation.storage.database import FILE, open_reader, read_spec
from zermelo.evaluation.storage.games import StoredGames, read_games
from zermelo.evaluation.storage.invocations import InvocationLog, notes_of, read_invocations, read_run
from zermelo.evaluation.storage.store import Store
from zermelo.evaluation.tournament.openings import Openings
from zermelo.evaluation.tournament.plan import Tournament
from zermelo.evaluation.tournament.running import Interrupts, Run
from zermelo.evaluation.tournament.stopping import rule_of
from zermelo.evaluation.workers import Isolation, RunnerChoice
from zermelo.evaluation.workers.work import Runner, SerialRunner, require_picklable


class Settings(TypedDict, total=False):
    """Settings of ``round_robin``."""

    games: int
    seed: int
    workers: int | None
    runner: RunnerChoice | str
    ray_address: str | None
    out: str | os.PathLike[str] | None
    openings: Openings | None
    opening_plies: int | None
    until_sure: bool
    sprt: Sprt | None
    max_moves: int
    isolation: Isolation | None
    anchor: str | None
    score: Scoring | str
    skip_unfit: bool
    progress: bool | None
    on_game: Callable[[GameRecord], None] | None


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
    opening_plies: int | None = None,
    until_sure: bool = False,
    sprt: Sprt | None = None,
    max_moves: int = MAX_MOVES,
    isolation: Isolation | None = None,
    anchor: str | None = None,
    score: Scoring | str = Scoring.AUTO,
    skip_unfit: bool = False,
    progress: bool | None = None,
    on_game: Callable[[GameRecord], None] | None = None,
    pairings: Pairings = Pairings.ROUND_ROBIN,
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
        runner: ``"local"``, or ``"ray"`` to play on a Ray cluster (``zermelo.evaluation.workers.ray``).
        ray_address: The cluster's; by default that in ``RAY_ADDRESS``, or one started on this machine.
        out: A folder for the run: a database of the games (``games.sqlite``), the same as text (``games.jsonl``)
            and the standings. With a folder that has a part of this very run, the rest is played: killed at any
            moment and called again, the run ends with the games and the ratings of one that was left alone.
        openings: What games begin with, each opening once from each seat: how many random legal plies; a file in
            PGN or SGF, or with a position (FEN, EPD) or moves in each line
            (``zermelo.evaluation.tournament.opening_files``); or a list of openings, each a list of actions or a
            line of moves. The folder keeps them.
        opening_plies: The first so many plies of each opening of a file or a list; by default all.
        until_sure: Stop before ``games`` as soon as the leader is known
            (``zermelo.evaluation.tournament.stopping``).
        sprt: Stop a run of two agents as soon as a sequential test has decided.
        max_moves: A game that is longer ends there, and the rewards so far are compared.
        isolation: The limits on time and memory of each agent, and which agents get processes of their own; by
            default those that are named by text and run somebody's own code.
        anchor: The agent whose rating is 0; by default ``random`` if it plays, else the average.
        score: What the tables rank by: ``"wins"``; ``"rewards"``, the mean of what a game paid; ``"team"``, for
            cooperative games, in which each agent then plays with itself too; or ``"auto"``, rewards where games
            pay amounts and wins where not (``zermelo.evaluation.match.score.Scoring``).
        skip_unfit: Leave out agents that cannot play such a game, and say so, instead of refusing the run.
        progress: Whether to show on standard error how far the run is and who leads: drawn in a terminal, and
            elsewhere as a line every half minute. By default in a terminal only.
        on_game: Called with each game's record once it is kept for good.
        pairings: Who meets.

    Raises:
        ZermeloError: A name or setting is wrong, an agent cannot play the game, or the folder cannot be used.
            Failures of agents in play are no errors: they are in the standings.
        TournamentInterrupted: Ctrl-C; its ``standings`` are those so far.
    """
    plan = Tournament.prepare(
        env, agents, games=games, seed=seed, openings=openings, opening_plies=opening_plies,
        until_sure=until_sure, sprt=sprt, max_moves=max_moves, isolation=isolation, anchor=anchor, score=score,
        skip_unfit=skip_unfit, pairings=pairings, out=out or None,
    )  # fmt: skip
    return run(
        plan, workers=workers, runner=runner, ray_address=ray_address, out=out, progress=progress, on_game=on_game
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
    return round_robin(env, agents, pairings=Pairings.GAUNTLET, **settings)


def run(
    plan: Tournament,
    *,
    workers: int | None = None,
    runner: RunnerChoice | str = RunnerChoice.LOCAL,
    ray_address: str | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    on_game: Callable[[GameRecord], None] | None = None,
    command: str = "",
) -> Standings:
    """Plays what the folder lacks, or everything; see ``round_robin``.

    ``command`` is what was typed, for the folder's record of it.
    """
    if out is not None:
        if not os.fspath(out):
            raise InvalidSettingError("out is empty: name a folder for the run, or leave it out")
        plan = plan.after(out)
    plays = runner_of(plan, workers, runner, ray_address)
    crowding = crowding_of(plan, workers or 1 if runner == RunnerChoice.LOCAL else None)
    if crowding is not None and progress is not False:
        print(f"zermelo: {crowding}", file=sys.stderr)
    crowded = [] if crowding is None else [crowding]
    with contextlib.ExitStack() as stack:
        log = InvocationLog(command, crowded)
        store = stack.enter_context(Store(plan.schedule, plan.to_dict(), out, log))
        interrupts = stack.enter_context(Interrupts())
        loop = Run(plan.schedule, store, plan.test)
        names = [participant.name for participant in plan.participants]
        table = functools.partial(
            RunningTable, names, env_name(plan.env), plan.seat_names, store.results, plan.score
        )
        stopped = None
        try:
            loop.play(plays, plan.work(), interrupts, table=table, progress=progress, on_game=on_game)
        except KeyboardInterrupt as interrupt:
            interrupts.off()
            stopped = interrupt
        store.flush()
        counted = store.results()
        notes = [*map(printable, plan.left_out), *store.notes(), *unreadable(store.records)]
        if plan.test is not None and stopped is None:
            notes.append(plan.test.said(loop.verdict, counted))
        standings = Standings(
            results=counted, records=store.records, agents=names, planned=loop.wanted, env=env_name(plan.env),
            seat_names=plan.seat_names, anchor=plan.anchor, earlier_notes=notes, score=plan.score,
        )  # fmt: skip
        if out is not None:
            store.finish(standings.files())
        if stopped is not None:
            raise TournamentInterrupted(standings, interrupts.number or signal.SIGINT) from stopped
        return standings


def runner_of(
    plan: Tournament,
    workers: int | None = None,
    runner: RunnerChoice | str = RunnerChoice.LOCAL,
    ray_address: str | None = None,
) -> Runner:
    """The runner for that many workers; see ``round_robin``."""
    plays = make_runner(workers, runner, ray_address)
    if isinstance(plays, SerialRunner):
        return plays
    on_ray = runner == RunnerChoice.RAY
    if is_live(plan.env):
        sharers = "a Ray cluster" if on_ray else f"{workers} workers"
        raise InvalidSettingError(
            f"a live environment ({env_name(plan.env)}) cannot be shared by {sharers}: give its name, or a "
            "function that makes it, or play with workers=1" + " and runner='local'" * on_ray
        )
    if not on_ray:
        require_picklable(plan.env, f"the environment {env_name(plan.env)}")
        for participant in plan.participants:
            require_picklable(participant, f"the agent {participant.name}")
    return plays


def make_runner(
    workers: int | None = None, runner: RunnerChoice | str = RunnerChoice.LOCAL, ray_address: str | None = None
) -> Runner:
    """The runner for that many workers, on this machine or on a Ray cluster."""
    if workers is not None:
        check_whole("workers", workers, lower=1)
    if runner not in list(RunnerChoice):
        raise InvalidSettingError(f"runner must be {' or '.join(RunnerChoice)}, not {runner!r}")
    if runner == RunnerChoice.RAY:
        from zermelo.evaluation.workers.ray import RayRunner

        return RayRunner(workers, ray_address)
    if ray_address is not None:
        raise InvalidSettingError(f"the address of a Ray cluster ({ray_address!r}) needs runner='ray'")
    if workers in (None, 1):
        return SerialRunner()
    from zermelo.evaluation.workers.pool import ProcessRunner

    return ProcessRunner(workers or 1)


def crowding_of(plan: Tournament, workers: int | None) -> str | None:
    """A note on time limits that hold for a share of a processor only.

    Raises:
        InvalidSettingError: Agents are to ponder, and there are no free processors for it.
    """
    processors = default_threads()
    if plan.isolation.ponder and workers is not None and 2 * workers > processors:
        raise InvalidSettingError(
            f"with pondering each of {workers} workers takes two processors, and there are {processors}: use at "
            f"most {processors // 2} workers, or play without it"
        )
    timed = [who.name for who in plan.participants if who.fingerprint.get("seconds", "None") != "None"]
    if workers is None or workers <= processors or not (timed or plan.isolation.timed):
        return None
    what = f"the time limit of {timed[0]}" if timed else "the limit on time"
    return (
        f"{workers} workers share {processors} processor{'s' * (processors > 1)}, so agents have less time to "
        f"think than {what} says, and may lose by TIMEOUT what they would not lose alone: use at most "
        f"{processors} workers, or limit nodes instead."
    )


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
        needed = {"seats", "agents", "scheduled", "until_sure", "env", "anchor"}
        if needed - spec.keys() or (spec["until_sure"] and len(spec["agents"]) < 2):
            raise StoreError(f"what {path} holds is no specification of a run: put back a copy of it")
        seats = len(spec["seats"])
        counted = results(db, seats)
        planned = spec["scheduled"]
        notes = [*spec.get("left_out", ()), *notes_of(read_invocations(db, path)), *unreadable(records)]
        if (test := rule_of(spec)) is not None:
            verdict = test.verdict(counted) if counted.games in test.looks else None
            if verdict is not None or counted.games == planned:
                notes, planned = [*notes, test.said(verdict, counted)], counted.games
    return Standings(
        results=counted, records=records, agents=[agent["name"] for agent in spec["agents"]], planned=planned,
        env=spec["env"], seat_names=tuple(spec["seats"]), anchor=spec["anchor"], earlier_notes=notes,
        score=spec.get("score", Scoring.AUTO),
    )  # fmt: skip


def unreadable(records: StoredGames) -> list[str]:
    """A note on games whose records cannot be read, or none."""
    return [note for note in [records.unreadable()] if note]


def read_sources(folder: str | os.PathLike[str]) -> tuple[str, dict[str, str]] | None:
    """The environment of a folder's run and the texts of its agents by name; None where only games are known."""
    run = read_run(folder)
    spec = {} if run is None else run.spec
    agents = {agent["name"]: agent["source"] for agent in spec.get("agents", ())}
    return (spec["env"], agents) if agents and "env" in spec else None
