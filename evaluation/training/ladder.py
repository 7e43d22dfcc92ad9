"""Ladders: baselines whose ratings are found once and then fixed, and where a newcomer stands among them.

Ratings here are those of Elo's formula: a score of p, draws counting half, is worth 400 log10(p / (1 - p)). In
games of more than two seats p is the mean score against each other seat. The baselines play a round robin; their
ratings are the smoothed ones (``fit_ratings``), which are finite even where one lost every game to the next. A
newcomer has the rating at which its points are those to be expected, so one that plays as a baseline does has that
one's rating, up to the luck of both. Its interval is that of the likelihood, a game of score s counting as s wins
and 1 - s losses: with draws it is too wide rather than too narrow.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from zermelo.envs import CloneError, InvalidSettingError, UnsupportedGameError
from zermelo.envs.files import read_file
from zermelo.evaluation.errors import EnvironmentFailureError
from zermelo.evaluation.match.env_driver import drive_env
from zermelo.evaluation.match.readiness import require_fit
from zermelo.evaluation.match.sources import AgentSource, EnvSource, build_env, env_name
from zermelo.evaluation.runners.participants import Participant, participants
from zermelo.evaluation.runners.serial import GamePlayer, SerialRunner
from zermelo.evaluation.schedule import Schedule
from zermelo.evaluation.stats.ratings import GameCounts, counts_of, fit_ratings
from zermelo.evaluation.stats.ratings.scales import ELO_PER_LOG_ABILITY, normal_quantile
from zermelo.evaluation.storage.files import replace_text
from zermelo.evaluation.storage.totals import GameTotals
from zermelo.evaluation.tournament.openings import random_openings

LADDER_GAMES: Final = 30
"""Of each pairing of baselines."""
BASELINES: Final = (
    ("greedy",),
    ("alphabeta(depth=2, nodes=500)", "alphabeta(depth=4, nodes=5000)"),
    ("expectiminimax(depth=1)",),
    ("maxn(depth=2, nodes=500)",),
)
"""After ``random``: ``greedy`` if it fits, and of the others the first group that does."""
OPENINGS: Final = 100
"""As many at most; further games begin with the first ones again."""
POLICY: Final = "policy"
"""What tables call the newcomer."""
FAR: Final = 40.0
"""Log-ability that is as good as infinite."""

_by_name: dict[str, dict[Any, Ladder]] = {}
_by_source: weakref.WeakKeyDictionary[Any, dict[Any, Ladder]] = weakref.WeakKeyDictionary()


@dataclass(frozen=True)
class Ladder:
    """Rated baselines.

    Attributes:
        participants: The baselines.
        openings: What games begin with; empty where what is legal depends on chance, or games are too short.
        counts: The games they played against each other.
        digest: 16 hexadecimal digits, the same for the same environment, baselines, seed and games.
    """

    participants: tuple[Participant, ...]
    openings: tuple[tuple[Any, ...], ...]
    counts: GameCounts
    digest: str

    @functools.cached_property
    def elo(self) -> Mapping[str, float]:
        """The rating of each; ``random``, else the first, has 0."""
        names = [participant.name for participant in self.participants]
        if len(names) == 1:
            return {names[0]: 0.0}
        halves = GameCounts()  # a draw as half a win and half a loss, all counted twice
        for (first, second), (wins, draws, losses) in self.counts.head_to_head().items():
            if first < second:
                halves.add_match(first, second, wins=2 * wins + draws, losses=2 * losses + draws)
        anchor = "random" if "random" in names else names[0]
        table = fit_ratings(halves, anchor=anchor, seat_effects=False)
        return {name: table[name].smoothed_elo for name in names}

    def place(self, results: Mapping[str, tuple[int, float]]) -> tuple[float, float, float]:
        """Where a newcomer stands.

        Args:
            results: Its games and its points in them, against each baseline by name; at least one game.

        Returns:
            Its rating, always finite, and the lower and upper end of the 95 % interval, one of which is infinite
            if it won or lost everything.
        """
        from scipy.optimize import brentq

        rungs = [(self.elo[name] / ELO_PER_LOG_ABILITY, n, points) for name, (n, points) in results.items() if n]
        games, points = sum(n for _, n, _ in rungs), sum(points for _, _, points in rungs)
        limit = max(abs(strength) for strength, _, _ in rungs) + FAR

        def excess(ability: float, more: float) -> float:
            """Points to expect less those there are, with so many games drawn against each baseline besides."""
            odds = ((strength - ability, n, won) for strength, n, won in rungs)
            return math.fsum((n + more) / (1 + math.exp(gap)) - won - more / 2 for gap, n, won in odds)

        def fall(ability: float) -> float:
            """Natural logarithm of how much less likely the results are than if the rating fitted each of them."""
            odds = ((strength - ability, n, won) for strength, n, won in rungs)
            return math.fsum(-won * _log1pexp(gap) - (n - won) * _log1pexp(-gap) for gap, n, won in odds)

        one_sided = points in (0, games)
        estimate = float(brentq(excess, -limit, limit, args=(1.0 if one_sided else 0.0,)))
        level = math.log(0.025) if one_sided else fall(estimate) - normal_quantile(0.95) ** 2 / 2
        # Won everything: the likelihood rises all the way, from -limit to its lower end and on.
        starts = (limit if one_sided else estimate, -limit if one_sided else estimate)
        lower = -math.inf if points == 0 else float(brentq(lambda x: fall(x) - level, -limit, starts[0]))
        upper = math.inf if points == games else float(brentq(lambda x: fall(x) - level, starts[1], limit))
        unit = ELO_PER_LOG_ABILITY
        return estimate * unit, lower * unit, upper * unit


def _log1pexp(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def default_ladder(env: Any) -> tuple[str, ...]:
    """The baselines that can play a live environment that was reset: at least ``random``."""
    found = ["random"]
    for number, group in enumerate(BASELINES):
        if number > 1 and len(found) > 2:
            break
        if _fits(group[0], env):
            found += group
    return tuple(found)


def _fits(agent: str, env: Any) -> bool:
    from zermelo.agents import make_agent

    try:
        require_fit(make_agent(agent), env, agent)
    except (UnsupportedGameError, CloneError):
        return False
    return True


def find_ladder(
    env: EnvSource,
    source: EnvSource,
    ladder: Sequence[AgentSource] | Mapping[str, AgentSource] | None,
    *,
    seed: int,
    path: str | os.PathLike[str] | None = None,
) -> Ladder:
    """The ladder, remembered by ``env`` as it was given, read from ``path``, or played.

    What makes the environment is ``source``; without baselines (``ladder``) the default ones play.

    Raises:
        ZermeloError: A baseline cannot be made or cannot play the game; the file is damaged or of another ladder.
    """
    items = ladder.items() if isinstance(ladder, Mapping) else ladder
    wanted = items if items is None or isinstance(items, str) or not hasattr(items, "__iter__") else tuple(items)
    key = (wanted, seed, None if path is None else os.fspath(path))
    memory = _memory(env)
    try:
        known = memory.get(key)
    except TypeError:  # a baseline that cannot be hashed
        return _made(env_name(env), source, ladder, seed, path)
    if known is None:
        known = memory[key] = _made(env_name(env), source, ladder, seed, path)
    return known


def _memory(env: EnvSource) -> dict[Any, Ladder]:
    """The ladders of this environment, which are forgotten with it."""
    if isinstance(env, str):
        return _by_name.setdefault(env, {})
    try:
        return _by_source.setdefault(env, {})
    except TypeError:  # neither hashed nor referred to weakly: nothing is remembered
        return {}


def _made(
    name: str,
    source: EnvSource,
    ladder: Sequence[AgentSource] | Mapping[str, AgentSource] | None,
    seed: int,
    path: str | os.PathLike[str] | None,
) -> Ladder:
    live = build_env(source)[0]
    driver = drive_env(live, seed)
    found = participants(default_ladder(driver.env) if ladder is None else ladder)
    if not found:
        raise InvalidSettingError("the ladder is empty: give at least one baseline, such as 'random'")
    names = [participant.name for participant in found]
    if POLICY in names:
        raise InvalidSettingError(f"no baseline may be called {POLICY!r}: that is what the policy is called")
    for participant in found:
        require_fit(participant.build(), driver.env, participant.name)
    seats = driver.seat_names
    openings = _openings(live, len(seats), seed)
    told = json.dumps([name, names, seed, LADDER_GAMES, openings])
    digest = hashlib.sha256(told.encode()).hexdigest()[:16]
    if path is not None and Path(path).exists():
        return Ladder(found, openings, _read(Path(path), digest), digest)
    counts = GameCounts()
    if len(found) > 1:
        schedule = Schedule(names, seats=len(seats), games=LADDER_GAMES, seed=seed, openings=openings)
        player = GamePlayer(source, name, seats, {participant.name: participant for participant in found})
        records = list(SerialRunner(player).play(schedule))
        counts = counts_of(GameTotals.of(records))
        unmet = set(names) - set(counts.players)
        if unmet:
            failure = next(record.failure for record in records if record.void)
            raise EnvironmentFailureError(
                f"{name} failed in every game of {', '.join(sorted(unmet))}: {failure.message if failure else ''}"
            )
    if path is not None:
        _write(Path(path), digest, counts)
    return Ladder(found, openings, counts, digest)


def _openings(env: Any, seats: int, seed: int) -> tuple[tuple[Any, ...], ...]:
    """Openings of a random ply for each seat, of fewer where games are short, or none."""
    for plies in range(seats, 0, -1):
        try:
            return random_openings(env, plies=plies, count=OPENINGS, seed=seed)
        except InvalidSettingError:  # games are over by then, or what is legal depends on chance
            continue
    return ()


def _write(path: Path, digest: str, counts: GameCounts) -> None:
    games = [[list(players), list(places), number] for players, places, number in counts.items()]
    try:
        replace_text(path, [json.dumps({"ladder": digest, "games": games})])
    except OSError as error:
        raise InvalidSettingError(f"cannot write the ladder to {path}: {error.strerror}") from None


class _Stored(msgspec.Struct):
    ladder: str
    games: list[tuple[list[str], list[int], int]]


def _read(path: Path, digest: str) -> GameCounts:
    counts = GameCounts()
    try:
        kept = msgspec.json.decode(read_file(path), type=_Stored)
        for players, places, number in kept.games:
            counts.add(players, [-place for place in places], number)
    except (OSError, ValueError, RecursionError):
        raise InvalidSettingError(f"{path} holds no ladder that can be read: name another file") from None
    if kept.ladder != digest:
        raise InvalidSettingError(
            f"{path} holds another ladder, of another environment, other baselines or another seed: "
            "name another file"
        )
    return counts
