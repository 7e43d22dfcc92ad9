"""The plan of a tournament: everything that is known before the first game."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from zermelo.agents.agent import Agent
from zermelo.agents.baselines import RandomAgent
from zermelo.agents.policies.policy import ViewAgent
from zermelo.agents.specs import check_env
from zermelo.envs.errors import InvalidSettingError, UnknownNameError, UnsupportedGameError, ZermeloError
from zermelo.envs.game import Chance, Information, RewardSum
from zermelo.envs.live.wrappers import innermost
from zermelo.envs.support.calls import checked_call
from zermelo.envs.traits.declared import declared_traits
from zermelo.envs.traits.known_classes import known_class
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.adjudication import Adjudication
from zermelo.evaluation.match.fingerprint import fingerprint
from zermelo.evaluation.match.live_game import EnvDriver, drive_env
from zermelo.evaluation.match.readiness import assumptions, rehearse, require_fit, start_compiling, view_for
from zermelo.evaluation.match.record import versions
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.sources import AgentSource, EnvSource, build_env, env_name, env_title
from zermelo.evaluation.match.text import plain
from zermelo.evaluation.schedule import Pairings, Schedule, checked_seed, derived_seed, parse_pairings
from zermelo.evaluation.storage.database import FILE, open_reader, read_spec
from zermelo.evaluation.storage.invocations import machine
from zermelo.evaluation.storage.rebuilding import read_spec_text
from zermelo.evaluation.storage.run_spec import openings_hash
from zermelo.evaluation.storage.store import require_writable
from zermelo.evaluation.tournament.opening_files import openings_for, require_openings
from zermelo.evaluation.tournament.openings import Opening, Openings, RunOpenings, spec_at
from zermelo.evaluation.tournament.settings import Agents, TournamentSettings
from zermelo.evaluation.tournament.stopping import LeaderTest, SprtTest, StoppingRule, described
from zermelo.evaluation.workers.games import GamePlayer, Participant, participants

_DEFAULT: Final = TournamentSettings()


@checked_call
@dataclass(frozen=True)
class Tournament:
    """Everything that is known before the first game; ``round_robin`` plays one.

    Attributes:
        env: What makes the environment.
        openings: What the specification says of them.
        test: Stops the run early, or None.
        env_fingerprint: What decides the environment (``zermelo.evaluation.match.fingerprint``).
        score: What the tables rank by.
        title: The environment's own name, where it is not called by one of a registry; else empty.
        left_out: Why agents that were asked for do not play.
        assumed: What searches take for granted that nobody has told of the environment.
    """

    env: EnvSource
    seat_names: tuple[str, ...]
    participants: tuple[Participant, ...]
    settings: TournamentSettings
    schedule: Schedule
    openings: Mapping[str, Any]
    test: StoppingRule | None
    env_fingerprint: Mapping[str, str]
    score: Scoring
    left_out: tuple[str, ...]
    assumed: tuple[str, ...]
    title: str

    @classmethod
    def prepare(
        cls,
        env: EnvSource,
        agents: Agents,
        settings: TournamentSettings = _DEFAULT,
        *,
        out: str | os.PathLike[str] | None = None,
    ) -> Tournament:
        """Makes and resets the environment once, makes every agent once, and lays out the schedule.

        A run in ``out`` has its openings: their file is needed only once.
        """
        live = build_env(env)[0]
        driver = drive_env(live, settings.seed)
        wanted = participants(agents, settings.limits, driver)
        stored = RunOpenings() if out is None else _stored_openings(Path(out) / FILE)
        schedule = _early_schedule(settings, [participant.name for participant in wanted], driver)
        require_openings(settings.openings, stored)
        if out is not None:
            require_writable(Path(out))
        fitting, left_out, assumed = _fitting(wanted, driver, settings.skip_unfit)
        names = [participant.name for participant in fitting]
        _require_anchor(settings.anchor, names)
        score = _score_of(settings, driver)
        has_deals = len(driver.seat_names) > 1 and has_luck(live)
        schedule = replace(schedule, agents=names, duplicate=has_deals, teams=score is Scoring.TEAM)
        given = openings_for(
            settings.openings, env, live, count=schedule.blocks, seed=schedule.seed, plies=settings.opening_plies,
            stored=stored,
        )  # fmt: skip
        starts = tuple(spec_at(env, opening.fen) if opening.fen else None for opening in given.openings)
        schedule = replace(
            schedule,
            openings=tuple(opening.actions for opening in given.openings),
            starts=starts if any(starts) else (),
        )
        if schedule.teams and (settings.until_sure or settings.sprt is not None):
            raise InvalidSettingError(
                f"{env_name(env)} is cooperative, so nobody leads by beating others: choose a number of games "
                "instead of until_sure or sprt"
            )
        return cls(
            env=env,
            seat_names=driver.seat_names,
            participants=fitting,
            settings=settings,
            schedule=schedule,
            openings=_openings_described(settings.openings, schedule, given),
            test=_stopping_rule(settings, schedule, score),
            env_fingerprint=fingerprint(env, innermost(live)),
            score=score,
            left_out=left_out,
            assumed=assumed,
            title=env_title(env, live),
        )

    def after(self, out: str | os.PathLike[str]) -> Tournament:
        """This tournament as it goes on after the folder's run of some of its agents.

        The folder's agents keep their places and further ones come after them. Who begins in a game depends on the
        agents' numbers, and a further agent's depends on its name alone: so the order in which agents are added
        does not matter.
        """
        if not (there := stored_spec(Path(out) / FILE).get("agents", [])):
            return self
        by_name = {participant.name: participant for participant in self.participants}
        old = [agent["name"] for agent in there]
        if not set(old) <= by_name.keys() or (
            self.schedule.pairings in (Pairings.GAUNTLET, Pairings.ONE_SEAT) and old[:1] != [*by_name][:1]
        ):
            return self
        names = [*old, *(name for name in by_name if name not in old)]
        numbers = [agent.get("number", place) for place, agent in enumerate(there)]
        numbers += [derived_seed("number", name) for name in names[len(old) :]]
        if names == [*by_name] and numbers == [*(self.schedule.numbers or range(len(names)))]:
            return self
        schedule = replace(self.schedule, agents=names, numbers=tuple(numbers))
        return replace(self, participants=tuple(by_name[name] for name in names), schedule=schedule)

    def work(self) -> GamePlayer:
        """Returns the work of the run: it plays games of the schedule."""
        agents = {participant.name: participant for participant in self.participants}
        limits = self.settings.max_moves, self.settings.limits.hang_seconds, self.adjudication
        return GamePlayer(self.env, env_name(self.env), self.seat_names, agents, *limits)

    @property
    def adjudication(self) -> Adjudication | None:
        """How games are adjudicated, if they are."""
        text = self.settings.adjudicate
        return None if text is None else Adjudication.read(text)

    def to_dict(self) -> dict[str, Any]:
        """The specification as plain values, with the versions and the machine it ran on."""
        return {
            "kind": str(self.schedule.pairings),
            "env": env_name(self.env),
            **({"title": self.title} if self.title else {}),
            "seats": list(self.seat_names),
            "env_fingerprint": dict(self.env_fingerprint),
            "agents": [
                {
                    "name": participant.name,
                    "source": _described(participant.source),
                    "fingerprint": dict(participant.fingerprint),
                    "number": place if self.schedule.numbers is None else self.schedule.numbers[place],
                }
                for place, participant in enumerate(self.participants)
            ],
            "games": self.schedule.games,
            **({"rounds": self.schedule.rounds} if self.schedule.pairings.in_rounds else {}),
            "seed": self.schedule.seed,
            **self.openings,
            **described(self.test),
            "max_moves": self.settings.max_moves,
            **({"adjudicate": self.adjudication._asdict()} if self.adjudication else {}),
            "isolation": self.settings.limits.to_dict(),
            "scheduled": len(self.schedule),
            **({"deals": "duplicate"} if self.schedule.duplicate else {}),
            **({"teams": True} if self.schedule.teams else {}),
            "anchor": self.settings.anchor,
            "score": str(self.score),
            **({"left_out": list(self.left_out)} if self.left_out else {}),
            **({"assumed": list(self.assumed)} if self.assumed else {}),
            "versions": versions(),
            "machine": machine(),
        }


def _early_schedule(settings: TournamentSettings, names: Sequence[str], driver: EnvDriver) -> Schedule:
    """The schedule of all agents; what can be refused before anything is compiled is refused here."""
    is_general = _given_traits(driver.env).get("reward_sum") == RewardSum.GENERAL
    pairings, rounds = parse_pairings(settings.pairings)
    schedule = Schedule(
        names, seats=len(driver.seat_names), games=settings.games, seed=checked_seed(settings.seed),
        pairings=pairings, swiss_rounds=rounds, teams=is_general or settings.score == Scoring.TEAM,
    )  # fmt: skip
    _require_anchor(settings.anchor, names)
    if settings.sprt is not None and not settings.skip_unfit:
        SprtTest.of(schedule, tuple(names), settings.sprt)
    return schedule


def _stopping_rule(settings: TournamentSettings, schedule: Schedule, score: Scoring) -> StoppingRule | None:
    if settings.until_sure:
        return LeaderTest.of(schedule, len(schedule.agents), score)
    return None if settings.sprt is None else SprtTest.of(schedule, tuple(schedule.agents), settings.sprt)


def _score_of(settings: TournamentSettings, driver: EnvDriver) -> Scoring:
    score = Scoring(settings.score)
    if score is Scoring.AUTO and len(driver.seat_names) > 1 and is_cooperative(driver.env, settings.seed):
        return Scoring.TEAM
    return score


def _require_anchor(anchor: str | None, names: Sequence[str]) -> None:
    if anchor is not None and anchor not in names:
        raise UnknownNameError(f"the anchor {anchor!r} does not play: choose one of {', '.join(names)}")


def _fitting(
    candidates: Sequence[Participant], driver: EnvDriver, skip_unfit: bool
) -> tuple[tuple[Participant, ...], tuple[str, ...], tuple[str, ...]]:
    """Who plays, why others do not, and what the searches among them take for granted, each in sentences."""
    made: list[tuple[Participant, Agent | None]] = []
    fitting: list[Participant] = []
    left_out: list[str] = []
    for participant in candidates:
        with _leaving_out(left_out, skip_unfit):
            made.append((participant, _fit_agent(participant, driver)))
    agents = [agent for _, agent in made if agent is not None]
    start_compiling(agents, driver.env)
    for participant, agent in made:
        with _leaving_out(left_out, skip_unfit):
            if agent is not None:
                rehearse(agent, driver.env, strict=True)  # compiles for all workers
            fitting.append(participant)
    return tuple(fitting), tuple(left_out), assumptions(agents, driver.env)


def _fit_agent(participant: Participant, driver: EnvDriver) -> Agent | None:
    """An agent that may play, if it compiles something at its first use."""
    if participant.unfit is not None:
        raise participant.unfit
    if not participant.may_be_made_here:
        check_env(participant.source, driver.env)
        return None
    agent = participant.build()
    require_fit(agent, driver.env, participant.name, view_for(agent, driver))
    return None if isinstance(agent, ViewAgent) else agent


@contextlib.contextmanager
def _leaving_out(left_out: list[str], skip_unfit: bool) -> Iterator[None]:
    """Adds the reason why an agent cannot play to ``left_out``, or raises it."""
    try:
        yield
    except UnsupportedGameError as error:
        if not skip_unfit:
            raise UnsupportedGameError(f"{error}; skip_unfit (--skip-unfit) leaves it out") from error
        left_out.append(f"Left out: {error}")


def _openings_described(wanted: Openings | None, schedule: Schedule, given: RunOpenings) -> Mapping[str, Any]:
    if not given.openings:
        return {"openings": None}
    plies = wanted if isinstance(wanted, int) else None
    about = {"plies": plies, "count": len(given.openings), "sha256": openings_hash(schedule.beginnings)}
    if plies is not None:
        return {"openings": about}
    lines = [(opening.fen, opening.actions) for opening in given.openings]
    return {"openings": about, "opening_lines": lines, "opening_lines_are_all": given.are_all}


def _stored_openings(path: Path) -> RunOpenings:
    spec = stored_spec(path)
    lines = (Opening(tuple(map(plain, actions)), fen) for fen, actions in spec.get("opening_lines", ()))
    return RunOpenings(tuple(lines), spec.get("opening_lines_are_all", False))


def stored_spec(path: Path) -> Mapping[str, Any]:
    """The specification of the run in a database; that beside it where it is lost or damaged, or an empty one.

    The store that is opened next says what is wrong with it, where that matters.
    """
    if path.exists() and path.stat().st_size:
        with contextlib.suppress(StoreError), open_reader(path) as db:
            return read_spec(db) or {}
    return read_spec_text(path.parent) or {}


def _described(source: AgentSource) -> str:
    if isinstance(source, str):
        return source
    kind = source if isinstance(source, type) or not hasattr(source, "act") else type(source)
    return f"{kind.__module__}:{getattr(kind, '__qualname__', type(kind).__qualname__)}"


GAMES: Final = 3
MOVES: Final = 200
"""Random games that are looked at, and moves of each."""


def has_luck(env: Any) -> bool:
    """True unless it is known or declared that neither chance nor hidden moves decide."""
    traits = _given_traits(env)
    return not (traits.get("chance") == Chance.NONE and traits.get("information") == Information.PERFECT)


def is_cooperative(env: Any, seed: int) -> bool:
    """Whether all seats of a live environment are paid alike, at every step of a few random games.

    The environment is played in. Only games whose seats are known not to be opposed may be a team's, and of those
    only what paid something.
    """
    if _given_traits(env).get("reward_sum") != RewardSum.GENERAL:
        return False
    agent, paid = RandomAgent(), False
    try:
        for number in range(GAMES):
            game_seed = derived_seed(seed, "cooperative", number)
            agent.reset(game_seed)
            driver = drive_env(env, game_seed)
            for _ in range(MOVES):
                if driver.turn() is None:
                    break
                driver.step(agent.act(env))
                if len(set(driver.rewards)) > 1:
                    return False
                paid |= any(driver.rewards)
        return paid
    except ZermeloError:  # whatever fails here fails in the games too, and is reported there
        return False


def _given_traits(env: Any) -> dict[str, Any]:
    raw = innermost(env)
    return {**known_class(raw).traits_of(raw), **declared_traits(raw)}
