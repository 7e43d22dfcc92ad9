"""Anchors: baselines whose ratings are found once, in a round robin, and then fixed.

A policy has the rating at which its expected points, by Elo's formula, are those that it scored. Its interval is
that of the likelihood, a game of score s counting as s wins and 1 - s losses: with draws too wide rather than too
narrow.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from zermelo.agents.level import Levels, Unit
from zermelo.agents.specs import make_agent
from zermelo.envs.errors import CloneError, InvalidSettingError, UnsupportedGameError
from zermelo.envs.live.wrappers import innermost
from zermelo.evaluation.errors import EnvironmentFailureError
from zermelo.evaluation.match.fingerprint import fingerprint
from zermelo.evaluation.match.live_game import EnvDriver
from zermelo.evaluation.match.readiness import require_fit
from zermelo.evaluation.match.sources import AgentSource, EnvSource, env_name
from zermelo.evaluation.results import GameCounts
from zermelo.evaluation.stats.ratings.elo import ELO_PER_LOG_ABILITY, normal_quantile
from zermelo.evaluation.stats.ratings.fit import fit_ratings
from zermelo.evaluation.stats.score_interval import CONFIDENCE, UPPER_TAIL
from zermelo.evaluation.tournament.openings import random_openings
from zermelo.evaluation.tournament.run import round_robin
from zermelo.evaluation.workers.games import Participant, participants
from zermelo.evaluation.workers.settings import AgentLimits, Isolate

ANCHOR_GAMES: Final = 30  # games of each pairing of anchors
BASELINES: Final = (
    ("greedy",),
    ("alphabeta(depth=2, nodes=500)", "alphabeta(depth=4, nodes=5000)"),
    ("expectiminimax(depth=1)",),
    ("maxn(depth=2, nodes=500)",),
)
"""After ``random``: ``greedy`` if it fits, and of the others the first group that does."""
OPENINGS: Final = 100  # further games begin with the first ones again
POLICY: Final = "policy"  # name of the policy in tables
FAR: Final = 40.0  # log-ability that is as good as infinite

_ladders: dict[str, RatedAnchors] = {}  # the ladders of this process, by what decides them


@dataclass(frozen=True)
class RatedAnchors:
    """Rated anchors."""

    anchors: tuple[Participant, ...]
    elo: Mapping[str, float]  # of each; random, else the first, has 0
    openings: tuple[tuple[Any, ...], ...]  # none where what is legal depends on chance, or games are too short
    digest: str  # 16 hexadecimal digits, the same for the same environment, anchors, seed and games

    def rating_of(self, results: Mapping[str, tuple[int, float]]) -> tuple[float, float, float]:
        """Returns the rating of a policy, always finite, and the ends of its interval.

        Of the ends one is infinite where everything was won or lost; the rating then comes of half a win more for
        each side. ``results`` are its games and its points in them, by anchor; at least one game.
        """
        from scipy.optimize import brentq

        met = [(self.elo[name] / ELO_PER_LOG_ABILITY, n, points) for name, (n, points) in results.items() if n]
        strengths, games, points = np.array(met).T
        limit = float(np.abs(strengths).max()) + FAR

        def excess(ability: float, more: float) -> float:
            """Expected points less those scored, with so many games drawn against each anchor besides."""
            return float(((games + more) / (1 + np.exp(strengths - ability)) - points - more / 2).sum())

        def likelihood(ability: float) -> float:
            gaps = strengths - ability
            return -float((points * np.logaddexp(0, gaps) + (games - points) * np.logaddexp(0, -gaps)).sum())

        all_lost, all_won = not points.any(), bool((points == games).all())
        one_sided = all_lost or all_won
        estimate = float(brentq(excess, -limit, limit, args=(1.0 if one_sided else 0.0,)))
        level = (
            math.log(1 - UPPER_TAIL) if one_sided else likelihood(estimate) - normal_quantile(CONFIDENCE) ** 2 / 2
        )
        # Won everything: the likelihood rises all the way, from -limit to its lower end and on.
        starts = (limit if one_sided else estimate, -limit if one_sided else estimate)
        lower = -math.inf if all_lost else float(brentq(lambda x: likelihood(x) - level, -limit, starts[0]))
        upper = math.inf if all_won else float(brentq(lambda x: likelihood(x) - level, starts[1], limit))
        return estimate * ELO_PER_LOG_ABILITY, lower * ELO_PER_LOG_ABILITY, upper * ELO_PER_LOG_ABILITY


def ladder_of(levels: Levels, driver: EnvDriver, seed: int) -> RatedAnchors:
    """The rungs of a ladder's file as anchors, with the ratings that they have there; else its baseline."""
    elo = {rung.agent: rung.rating for rung in levels.rungs}
    if levels.unit is Unit.REWARD:
        elo = {levels.baseline: 0.0}
    openings = openings_for(driver.env, len(driver.seat_names), seed)
    return RatedAnchors(participants(list(elo)), elo, openings, _digest(levels.game, elo, seed, openings))


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def default_anchors(env: Any) -> tuple[str, ...]:
    """Returns the baselines that can play a live environment that was reset: at least ``random``."""
    anchors = ["random"]
    for number, group in enumerate(BASELINES):
        if number > 1 and len(anchors) > 2:
            break
        try:
            require_fit(make_agent(group[0]), env, group[0])
        except (UnsupportedGameError, CloneError):
            continue
        anchors += group
    return tuple(anchors)


def find_ladder(
    env: EnvSource,
    source: EnvSource,
    driver: EnvDriver,
    agents: Sequence[AgentSource] | Mapping[str, AgentSource] | None,
    *,
    seed: int,
) -> RatedAnchors:
    """Returns the ladder of ``agents``, or of the default anchors: remembered by this process, else played."""
    anchors = participants(default_anchors(driver.env) if agents is None else agents)
    by_name = {anchor.name: anchor.source for anchor in anchors}
    if not anchors:
        raise InvalidSettingError("the ladder is empty: give at least one baseline, such as 'random'")
    if POLICY in by_name:
        raise InvalidSettingError(f"no baseline may be called {POLICY!r}: that is what the policy is called")
    for anchor in anchors:
        require_fit(anchor.build(), driver.env, anchor.name)
    openings = openings_for(driver.env, len(driver.seat_names), seed)
    digest = _digest(env_name(env), list(by_name), seed, ANCHOR_GAMES, openings)
    own = fingerprint(env, innermost(driver.env))
    decisive = json.dumps([digest, own, [anchor.fingerprint for anchor in anchors]])
    if decisive not in _ladders:
        _ladders[decisive] = RatedAnchors(anchors, _elo(source, by_name, openings, seed), openings, digest)
    return _ladders[decisive]


def _elo(
    source: EnvSource, agents: Mapping[str, AgentSource], openings: tuple[tuple[Any, ...], ...], seed: int
) -> dict[str, float]:
    """Ratings of the anchors from a round robin; smoothed, so finite even where one lost every game."""
    names = list(agents)
    if len(names) == 1:
        return {names[0]: 0.0}
    standings = play_here(source, agents, games=ANCHOR_GAMES, seed=seed, openings=openings or None)
    halves = GameCounts()  # a draw as half a win and half a loss, all counted twice
    for (first, second), share in standings.crosstable.items():
        if first < second:
            wins = round(2 * ANCHOR_GAMES * share)
            halves += GameCounts.match(first, second, wins=wins, losses=2 * ANCHOR_GAMES - wins)
    if unmet := sorted(set(names) - set(halves.players)):
        failure = next((record.failure for record in standings.records if record.void), None)
        raise EnvironmentFailureError(
            f"{standings.env} failed in every game of {', '.join(unmet)}: {failure.message if failure else ''}"
        )
    table = fit_ratings(halves, anchor="random" if "random" in names else names[0], seat_effects=False)
    return {name: table[name].smoothed_elo for name in names}


def play_here(env: EnvSource, agents: Mapping[str, AgentSource], **settings: Any) -> Any:
    """The standings of a round robin in this process, played without a word."""
    return round_robin(env, agents, progress=False, isolation=AgentLimits(isolate=Isolate.NONE), **settings)


def openings_for(env: Any, seats: int, seed: int) -> tuple[tuple[Any, ...], ...]:
    """Openings of a random ply for each seat, of fewer where games are short, or none."""
    for plies in range(seats, 0, -1):
        try:
            return random_openings(env, plies=plies, count=OPENINGS, seed=seed)
        except InvalidSettingError:  # games are over by then, or what is legal depends on chance
            continue
    return ()
