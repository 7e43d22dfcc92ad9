"""How strong is a policy while it is trained? A rating by games against agents of fixed ratings.

On a ladder (``zermelo ladder``) the policy meets the rungs near its strength until its rating is sure enough, or
the ladder's baseline where that is of rewards; elsewhere anchors, which are rated by games between them as well.
Intervals hold the errors of the anchors' ratings too (``scripts/bench.py policies``).
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from zermelo.agents.base.settings import check_number, check_whole
from zermelo.agents.level import Levels, Unit, levels_for
from zermelo.agents.search_agent import SearchAgent
from zermelo.agents.specs import agent_names, names_agent, require_env
from zermelo.agents.training.schedules import is_agent, is_baselines, is_module
from zermelo.agents.tree_search.alpha_beta.agents import AlphaBetaAgent
from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.errors import CloneError, InvalidSettingError, UnknownNameError, UnsupportedGameError
from zermelo.envs.live.wrappers import is_aec, is_gymnasium
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.spec_text import did_you_mean
from zermelo.evaluation.errors import EnvironmentFailureError
from zermelo.evaluation.ladders.ladder import POLICY, find_ladder, ladder_of
from zermelo.evaluation.match.fingerprint import fingerprint
from zermelo.evaluation.match.live_game import drive_env
from zermelo.evaluation.match.readiness import assumptions, require_fit
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.sources import (
    AgentSource,
    EnvSource,
    build_agent,
    build_env,
    env_name,
    env_title,
    is_live,
    policy_name,
    policy_source,
)
from zermelo.evaluation.match.text import finite, rounded
from zermelo.evaluation.schedule import checked_seed
from zermelo.evaluation.stats.ranking import Ranking
from zermelo.evaluation.stats.reached_depth import depth_notes
from zermelo.evaluation.stats.rows import AgentRow
from zermelo.evaluation.stats.score_interval import INTERVAL
from zermelo.evaluation.storage.counting import count_games
from zermelo.evaluation.text_table import TextTable
from zermelo.evaluation.training.policy_match import MOST, MOST_ASKED, WIDTH, PolicyMatch, missing
from zermelo.evaluation.workers.games import GamePlayer, Participant, participants
from zermelo.evaluation.workers.work import kept_globals, seed_globals

LadderSource: TypeAlias = Sequence[AgentSource] | Mapping[str, AgentSource] | str | os.PathLike[str] | None
"""A ladder's file, an anchor or several, or None for those of the game."""
WITH_ANCHOR: Final = 20  # games with each anchor by default
WITH_BASELINE: Final = 400  # games by default where a ladder is of rewards


@dataclass(frozen=True, kw_only=True)
class PolicyRating:
    """A policy's strength; ``print`` shows it.

    Attributes:
        rating: In Elo, on the anchors' scale, where ``random`` (else the first anchor) has 0. Always finite: for a
            policy that won or lost everything it comes of half a win more for each side.
        lower, upper: The ends of its interval, which holds the errors of the anchors' ratings too; infinite where
            no game speaks against that.
        standings: The policy's games: ``total`` is its row.
        against: The policy's row in its games against each anchor, by name.
        elo: The ratings of the anchors, by the same games; those of a ladder's file.
        ladder: What tells these anchors from others: 16 hexadecimal digits.
        place: The rungs below and above, in words; empty without a ladder's file.
        baseline: The agent that the mean reward is with, where the ladder is of rewards.
        policy: The policy's name.
    """

    rating: float
    lower: float
    upper: float
    standings: Ranking
    against: Mapping[str, AgentRow]
    elo: Mapping[str, float]
    ladder: str
    seed: int
    notes: tuple[str, ...] = ()
    place: str = ""
    baseline: str = ""
    policy: str = "policy"

    @property
    def total(self) -> AgentRow:
        """The policy's row in the table of all its games."""
        return self.standings.row(POLICY)

    @property
    def by_reward(self) -> bool:
        """Whether the mean reward says more than the rating, as where games pay amounts, such as chips."""
        return bool(self.baseline) or self.standings.scoring is Scoring.REWARDS

    @property
    def strength(self) -> float:
        """The number to compare policies by: the rating, or the mean reward where games pay amounts."""
        return self.total.mean_reward if self.by_reward else self.rating

    @property
    def strength_interval(self) -> tuple[float, float]:
        """The interval of ``strength``."""
        return self.total.reward_interval if self.by_reward else (self.lower, self.upper)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; what is not finite is None."""
        total = self.total
        rungs = [
            {"agent": name, "elo": self.elo[name], "games": row.games, "score": finite(row.score)}
            for name, row in self.against.items()
        ]
        return {
            "env": self.standings.env, "title": self.standings.title, "policy": self.policy,
            "ladder": self.ladder, "seed": self.seed, "games": total.games,
            "rating": self.rating, "lower": finite(self.lower), "upper": finite(self.upper),
            "score": finite(total.score), "rungs": rungs,
            "faults": {str(kind): count for kind, count in total.failures.items()},
            "scoring": str(self.standings.scoring), "mean_reward": finite(total.mean_reward),
            "reward_interval": [*map(finite, total.reward_interval)], "notes": list(self.notes),
        }  # fmt: skip

    def __str__(self) -> str:
        total = self.total
        ends = _ends(self.lower, self.upper, ".0f")
        elo = f"{self.rating:.0f} Elo, {INTERVAL} {ends}"
        if self.place:
            elo = f"Elo {self.rating:.0f} ({ends}): {self.place}"
        if POLICY in self.standings.unrated:
            elo = "no rating, as the policy failed in every game"
        ends = _ends(*total.reward_interval, ".3g")
        reward = f"{total.mean_reward:.3g} a game, {INTERVAL} {ends}"
        if self.baseline:
            reward = f"mean reward {total.mean_reward:.3g} ({ends}) with {self.baseline}: {self.place}"
        rows = []
        for name, row in self.against.items():
            counts = map(str, (row.games, row.wins, row.draws, row.losses))
            low, high = (100 * end for end in row.interval)
            rows.append([name, f"{self.elo[name]:.0f}", *counts, _percent(row.score), f"{low:.1f} - {high:.1f}"])
        columns = ["against", "Elo", "games", "won", "drawn", "lost", "score", INTERVAL]
        seats = zip(self.standings.seat_names, total.by_seat, strict=True)
        lines = [
            f"{self.policy} in {self.standings.title}: {reward if self.by_reward else elo} ({total.games} games)",
            *([f"By wins alone: {elo}."] if self.by_reward and not self.baseline else []),
            f"\n{TextTable(columns, rows).text()}\n",
            "score in %, by seat: " + ", ".join(f"{name} {_percent(seat.score)}" for name, seat in seats),
        ]
        if total.failures:
            lines.append("faults: " + ", ".join(f"{count} {kind}" for kind, count in total.failures.items()))
        return "\n".join(lines + [f"Note: {note}" for note in self.notes])


def _ends(lower: float, upper: float, digits: str) -> str:
    return " to ".join(f"{end + 0.0:{digits}}" if math.isfinite(end) else rounded(end) for end in (lower, upper))


def _percent(score: float) -> str:
    return f"{100 * score:.1f}" if math.isfinite(score) else "-"


@checked_call
def evaluate_policy(
    policy: Any,
    env: EnvSource,
    *,
    ladder: LadderSource = None,
    interval: float | None = None,
    games: int | None = None,
    seed: int = 0,
    on_progress: Callable[[str], object] | None = None,
) -> PolicyRating:
    """Rates a policy by games against agents that are rated too.

    The same policy and seed give the same answer, and nothing of the training is disturbed: neither a live
    environment, nor the modes of modules, nor global random numbers.

    Args:
        policy: A function as ``PolicyAgent`` takes it, such as ``policy(observation, action_mask)``; a model of
            Stable-Baselines3 or sb3-contrib; a PyTorch module, called with a batch of one observation (and of one
            mask, if it takes two inputs); an agent; or text that ``make_agent`` reads, such as ``"ppo.zip"``.
        env: A name, a function that makes an environment, or a live environment, of which clones are played in.
        ladder: A ladder's file (``zermelo ladder``), or anchors: text such as ``"random"``, an agent, or several
            as a list or a mapping of names to such. By default the ladder that this package has for the game;
            where it has none, ``random`` and those of ``greedy``, alpha-beta, expectiminimax and max^n that can
            play it. Anchors meet once before the first answer, as often as each meets the policy, which in slow
            games takes long: give quicker ones there.
        interval: Width of the 95 % interval at which to stop, in Elo, after 20,000 games at most, or ``games``
            with each anchor. None is 100 on a ladder, after 1,000 games at most, and elsewhere plays as many games
            as ``games`` says. A note says how many are missing.
        games: Games with each anchor where there is no ladder; None is 20. Games with the baseline where the
            ladder is of rewards; None is 400. Seats rotate, and each opening is played once from every seat.
        seed: Decides every game, the anchors' included.
        on_progress: Called with a sentence when it is known how many more games the interval needs.

    Raises:
        UnknownNameError: No environment or agent has that name.
        InvalidSettingError: A setting is wrong.
        UnsupportedGameError: The environment has one seat, or an anchor cannot play this game.
        EnvironmentFailureError: The environment failed in all games.
    """
    seed = checked_seed(seed)
    if games is not None:
        check_whole("games", games, lower=1)
    if interval is not None:
        check_number("interval", interval, lower=0, above=True)
    ladder = anchors_of(ladder)
    with undisturbed(policy, seed):
        require_env(env)
        if is_aec(policy) or is_gymnasium(policy) or is_baselines(env) or is_module(env):
            raise InvalidSettingError(
                "the policy comes first, then the environment: were they given the wrong way round?"
            )
        agent = build_agent(policy_source(policy))
        source = functools.partial(clone_env, env) if is_live(env) else env
        driver = drive_env(build_env(source)[0], seed)
        seats = len(driver.seat_names)
        if seats < 2:
            raise UnsupportedGameError(
                f"{env_name(env)} has one seat, so nobody can be met: compare returns with round_robin instead"
            )
        require_fit(agent, driver.env, POLICY)
        levels = levels_of(driver.env, ladder)
        if levels is not None:
            opponents = ladder_of(levels, driver, seed)
        else:
            assert not isinstance(ladder, str | os.PathLike), "files are levels"
            find = functools.partial(find_ladder, env, source, driver, ladder, seed=seed)
            opponents = find(games=games or WITH_ANCHOR)
        agents = {anchor.name: anchor for anchor in opponents.anchors} | {POLICY: Participant(POLICY, agent)}
        match = PolicyMatch(GamePlayer(source, env_name(env), driver.seat_names, agents), opponents, seed)
        say = on_progress or (lambda sentence: None)
        searching = (one.build() for one in opponents.anchors if isinstance(one.source, str | SearchAgent))
        notes = assumptions([agent, *searching], driver.env)
        rated = functools.partial(
            _rating, match, name=policy_name(policy), title=env_title(env, driver.env), notes=notes
        )
        if levels is None:
            match.play_each(games or WITH_ANCHOR)
            if interval is not None:
                match.narrow(interval, games, find, say)
            return rated(interval)
        if levels.unit is Unit.ELO:
            match.climb(interval or WIDTH, MOST if interval is None else MOST_ASKED, say)
            rating = rated(interval or WIDTH)
            return replace(rating, place=levels.around(rating.rating))
        match.play_each(games or WITH_BASELINE)
        rating = rated()
        return replace(rating, place=levels.around(rating.total.mean_reward), baseline=levels.baseline)


def check_sources(env: EnvSource, ladder: LadderSource) -> None:
    """Raises what ``evaluate_policy`` would, where a name or a file is wrong."""
    require_env(env)
    if isinstance(env, str):
        build_env(env)
    ladder = anchors_of(ladder)
    if isinstance(ladder, str):
        Levels.read(ladder)
    elif ladder is not None:
        assert not isinstance(ladder, os.PathLike), "paths are text now"
        participants(ladder)


def anchors_of(ladder: LadderSource) -> LadderSource:
    if isinstance(ladder, os.PathLike):
        return os.fspath(ladder)
    if isinstance(ladder, str):
        hint = did_you_mean(ladder.partition("(")[0], agent_names())
        if not names_agent(ladder) and not os.path.exists(ladder) and hint:
            raise UnknownNameError(f"the ladder {ladder!r} is neither an agent nor a file: {hint}")
        return [ladder] if names_agent(ladder) else ladder
    if ladder is None or isinstance(ladder, Mapping | Sequence):
        return ladder
    if is_agent(ladder) or callable(ladder):
        return [ladder]
    raise InvalidSettingError(f"ladder must be a file, an agent or a list of agents, not {ladder!r}")


def levels_of(env: Any, ladder: LadderSource) -> Levels | None:
    if isinstance(ladder, str):
        return levels_for(env, ladder)
    with contextlib.suppress(UnsupportedGameError, CloneError):
        return None if ladder is not None else levels_for(env)
    return None


def _rating(
    match: PolicyMatch, width: float | None = None, *, name: str, title: str, notes: Sequence[str]
) -> PolicyRating:
    player = match.player

    def table(played: Sequence[GameRecord]) -> Ranking:
        return Ranking(
            env=player.env_name,
            seat_names=player.seat_names,
            results=count_games(played),
            agents=[POLICY],
            env_title=title,
        )

    against = {name: table(played).row(POLICY) for name, played in match.played.items() if played}
    standings = table(match.records)
    total = standings.row(POLICY)
    if not total.games:
        failure = match.records[0].failure
        why = failure.message if failure else ""
        raise EnvironmentFailureError(
            f"{player.env_name} failed in every game, so there is nothing to rate: {why}"
        )
    failed, notes = sum(total.failures.values()), [*standings.notes, *notes]
    if 2 * failed >= total.games:
        faulty = (
            f"The policy failed in {failed} of {total.games} games: this rating is that of its faults, which the "
        )
        notes.insert(0, f"{faulty}next note names, and says little of its strength.")
    settings = {anchor.name: anchor.fingerprint for anchor in match.ladder.anchors}
    settings[POLICY] = fingerprint(player.participants[POLICY].source)
    notes += depth_notes(match.records, settings, {POLICY: name})
    found = match.ladder.rating_of(standings.results)
    if width is not None and found.upper - found.lower > width:
        sentence = missing(found, total.games, width)
        notes.append(f"{sentence[0].upper()}{sentence[1:]}.")
    if found.widened > 1.05:
        wider = f"{found.widened:.1f} times as wide"
        notes.append(f"The ratings of the ladder's rungs are unsure themselves: the interval is {wider} for that.")
    return PolicyRating(
        rating=found.rating, lower=found.lower, upper=found.upper, standings=standings, against=against,
        elo=found.elo, ladder=match.ladder.digest, seed=match.seed, notes=tuple(notes), policy=name,
    )  # fmt: skip


@contextlib.contextmanager
def undisturbed(policy: Any, seed: int) -> Iterator[None]:
    """Starts the global random numbers from the seed; at the end they and the modes of modules are as before."""
    torch = sys.modules.get("torch")
    with contextlib.ExitStack() as stack:
        stack.enter_context(kept_globals())
        seed_globals(seed)  # policies written by hand draw from the global generators
        if torch is not None:
            cuda = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
            stack.enter_context(torch.random.fork_rng(devices=list(cuda)))
            torch.manual_seed(seed)
            module: Any = policy if is_module(policy) else getattr(policy, "policy", None)
            for part in module.modules() if is_module(module) else ():
                stack.callback(setattr, part, "training", part.training)
        yield


PERFECT: Final = "alphabeta(depth=full)"


def perfect_play(env: str, path: Path, seconds: float) -> dict[str, Any] | None:
    """The rating of alpha-beta to the end of the game on a ladder, if that takes at most so long there."""
    try:
        if not AlphaBetaAgent(seconds=seconds).search(drive_env(build_env(env)[0], 0).env).proven:
            return None
    except UnsupportedGameError:
        return None
    perfect = evaluate_policy(PERFECT, env, ladder=path, interval=40)
    rating, lower, upper = (round(number, 1) for number in (perfect.rating, perfect.lower, perfect.upper))
    return {"agent": PERFECT, "elo": rating, "lower": lower, "upper": upper, "games": perfect.total.games}
