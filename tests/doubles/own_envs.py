"""For tests of environments of rules: what makes each of ours, and what PettingZoo's tests warn of in them."""

from __future__ import annotations

from typing import Any

import pytest
from doubles.own_rules import Piglike, ThreeTake

from zermelo.envs import make
from zermelo.envs.games.tables import GAMES
from zermelo.envs.rules.env import env

OWN = sorted(f"zermelo/{name}-v0" for name in GAMES)
SMALL = {"zermelo/Go-v0": {"size": 5}}
"""Smaller than by default, as random games last long on a larger board."""
EVERY: dict[str, Any] = {
    **{name: lambda name=name, **parameters: make(name, **SMALL.get(name, {}), **parameters) for name in OWN},
    "dice": lambda **parameters: env(Piglike(), **parameters),
    "three players": lambda **parameters: env(ThreeTake(), **parameters),
}
"""What makes each environment."""

every_env = pytest.mark.parametrize("name", EVERY)
# Observations are dictionaries; an empty board is all zeros, and so is the mask of a player who is not to move;
# Othello's players are black and white: all as it should be.
api_warnings = pytest.mark.filterwarnings(
    "ignore:Observation numpy array is all zeros",
    "ignore:Observation is not a NumPy array",
    "ignore:Action mask numpy array is all zeros",
    "ignore:Observation space for each agent probably should be",
    "ignore:We recommend agents to be named",
)
