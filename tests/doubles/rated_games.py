"""Games between players as counts, for ratings."""

from zermelo.evaluation.results import GameCounts


def matches(*rows):
    counts = GameCounts()
    for first, second, *results in rows:
        counts += GameCounts.match(first, second, *results)
    return counts


def both_ways(first, second, wins, draws, losses):
    return (first, second, wins, draws, losses), (second, first, losses, draws, wins)
