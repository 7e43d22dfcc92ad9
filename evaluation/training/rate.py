"""Checkpoints of a training, rated by games that are chosen while they are played.

A rating is a run in a store, as a tournament is, whose agents are the checkpoints and their opponents (anchors, or
the rungs of a ladder's file). Its schedule grows in batches: each is decided by the results of all batches before
it (``joint_ratings``, ``game_choice``), is written to the store before its first game, and then stands. So a run
that was killed plays what its last batch lacks and then decides as it would have done, whatever the number of
workers. Further checkpoints are agents without games, whose intervals are the widest: the same command rates them.
It ends when all intervals are as narrow as was asked for, or no game would tell more.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from zermelo.agents.base.settings import check_flag, check_number, check_whole
from zermelo.agents.level import Levels, Unit
from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.installing import install_command
from zermelo.evaluation.errors import EnvironmentFailureError, RatingInterrupted, StoreError
from zermelo.evaluation.ladders.ladder import covariance_of, default_anchors, digest_of, openings_for, zero_of
from zermelo.evaluation.match.live_game import EnvDriver, drive_env
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.sources import AgentSource, EnvSource, build_env, env_name, is_live
from zermelo.evaluation.output.standings import Standings
from zermelo.evaluation.schedule import ScheduledGame, checked_seed
from zermelo.evaluation.stats.reached_depth import depth_notes
from zermelo.evaluation.storage.database import FILE
from zermelo.evaluation.storage.invocations import InvocationLog
from zermelo.evaluation.storage.store import Store
from zermelo.evaluation.tournament.plan import Tournament, stored_spec
from zermelo.evaluation.tournament.run import crowding_of, runner_of
from zermelo.evaluation.tournament.running import Interrupts
from zermelo.evaluation.tournament.settings import RunnerChoice, RunSettings, TournamentSettings
from zermelo.evaluation.training.checkpoints import (
    Checkpoint,
    CheckpointSource,
    StepSource,
    find_checkpoints,
    name_of,
)
from zermelo.evaluation.training.evaluate import LadderSource, anchors_of, levels_of
from zermelo.evaluation.training.joint_ratings import Field, JointRatings
from zermelo.evaluation.training.pair_schedule import PairSchedule
from zermelo.evaluation.training.policy_match import MOST_ASKED, WIDTH
from zermelo.evaluation.training.rated import PICTURES, CheckpointRating, RatedCheckpoints
from zermelo.evaluation.workers.games import participants
from zermelo.evaluation.workers.settings import AgentLimits, Isolate


@dataclass(frozen=True)
class _Rated:
    """A plan whose agents are the checkpoints and their opponents, and the schedule so far."""

    plan: Tournament
    field: Field
    ladder: str
    schedule: PairSchedule

    def spec(self) -> dict[str, Any]:
        batches = [[*map(list, batch)] for batch in self.schedule.batches]
        return {**self.plan.to_dict(), "batches": batches, "scheduled": len(self.schedule)}


@checked_call
def rate_checkpoints(
    env: EnvSource,
    checkpoints: CheckpointSource,
    *,
    ladder: LadderSource = None,
    within: float | None = None,
    sure: float | None = None,
    games: int = MOST_ASKED,
    steps: StepSource = None,
    agent: str = "",
    seed: int = 0,
    skip_unfit: bool = False,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    runner: RunnerChoice | str = RunnerChoice.LOCAL,
    ray_address: str | None = None,
    on_progress: Callable[[str], object] | None = None,
    command: str = "",
) -> RatedCheckpoints:
    """Rates every checkpoint of a training, by games that are chosen where they tell most.

    Files are loaded as their libraries do, in this process or its workers: models of Stable-Baselines3 and PyTorch
    may run code, so give only files that you trust.

    Args:
        env: A name, a function that makes an environment, or with one worker a live environment.
        checkpoints: A folder with models (``.zip`` of Stable-Baselines3, ``.pt``, ``.onnx``), a pattern such as
            ``"runs/*.zip"``, a list of files, or policies, as ``evaluate_policy`` takes them, by their steps.
        ladder: The opponents: a ladder's file or anchors, as for ``evaluate_policy``, which has the same default;
            an empty list for none, so that checkpoints meet each other only.
        within: Width of the 95 % intervals at which to stop, in Elo; by default 100, unless ``sure`` is given.
        sure: Plays until the best checkpoint is the best with this probability.
        games: Games to play at most, even if that is not reached.
        steps: The step of each checkpoint, or ``"time"`` to number them by the times of their files; by default
            the step is read from the name.
        agent: The text of an agent that plays a file of yours, which ``{}`` stands for: ``"mymodule:load({})"``.
        seed: Decides all games, with their results.
        skip_unfit: Leaves out checkpoints that cannot play this game, and says so.
        out: A folder for the games and the curve. The same call again goes on, and rates further checkpoints.
        workers: Worker processes, as for ``round_robin``; the games do not depend on it.
        runner: Where they run, as for ``round_robin``.
        ray_address: The address of a Ray cluster, as for ``round_robin``.
        on_progress: Is told in a sentence how far it is, after each batch.
        command: The command line that asked for it, for the folder.

    Raises:
        ZermeloError: A setting is wrong, a checkpoint cannot be loaded or play here, or the folder cannot be used.
        RatingInterrupted: Ctrl-C; its ``rated`` has the ratings so far.
    """
    settings = RunSettings(out=out, workers=workers, runner=runner, ray_address=ray_address)
    check_whole("games", games, lower=1)
    if within is not None:
        check_number("within", within, lower=0, above=True)
    if sure is not None:
        check_number("sure", sure, lower=0.5, above=True)
        if sure >= 1:
            raise InvalidSettingError(f"sure must be below 1, not {sure!r}: no number of games makes that certain")
    check_flag("skip_unfit", skip_unfit)
    found = find_checkpoints(checkpoints, steps, agent)
    rated = _prepared(env, found, ladder, checked_seed(seed), skip_unfit, settings)
    check_whole("games", games, lower=rated.field.seats)
    width = WIDTH if within is None and sure is None else within
    goal = functools.partial(JointRatings, rated.field, within=width, sure=sure, seed=seed)
    return _play(rated, settings, goal, games, on_progress or (lambda sentence: None), command)


def _prepared(
    env: EnvSource,
    found: list[Checkpoint],
    ladder: LadderSource,
    seed: int,
    skip_unfit: bool,
    settings: RunSettings,
) -> _Rated:
    source = functools.partial(clone_env, env) if is_live(env) else env
    driver = drive_env(build_env(source)[0], seed)
    seats = len(driver.seat_names)
    if seats < 2:
        raise UnsupportedGameError(
            f"{env_name(env)} has one seat, so nobody can be met: compare returns with round_robin instead"
        )
    levels, opponents = _opponents(driver, anchors_of(ladder))
    openings = openings_for(driver.env, seats, seed)
    names = {(f"{one.name} (step {one.step})" if one.name in opponents else one.name): one for one in found}
    agents = _in_order({**opponents, **{name: one.source for name, one in names.items()}}, settings.out)
    of_run = TournamentSettings(
        games=seats * max(len(openings), 1), seed=seed, openings=[*map(list, openings)] or None,
        isolation=AgentLimits(isolate=Isolate.NONE), skip_unfit=skip_unfit,
    )  # fmt: skip
    plan = Tournament.prepare(env, agents, of_run, out=settings.out)
    if plan.score is Scoring.TEAM:
        raise UnsupportedGameError(
            f"{env_name(env)} is cooperative, so nobody beats another: `zermelo evaluate` gives mean rewards"
        )
    playing = tuple(participant.name for participant in plan.participants)
    steps = {name: one.step for name, one in names.items() if name in playing}
    if len(steps) < 2:
        raise InvalidSettingError(f"fewer than two checkpoints can play here: {' '.join(plan.left_out)}")
    rest = [name for name in opponents if name in playing]
    zero = zero_of(rest) if rest else min(steps, key=steps.__getitem__)
    field = Field(playing, steps, zero, seats)
    if levels is not None:
        rungs = {rung.agent: rung.rating for rung in levels.rungs}
        field = replace(field, rungs=rungs, covariance=covariance_of(levels), zero=next(iter(rungs)))
    actions = tuple(plan.schedule.openings)
    schedule = PairSchedule(playing, seats, seed, actions, plan.schedule.duplicate, _stored_batches(settings.out))
    # Of the pairings of a tournament nothing is used: there may be very many.
    plan = replace(plan, schedule=replace(plan.schedule, agents=playing[:2], numbers=None))
    digest = digest_of(env_name(env) if levels is None else levels.game, field.rungs or rest, seed, actions)
    return _Rated(plan, field, digest, schedule)


def _opponents(driver: EnvDriver, ladder: LadderSource) -> tuple[Levels | None, dict[str, AgentSource]]:
    """The ladder, if it is a file's, and the opponents by name."""
    levels = levels_of(driver.env, ladder)
    if levels is None:
        assert not isinstance(ladder, str | os.PathLike), "files are levels"
        anchors = participants(default_anchors(driver.env) if ladder is None else ladder)
        return None, {anchor.name: anchor.source for anchor in anchors}
    if levels.unit is Unit.REWARD:
        raise UnsupportedGameError(
            f"the ladder of {levels.game} is of mean rewards, not of Elo: give opponents (--ladder random), or "
            "rate each checkpoint by `zermelo evaluate`"
        )
    return levels, {rung.agent: rung.agent for rung in levels.rungs}


def _in_order(agents: Mapping[str, AgentSource], out: str | os.PathLike[str] | None) -> dict[str, AgentSource]:
    """The agents, those of the folder's run first, in its order."""
    spec = {} if out is None else stored_spec(Path(out) / FILE)
    old = [one["name"] for one in spec.get("agents", ())] if "batches" in spec else []
    if gone := next((name for name in old if name not in agents), None):
        raise StoreError(
            f"{out} has games of {gone}, which is not among these checkpoints and opponents: give it too, or "
            "choose another folder"
        )
    return {name: agents[name] for name in [*old, *(name for name in agents if name not in old)]}


def _stored_batches(out: str | os.PathLike[str] | None) -> tuple[Any, ...]:
    batches = () if out is None else stored_spec(Path(out) / FILE).get("batches", ())
    return tuple(tuple((first, second, blocks) for first, second, blocks in batch) for batch in batches)


def _play(
    rated: _Rated,
    settings: RunSettings,
    goal: Callable[..., JointRatings],
    games: int,
    say: Callable[[str], object],
    command: str,
) -> RatedCheckpoints:
    runner = runner_of(rated.plan, settings)
    crowding = crowding_of(rated.plan, None if settings.on_ray else settings.workers or 1)
    with contextlib.ExitStack() as stack:
        log = InvocationLog(command, [] if crowding is None else [crowding])
        schedule, seats = rated.schedule, rated.field.seats
        store = stack.enter_context(Store(schedule, rated.spec(), settings.out, log))
        interrupts = stack.enter_context(Interrupts())
        waiting: list[ScheduledGame] = []  # the runner goes on with what is added to it
        played = stack.enter_context(contextlib.closing(runner.run(rated.plan.work(), waiting)))
        stopped: KeyboardInterrupt | None = None
        try:
            while True:
                missing = [schedule[place] for place in range(len(schedule)) if not store.has(place)]
                waiting += missing
                _store_games(itertools.islice(played, len(missing)), store, interrupts)
                now = goal(store.results())
                if schedule.batches:
                    _require_games(now, schedule, store.records)
                    say(_progress(now, len(schedule)))
                batch = now.next_batch(len(schedule) // seats, (games - len(schedule)) // seats)
                if not batch:
                    break
                schedule = schedule.longer(batch)
                with interrupts.held():
                    store.extend(schedule, replace(rated, schedule=schedule).spec())
        except KeyboardInterrupt as interrupt:
            stopped = interrupt
        interrupts.off()
        store.flush()
        now = goal(store.results())
        found = _found(rated, now, store, len(schedule))
        if settings.out is not None:
            store.finish({**found.standings.files(), **found.files()})
            if notes := _pictures(found, Path(settings.out)):
                found = replace(found, notes=(*found.notes, *notes))
        if stopped is not None:
            raise RatingInterrupted(found, interrupts.number or signal.SIGINT) from stopped
        return found


def _store_games(games: Iterable[GameRecord], store: Store, interrupts: Interrupts) -> None:
    for record in games:
        with interrupts.held():
            store.append(record)
    with interrupts.held():
        store.flush()


def _require_games(now: JointRatings, schedule: PairSchedule, records: Iterable[GameRecord]) -> None:
    if now.results.counts().games:
        return
    failure = next((record.failure for record in records if record.failure is not None), None)
    why = "" if failure is None else f": {failure.message}"
    raise EnvironmentFailureError(
        f"the environment failed in all of the first {len(schedule)} games, so there is nothing to rate{why}"
    )


def _progress(now: JointRatings, games: int) -> str:
    widest = max((now.ratings[name] for name in now.field.checkpoints), key=lambda one: one.width)
    width = f"{widest.width:.0f} Elo wide" if widest.width < float("inf") else "open at one end"
    likely = max(now.likely_best.values(), default=0.0)
    return (
        f"{games:,} games: the widest interval, of step {now.field.steps[widest.name]:,}, is {width}; the best is "
        f"known to {100 * likely:.0f} %"
    )


def _found(rated: _Rated, now: JointRatings, store: Store, planned: int) -> RatedCheckpoints:
    plan, field = rated.plan, now.field
    notes = [*plan.left_out, *plan.assumed, *store.notes(), *store.records.unreadable()]
    notes += depth_notes(store.records, {who.name: who.fingerprint for who in plan.participants})
    standings = Standings(
        results=now.results, records=store.records, agents=field.names, planned=planned, env=env_name(plan.env),
        seat_names=plan.seat_names, anchor=field.zero if now.results.groups else None, score=plan.score,
        env_title=plan.title,
    )  # fmt: skip
    checkpoints = tuple(
        CheckpointRating(
            step=field.steps[name], likely_best=now.likely_best.get(name, 0.0), **vars(now.ratings[name])
        )
        for name in field.checkpoints
    )
    return RatedCheckpoints(
        checkpoints=checkpoints, opponents=tuple(now.ratings[name] for name in field.opponents), zero=field.zero,
        evenly=now.evenly(), standings=standings, ladder=rated.ladder,
        notes=(*notes, *standings.notes, *_shortfall(now)), policy=name_of(field.checkpoints),
    )  # fmt: skip


def _shortfall(now: JointRatings) -> Iterator[str]:
    if missed := [*now.missed()]:
        steps = ", ".join(f"{now.field.steps[name]:,}" for name in missed[:6])
        more = f" and {len(missed) - 6} more" if len(missed) > 6 else ""
        yield (
            f"The intervals of {len(missed)} checkpoints (step {steps}{more}) are wider than {now.within:g} Elo: "
            "the limit on games is reached, their games repeat or are all won or lost, or the error of the rungs "
            "is left."
        )
    if not now.is_sure:
        yield f"The best checkpoint is not known to {100 * (now.sure or 0):g} % yet."


def _pictures(found: RatedCheckpoints, folder: Path) -> list[str]:
    """Writes the curve as pictures; a note if that cannot be."""
    if not found.curve.points:
        return []
    if find_spec("matplotlib") is None:
        return [f"No pictures of the curve, which need matplotlib: {install_command('notebook')}"]
    for suffix in PICTURES[:2]:
        found.save(folder / f"curve{suffix}")
    return []
