"""Ratings from game records alone: Bradley-Terry with ties and seats for two, Plackett-Luce for more.

Everything is recomputed from the counts; their order does not matter, and nothing is drawn at random.

Intervals. A rating's interval is its estimate plus and minus 1.96 standard errors where the log-likelihood agrees,
falling by 1.92 to within a tenth on the way to either end. Where it does not, as with few games or a score near 0
or 1, the ends are those of the profile likelihood. Where the estimate is infinite, as after nothing but wins, the
finite end is the value at which half the chance of results so one-sided is 2.5 % (mid-p). A likelihood of
superiority is found in the same way, so it exceeds 97.5 % exactly where the interval of the difference lies above
0. (Numbers are those of 95 %.)
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from zermelo.envs import UnknownNameError
from zermelo.evaluation.results import GameCounts
from zermelo.evaluation.stats.ratings.choice_fit import ChoiceFit, Direction
from zermelo.evaluation.stats.ratings.elo import elo
from zermelo.evaluation.stats.ratings.plackett_luce import RankingModel
from zermelo.evaluation.stats.ratings.scales import ELO_PER_LOG_ABILITY, check_confidence, normal_quantile
from zermelo.evaluation.stats.ratings.table import Effect, PlayerRating, RatingTable, effect_of, zero_of

_SMOOTHING_RIDGE = 0.05  # Of seat and tie effects in smoothed ratings: a normal prior, 4.5 wide.


def fit_ratings(
    results: GameCounts | Iterable[Sequence[Any]],
    *,
    anchor: str | None = None,
    seat_effects: bool = True,
    confidence: float = 0.95,
    dispersion: float = 1.0,
) -> RatingTable:
    """The most likely ratings of all players.

    Args:
        results: Counted games, or games to count one at a time (``GameCounts.add_results``): ``(players, scores)``
            in seat order, or ``(first, second, score)`` with the first one's score 1, 0.5 or 0.
        anchor: The player whose rating is the zero of the scale; None for the average of the players.
        seat_effects: Whether the seats have strengths of their own. They are left out, and a note says so, if they
            cannot be separated from those of the players.
        confidence: Of the intervals.
        dispersion: Games that say as much as one independent game (``stats.rows.dispersion``).

    Returns:
        The table, with notes on everything that the games do not tell. Elo differences here are 400 / ln 10 times
        the log odds of a win against a loss; with many draws that is more than ``elo`` gives for the same games,
        which counts a draw as half a win.

    Raises:
        UnknownNameError: The anchor played no game.
        InvalidSettingError: A result has an unknown form, or ``confidence`` is not strictly between 0 and 1.
    """
    check_confidence(confidence)
    counts = results if isinstance(results, GameCounts) else GameCounts(results)
    if anchor is not None and anchor not in counts.players:
        known = ", ".join(counts.players) or "nobody"
        raise UnknownNameError(f"the anchor {anchor!r} played no game: those who did are {known}")
    if not counts.games:
        return RatingTable(players=(), anchor=anchor, confidence=confidence, notes=("No games.",))
    notes: list[str] = []
    components = _components(counts, anchor)
    model = RankingModel.of(counts, seat_effects=seat_effects, dispersion=dispersion)
    fit = ChoiceFit(model.choices)
    if model.seats and model.choices.null_space().shape[1] > len(components):
        notes.append(
            "Seat effects are left out: with these line-ups they cannot be separated from the players' strengths."
        )
        model = RankingModel.of(counts, seat_effects=False, dispersion=dispersion)
        fit = ChoiceFit(model.choices)
    for n in model.winner_only:
        notes.append(f"In games of {n} seats only the winner is known: the others count as unranked, not as tied.")

    rows = _Rows(counts, model, fit, components, anchor, confidence)
    players = rows.all()
    seats, ties = _seat_effects(model, fit, confidence), _tie_effects(model, fit, confidence)
    notes += _notes(components, players, (*seats, *ties), counts)
    cycles = find_cycles(counts, confidence=confidence)
    if cycles:
        shown = "; ".join(" > ".join((*cycle, cycle[0])) for cycle in cycles[:3])
        more = f" and {len(cycles) - 3} more" if len(cycles) > 3 else ""
        notes.append(f"Results are intransitive: {shown}{more}. Ratings mispredict such games.")
    return RatingTable(
        players=players,
        seat_effects=seats,
        tie_effects=ties,
        components=components,
        anchor=anchor,
        confidence=confidence,
        games=counts.games,
        log_likelihood=fit.log_likelihood * dispersion,
        cycles=cycles,
        notes=tuple(notes),
        _model=model,
        _fit=fit,
    )


def _components(counts: GameCounts, anchor: str | None) -> tuple[tuple[str, ...], ...]:
    """Players linked by games, directly or not: the anchor's first, then the largest."""
    parts: list[set[str]] = []
    for met in {frozenset(names) for names, _, _ in counts.items()}:
        linked = [part for part in parts if part & met]
        parts = [part for part in parts if not part & met] + [set(met).union(*linked)]
    found = [tuple(sorted(part)) for part in parts]
    return tuple(sorted(found, key=lambda names: (anchor not in names, -len(names), names)))


@dataclass
class _Rows:
    """Makes the ratings of all players, component by component."""

    counts: GameCounts
    model: RankingModel
    fit: ChoiceFit
    components: tuple[tuple[str, ...], ...]
    anchor: str | None
    confidence: float

    def __post_init__(self) -> None:
        model, self.games = self.model, self.counts.played()
        self.column = {name: number for number, name in enumerate(model.players)}
        self.smoothed: npt.NDArray[np.float64] = self.fit.theta
        if self.fit.separated:
            choices = model.smoothed_choices(self.counts)
            ridge = np.full(model.parameters, 1e-6)
            ridge[len(model.players) :] = _SMOOTHING_RIDGE
            self.smoothed = choices.maximize(np.zeros(model.parameters), np.eye(model.parameters), ridge)

    def all(self) -> tuple[PlayerRating, ...]:
        rows: list[PlayerRating] = []
        for number, names in enumerate(self.components):
            groups = self._groups(names)
            main = max(groups, key=lambda group: (len(group), sum(map(self.games.__getitem__, group)), group))
            zero = self._mean([str(self.anchor)] if self.anchor in names else main)
            # Groups in order of strength, as far as it is known.
            groups.sort(key=lambda group: (-float(self._mean(group) @ self.smoothed), group))
            part = [self._row(name, zero, number) for group in groups for name in group]
            rows += sorted(part, key=lambda row: (-row.elo, -row.smoothed_elo, row.name))
        return tuple(rows)

    def _mean(self, names: Sequence[str]) -> npt.NDArray[np.float64]:
        """The mean of players' log-abilities, as weights of the parameters."""
        weights = np.zeros(self.model.parameters)
        weights[[self.column[name] for name in names]] = 1.0 / len(names)
        return weights

    def _groups(self, names: tuple[str, ...]) -> list[list[str]]:
        """The names of one component in groups whose differences are finite."""
        groups: list[list[str]] = []
        for name in names:
            for group in groups:
                if self.fit.is_finite(self._mean([name]) - self._mean(group[:1])):
                    group.append(name)
                    break
            else:
                groups.append([name])
        return groups

    def _row(self, name: str, zero: npt.NDArray[np.float64], component: int) -> PlayerRating:
        contrast = self._mean([name]) - zero
        effect, direction, method = effect_of(self.fit, contrast, name, self.confidence)
        smoothed = float(contrast @ self.smoothed)
        estimate = smoothed if direction is Direction.UNDETERMINED else effect.estimate
        numbers = estimate, effect.lower, effect.upper, effect.standard_error, smoothed
        elo, lower, upper, error, smoothed_elo = (number * ELO_PER_LOG_ABILITY for number in numbers)
        return PlayerRating(
            name=name, elo=elo, lower=lower, upper=upper, standard_error=error, smoothed_elo=smoothed_elo,
            status=direction.value, method=method, component=component, games=self.games[name],
        )  # fmt: skip


def _seat_effects(model: RankingModel, fit: ChoiceFit, confidence: float) -> tuple[Effect, ...]:
    effects = []
    for n in sorted({n for n, _ in model.seats}):
        for seat in range(1 if n == 2 else n):
            contrast = np.zeros(model.parameters)
            if n > 2:
                for other in range(n - 1):
                    contrast[model.seats[n, other]] -= 1.0 / n
            if (n, seat) in model.seats:
                contrast[model.seats[n, seat]] += 1.0
            effects.append(effect_of(fit, contrast, f"seat {seat + 1} of {n}", confidence)[0])
    return tuple(effects)


def _tie_effects(model: RankingModel, fit: ChoiceFit, confidence: float) -> tuple[Effect, ...]:
    units = np.eye(model.parameters)
    return tuple(
        effect_of(fit, units[column], f"{size} tied", confidence)[0] for size, column in sorted(model.ties.items())
    )


def _notes(
    components: tuple[tuple[str, ...], ...],
    players: Sequence[PlayerRating],
    effects: Sequence[Effect],
    counts: GameCounts,
) -> list[str]:
    """Notes on what the games leave open."""
    notes = []
    if len(components) > 1:
        parts = "; ".join(", ".join(names) for names in components)
        notes.append(
            f"The pairings fall into {len(components)} parts that never met: {parts}. "
            "Ratings compare only within one; each has a zero of its own."
        )
    if all(len(set(ranks)) == 1 for _, ranks, _ in counts.items()):
        notes.append("Every game was drawn.")
    for component in range(len(components)):
        part = [p for p in players if p.component == component]
        zero = zero_of(part)
        for direction, text in _STATUS_NOTES.items():
            if names := sorted(p.name for p in part if p.status == direction.value):
                notes.append(text.format(names=", ".join(names), zero=zero))
    for effect in effects:
        if effect.estimate == 0.0 and math.isinf(effect.upper):
            notes.append(f"The games do not determine the effect of {effect.name}.")
        elif math.isinf(effect.estimate):
            end, finite = ("upper", "lower") if effect.estimate > 0.0 else ("lower", "upper")
            notes.append(
                f"The effect of {effect.name} has no {end} bound: no game went against it. "
                f"The {finite} bound is valid."
            )
    return notes


_STATUS_NOTES = {
    Direction.PLUS_INFINITY: (
        "No upper bound for {names}: no result rules out a rating arbitrarily far above {zero}. "
        "The lower bound is valid; smoothed_elo is finite."
    ),
    Direction.MINUS_INFINITY: (
        "No lower bound for {names}: no result rules out a rating arbitrarily far below {zero}. "
        "The upper bound is valid; smoothed_elo is finite."
    ),
    Direction.UNDETERMINED: (
        "No bounds for {names} against {zero}: the games do not compare them. smoothed_elo is shown."
    ),
}


_MOST_CYCLES = 100


def find_cycles(counts: GameCounts, *, confidence: float = 0.95) -> tuple[tuple[str, ...], ...]:
    """Cycles of agents each of which significantly beats the next, and the last the first.

    A beats B significantly if the interval of their Elo difference (``elo``) leaves out zero. All cycles of three
    are listed, at most 100; agents that are in a cycle but in none of three are shown in a shortest one.

    Args:
        counts: The games.
        confidence: Of each pair's interval, or higher where there are so many agents that chance alone would make
            cycles of three: no more than (1 - confidence) / 2 of them are to be expected among equals.

    Returns:
        Cycles, each beginning with its first name in sorted order, sorted.
    """
    triples = 2 * math.comb(len(counts.players), 3) or 1  # each goes round in two ways
    by_chance = (1 - check_confidence(confidence)) / 2
    confidence = 1 - min(2 * by_chance, 2 * (by_chance / triples) ** (1 / 3))
    limit = normal_quantile(confidence) ** 2 / 4.0
    beats: dict[str, list[str]] = {name: [] for name in counts.players}
    for (a, b), score in sorted(counts.head_to_head().items(), key=operator.itemgetter(0)):
        wins, losses = score.wins, score.losses
        # The log-likelihood ratio of the decisive games, far cheaper than the interval, rules most pairs out.
        decisive = wins + losses
        ratio = sum(n * math.log(2.0 * n / decisive) for n in (wins, losses) if n)
        if wins > losses and ratio > limit and elo(wins, score.draws, losses, confidence=confidence).lower > 0.0:
            beats[a].append(b)
    cycles: set[tuple[str, ...]] = set()
    for a in beats:
        for b in beats[a]:
            for c in beats[b]:
                if a in beats[c] and a < b and a < c and len(cycles) < _MOST_CYCLES:
                    cycles.add((a, b, c))
    covered = {name for cycle in cycles for name in cycle}
    for a in beats:
        if a not in covered and (cycle := _shortest_cycle(a, beats)) is not None and len(cycles) < _MOST_CYCLES:
            covered.update(cycle)
            first = cycle.index(min(cycle))
            cycles.add(cycle[first:] + cycle[:first])
    return tuple(sorted(cycles))


def _shortest_cycle(start: str, beats: Mapping[str, Sequence[str]]) -> tuple[str, ...] | None:
    """A shortest way along ``beats`` from ``start`` back to it, by breadth first; None if there is none."""
    paths: list[tuple[str, ...]] = [(start,)]
    seen = {start}
    while paths:
        longer = []
        for path in paths:
            for other in beats[path[-1]]:
                if other == start:
                    return path
                if other not in seen:
                    seen.add(other)
                    longer.append((*path, other))
        paths = longer
    return None
