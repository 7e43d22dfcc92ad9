"""Scores of the kernel of two players: ``value * SCALE + 2 * distance``, for the player to move.

``value`` is in 1024ths of a point of utility (smaller parts with a network) above the middle between the players.
"""

from __future__ import annotations

import math
from typing import Any, Final

from zermelo.agents.base.scores import FITTED_UNIT, Score
from zermelo.agents.evaluators.network_kernel import network_value
from zermelo.agents.knowledge.endgame_kernel import GAINS
from zermelo.agents.tree_search.compiled.record import WITH, TwoPlayerRecord
from zermelo.envs.jit.memory import load
from zermelo.envs.rules.protocol import Rules
from zermelo.envs.rules.scores import WIN

SHIFT: Final = 15
SCALE: Final = 1 << SHIFT
"""More than twice the mate distance of any search."""
HALF: Final = SCALE >> 1
INFINITY: Final = 1 << 60
NOTHING: Final = -(1 << 60)
"""The static evaluation where there is none."""
UNIT: Final = 1024
UNKNOWN: Final = 1 << 61
"""In place of a score that is not known."""


def unit() -> int:
    """The value of a point of utility."""
    return FITTED_UNIT if WITH.network else UNIT


def to_parent(search: TwoPlayerRecord, score: int) -> int:
    """A child's score, as it counts one ply earlier."""
    if search.prefer_short_wins == 0:
        return score
    if score > HALF:
        return score - 2
    if score < -HALF:
        return score + 2
    return score


def to_child(search: TwoPlayerRecord, edge: int) -> int:
    """A window's edge, as a child sees it."""
    if search.prefer_short_wins == 0:
        return edge
    if edge > HALF:
        return edge + 2
    if edge < -HALF:
        return edge - 2
    return edge


def to_score(score: Score, search: TwoPlayerRecord) -> int:
    """A value and a mate distance for the first seat, as the kernel counts them for it."""
    value, distance = score
    if math.isinf(value):
        return INFINITY if value > 0.0 else -INFINITY
    units = math.floor((value - search.middle) * unit() + 0.5)
    return int(units) * SCALE + int(2.0 * distance)


def value_of(score: int) -> int:
    """The value of a score, without its mate distance."""
    return (score + HALF) >> SHIFT


def linear(value: int, search: TwoPlayerRecord) -> int:
    """A value in which equal margins mean as much near a win as in the middle: of a fitted one, the log odds."""
    room = max(search.span - abs(value), 1)
    if WITH.network:
        odds = math.log((search.span + abs(value)) / room)
        return int(search.span * odds / 2.0) * (1 if value > 0 else -1)
    return value * search.span // room


def in_units(margin: int) -> int:
    """A margin in 1024ths of a point of utility, as values are counted."""
    return margin * (unit() // UNIT)


def outcome(rules: Rules, state: Any, mover: int, search: TwoPlayerRecord) -> int:
    """The score of a finished state for a seat."""
    return (2 * rules.utility(state, mover) - search.total) * (unit() // 2) * SCALE


def known_outcome(known: int, search: TwoPlayerRecord) -> int:
    """The score of a state for its mover, from what an endgame table has of it."""
    win = unit() * SCALE
    if load(search.tables, GAINS) != 0:
        return known * win
    distance = 2 * (WIN - abs(known)) if search.prefer_short_wins != 0 else 0
    return 0 if known == 0 else win - distance if known > 0 else distance - win


def evaluate(rules: Rules, state: Any, mover: int, ply: int, search: TwoPlayerRecord) -> int:
    """The score of an unfinished state for a seat, as seat 0's evaluation has it."""
    if WITH.network:
        value = network_value(rules, state, ply, search.fitted)
        value -= search.total * (FITTED_UNIT // 2)
        return (value if mover == 0 else -value) * SCALE
    value = rules.evaluation(state, 0)
    value = min(max(value, search.lower_evaluation), search.upper_evaluation)
    value -= search.total * (UNIT // 2)
    return (value if mover == 0 else -value) * SCALE
