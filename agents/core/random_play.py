"""Games played at random in plain Python: chance outcomes drawn, and the states of whole games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from zermelo.envs import CHANCE, Chance


def draw_outcome(outcomes: Sequence[tuple[int, float]], generator: np.random.Generator) -> int:
    """A chance outcome, drawn by its probability."""
    threshold = generator.random()
    for outcome, probability in outcomes:
        threshold -= probability
        if threshold < 0:
            return int(outcome)
    return int(outcomes[-1][0])


def past_chance(game: Any, state: Any, generator: np.random.Generator) -> Any:
    """The next state in which a player is to move or the game is over, chance drawn."""
    while not game.is_terminal(state) and game.to_move(state) == CHANCE:
        state = game.result(state, draw_outcome(game.chance_outcomes(state), generator))
    return state


def after(game: Any, state: Any, action: int, generator: np.random.Generator) -> Any:
    """The state after an action, drawn where chance can only be simulated."""
    if game.traits.chance is Chance.SAMPLED:
        return game.sample_result(state, action, generator)
    return game.result(state, action)


def random_game(game: Any, state: Any, generator: np.random.Generator, most: int) -> Iterator[Any]:
    """The states of a random game in which a player is to move, ``most`` of them at most."""
    for _ in range(most):
        state = past_chance(game, state, generator)
        if game.is_terminal(state):
            return
        yield state
        actions = game.legal_actions(state)
        state = after(game, state, actions[int(generator.integers(len(actions)))], generator)
