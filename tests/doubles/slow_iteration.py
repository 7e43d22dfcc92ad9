"""Value iteration over any game for one or two players with exact chance: slow, obvious, and the tests' oracle."""

from __future__ import annotations

from typing import Any

import numpy as np

from zermelo.envs import CHANCE


def all_states(game: Any) -> list[Any]:
    """Every state that can be reached."""
    found = {game.initial_state(): 0}
    states = list(found)
    for state in states:  # it grows on the way
        for after in successors(game, state):
            if after not in found:
                found[after] = len(states)
                states.append(after)
    return states


def successors(game: Any, state: Any) -> list[Any]:
    if game.is_terminal(state):
        return []
    if game.to_move(state) == CHANCE:
        return [game.result(state, outcome) for outcome, _ in game.chance_outcomes(state)]
    return [game.result(state, action) for action in game.legal_actions(state)]


def iterate(game: Any, tolerance: float = 1e-13, most: int = 100_000) -> tuple[dict[Any, float], int]:
    """Every state's value for seat 0, and in how many sweeps no value changed by more than the tolerance."""
    states = all_states(game)
    number = {state: index for index, state in enumerate(states)}
    width = max(len(successors(game, state)) for state in states)
    # In row r: the states after state r, and their probabilities; a choice is a row of its own kind.
    after = np.zeros((len(states), width), dtype=np.int64)
    chances = np.zeros((len(states), width))
    known = np.zeros(len(states), dtype=bool)
    values = np.zeros(len(states))
    kinds = np.zeros(len(states), dtype=np.int64)
    for row, state in enumerate(states):
        following = [number[one] for one in successors(game, state)]
        if not following:
            known[row] = True
            values[row] = game.utility(state)[0]
            continue
        kinds[row] = game.to_move(state)
        after[row] = [*following, *[following[-1]] * (width - len(following))]
        if kinds[row] == CHANCE:
            chances[row, : len(following)] = [p for _, p in game.chance_outcomes(state)]
    for sweep in range(most):
        ahead = values[after]
        better = np.where(kinds == 0, ahead.max(axis=1), ahead.min(axis=1))
        new = np.where(known, values, np.where(kinds == CHANCE, (chances * ahead).sum(axis=1), better))
        change = np.abs(new - values).max()
        values = new
        if change <= tolerance:
            return dict(zip(states, map(float, values), strict=True)), sweep + 1
    raise AssertionError(f"the values still change by {change} after {most} sweeps")
