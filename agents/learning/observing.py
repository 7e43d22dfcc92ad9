"""Observations of states that compiled code has written."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.envs.jit.memory import load_state
from zermelo.envs.rules.history import has_history
from zermelo.envs.rules.observations import observation, observation_dtype, observation_space
from zermelo.envs.rules.rules_game import RulesGame


def words_in(state: Any) -> int:
    """Number of words of a state, those of the tuples inside it included."""
    return sum(words_in(part) if isinstance(part, tuple) else 1 for part in state)


class Observer:
    """Observations of a game's states, one below the other.

    Kernels write those of rules that say ``write_observation``, or nothing about observations. Of rules that say
    ``observation``, which does not compile, kernels write the states, and Python makes observations of them.

    Args:
        game: The game.

    Attributes:
        dtype: What kernels write: integers of one byte, or of eight.
        shape: That of an observation.
        size: How many numbers that is.
        words: How many words of a state are the position; the rest is its past.
        space: The space of an observation.
        in_python: Whether Python makes observations.
        constants: The constants of ``states_kernel`` for the rules: their past, and how players observe them.
    """

    def __init__(self, game: RulesGame) -> None:
        self._game, self._like = game, game.rules.initial_state()
        space = observation_space(game.rules)
        self.shape: tuple[int, ...] = tuple(space.shape)
        self.size = int(np.prod(self.shape))
        self.words = words_in(self._like)
        writes = hasattr(game.rules, "write_observation")
        self.in_python = hasattr(game.rules, "observation") and not writes
        wide = writes and observation_dtype(game.rules).itemsize > 1
        self.dtype: Any = np.int64 if wide else np.int8
        self.space = space
        bits = not writes and not self.in_python
        constants = {
            "HISTORY": has_history(game.rules),
            "OBSERVES": writes and not wide,
            "WIDE": wide,
            "BITS": bits,
        }
        self.constants = {
            f"zermelo.agents.learning.states_kernel.{name}": value for name, value in constants.items()
        }

    def seen(
        self, written: NDArray[Any], states: NDArray[np.int64], observers: NDArray[np.int64] | None = None
    ) -> NDArray[Any]:
        """The observations of all states, of shape (states, *shape).

        They are what the kernel has ``written``, or made of ``states`` where it wrote none; the players to move
        observe, if no ``observers`` are given.
        """
        if not self.in_python:
            return written.reshape(-1, *self.shape)
        rules = self._game.rules
        found = np.zeros((len(states), *self.shape), self.space.dtype)
        for number, row in enumerate(states):
            position = load_state(self._like, row.ctypes.data)
            seat = rules.to_move(position) if observers is None else observers[number]
            found[number] = observation(rules, position, int(seat))
        return found
