"""The form of what players observe, for kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from zermelo.envs import UnsupportedGameError
from zermelo.envs.rules.history import has_history
from zermelo.envs.rules.observations import observation_dtype, observation_space
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.words import flat


class Observer:
    """The form of a game's observations, which kernels write, and the constants of kernels of many games."""

    def __init__(self, game: RulesGame) -> None:
        rules = game.rules
        writes = hasattr(rules, "write_observation")
        if hasattr(rules, "observation") and not writes:
            raise UnsupportedGameError(
                f"{game.traits.name} has observations that do not compile, which many games at once need: write "
                "write_observation, or take OpponentEnv in gymnasium.vector.AsyncVectorEnv"
            )
        self.space = observation_space(rules)
        self.shape: tuple[int, ...] = tuple(self.space.shape)
        self.size = int(np.prod(self.shape))
        self.words = len(flat(rules.initial_state()))
        wide = writes and observation_dtype(rules).itemsize > 1
        self.dtype: Any = np.int64 if wide else np.int8
        here = "zermelo.agents.training.vectors.observing_kernel"
        self.constants = {
            f"{here}.OBSERVES": writes,
            f"{here}.WIDE": wide,
            "zermelo.agents.training.vectors.kernel.HISTORY": has_history(rules),
        }
