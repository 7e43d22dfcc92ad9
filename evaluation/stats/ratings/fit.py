"""Ratings from game records alone: Bradley-Terry with ties and seats for two, Plackett-Luce for more.

A rating's interval is its estimate plus and minus 1.96 standard errors where the modified root r* (``choice_fit``)
agrees to within 3 %, else the values whose r* is 1.96 and -1.96; after nothing but wins its finite end is the
value at which half the chance of results so one-sided is 2.5 % (mid-p). Of 95 % intervals of 3 to 8 players, 0 to
400 Elo apart, 93 to 98 % hold the truth, and 95 to 100 % with five games or fewer (``scripts/bench.py coverage``).
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from threadpoolctl import ThreadpoolController

from zermelo.envs.errors import InvalidSettingError, UnknownNameError
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.waiting import say_after
from zermelo.evaluation.results import GameCounts, HeadToHead, name_of
from zermelo.evaluation.stats.ratings.choice_fit import ABOVE, BELOW, UNDETERMINED, ChoiceFit, Effect
from zermelo.evaluation.stats.ratings.elo import ELO_PER_LOG_ABILITY, normal_quantile, surely_stronger
from zermelo.evaluation.stats.ratings.model import RankingModel
from zermelo.evaluation.stats.ratings.table import PlayerRating, RatingTable, zero_of
from zermelo.evaluation.stats.score_interval import CONFIDENCE

LONG: Final = 2.0  # seconds after which a line says what is computed
_FEW: Final = 5  # games of a player up to which intervals are too wide
_SMOOTHING_RIDGE: Final = 0.05  # Of seat and tie effects in smoothed ratings: a normal prior, 4.5 wide.
_NO_SEATS: Final = (
    "What a seat is worth is not estimated: with these line-ups it cannot be told from how strong the agents are."
)
_WINNER_ONLY: Final = "In games of {n} seats only the winner is known: the others count as unranked, not as tied."
_STATUS_NOTES: Final = {
    ABOVE: "How far these are above {zero} is open (∞), as they lost no point to weaker agents: {names}.",
    BELOW: "How far these are below {zero} is open (-∞), as they won no point from stronger agents: {names}.",
    UNDETERMINED: "The games do not compare {names} with {zero}: the rating is unknown.",
}


@checked_call
def fit_ratings(
    results: GameCounts | Iterable[Sequence[Any]],
    *,
    anchor: str | int | None = None,
    seat_effects: bool = True,
    dispersion: float = 1.0,
) -> RatingTable:
    """The most likely ratings of all players; between two the difference is that of ``elo`` for the same games.

    Args:
        results: Counted games, or games to count one at a time (``GameCounts``): ``(players, scores)`` in seat
            order, or ``(first, second, score)`` with the first one's score 1, 0.5 or 0.
        anchor: The player whose rating is the zero of the scale; None for the average of the players.
        seat_effects: Whether the seats have strengths of their own. They are left out, and a note says so, if they
            cannot be separated from those of the players.
        dispersion: Games that say as much as one independent game (``stats.rows.dispersion``).

    Raises:
        UnknownNameError: The anchor played no game.
        InvalidSettingError: A result has an unknown form.
    """
    if not 0.0 < dispersion < math.inf:
        raise InvalidSettingError(f"dispersion must be a finite number greater than 0, not {dispersion!r}")
    anchor = name_of(anchor) or anchor
    counts = results if isinstance(results, GameCounts) else GameCounts(results)
    if anchor is not None and anchor not in counts.players:
        names = ", ".join(counts.players) or "nobody"
        raise UnknownNameError(f"the anchor {anchor!r} played no game: those who did are {names}")
    if not counts.games:
        return RatingTable(players=(), anchor=anchor, notes=("No games.",))
    text = f"computing the ratings of {len(counts.players)} agents and their intervals"
    # Matrices are small: threads of the linear algebra would mostly wait for each other.
    with say_after(LONG, text), _linear_algebra().limit(limits=1, user_api="blas"):
        return _fitted(counts, anchor, seat_effects, dispersion)


@functools.cache
def _linear_algebra() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401 - it brings a library of its own, which must be there to be limited

    return ThreadpoolController()


def _fitted(counts: GameCounts, anchor: str | None, seat_effects: bool, dispersion: float) -> RatingTable:
    components = _components(counts, anchor)
    left_out: tuple[str, ...] = ()
    model = RankingModel(counts, seat_effects=seat_effects, dispersion=dispersion)
    worths = ChoiceFit(model.choices)
    if model.seats and worths.unseen > len(components):
        left_out = (_NO_SEATS,)
        model = RankingModel(counts, seat_effects=False, dispersion=dispersion)
        worths = ChoiceFit(model.choices)
    rated = RankingModel(counts, seat_effects=bool(model.seats), dispersion=dispersion, by_points=True)
    fit = ChoiceFit(rated.choices, rated.spread)
    players = _players(counts, rated, fit, worths, components, anchor)
    seats = tuple(_seat_effects(model, worths))
    units = np.eye(model.parameters)
    ties = tuple(worths.effect(units[column], f"{n} tied") for n, column in model.ties.items())
    cycles = find_cycles(counts)
    notes = (
        *left_out,
        *(_WINNER_ONLY.format(n=n) for n in model.winner_only),
        *_notes(components, players, (*seats, *ties), counts),
        *_notes_on_few_games(players),
        *_notes_on_seats(counts, seats),
        *_notes_on_cycles(cycles),
    )
    return RatingTable(
        players=players, seat_effects=seats, tie_effects=ties, components=components, anchor=anchor,
        games=counts.games, log_likelihood=worths.log_likelihood * dispersion,
        cycles=cycles, notes=notes, _model=rated, _fit=fit,
    )  # fmt: skip


def _notes_on_cycles(cycles: Sequence[tuple[str, ...]]) -> Iterator[str]:
    if cycles:
        first = "; ".join(" > ".join((*cycle, cycle[0])) for cycle in cycles[:3])
        more = f" and {len(cycles) - 3} more" if len(cycles) > 3 else ""
        yield f"Agents beat each other in a circle: {first}{more}. Ratings do not say who wins such games."


def _notes_on_few_games(players: Sequence[PlayerRating]) -> Iterator[str]:
    few = sorted(p.name for p in players if p.games <= _FEW and p.method not in ("anchor", "none"))
    if few:
        names = ", ".join(few) if len(few) <= 6 else f"{len(few)} players"
        yield f"{names} played at most {_FEW} games each: ratings of so few are rough, and their intervals wide."


def _notes_on_seats(counts: GameCounts, seats: Sequence[Effect]) -> Iterator[str]:
    """A note on the two that shared the first seat least evenly, where it is worth something."""
    effect = next((effect for effect in seats if effect.name == "seat 1 of 2"), None)
    if effect is None or effect.lower <= 0.0 <= effect.upper:
        return
    first = Counter[tuple[str, str]]()
    for names, _, times in counts.items():
        if len(names) == 2:
            first[names[0], names[1]] += times
    (one, other), more = max(
        ((pair, times - first[pair[::-1]]) for pair, times in first.items()), key=lambda item: (item[1], item[0])
    )
    if more > 1:
        total = 2 * first[one, other] - more
        yield (
            f"{one} sat first in {first[one, other]} of {total} games against {other}, and the first seat is "
            f"worth {'more' if effect.estimate > 0.0 else 'less'}: ratings count points from both seats alike. "
            "Let agents take seats in turn."
        )


def _components(counts: GameCounts, anchor: str | None) -> tuple[tuple[str, ...], ...]:
    """Players linked by games, directly or not: the anchor's first, then the largest."""
    parts: list[set[str]] = []
    for met in {frozenset(names) for names, _, _ in counts.items()}:
        linked = [part for part in parts if part & met]
        parts = [part for part in parts if not part & met] + [set(met).union(*linked)]
    components = [tuple(sorted(part)) for part in parts]
    return tuple(sorted(components, key=lambda names: (anchor not in names, -len(names), names)))


def _players(
    counts: GameCounts,
    model: RankingModel,
    fit: ChoiceFit,
    worths: ChoiceFit,
    components: tuple[tuple[str, ...], ...],
    anchor: str | None,
) -> tuple[PlayerRating, ...]:
    games, rows = Counter[str](), list[PlayerRating]()
    for names, _, times in counts.items():
        for name in names:
            games[name] += times
    smoothed = model.smoothed(_SMOOTHING_RIDGE) if fit.separated else fit.theta
    played = len(counts.players)
    for number, names in enumerate(components):
        groups = _groups(names, model, fit)
        main = max(groups, key=lambda group: (len(group), sum(map(games.__getitem__, group)), group))
        zero = model.mean(anchor) if anchor in names else model.mean(*main)
        # Groups in order of strength, as far as it is known.
        groups.sort(key=lambda group: (-float(model.mean(*group) @ smoothed), group))
        part = []
        for name in (name for group in groups for name in group):
            contrast = model.mean(name) - zero
            effect, close = fit.effect(contrast, name), float(contrast @ smoothed)
            estimate = close if effect.status == UNDETERMINED else effect.estimate
            values = estimate, effect.lower, effect.upper, effect.standard_error, close
            elo, lower, upper, error, smoothed_elo = (value * ELO_PER_LOG_ABILITY for value in values)
            weights = np.zeros(worths.choices.parameters)  # the first parameters are the players in both models
            weights[:played] = contrast[:played]
            row = PlayerRating(
                name=name, elo=elo, lower=lower, upper=upper, standard_error=error, smoothed_elo=smoothed_elo,
                log_worth=worths.estimate(weights)[0], status=effect.status, method=effect.method,
                component=number, games=games[name],
            )  # fmt: skip
            part.append(row)
        rows += sorted(part, key=lambda row: (-row.elo, -row.smoothed_elo, row.name))
    return tuple(rows)


def _groups(names: tuple[str, ...], model: RankingModel, fit: ChoiceFit) -> list[list[str]]:
    """The names of one component in groups whose differences are finite."""
    groups: list[list[str]] = []
    for name in names:
        for group in groups:
            if fit.is_finite(model.mean(name) - model.mean(group[0])):
                group.append(name)
                break
        else:
            groups.append([name])
    return groups


def _seat_effects(model: RankingModel, fit: ChoiceFit) -> Iterator[Effect]:
    for n in sorted({n for n, _ in model.seats}):
        for seat in range(1 if n == 2 else n):
            contrast = np.zeros(model.parameters)
            if n > 2:
                contrast[[model.seats[n, other] for other in range(n - 1)]] = -1.0 / n
            if (n, seat) in model.seats:
                contrast[model.seats[n, seat]] += 1.0
            yield fit.effect(contrast, f"seat {seat + 1} of {n}")


def _notes(
    components: tuple[tuple[str, ...], ...],
    players: Sequence[PlayerRating],
    effects: Sequence[Effect],
    counts: GameCounts,
) -> Iterator[str]:
    if len(components) > 1:
        parts = "; ".join(", ".join(names) for names in components)
        yield (
            f"The pairings fall into {len(components)} parts that never met: {parts}. "
            "Ratings compare only within one; each has a zero of its own."
        )
    if all(len(set(ranks)) == 1 for _, ranks, _ in counts.items()):
        yield "Every game was drawn."
    for component in range(len(components)):
        part = [p for p in players if p.component == component]
        for status, text in _STATUS_NOTES.items():
            if names := sorted(p.name for p in part if p.status == status):
                yield text.format(names=", ".join(names), zero=zero_of(part))
    for effect in effects:
        if effect.status != UNDETERMINED and not math.isinf(effect.estimate):
            continue
        if not effect.name.endswith("tied"):
            what = "moving first" if effect.name == "seat 1 of 2" else effect.name
            yield f"What {what} is worth is not estimated: too few games tell it from how strong the agents are."
        elif effect.estimate < 0.0:
            yield "Nobody drew a game, so draws are not estimated."
        else:
            yield "How often agents draw is not estimated: too few games were won that might have been drawn."


def find_cycles(counts: GameCounts) -> tuple[tuple[str, ...], ...]:
    """Cycles of agents each of which significantly beats the next, and the last the first.

    A beats B significantly if the interval of their Elo difference (``elo``) leaves out zero. Its confidence is
    raised where there are so many agents that chance alone would make cycles of three: no more than 2.5 % of them
    are to be expected among equals. Returns a shortest cycle through each agent that is in one, in sorted order.
    """
    triples = 2 * math.comb(len(counts.players), 3) or 1  # each goes round in two ways
    by_chance = (1 - CONFIDENCE) / 2
    confidence = 1 - min(2 * by_chance, 2 * (by_chance / triples) ** (1 / 3))
    limit = normal_quantile(confidence) ** 2 / 4.0
    scores: dict[tuple[str, str], HeadToHead] = {}
    for pair, score in counts.head_to_head().items():
        if score.wins <= score.losses:
            continue
        # The log-likelihood ratio of the decisive games, far cheaper than the interval, rules most pairs out.
        decisive = score.wins + score.losses
        if sum(n * math.log(2.0 * n / decisive) for n in (score.wins, score.losses) if n) > limit:
            scores[pair] = score
    before = -1
    while before != len(scores):  # a player whom nobody beats, or that beats nobody, is in no cycle
        before, within = len(scores), {a for a, _ in scores} & {b for _, b in scores}
        scores = {pair: score for pair, score in scores.items() if within.issuperset(pair)}
    beats: dict[str, list[str]] = {name: [] for name in counts.players}
    for (a, b), score in sorted(scores.items(), key=lambda item: item[0]):
        if surely_stronger(score.wins, score.draws, score.losses, confidence):
            beats[a].append(b)
    cycles = set[tuple[str, ...]]()
    for name in beats:
        if not any(name in cycle for cycle in cycles) and (cycle := _shortest_cycle(name, beats)):
            first = cycle.index(min(cycle))
            cycles.add(cycle[first:] + cycle[:first])
    return tuple(sorted(cycles))


def _shortest_cycle(start: str, beats: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """A shortest way along ``beats`` from ``start`` back to it, by breadth first; empty if there is none."""
    paths, seen = list[tuple[str, ...]]([(start,)]), {start}
    for path in paths:
        for other in beats[path[-1]]:
            if other == start:
                return path
            if other not in seen:
                seen.add(other)
                paths.append((*path, other))
    return ()
