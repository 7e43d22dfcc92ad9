"""Games that depend on each other: pairs from one opening, and repetitions by deterministic agents."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from zermelo.evaluation.results import Results

PRIOR: Final = 10
"""Virtual pairs whose games are independent."""


def dispersion(results: Results) -> float:
    """The variance of pairs of games from one opening, divided by what it is where games are independent.

    From a lopsided opening both agents win with the better side, so that pairs vary less than single games. Counts
    of games divided by this give intervals of pairs (the dispersion of quasi-likelihood: McCullagh and Nelder
    1989, section 4.5; it is the pentanomial variance over the trinomial one). A few pairs say little of it: it is
    drawn towards 1 as by ``PRIOR`` more. 1 without openings, and with other than two seats.
    """
    if results.openings < 2:
        return 1.0
    table = defaultdict[tuple[str, ...], list[tuple[int, int, int]]](list)
    for pair in results.pairs():
        first, second = sorted(pair[:2], key=lambda finish: finish.agents)
        name = first.agents[0]
        table[first.agents].append((first.half_points(name), second.half_points(name), pair[2]))
    seen = expected = 0.0
    pairs = 0
    for rows in table.values():
        count = sum(games for _, _, games in rows)
        pairs += count
        means = [sum(row[game] * row[2] for row in rows) / count for game in (0, 1)]
        for *points, games in rows:
            off = [points[game] - means[game] for game in (0, 1)]
            seen += games * sum(off) ** 2
            expected += games * (off[0] ** 2 + off[1] ** 2)
    return (pairs * seen / expected + PRIOR) / (pairs + PRIOR) if expected else 1.0


def _played(results: Results) -> dict[tuple[str, ...], tuple[int, int]]:
    """The games of each line-up that did not fail, and how many of them differ."""
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for finish, group in results.in_order():
        if finish.failure is None and len(finish.agents) > 1:
            games, distinct = found.get(finish.agents, (0, 0))
            found[finish.agents] = (games + group.games, distinct + group.distinct)
    return found


def repeating(results: Results) -> frozenset[tuple[str, ...]]:
    """Line-ups whose games only repeat each other, as those of deterministic agents without chance do.

    From one opening such agents always play the same game, so there are no more different games than openings.
    """
    played = _played(results).items()
    return frozenset(agents for agents, (games, distinct) in played if distinct <= results.openings < games)


def repeats(results: Results) -> list[tuple[tuple[str, ...], int, int]]:
    """Pairings in which no seating gave anything but repetitions: agents, games, different games."""
    only, pairings = repeating(results), defaultdict[frozenset[str], list[tuple[tuple[str, ...], int, int]]](list)
    for agents, (games, distinct) in _played(results).items():
        pairings[frozenset(agents)].append((agents, games, distinct))
    return [
        (seatings[0][0], sum(games for _, games, _ in seatings), sum(distinct for _, _, distinct in seatings))
        for seatings in pairings.values()
        if any(agents in only for agents, _, _ in seatings)
        and all(agents in only or games <= results.openings for agents, games, _ in seatings)
    ]
