"""Agents that beat each other in a circle, which no ratings on one line can show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from zermelo.evaluation.results import GameCounts
from zermelo.evaluation.stats.ratings.elo import CONFIDENCE, elo, normal_quantile


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
    beats: dict[str, list[str]] = {name: [] for name in counts.players}
    for (a, b), score in sorted(counts.head_to_head().items(), key=lambda item: item[0]):
        # The log-likelihood ratio of the decisive games, far cheaper than the interval, rules most pairs out.
        decisive = score.wins + score.losses
        ratio = sum(n * math.log(2.0 * n / decisive) for n in (score.wins, score.losses) if n)
        if score.wins > score.losses and ratio > limit:
            estimate = elo(score.wins, score.draws, score.losses, confidence=confidence)
            if estimate.lower > 0.0:
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
