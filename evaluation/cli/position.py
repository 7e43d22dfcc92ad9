"""A position to look at: an environment with some moves played."""

from __future__ import annotations

from zermelo.evaluation.match.env_driver import EnvDriver, drive_env
from zermelo.evaluation.match.sources import build_env
from zermelo.evaluation.output.positions.moves import play_moves


def position_after(env: str, moves: str, seed: int) -> EnvDriver:
    """The environment of that name, reset with the seed, after moves such as ``3,3,2`` or ``e4,e5``."""
    driver = drive_env(build_env(env)[0], seed)
    play_moves(driver, moves)
    return driver
