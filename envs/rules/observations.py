"""Observations of rules, seen from a seat's side, its own pieces first.

``write_observation(state, seat, numbers)`` writes integers into zeros, of the form that ``observation_box()``
says; it can be compiled. ``observation(state, seat)`` returns an array and is not. Without either, a player
observes one row of 64 bits for every integer of the state, lowest bit first, and a last row with the bit of its
seat.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from zermelo.envs.errors import RulesError


def bit_rows(integers: Iterable[int]) -> npt.NDArray[np.int8]:
    """The bits of integers of 64 bits, of shape (how many, 64), lowest bit first."""
    words = np.array([value & (1 << 64) - 1 for value in integers], dtype="<u8")
    return np.unpackbits(words.view(np.uint8), bitorder="little").reshape(-1, 64).view(np.int8)


def observation_dtype(rules: Any) -> np.dtype[Any]:
    """The type of integers, with a sign, that ``write_observation`` writes; else raises ``RulesError``."""
    name: str = rules.observation_box()[2]
    if name not in ("int8", "int16", "int32", "int64"):
        raise RulesError(
            f"{type(rules).__name__}.observation_box must say 'int8', 'int16', 'int32' or 'int64', not {name!r}"
        )
    return np.dtype(name)


def observation(rules: Any, state: Any, seat: int) -> npt.NDArray[Any]:
    """The observation of a seat at a state."""
    if hasattr(rules, "write_observation"):
        shape = rules.observation_box()[0]
        numbers = np.zeros(math.prod(shape), observation_dtype(rules))
        rules.write_observation(state, seat, numbers)
        return numbers.reshape(shape)
    own = getattr(rules, "observation", None)
    if own is not None:
        return np.asarray(own(state, seat))
    return bit_rows([*state, 1 << seat])


def observation_space(rules: Any) -> Any:
    """The Gymnasium ``Box`` of observations; ``RulesError`` if that at the start is no array within its bounds."""
    from gymnasium.spaces import Box

    box = getattr(rules, "observation_box", None)
    lower, upper = (0, 1) if box is None else box()[1]
    seen = observation(rules, rules.initial_state(), 0)
    if seen.dtype.kind not in "biuf" or seen.size == 0 or seen.min() < lower or seen.max() > upper:
        raise RulesError(
            f"{type(rules).__name__}.observation must return an array of numbers from {lower} to {upper} "
            f"(observation_box() says so), not {seen!r}"
        )
    dtype: Any = np.int8 if seen.dtype.kind == "b" else seen.dtype
    return Box(lower, upper, seen.shape, dtype)
