"""Positions of games of rules, for tests that compare two searches."""

from __future__ import annotations

import random
from typing import Any

from zermelo.envs import CHANCE
from zermelo.envs.rules import RulesGame

__all__ = ["random_positions"]


def random_positions(game: RulesGame, generator: random.Random, count: int, *, longest: int = 12) -> list[Any]:
    """Unfinished positions in which a player is to move, after fewer than ``longest`` random moves and rolls."""
    found: list[Any] = []
    while len(found) < count:
        state = game.initial_state()
        for _ in range(generator.randrange(longest)):
            if game.is_terminal(state):
                break
            if game.to_move(state) == CHANCE:
                actions = [outcome for outcome, _ in game.chance_outcomes(state)]
            else:
                actions = list(game.legal_actions(state))
            state = game.result(state, generator.choice(actions))
        if not game.is_terminal(state) and game.to_move(state) != CHANCE:
            found.append(state)
    return found
