"""Tables of ratings: of every player, of seats and of ties."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from zermelo.envs.errors import UnknownNameError
from zermelo.evaluation.results import name_of
from zermelo.evaluation.stats.ratings.choice_fit import FINITE, ChoiceFit, Effect
from zermelo.evaluation.stats.ratings.choices import Vector
from zermelo.evaluation.stats.ratings.elo import ELO_PER_LOG_ABILITY
from zermelo.evaluation.stats.ratings.model import RankingModel
from zermelo.evaluation.stats.score_interval import CONFIDENCE


@dataclass(frozen=True, kw_only=True)
class PlayerRating:
    """The strength of one player, with an interval for its difference to the zero of the scale.

    Attributes:
        elo: Most likely rating (``RatingTable``). ``inf`` or ``-inf`` if the games say only "stronger" or "weaker"
            than the zero; then one end of the interval is finite.
        lower, upper: The ends of the interval of ``elo``.
        standard_error: In Elo, from the curvature of the likelihood; 0 for the anchor, infinite without a finite
            estimate.
        smoothed_elo: The rating with half a win each way added to every two players that met: always finite, and
            equal to ``elo`` while all ratings are.
        log_worth: Natural logarithm of the worth, on the same zero, in the model with effects of seats and ties:
            Davidson's of two players, Plackett and Luce's of more.
        status: ``finite``, ``plus infinity``, ``minus infinity`` or ``undetermined``; of an undetermined one
            ``elo`` is the smoothed rating and the interval has no ends.
        method: How the interval was found (``Effect.method``).
        component: Which part of the pairing graph the player is in, from 0; ratings compare only within one.
    """

    name: str
    elo: float
    lower: float
    upper: float
    standard_error: float
    smoothed_elo: float
    log_worth: float
    status: str
    method: str
    component: int
    games: int


@dataclass(frozen=True, kw_only=True)
class RatingTable:
    """Ratings of all players, strongest first within each component.

    Elo is that of the expected score: 1 / (1 + 10 ** (-d / 400)) points a game for who is d Elo stronger, a draw
    being half a point. Each player expects as many points as it scored. In games of more seats 400 Elo are 10 to 1
    of finishing ahead.

    Attributes:
        seat_effects: What a seat adds to the log-ability of whoever sits there. With two seats one effect, that of
            the first over the second; with more, that of each seat over the average of them. Empty if not fitted.
        tie_effects: Logarithm of the tie parameter of each number of players tied: with two equal players the
            chance of a draw is ``nu / (2 + nu)``, ``nu`` being its exponential. Empty if nothing was ever tied.
        components: The names of the players in each part of the pairing graph, largest first.
        anchor: The player at the zero, or None for the average of its component's largest group.
        log_likelihood: Natural logarithm of the maximum likelihood, without the multinomial constant.
        cycles: Agents that significantly beat each other in a circle (``find_cycles``).
        notes: Sentences to be read before the numbers.
    """

    players: tuple[PlayerRating, ...]
    seat_effects: tuple[Effect, ...] = ()
    tie_effects: tuple[Effect, ...] = ()
    components: tuple[tuple[str, ...], ...] = ()
    anchor: str | None = None
    games: int = 0
    log_likelihood: float = 0.0
    cycles: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    _model: RankingModel | None = field(default=None, repr=False, compare=False)
    _fit: ChoiceFit | None = field(default=None, repr=False, compare=False)

    def __getitem__(self, name: str | int) -> PlayerRating:
        players = {player.name: player for player in self.players}
        if (called := name_of(name)) not in players:
            raise UnknownNameError(f"no player named {name!r}: the table has {', '.join(players)}")
        return players[called]

    @property
    def zero(self) -> str:
        """The zero of the scale, in words; of several components, that of the first one."""
        return zero_of([player for player in self.players if player.component == 0])

    @property
    def seat_advantage(self) -> Effect | None:
        """The advantage of the first of two seats; None if there are not two or it was not fitted."""
        return next((effect for effect in self.seat_effects if effect.name == "seat 1 of 2"), None)

    @property
    def seat_advantage_elo(self) -> tuple[float, float, float] | None:
        """What moving first is worth among equals, in Elo, and the ends of its interval; None if unknown."""
        effect = self.seat_advantage
        tie = next((math.exp(effect.estimate) for effect in self.tie_effects if effect.name == "2 tied"), 0.0)
        if effect is None or effect.status != FINITE or math.isinf(tie):
            return None

        def log_points(advantage: float) -> float:
            points = math.exp(min(advantage / 2.0, 300.0)) + tie / 2.0
            return math.log(points) if points else -math.inf

        ends = (effect.estimate, effect.lower, effect.upper)
        estimate, lower, upper = (ELO_PER_LOG_ABILITY * (log_points(end) - log_points(-end)) for end in ends)
        return estimate, lower, upper

    def _compared(self, first: str, second: str) -> tuple[ChoiceFit, Vector] | None:
        first, second = self[first].name, self[second].name
        if first == second or self._model is None or self._fit is None:
            return None
        return self._fit, self._model.mean(first) - self._model.mean(second)

    def difference(self, first: str, second: str) -> Effect:
        """By how much ``first`` is stronger than ``second``, with an interval: ln 10 / 400 times the Elo."""
        name, compared = f"{first} - {second}", self._compared(first, second)
        if compared is None:
            return Effect(name=name, estimate=0.0, lower=0.0, upper=0.0, standard_error=0.0)
        return compared[0].effect(compared[1], name)

    def covariance(self, names: Sequence[str]) -> Vector:
        """The covariance of the ratings of players, less that of the first of them, in squares of Elo."""
        if self._model is None or self._fit is None:
            return np.zeros((len(names), len(names)))
        contrasts = np.array([self._model.mean(name) - self._model.mean(names[0]) for name in names])
        return ELO_PER_LOG_ABILITY**2 * self._fit.covariance(contrasts)

    def superiority(self, first: str, second: str) -> float:
        """The probability, 0 to 1, that ``first`` is stronger than ``second``; 0.5 if the games do not tell.

        As sure as ``difference``: it exceeds 97.5 % where the 95 % interval lies above 0. Where the difference is
        infinite, half the chance of such one-sided results between equals is left for the other side.
        """
        compared = self._compared(first, second)
        return 0.5 if compared is None else compared[0].superiority(compared[1])

    @property
    def leader_note(self) -> str:
        """A sentence on who leads where that is not sure; else empty."""
        if len(self.players) < 2 or self.players[0].component != self.players[1].component:
            return ""
        first, second = self.players[0].name, self.players[1].name
        likelihood = self.superiority(first, second)
        if likelihood > 0.5 + CONFIDENCE / 2.0:
            return ""
        if math.isclose(likelihood, 0.5, abs_tol=1e-4):
            return f"The games do not show which of {first} and {second} is stronger."
        lead = self.difference(first, second)
        # The derivative of the difference by a point that the second wins from the first.
        if lead.estimate < lead.standard_error**2 < math.inf:
            return f"One win more or less would change who leads, {first} or {second}."
        sure = f"not sure (likelihood {100 * likelihood:.0f} %)"
        return f"{first} leads, but that it is stronger than {second} is {sure}."


def zero_of(players: Sequence[PlayerRating]) -> str:
    """The zero of the players of one component, in words."""
    if anchors := sorted(p.name for p in players if p.method == "anchor"):
        return ", ".join(anchors)
    names = sorted(p.name for p in players if p.status == FINITE)
    if len(names) == len(players):
        return "the average"
    return "the average of " + (", ".join(names) if len(names) <= 6 else f"the {len(names)} others")
