"""States of games on copies of a live environment."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from zermelo.envs.adapters.watching import Watch
from zermelo.envs.live.spaces import ActionCodec
from zermelo.envs.live.wrappers import game_name


@dataclass(slots=True, eq=False, repr=False)
class CopiedState:
    """A position: a copy of the environment, never stepped again, and what has been paid on the way to it.

    Attributes:
        totals: The rewards so far, seat by seat.
        mover: The seat to move, or ``CHANCE``.
        before: Rewards up to the step that is under way; differs from ``totals`` at a chance event.
        seen: What the mover observes, where that is known: environments may be slow to find it.
        info: What ``step`` of a Gymnasium environment said besides; None where nothing has been said.
        outcomes: The outcomes of declared chance with their probabilities.
        received: The rewards that seats have been given at their turns; the rest of ``totals`` waits for them.
        actions: The legal actions, once somebody has asked; so are ``codec``, the numbers of actions, and ``key``.
        watch: What looks at the steps of the search that it belongs to; None where nothing is assumed.
    """

    env: Any
    totals: tuple[float, ...]
    mover: int = 0
    over: bool = False
    before: tuple[float, ...] = ()
    seen: Any = None
    info: Mapping[str, Any] | None = None
    outcomes: tuple[tuple[Any, float], ...] = ()
    received: tuple[float, ...] = ()
    actions: tuple[int, ...] | None = None
    codec: ActionCodec | None = None
    key: Hashable = None
    watch: Watch | None = None

    def __repr__(self) -> str:
        return f"<state of {game_name(self.env)}, {'over' if self.over else f'seat {self.mover} to move'}>"
