"""Evaluation of backgammon: three small networks over named features, learned by self-play.

There is a network for positions of contact, one for crashed ones (a side has at most ``CRASHED`` checkers left
behind its two lowest points) and one for races, in which no checker can be hit any more. Each has one layer of
hidden units (rectified) and five outputs, the chances of the player to move before the roll: to win, to win a
gammon, to win a backgammon, to lose a gammon, to lose a backgammon.

Weights are 16-bit integers, in units of ``1 / UNIT``, in one array of as many columns as there are hidden units:
a row for each feature of contact, crashed and race, five of outputs for each network, and a last one with the
fifteen biases of the outputs. They are learned and written by ``python scripts/fit_backgammon.py``; those of
backgammon, 512 units wide, from labels of all rolls. Where all checkers of both sides are at home, the exact table
of bear-offs (``bear_off``) is asked in their place.

Sources: G. Tesauro, "Temporal difference learning and TD-Gammon", Communications of the ACM 38 (1995); the three
classes of positions are those of GNU Backgammon.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from zermelo.envs.games.backgammon.bear_off import chances_at_home, is_at_home
from zermelo.envs.games.backgammon.features import FEATURES, MOST_ENTRIES, RACE, features
from zermelo.envs.rules.arrays import large_table, row_product, row_sum, shorts

Weights = npt.NDArray[np.int16]

UNIT: Final = 4096
"""What is 1 among the weights; a sum of as much is one unit of log odds."""
CERTAIN: Final = 1 << 16
"""How many units of chance are certainty."""
CRASHED: Final = 6
CONTACT, CRASHED_CONTACT, RACES = 0, 1, 2
NETWORKS: Final = 3
OUTPUTS: Final = ("win", "win a gammon", "win a backgammon", "lose a gammon", "lose a backgammon")
LAST_LAYERS: Final = RACE + FEATURES
"""The row of the first network's weights for a win."""
LAST_BIASES: Final = LAST_LAYERS + NETWORKS * len(OUTPUTS)
ROWS: Final = LAST_BIASES + 1
CHANCES: Final = np.array([round(CERTAIN / (1 + math.exp(-step / 64))) for step in range(-640, 641)], np.int64)
"""The logistic function from -10 to 10, in steps of a 64th."""


def chance(total: int) -> int:
    """The probability for some log odds, in units of ``CERTAIN``: the logistic function."""
    steps = min(max(total + 10 * UNIT, 0), 20 * UNIT - 1)
    index, part = steps >> 6, steps & 63
    below, above = int(CHANCES[index]), int(CHANCES[index + 1])
    return below + ((above - below) * part >> 6)


def is_crashed(low: int, high: int) -> bool:
    """True if a player has few checkers left that are neither on its two lowest points nor off."""
    count = 0
    for place in range(13):
        count += high >> 4 * place & 15
        if place >= 3:
            count += low >> 4 * place & 15
    return count <= CRASHED


def network_of(low: int, high: int, other_low: int, other_high: int, first_feature: int) -> int:
    """The number of the network that evaluates a position."""
    if first_feature >= RACE:
        return RACES
    return CRASHED_CONTACT if is_crashed(low, high) or is_crashed(other_low, other_high) else CONTACT


def log_odds(hidden: Any, network: int, output: int, weights: Any) -> int:
    """An output of a network, in 1 / ``UNIT``."""
    number = len(OUTPUTS) * network + output
    bias = int(weights[LAST_BIASES * len(hidden) + number])
    return (row_product(hidden, weights, LAST_LAYERS + number) >> 12) + bias


def expected(
    low: int, high: int, other_low: int, other_high: int, rolled: int, most_points: int, weights: Any
) -> int:
    """The expected utility of the player to move, in 1024ths of a point.

    The first five are as for ``features``; a game counts ``most_points`` at most: 1, 2 with gammons, 3 with
    backgammons. ``weights`` are the networks' ``ROWS`` rows, one after the other.
    """
    if rolled == 0 and is_at_home(low, high) and is_at_home(other_low, other_high):
        win, gammon, lost_gammon = chances_at_home(low, other_low)
        worth = 2 * win - (1 << 28)
        if most_points > 1:
            worth += gammon - lost_gammon
        return worth >> 18
    indices = np.empty(MOST_ENTRIES, np.int64)
    values = np.empty(MOST_ENTRIES, np.int64)
    hidden = np.empty(len(weights) // ROWS, np.int32)
    count = features(low, high, other_low, other_high, rolled, indices, values)
    network = network_of(low, high, other_low, other_high, indices[0])
    if network != CONTACT:
        for entry in range(count):
            indices[entry] += RACE  # features of a race come after those of contact
    row_sum(hidden, weights, indices, values, count)
    worth = 2 * chance(log_odds(hidden, network, 0, weights)) - CERTAIN
    for points in range(2, most_points + 1):
        # Who has borne off a checker cannot lose a gammon.
        if other_low & 15 == 0:
            worth += chance(log_odds(hidden, network, points - 1, weights))
        if low & 15 == 0:
            worth -= chance(log_odds(hidden, network, points + 1, weights))
    return worth >> 6


def load_weights(path: Path) -> dict[str, Weights]:
    """The networks of games by their class's name, from a file of NumPy's."""
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


FILE: Final = Path(__file__).with_name("networks.npz")
_UNITS: Final = 512
_HYPERGAMMON_UNITS: Final = 64
_BACKGAMMON: Final = large_table("backgammon_networks", lambda: _shipped("Backgammon", _UNITS))
_HYPERGAMMON: Final = large_table("hypergammon_networks", lambda: _shipped("Hypergammon", _HYPERGAMMON_UNITS))


def _shipped(name: str, units: int) -> Weights:
    weights = load_weights(FILE)[name]
    if weights.shape != (ROWS, units):
        raise ValueError(f"{FILE.name} has {name} of shape {weights.shape}, which the rules read as {ROWS, units}")
    return weights


def backgammon_weights() -> Any:
    """The networks of backgammon, as ``expected`` takes them."""
    return shorts(_BACKGAMMON(), ROWS * _UNITS)


def hypergammon_weights() -> Any:
    """The networks of Hypergammon, as ``expected`` takes them."""
    return shorts(_HYPERGAMMON(), ROWS * _HYPERGAMMON_UNITS)
