"""Minimax that remembers: the value of every position of a small game."""

from __future__ import annotations

from typing import Any

from zermelo.envs import Game, as_game


class Values:
    """The value of every position for the first player."""

    def __init__(self, rules: Any) -> None:
        self.game: Game[Any] = as_game(rules)
        self.known: dict[Any, float] = {}

    def of(self, state: Any) -> float:
        if self.game.is_terminal(state):
            return self.game.utility(state)[0]
        if state not in self.known:
            values = [self.of(self.game.result(state, action)) for action in self.game.legal_actions(state)]
            self.known[state] = max(values) if self.game.to_move(state) == 0 else min(values)
        return self.known[state]


def value(rules: Any) -> float:
    """The value of the start."""
    return Values(rules).of(rules.initial_state())
