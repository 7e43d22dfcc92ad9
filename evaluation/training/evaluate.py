"""How strong is a policy while it is trained? A rating by games against agents of fixed ratings.

On a ladder (``zermelo ladder``) the policy meets the rungs near its strength until its rating is sure enough, or
the ladder's baseline where that is of rewards; elsewhere anchors, which a round robin has rated.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from zermelo.agents.base.settings import check_number, check_whole
from zermelo.agents.level import Levels, Unit, levels_for
from zermelo.agents.specs import agent_names, names_agent
from zermelo.agents.training.schedules import agent_of, is_agent, is_module
from zermelo.agents.tree_search.alpha_beta.agents import AlphaBetaAgent
from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.errors import CloneError, InvalidSettingError, UnknownNameError, UnsupportedGameError
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.spec_text import did_you_mean
from zermelo.evaluation.errors import EnvironmentFailureError
from zermelo.evaluation.ladders.ladder import POLICY, RatedAnchors, find_ladder, ladder_of
from zermelo.evaluation.match.live_game import drive_env
from zermelo.evaluation.match.readiness import require_fit
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.sources import AgentSource, EnvSource, build_agent, build_env, env_name, is_live
from zermelo.evaluation.match.text import finite
from zermelo.evaluation.schedule import ScheduledGame, checked_seed, derived_seed
from zermelo.evaluation.stats.ranking import Ranking
from zermelo.evaluation.stats.rows import AgentRow
from zermelo.evaluation.stats.score_interval import INTERVAL
from zermelo.evaluation.storage.counting import count_games
from zermelo.evaluation.text_table import TextTable
from zermelo.evaluation.workers.games import GamePlayer, Participant
from zermelo.evaluation.workers.work import SerialRunner, kept_globals, seed_globals

LadderSource: TypeAlias = Sequence[AgentSource] | Mapping[str, AgentSource] | str | os.PathLike[str] | None
"""A ladder's file, an anchor or several, or None for those of the game."""
BLOCK: Final = 5  # games from each seat against a rung, until the next one is chosen
MOST: Final = 1000  # games on a ladder, however wide the interval is
ENOUGH: Final = 100  # games on a ladder for a policy that has won or lost them all
WITH_ANCHOR: Final = 20  # games with each anchor by default
WITH_BASELINE: Final = 400  # games by default where a ladder is of rewards


@dataclass(frozen=True, kw_only=True)
class PolicyRating:
    """A policy's strength; ``print`` shows it.

    Attributes:
        rating: In Elo, on the anchors' scale, where ``random`` (else the first anchor) has 0. Always finite: for a
            policy that won or lost everything it comes of half a win more for each side.
        lower, upper: The ends of its interval, the anchors taken as known; infinite if all was lost, or won.
        standings: The policy's games: ``total`` is its row.
        against: The policy's row in its games against each anchor, by name.
        elo: The fixed ratings of the anchors.
        ladder: What tells these anchors from others: 16 hexadecimal digits.
        place: The rungs below and above, in words; empty without a ladder's file.
        baseline: The agent that the mean reward is with, where the ladder is of rewards.
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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; what is not finite is None."""
        total = self.total
        rungs = [
            {"agent": name, "elo": self.elo[name], "games": row.games, "score": finite(row.score)}
            for name, row in self.against.items()
        ]
        return {
            "env": self.standings.env, "ladder": self.ladder, "seed": self.seed, "games": total.games,
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
            f"{self.standings.env}: {reward if self.by_reward else elo} ({total.games} games)",
            *([f"By wins alone: {elo}."] if self.by_reward and not self.baseline else []),
            f"\n{TextTable(columns, rows).text()}\n",
            "score in %, by seat: " + ", ".join(f"{name} {_percent(seat.score)}" for name, seat in seats),
        ]
        if total.failures:
            lines.append("faults: " + ", ".join(f"{count} {kind}" for kind, count in total.failures.items()))
        return "\n".join(lines + [f"Note: {note}" for note in self.notes])


def _ends(lower: float, upper: float, digits: str) -> str:
    return " to ".join(f"{end:{digits}}" if math.isfinite(end) else "?" for end in (lower, upper))


def _percent(score: float) -> str:
    return f"{100 * score:.1f}" if math.isfinite(score) else "-"


@checked_call
def evaluate_policy(
    policy: Any,
    env: EnvSource,
    *,
    ladder: LadderSource = None,
    interval: float = 100.0,
    games: int | None = None,
    seed: int = 0,
) -> PolicyRating:
    """Rates a policy by games against agents whose own ratings are fixed.

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
            play it. Anchors meet once before the first answer, which in slow games takes long: give quicker ones
            there.
        interval: On a ladder's file, games end when the interval is at most so wide, or 1,000 are played.
        games: With each anchor, 20 by default, where there is no ladder; with the baseline, 400 by default, where
            the ladder is of rewards. Seats rotate, and each opening is played once from every seat.
        seed: Decides every game, the anchors' included.

    Raises:
        UnknownNameError: No environment or agent has that name.
        InvalidSettingError: A setting is wrong.
        UnsupportedGameError: The environment has one seat, or an anchor cannot play this game.
        EnvironmentFailureError: The environment failed in all games.
    """
    seed = checked_seed(seed)
    if games is not None:
        check_whole("games", games, lower=1)
    check_number("interval", interval, lower=0, above=True)
    policy = os.fspath(policy) if isinstance(policy, os.PathLike) else policy
    ladder = _anchors(ladder)
    with undisturbed(policy, seed):
        is_source = isinstance(policy, type | str) or is_agent(policy)
        agent = build_agent(policy) if is_source else agent_of(policy, POLICY)
        source = functools.partial(clone_env, env) if is_live(env) else env
        driver = drive_env(build_env(source)[0], seed)
        seats = len(driver.seat_names)
        if seats < 2:
            raise UnsupportedGameError(
                f"{env_name(env)} has one seat, so nobody can be met: compare returns with round_robin instead"
            )
        require_fit(agent, driver.env, POLICY)
        levels = _levels(driver.env, ladder)
        if levels is not None:
            opponents = ladder_of(levels, driver, seed)
        else:
            assert not isinstance(ladder, str | os.PathLike), "files are levels"
            opponents = find_ladder(env, source, driver, ladder, seed=seed)
        agents = {anchor.name: anchor for anchor in opponents.anchors} | {POLICY: Participant(POLICY, agent)}
        player = GamePlayer(source, env_name(env), driver.seat_names, agents)
        return _rated(player, opponents, levels, interval, games, seed)


def _rated(
    player: GamePlayer, ladder: RatedAnchors, levels: Levels | None, interval: float, games: int | None, seed: int
) -> PolicyRating:
    played: dict[str, list[GameRecord]] = {anchor.name: [] for anchor in ladder.anchors}
    seats, is_elo = len(player.seat_names), levels is not None and levels.unit is Unit.ELO
    fixed = games or (WITH_ANCHOR if levels is None else WITH_BASELINE)
    for name, count in _near(ladder, played, seats, interval) if is_elo else [(name, fixed) for name in played]:
        schedule = _schedule(ladder, name, seats, len(played[name]), count, seed)
        played[name] += SerialRunner().run(player, schedule)
    rating = _rating(played, player, ladder, seed)
    if levels is None:
        return rating
    place = levels.around(rating.rating if is_elo else rating.total.mean_reward)
    return replace(rating, place=place, baseline=levels.baseline)


def _anchors(ladder: LadderSource) -> LadderSource:
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


def _levels(env: Any, ladder: LadderSource) -> Levels | None:
    if isinstance(ladder, str):
        return levels_for(env, ladder)
    with contextlib.suppress(UnsupportedGameError, CloneError):
        return None if ladder is not None else levels_for(env)
    return None


def _near(
    ladder: RatedAnchors, played: Mapping[str, Sequence[GameRecord]], seats: int, interval: float
) -> Iterator[tuple[str, int]]:
    def points_in(record: GameRecord) -> float:
        return 0.5 if record.void else record.scores[record.agents.index(POLICY)]

    elo, count = ladder.elo, BLOCK * seats
    estimate = sum(elo.values()) / len(elo)
    while True:
        yield min(elo, key=lambda name: abs(elo[name] - estimate)), count
        points = {name: (len(games), math.fsum(map(points_in, games))) for name, games in played.items()}
        total = sum(map(len, played.values()))
        estimate, lower, upper = ladder.rating_of(points)
        is_one_sided = math.isinf(upper - lower)
        if upper - lower <= interval or total >= (ENOUGH if is_one_sided else MOST):
            return


def _schedule(
    ladder: RatedAnchors, name: str, seats: int, first: int, count: int, seed: int
) -> list[ScheduledGame]:
    """Games with an anchor, from number ``first`` on: the policy has one seat in turn, the anchor the others."""
    scheduled, number = [], list(ladder.elo).index(name)
    for game in range(first, first + count):
        block, seat = divmod(game, seats)
        opening = ladder.openings[block % len(ladder.openings)] if ladder.openings else ()
        seated = tuple(POLICY if place == seat else name for place in range(seats))
        game_seed = derived_seed(seed, "policy", name, game)
        scheduled.append(ScheduledGame(f"{block}.{number}.{seat}", game_seed, seated, opening))
    return scheduled


def _rating(
    by_anchor: Mapping[str, Sequence[GameRecord]], player: GamePlayer, ladder: RatedAnchors, seed: int
) -> PolicyRating:
    def table(played: Sequence[GameRecord]) -> Ranking:
        return Ranking(
            env=player.env_name, seat_names=player.seat_names, results=count_games(played), agents=[POLICY]
        )

    against = {name: table(played).row(POLICY) for name, played in by_anchor.items() if played}
    records = list(itertools.chain.from_iterable(by_anchor.values()))
    standings = table(records)
    total = standings.row(POLICY)
    if not total.games:
        why = records[0].failure.message if records[0].failure else ""
        raise EnvironmentFailureError(
            f"{player.env_name} failed in every game, so there is nothing to rate: {why}"
        )
    failed, notes = sum(total.failures.values()), list(standings.notes)
    if 2 * failed >= total.games:
        faulty = (
            f"The policy failed in {failed} of {total.games} games: this rating is that of its faults, which the "
        )
        notes.insert(0, f"{faulty}next note names, and says little of its strength.")
    points = {name: (row.games, row.score * row.games if row.games else 0.0) for name, row in against.items()}
    rating, lower, upper = ladder.rating_of(points)
    return PolicyRating(
        rating=rating, lower=lower, upper=upper, standings=standings, against=against, elo=ladder.elo,
        ladder=ladder.digest, seed=seed, notes=tuple(notes),
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
