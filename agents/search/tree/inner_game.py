"""A game of which a search sees another form: the states of that hold a state of the game."""

from __future__ import annotations

import abc
from collections.abc import Hashable, Sequence
from typing import Any

from zermelo.envs import Game


class FormOfGame(abc.ABC):
    """Answers for each state what the game ``inside`` answers for its ``state.state``; subclasses differ."""

    def __init__(self, game: Game[Any]) -> None:
        self.inside = game
        self.traits = game.traits

    @abc.abstractmethod
    def root(self, state: Any) -> Any:
        """A state of the game as one of this form."""

    def initial_state(self) -> Any:
        """The game's initial state."""
        return self.root(self.inside.initial_state())

    def to_move(self, state: Any) -> int:
        """The seat to move, or ``CHANCE``."""
        return self.inside.to_move(state.state)

    def legal_actions(self, state: Any) -> Sequence[int]:
        """The legal actions."""
        return self.inside.legal_actions(state.state)

    def chance_outcomes(self, state: Any) -> Sequence[tuple[int, float]]:
        """Each outcome and its probability."""
        return self.inside.chance_outcomes(state.state)

    def is_terminal(self, state: Any) -> bool:
        """True if the game has ended."""
        return self.inside.is_terminal(state.state)

    def utility(self, state: Any) -> tuple[float, ...]:
        """The rewards so far."""
        return self.inside.utility(state.state)

    def key(self, state: Any) -> Hashable:
        """The game's key."""
        return self.inside.key(state.state)

    def to_env_action(self, state: Any, action: int) -> Any:
        """The action as ``env.step`` takes it."""
        return self.inside.to_env_action(state.state, action)
