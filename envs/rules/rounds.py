"""Rules whose players move at the same time: asked in turn, they do not see what others have just chosen.

Such rules have a method ``round_start(state)``, which takes back what has been chosen in the present round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zermelo.envs.errors import IllegalActionError, require_actions_of
from zermelo.envs.game import CHANCE
from zermelo.envs.rules.contract import method_or_default


class Rounds:
    """Moves at the same time in a game over rules, which ask all seats in turn."""

    def __init__(self, game: Any) -> None:
        self._game = game

    def movers(self, state: Any) -> Sequence[int]:
        """All seats; none at a chance event or at the end."""
        game = self._game
        if game.is_terminal(state) or game.to_move(state) == CHANCE:
            return ()
        return range(game.traits.seats)

    def actions_of(self, state: Any, seat: int) -> Sequence[int]:
        """The legal actions of one of the seats; what others choose makes no difference to them."""
        game = self._game
        state = game.rules.round_start(state)
        while game.to_move(state) != seat:
            state = game.result(state, game.legal_actions(state)[0])
        actions: Sequence[int] = game.legal_actions(state)
        return actions

    def joint_result(
        self, state: Any, actions: Mapping[int, int], generator: np.random.Generator | None = None
    ) -> Any:
        """The state after this round; chance events are states of their own.

        Raises:
            IllegalActionError: An action is not legal, or they are not of all seats.
        """
        game = self._game
        movers = self.movers(state)
        require_actions_of(movers, actions, game.traits.name)
        state = game.rules.round_start(state)
        for _ in movers:
            action = actions[game.to_move(state)]
            if action not in game.legal_actions(state):
                raise IllegalActionError(
                    f"{action!r} is not legal for player {game.to_move(state)} in {game.traits.name} now"
                )
            state = game.result(state, action)
        return state

    def hides_more(self) -> bool:
        """Whether the rules say that anything besides the moves of a round is hidden."""
        return bool(method_or_default(self._game.rules, "hides_more")())
