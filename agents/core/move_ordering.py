"""In which order actions are tried: alpha-beta prunes most when the best comes first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from zermelo.agents.core.options import Ordering
from zermelo.envs import Game
from zermelo.envs.capabilities import SupportsOrdering

HIGH_HINT: Final = 1 << 26
"""Actions with a hint of that or more are tried before killers."""


class MoveOrder:
    """Orders the actions at a node, and learns from those that cut off.

    Args:
        game: The game, asked for ``ordering_hint(state, action)`` if it has one.
        ordering: Which order.
    """

    def __init__(self, game: Game[Any], ordering: Ordering = Ordering.FIXED) -> None:
        self._fixed = ordering is Ordering.FIXED
        self._hint = game.ordering_hint if isinstance(game, SupportsOrdering) else None
        self._killers: dict[int, tuple[int, ...]] = {}
        self._history: dict[tuple[int, int], float] = {}

    def order_moves(
        self, state: Any, actions: Sequence[int], mover: int, ply: int, table_action: int | None
    ) -> Sequence[int]:
        """The actions, most promising first; ties ascending."""
        if self._fixed or len(actions) < 2:
            return actions
        killers = self._killers.get(ply, ())
        history = self._history
        hint = self._hint

        def move_score(action: int) -> tuple[bool, bool, bool, float, float]:
            hinted = hint(state, action) if hint is not None else 0.0
            return (
                action != table_action,
                hinted < HIGH_HINT,
                hinted < HIGH_HINT and action not in killers,
                -hinted,
                -history.get((mover, action), 0.0),
            )

        return sorted(actions, key=move_score)

    def update_history(self, action: int, mover: int, ply: int, depth: float) -> None:
        """Remembers an action that made its siblings needless, ``depth`` moves above the horizon."""
        if self._fixed:
            return
        killers = self._killers.get(ply, ())
        if action not in killers:
            self._killers[ply] = (action, *killers[:1])
        weight = min(depth, 16.0)
        self._history[mover, action] = self._history.get((mover, action), 0.0) + weight * weight
