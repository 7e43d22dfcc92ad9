"""States of many games in arrays, and what players observe of them, in compiled code."""

from __future__ import annotations

from typing import Any

from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.monte_carlo.nodes import random_outcome
from zermelo.agents.learning.layout import Games
from zermelo.envs.jit.memory import floats, load, load_state, store, store_state, words
from zermelo.envs.rules.protocol import Rules

HISTORY = False
"""True if states know their past. The front ends set it for each kernel that they compile."""


def past_chance(rules: Rules, state: Any, buffer: int, width: int, search: Search) -> Any:
    """The state in which a player is to move, or the game is over: what chance does is drawn."""
    while not rules.is_terminal(state) and rules.to_move(state) < 0:
        probabilities = buffer + 8 * width
        count = rules.chance_outcomes(state, words(buffer, width), floats(probabilities, width))
        state = rules.result(state, load(buffer, random_outcome(search, count, probabilities, 1)))
    return state


def is_over(rules: Rules, state: Any, number: int, games: Games) -> bool:
    """True if a game has ended, or is too long."""
    return bool(rules.is_terminal(state) or load(games.moves, number) >= games.longest)


def state_of(rules: Any, like: Any, number: int, games: Games) -> Any:
    """The state of a game, its past put on the stack."""
    state = load_state(like, games.states + 8 * games.state_words * number)
    if HISTORY:
        own = games.stacks + 8 * games.stack_words * number
        for place in range(2 * state.length):
            store(rules.stack, place, load(own, place))
    return state


def keep(rules: Any, state: Any, number: int, games: Games) -> None:
    """Writes the state of a game, and what is new on the stack."""
    store_state(state, games.states + 8 * games.state_words * number)
    if HISTORY:
        own = games.stacks + 8 * games.stack_words * number
        for place in range(2 * state.length):
            store(own, place, load(rules.stack, place))
