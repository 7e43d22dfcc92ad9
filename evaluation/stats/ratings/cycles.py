"""Intransitive results: A beats B beats C beats A."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence

from zermelo.evaluation.results import GameCounts
from zermelo.evaluation.stats.ratings.elo import elo
from zermelo.evaluation.stats.ratings.scales import check_confidence, normal_quantile

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

    Raises:
        InvalidSettingError: ``confidence`` is not strictly between 0 and 1.
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
