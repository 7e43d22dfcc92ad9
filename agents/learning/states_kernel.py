"""States of many games in arrays, and what players observe of them, in compiled code."""

from __future__ import annotations

from typing import Any

from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.monte_carlo.nodes import random_outcome
from zermelo.agents.learning.layout import Batch, States
from zermelo.envs.jit.memory import floats, int8s, load, load_state, store, store_state, words
from zermelo.envs.rules.protocol import Rules

HISTORY = False
"""True if states know their past. The front ends set these constants for each kernel that they compile."""
OBSERVES = False
"""True if the rules write observations; else these are the bits of the state, and who observes."""
WIDE = False
"""True if their numbers have more than one byte; they then take a word each."""


def past_chance(rules: Rules, state: Any, buffer: int, width: int, search: Search) -> Any:
    """The state in which a player is to move, or the game is over: what chance does is drawn."""
    while not rules.is_terminal(state) and rules.to_move(state) < 0:
        probabilities = buffer + 8 * width
        count = rules.chance_outcomes(state, words(buffer, width), floats(probabilities, width))
        state = rules.result(state, load(buffer, random_outcome(search, count, probabilities, 1)))
    return state


def is_over(rules: Rules, state: Any, number: int, games: States) -> bool:
    """True if a game has ended, or is too long."""
    return bool(rules.is_terminal(state) or load(games.moves, number) >= games.longest)


def state_of(rules: Any, like: Any, number: int, games: States) -> Any:
    """The state of a game, its past put on the stack."""
    state = load_state(like, games.states + 8 * games.state_words * number)
    if HISTORY:
        own = games.stacks + 8 * games.stack_words * number
        for place in range(2 * state.length):
            store(rules.stack, place, load(own, place))
    return state


def keep(rules: Any, state: Any, number: int, games: States) -> None:
    """Writes the state of a game, and what is new on the stack."""
    store_state(state, games.states + 8 * games.state_words * number)
    if HISTORY:
        own = games.stacks + 8 * games.stack_words * number
        for place in range(2 * state.length):
            store(own, place, load(rules.stack, place))


def observe(
    rules: Rules, state: Any, observer: int, seen: int, number: int, spare: int, games: States | Batch
) -> None:
    """Writes what a seat observes of a state: number ``number`` of the observations at address ``seen``.

    At ``spare`` are ``games.state_words`` words that may be written to.
    """
    if WIDE:
        wide = words(seen + 8 * number * games.observed, games.observed)
        wide[:] = 0
        rules.write_observation(state, observer, wide)
        return
    numbers = int8s(seen + number * games.observed, games.observed)
    numbers[:] = 0
    if OBSERVES:
        rules.write_observation(state, observer, numbers)
    else:
        store_state(state, spare)
        for place in range(games.position_words):
            word = load(spare, place)
            for bit in range(64):
                numbers[64 * place + bit] = word >> bit & 1
        numbers[64 * games.position_words + observer] = 1
