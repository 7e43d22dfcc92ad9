"""Anchors: baselines whose ratings are found once, in a round robin, and then fixed.

A policy has the rating of the table of its games and those between the anchors, so that its interval holds the
errors of both. On a ladder's file, whose games are not there, it has the rating at which its expected points, by
Elo's formula, are those that it scored, and the file's covariance says how sure the rungs' ratings are.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.agents.level import Levels, Unit
from zermelo.agents.specs import make_agent
from zermelo.envs.errors import CloneError, InvalidSettingError, UnsupportedGameError
from zermelo.envs.live.wrappers import innermost
from zermelo.evaluation.errors import EnvironmentFailureError, StoreError
from zermelo.evaluation.match.fingerprint import fingerprint
from zermelo.evaluation.match.live_game import EnvDriver
from zermelo.evaluation.match.readiness import require_fit
from zermelo.evaluation.match.sources import AgentSource, EnvSource, env_name
from zermelo.evaluation.results import Results
from zermelo.evaluation.stats.ratings.choices import Vector
from zermelo.evaluation.stats.ratings.elo import ELO_PER_LOG_ABILITY, normal_quantile
from zermelo.evaluation.stats.ratings.fit import fit_ratings
from zermelo.evaluation.stats.rows import dispersion
from zermelo.evaluation.stats.score_interval import CONFIDENCE, UPPER_TAIL
from zermelo.evaluation.tournament.openings import random_openings
from zermelo.evaluation.tournament.run import round_robin
from zermelo.evaluation.workers.games import Participant, participants
from zermelo.evaluation.workers.settings import AgentLimits, Isolate

ANCHOR_GAMES: Final = 30  # the fewest games of each pair of anchors
COVARIANCE: Final = "covariance"  # of the rungs' ratings in a ladder's file: rows of a lower triangle, Elo²
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


class RatedPolicy(NamedTuple):
    """The rating of a policy, always finite, with the ends of its interval and the anchors' ratings beside it.

    Where everything was won or lost one end is infinite; the rating then comes of half a win more for each side.
    """

    rating: float
    lower: float
    upper: float
    elo: Mapping[str, float]
    widened: float = (
        1.0  # by what factor the errors of the anchors' ratings widen the interval, where that is known
    )


@dataclass(frozen=True)
class RatedAnchors:
    """Anchors whose ratings are known from games: those between them, or those that a ladder's file tells of."""

    anchors: tuple[Participant, ...]
    elo: Mapping[str, float]  # of each; random, else the first, has 0
    openings: tuple[tuple[Any, ...], ...]  # none where what is legal depends on chance, or games are too short
    digest: str  # 16 hexadecimal digits, the same for the same environment, anchors and seed
    games: Results | None = None  # between the anchors; None on a ladder of Elo
    covariance: Vector | None = None  # of a ladder's ratings in their order, in squares of Elo

    def rating_of(self, results: Results) -> RatedPolicy:
        """The rating by a policy's games, of which at least one counts."""
        own = results.once
        if self.games is None:
            return self._on_ladder(own)
        together = Results(
            {**self.games.groups, **own.groups},
            rotations={**self.games.rotations, **own.rotations},
            openings=max(self.games.openings, own.openings),
        )
        table = fit_ratings(together.counts(), anchor=zero_of(self.elo), dispersion=dispersion(together))
        found = table[POLICY]
        elo = {name: table[name].smoothed_elo for name in self.elo}
        return RatedPolicy(found.smoothed_elo, found.lower, found.upper, elo)

    def _on_ladder(self, results: Results) -> RatedPolicy:
        scores = {other: score for (one, other), score in results.counts().head_to_head().items() if one == POLICY}
        points = {name: (score.games, score.games * score.mean) for name, score in scores.items()}
        draws = sum(score.draws for score in scores.values())
        return rating_among(self.elo, points, draws, dispersion(results), self.covariance)


def zero_of(names: Collection[str]) -> str:
    """The anchor at the zero of the scale."""
    return "random" if "random" in names else next(iter(names))


def rating_among(
    elo: Mapping[str, float],
    results: Mapping[str, tuple[int, float]],
    draws: int = 0,
    spread: float = 1.0,
    covariance: Vector | None = None,
) -> RatedPolicy:
    """The rating of a policy by its games with agents whose ratings are known, as far as ``covariance`` says.

    The interval is that of the likelihood, joined in squares with the anchors' errors. ``results`` are its games
    and its points in them, by anchor, at least one game; ``spread`` is the dispersion of pairs of games.
    """
    from scipy.optimize import brentq

    met = [(rating / ELO_PER_LOG_ABILITY, *results.get(name, (0, 0.0))) for name, rating in elo.items()]
    strengths, games, points = np.array(met).T
    limit = float(np.abs(strengths).max()) + FAR

    def excess(ability: float, more: float) -> float:
        """Expected points less those scored, with so many games drawn against each anchor that was met besides."""
        more_games = more * (games > 0)
        return float(((games + more_games) / (1 + np.exp(strengths - ability)) - points - more_games / 2).sum())

    def likelihood(ability: float) -> float:
        gaps = strengths - ability
        return -float((points * np.logaddexp(0, gaps) + (games - points) * np.logaddexp(0, -gaps)).sum())

    all_lost, all_won = not points.any(), bool((points == games).all())
    one_sided = all_lost or all_won
    estimate = float(brentq(excess, -limit, limit, args=(1.0 if one_sided else 0.0,)))
    expected = 1 / (1 + np.exp(strengths - estimate))
    weights = games * expected * (1 - expected)
    information = float(weights.sum())
    # Draws vary less than wins and losses; drawn towards 1 as by two games between equals.
    part = spread * (max(information - draws / 4, 0.0) + 0.5) / (information + 0.5)
    level = (
        math.log(1 - UPPER_TAIL)
        if one_sided
        else likelihood(estimate) - part * normal_quantile(CONFIDENCE) ** 2 / 2
    )
    # Won everything: the likelihood rises all the way, from -limit to its lower end and on.
    starts = (limit if one_sided else estimate, -limit if one_sided else estimate)
    lower = -math.inf if all_lost else float(brentq(lambda x: likelihood(x) - level, -limit, starts[0]))
    upper = math.inf if all_won else float(brentq(lambda x: likelihood(x) - level, starts[1], limit))
    shares = weights / information
    variance = 0.0 if covariance is None else float(shares @ covariance @ shares)
    error = normal_quantile(CONFIDENCE) * math.sqrt(max(variance, 0.0)) / ELO_PER_LOG_ABILITY
    ends = estimate - math.hypot(estimate - lower, error), estimate + math.hypot(upper - estimate, error)
    widened = 1.0 if one_sided else (ends[1] - ends[0]) / (upper - lower)
    rating, lower, upper = (end * ELO_PER_LOG_ABILITY for end in (estimate, *ends))
    return RatedPolicy(rating, lower, upper, dict(elo), widened)


def ladder_of(levels: Levels, driver: EnvDriver, seed: int) -> RatedAnchors:
    """The rungs of a ladder's file as anchors, with the ratings that they have there; else its baseline."""
    elo = {rung.agent: rung.rating for rung in levels.rungs}
    if levels.unit is Unit.REWARD:
        elo = {levels.baseline: 0.0}
    openings = openings_for(driver.env, len(driver.seat_names), seed)
    digest = digest_of(levels.game, elo, seed, openings)
    if levels.unit is Unit.REWARD:
        return RatedAnchors(participants(list(elo)), elo, openings, digest, Results())
    return RatedAnchors(participants(list(elo)), elo, openings, digest, covariance=covariance_of(levels))


def covariance_of(levels: Levels) -> Vector:
    """The covariance of the ratings of a ladder's rungs; of a file without one the largest that there may be.

    That is where all of them are wrong alike: no mean of them is less sure than that.
    """
    rows = levels.about.get(COVARIANCE)
    if rows is None:
        errors = np.array([(rung.upper - rung.lower) / 2 / normal_quantile(CONFIDENCE) for rung in levels.rungs])
        return np.outer(errors, errors)
    count = len(levels.rungs)
    try:
        triangle = np.array([[*row, *[0.0] * (count - len(row))] for row in rows], float)
        if triangle.shape != (count, count) or not np.isfinite(triangle).all():
            raise ValueError
    except (TypeError, ValueError):
        raise StoreError(
            f"the ladder of {levels.game} has {count} rungs, and no covariance of as many: make it again"
        ) from None
    lower = np.tril(triangle)
    return np.asarray(lower + lower.T - np.diag(np.diag(lower)))


def digest_of(*parts: Any) -> str:
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
    games: int = ANCHOR_GAMES,
) -> RatedAnchors:
    """Returns the ladder of ``agents``, or of the default anchors: remembered by this process, else played.

    Anchors meet as often as the policy meets each of them, ``games``, and at least ``ANCHOR_GAMES`` times: of
    fewer games their errors would be the larger part of the policy's.
    """
    anchors = participants(default_anchors(driver.env) if agents is None else agents)
    by_name = {anchor.name: anchor.source for anchor in anchors}
    if not anchors:
        raise InvalidSettingError("the ladder is empty: give at least one baseline, such as 'random'")
    if POLICY in by_name:
        raise InvalidSettingError(f"no baseline may be called {POLICY!r}: that is what the policy is called")
    for anchor in anchors:
        require_fit(anchor.build(), driver.env, anchor.name)
    openings = openings_for(driver.env, len(driver.seat_names), seed)
    games = max(games, ANCHOR_GAMES)
    digest = digest_of(env_name(env), list(by_name), seed, ANCHOR_GAMES, openings)
    own = fingerprint(env, innermost(driver.env))
    decisive = json.dumps([digest, games, own, [anchor.fingerprint for anchor in anchors]])
    if decisive not in _ladders:
        met = _met(source, by_name, openings, games, seed)
        elo = dict.fromkeys(by_name, 0.0)
        if len(by_name) > 1:
            table = fit_ratings(met.counts(), anchor=zero_of(by_name), dispersion=dispersion(met))
            elo = {name: table[name].smoothed_elo for name in by_name}
        _ladders[decisive] = RatedAnchors(anchors, elo, openings, digest, met)
    return _ladders[decisive]


def _met(
    source: EnvSource,
    agents: Mapping[str, AgentSource],
    openings: tuple[tuple[Any, ...], ...],
    games: int,
    seed: int,
) -> Results:
    """The games of a round robin of the anchors, copies once."""
    if len(agents) == 1:
        return Results()
    standings = play_here(source, agents, games=games, seed=seed, openings=openings or None)
    met: Results = standings.results.once
    if unmet := sorted(set(agents) - set(met.counts().players)):
        failure = next((record.failure for record in standings.records if record.void), None)
        raise EnvironmentFailureError(
            f"{standings.env} failed in every game of {', '.join(unmet)}: {failure.message if failure else ''}"
        )
    return met


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
