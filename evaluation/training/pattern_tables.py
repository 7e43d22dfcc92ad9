"""Fitted patterns as compiled code looks them up, for rules whose boards are bits of the numbers of a state.

Nobody has to say which bit is which cell: in some hundred positions each cell of each plane that players are shown
is the same as one bit of the state. Where that is not so, nothing is looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from zermelo.agents.evaluators.feature_sets import LARGE, LEAST_SHARE, AboveEvaluation
from zermelo.agents.evaluators.fitted import FittedEvaluator
from zermelo.agents.evaluators.observed import FeatureSet, observed_array
from zermelo.agents.evaluators.patterns import OWN, PatternFeatures, turned
from zermelo.envs import Traits

__all__ = ["PatternTables", "find_bits"]

_WORDS: Final = 17
_Whole = npt.NDArray[np.int64]


def find_bits(features: FeatureSet, game: Any, states: Sequence[Any]) -> _Whole | None:
    """Which bit of the state each cell of each plane is, as the player to move is shown them.

    Args:
        features: Patterns of planes, or what is above an evaluation and made of those.
        game: Of two seats.
        states: Many positions of the game.

    Returns:
        Shape (2 seats, cells, planes, 2): which number of the state, and which bit of it. None if they are none.
    """
    inner = features.inner if isinstance(features, AboveEvaluation) else features
    if not isinstance(inner, PatternFeatures) or not inner.planes or game.traits.seats != 2:
        return None
    movers = np.array([game.to_move(state) for state in states])
    found = np.empty((2, inner.rows * inner.columns, len(inner.planes), 2), np.int64)
    for seat in (0, 1):
        chosen = [state for state, mover in zip(states, movers.tolist(), strict=True) if mover == seat]
        if not chosen:
            return None
        bits = np.array(chosen, np.int64)[:, :, None] >> np.arange(64) & 1
        of_state = bits.reshape(len(chosen), -1).astype(np.uint8).T
        known = {column.tobytes(): number for number, column in enumerate(of_state)}
        seen = np.stack([observed_array(game, state) for state in chosen])[..., inner.planes] != 0
        seen = seen.reshape(len(chosen), -1, len(inner.planes))
        so_far = np.logical_or.accumulate(seen, axis=2)  # the first plane that is set counts, so that will do too
        for cell, plane in np.ndindex(*seen.shape[1:]):
            columns = (part[:, cell, plane].astype(np.uint8).tobytes() for part in (seen, so_far))
            number = next((known[column] for column in columns if column in known), None)
            if number is None:
                return None
            found[seat, cell, plane] = divmod(number, 64)
    return found


class PatternTables:
    """The words that ``teacher_kernel.evaluate`` reads.

    Args:
        evaluator: Of patterns, with or without a written evaluation.
        bits: What ``find_bits`` found.
        state: Any state.
        traits: Of the game.

    Attributes:
        address: Of the words, which live as long as this object.
    """

    def __init__(self, evaluator: FittedEvaluator, bits: _Whole, state: Any, traits: Traits) -> None:
        features, weights, own = evaluator.features, evaluator.weights, 0.0
        if isinstance(features, AboveEvaluation):
            features, weights, own = features.inner, weights[:-1], LARGE * float(weights[-1])
        assert isinstance(features, PatternFeatures), "find_bits sees to it"
        cells, blocks = features.rows * features.columns, features.size // features.length
        by_pattern = weights.reshape(blocks, features.length)[:, features.first].ravel()
        numbers: list[int] = []
        found = features.windows()
        for offset, window, powers in found:
            numbers += [len(window), offset]
            for cell, power in zip(window, powers, strict=True):
                numbers += [cell, power]
        straight = np.arange(cells)
        turn = turned(straight.reshape(features.rows, features.columns), max(features.second, 0)).ravel()
        arrays: list[npt.NDArray[Any]] = [
            np.zeros(len(state), np.int64),
            np.zeros(cells + 1, np.int64),
            np.ascontiguousarray(bits, np.int64),
            np.concatenate((straight, np.argsort(turn))).astype(np.int64),
            np.array([*features.phases, 0], np.int64),
            np.ascontiguousarray(by_pattern, np.float64),
            np.array(numbers, np.int64),
        ]
        scratch, kinds, places, order, phases, table, windows = (array.ctypes.data for array in arrays)
        seat_weights = features.size // features.seats if features.second == OWN else 0
        self._words = np.zeros(_WORDS, np.int64)
        self._words[:15] = (
            *(cells, len(features.planes), scratch, kinds, places, order, len(features.phases), phases),
            *(features.length, table, seat_weights, len(found), windows),
            *map(int, traits.utility_bounds),
        )
        self._words[15:].view(np.float64)[:] = own, LEAST_SHARE
        self._arrays = arrays
        self.address = self._words.ctypes.data
