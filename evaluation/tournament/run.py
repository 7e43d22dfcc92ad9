"""The main job: an environment and some agents go in, standings come out."""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import signal
import sys
from pathlib import Path
from typing import Final

from zermelo.agents.base.machine import default_threads
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.calls import checked_call
from zermelo.evaluation.errors import StoreError, TournamentInterrupted
from zermelo.evaluation.match.clock import MAX_MOVES
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.sources import EnvSource, env_name, is_live
from zermelo.evaluation.match.text import printable
from zermelo.evaluation.output.progress import RunningTable
from zermelo.evaluation.output.standings import Standings
from zermelo.evaluation.schedule import Pairings
from zermelo.evaluation.stats.cut_games import cut_notes
from zermelo.evaluation.stats.reached_depth import depth_notes
from zermelo.evaluation.storage.counting import results
from zermelo.evaluation.storage.database import FILE, open_reader, read_spec
from zermelo.evaluation.storage.games import read_games
from zermelo.evaluation.storage.invocations import InvocationLog, notes_of, read_invocations, read_run
from zermelo.evaluation.storage.store import Store
from zermelo.evaluation.tournament.plan import Tournament
from zermelo.evaluation.tournament.running import Interrupts, Run
from zermelo.evaluation.tournament.settings import (
    Agents,
    AllSettings,
    RunnerChoice,
    RunnerSettings,
    RunSettings,
    settings_as_keywords,
)
from zermelo.evaluation.tournament.stopping import rule_of
from zermelo.evaluation.workers.work import Runner, SerialRunner

_DEFAULT: Final = RunSettings()


@checked_call
@settings_as_keywords(AllSettings)
def round_robin(env: EnvSource, agents: Agents, settings: AllSettings) -> Standings:
    """Every agent plays every other.

    The same environment, agents, games and seed give the same games, whatever the number of workers, unless an
    agent is limited by time.

    Args:
        env: A name (``"classic/connect_four-v3"``) or a function that makes an environment; with one worker also
            a live environment.
        agents: Texts (``"alphabeta(depth=4)"``), agents, or functions that make them; or a mapping of names for
            the tables to such.
        settings: As keywords, such as ``games=20``: those of ``zermelo.evaluation.tournament.settings``.

    Raises:
        ZermeloError: A name or setting is wrong, an agent cannot play the game, or the folder cannot be used.
            Failures of agents in play are no errors: they are in the standings.
        TournamentInterrupted: Ctrl-C; its ``standings`` are those so far.
    """
    return run(Tournament.prepare(env, agents, settings, out=settings.out), settings)


@checked_call
@settings_as_keywords(AllSettings, pairings=Pairings.GAUNTLET)
def gauntlet(env: EnvSource, agents: Agents, settings: AllSettings) -> Standings:
    """The first agent plays every other; the others do not meet.

    Args:
        env: As for ``round_robin``, which raises the same errors.
        agents: Likewise; the first one is to be judged by its games against the others.
        settings: Those of ``round_robin``, but for ``pairings``.
    """
    return run(Tournament.prepare(env, agents, settings, out=settings.out), settings)


def run(plan: Tournament, settings: RunSettings = _DEFAULT, *, command: str = "") -> Standings:
    """Plays what the folder lacks, or everything; the folder keeps ``command``, which was typed for it."""
    if settings.out is not None:
        plan = plan.after(settings.out)
    runner = runner_of(plan, settings)
    crowding = crowding_of(plan, None if settings.on_ray else settings.workers or 1)
    if crowding is not None and settings.progress is not False:
        print(f"zermelo: {crowding}", file=sys.stderr)
    if not settings.here:
        import scipy.optimize  # noqa: F401  # half a second that the table would take, while workers start
    with contextlib.ExitStack() as stack:
        log = InvocationLog(command, [] if crowding is None else [crowding])
        store = stack.enter_context(Store(plan.schedule, plan.to_dict(), settings.out, log))
        interrupts = stack.enter_context(Interrupts())
        loop = Run(plan.schedule, store, plan.test)
        names = [participant.name for participant in plan.participants]
        table = functools.partial(
            RunningTable, names, env_name(plan.env), plan.seat_names, store.results, plan.score
        )
        stopped = None
        try:
            loop.play(
                runner, plan.work(), interrupts, table=table, progress=settings.progress, on_game=settings.on_game
            )
        except KeyboardInterrupt as interrupt:
            interrupts.off()
            stopped = interrupt
        store.flush()
        counted = store.results()
        notes = [*map(printable, (*plan.left_out, *plan.assumed)), *store.notes(), *store.records.unreadable()]
        if plan.test is not None and stopped is None:
            notes.append(plan.test.note(loop.verdict, counted))
        notes += cut_notes(store.records, plan.settings.max_moves)
        notes += depth_notes(store.records, {who.name: who.fingerprint for who in plan.participants})
        standings = Standings(
            results=counted, records=store.records, agents=names, planned=loop.wanted, env=env_name(plan.env),
            seat_names=plan.seat_names, anchor=plan.settings.anchor, earlier_notes=notes, score=plan.score,
            pairings=plan.schedule.pairings, env_title=plan.title,
        )  # fmt: skip
        if settings.out is not None:
            store.finish(standings.files())
        if stopped is not None:
            raise TournamentInterrupted(standings, interrupts.number or signal.SIGINT) from stopped
        return standings


def runner_of(plan: Tournament, settings: RunSettings) -> Runner:
    runner = make_runner(settings.workers, settings.runner, settings.ray_address)
    if isinstance(runner, SerialRunner):
        return runner
    if is_live(plan.env):
        sharers = "a Ray cluster" if settings.on_ray else f"{settings.workers} workers"
        raise InvalidSettingError(
            f"a live environment ({env_name(plan.env)}) cannot be shared by {sharers}: give its name, or a "
            "function that makes it, or play with workers=1" + " and runner='local'" * settings.on_ray
        )
    if settings.on_ray:
        return runner
    agents = ((participant, f"the agent {participant.name}") for participant in plan.participants)
    for value, name in [(plan.env, f"the environment {env_name(plan.env)}"), *agents]:
        try:
            pickle.dumps(value)
        except Exception as error:
            raise InvalidSettingError(
                f"{name} cannot be sent to worker processes ({type(error).__name__}: {error}): give a name or a "
                "function at the top level of a module, or play with workers=1"
            ) from error
    return runner


def make_runner(
    workers: int | None = None, runner: RunnerChoice | str = RunnerChoice.LOCAL, ray_address: str | None = None
) -> Runner:
    """The runner for that many workers, on this machine or on a Ray cluster."""
    settings = RunnerSettings(workers=workers, runner=runner, ray_address=ray_address)  # which checks them
    if settings.on_ray:
        from zermelo.evaluation.workers.ray import RayRunner

        return RayRunner(workers, ray_address)
    if settings.here:
        return SerialRunner()
    from zermelo.evaluation.workers.pool import ProcessRunner

    return ProcessRunner(workers or 1)


def crowding_of(plan: Tournament, workers: int | None) -> str | None:
    """A note on time limits that hold for a share of a processor only; to ponder without free ones raises."""
    processors = default_threads()
    if plan.settings.limits.ponder and workers is not None and 2 * workers > processors:
        raise InvalidSettingError(
            f"with pondering each of {workers} workers takes two processors, and there are {processors}: use at "
            f"most {processors // 2} workers, or play without it"
        )
    timed = [who.name for who in plan.participants if who.fingerprint.get("seconds", "None") != "None"]
    if workers is None or workers <= processors or not (timed or plan.settings.limits.timed):
        return None
    what = f"the time limit of {timed[0]}" if timed else "the limit on time"
    return (
        f"{workers} workers share {processors} processor{'s' * (processors > 1)}, so agents have less time to "
        f"think than {what} says, and may lose by TIMEOUT what they would not lose alone: use at most "
        f"{processors} workers, or limit nodes instead."
    )


@checked_call
def read_standings(folder: str | os.PathLike[str]) -> Standings:
    """The standings of a run in a folder, also while it goes on; of its games, which are counted, few are read.

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
        notes = [*spec.get("left_out", ()), *spec.get("assumed", ())]
        notes += [*notes_of(read_invocations(db, path)), *records.unreadable()]
        if (test := rule_of(spec)) is not None:
            verdict = test.verdict(counted) if counted.games in test.looks else None
            if verdict is not None or counted.games == planned:
                notes, planned = [*notes, test.note(verdict, counted)], counted.games
        notes += cut_notes(records, spec.get("max_moves", MAX_MOVES))
        notes += depth_notes(records, {one["name"]: one.get("fingerprint", {}) for one in spec["agents"]})
    return Standings(
        results=counted, records=records, agents=[agent["name"] for agent in spec["agents"]], planned=planned,
        env=spec["env"], seat_names=tuple(spec["seats"]), anchor=spec["anchor"], earlier_notes=notes,
        score=spec.get("score", Scoring.AUTO), env_title=spec.get("title", ""),
        pairings=Pairings(spec.get("kind", Pairings.ROUND_ROBIN)),
    )  # fmt: skip


def read_sources(folder: str | os.PathLike[str]) -> tuple[str, dict[str, str]] | None:
    """The environment of a folder's run and the texts of its agents by name; None where only games are known."""
    run = read_run(folder)
    spec = {} if run is None else run.spec
    agents = {agent["name"]: agent["source"] for agent in spec.get("agents", ())}
    return (spec["env"], agents) if agents and "env" in spec else None
