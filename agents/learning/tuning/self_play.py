"""Games of an agent against itself, and the value of their positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from zermelo.agents.core.playouts import after, past_chance
from zermelo.agents.players.search_agent import SearchAgent

MAX_MOVES: Final = 2_000
_EXPLORE: Final = 0.3
"""Probability of a random move in the opening."""


class Choice(NamedTuple):
    """An action, and the utility that its player expects; None if that is unknown."""

    action: int
    value: float | None


Player: TypeAlias = Callable[[Any], Choice]


def searching(game: Any, agent: SearchAgent, *, is_learned: bool) -> Player:
    """A player that searches; its value counts only if its evaluation was learned."""

    def choose(state: Any) -> Choice:
        result = agent.search_state(game, state)
        return Choice(result.action, result.value if is_learned else None)

    return choose


def at_random(game: Any, generator: np.random.Generator) -> Player:
    """A player of random moves."""

    def choose(state: Any) -> Choice:
        actions = game.legal_actions(state)
        return Choice(actions[int(generator.integers(len(actions)))], None)

    return choose


@dataclass(frozen=True)
class SelfPlay:
    """Games of a player against itself; opening moves may be random.

    Only positions that no random move follows are recorded: there the end of the game is the value between equals,
    also after moves that nobody would choose, and searches ask about such positions most.

    Attributes:
        players: The player, and perhaps a partner, who has one seat of every other game.
        opening: Moves after which none is random, at most.
        positions: Positions recorded of a game, at most: neighbours say the same.
        records: Says of a position and what was chosen whether to record it.
    """

    game: Any
    starts: Sequence[Any]
    players: Sequence[Player]
    opening: int
    positions: int
    generator: np.random.Generator
    records: Callable[[Any, Choice], bool] = lambda state, choice: True

    def play(self) -> tuple[list[tuple[Any, Choice]], Sequence[float]]:
        """Positions of one game, and its utilities; no positions if it was over before any, or too long."""
        game, generator = self.game, self.generator
        state = self.starts[int(generator.integers(len(self.starts)))]
        until, partner_seat = int(generator.integers(self.opening + 1)), int(generator.integers(4))
        recorded: list[tuple[Any, Choice]] = []
        for move in range(MAX_MOVES):
            state = past_chance(game, state, generator)
            if game.is_terminal(state):
                chosen = np.sort(generator.permutation(len(recorded))[: self.positions])
                return [recorded[place] for place in chosen], game.utility(state)
            if move < until and generator.random() < _EXPLORE:
                choice = at_random(game, generator)(state)
            else:
                choice = self.players[-1 if game.to_move(state) == partner_seat else 0](state)
                if move >= until and self.records(state, choice):
                    recorded.append((state, choice))
            state = after(game, state, choice.action, generator)
        return [], ()
