"""Positions of AEC environments."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from zermelo.envs.adapters.wrappers import game_name


class EnvState:
    """A position: a copy of the environment, never stepped again, and what has been paid on the way to it."""

    __slots__ = ("actions", "before", "env", "key", "mover", "outcomes", "over", "seen", "totals")

    def __init__(self, env: Any, before: tuple[float, ...], totals: tuple[float, ...], mover: int, over: bool):
        self.env = env
        self.before = before
        """Rewards up to the step that is under way; differs from ``totals`` at a chance event."""
        self.totals = totals
        self.mover = mover
        self.over = over
        self.actions: tuple[int, ...] | None = None
        self.outcomes: tuple[tuple[Any, float], ...] | None = None
        self.key: Hashable = None
        self.seen: Any = None
        """What the mover observes, once somebody has asked: with the mask, environments may be slow to find it."""

    def __repr__(self) -> str:
        return f"<state of {game_name(self.env)}, {'over' if self.over else f'seat {self.mover} to move'}>"
