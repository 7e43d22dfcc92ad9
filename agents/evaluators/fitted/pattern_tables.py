"""Fitted patterns as compiled code looks them up, for rules whose boards are bits of the numbers of a state.

Nobody has to say which bit is which cell: in some hundred positions each cell of each plane that players are shown
is the same as one bit of the state. Where that is not so, nothing is looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from zermelo.agents.evaluators.fitted.feature_sets import MIN_PROBABILITY, TIMES
from zermelo.agents.evaluators.fitted.observed import observed_array
from zermelo.agents.evaluators.fitted.patterns import OWN, PatternFeatures, turned
from zermelo.envs import Chance
from zermelo.envs.rules.contract import method_or_default
from zermelo.envs.rules.history import has_history
from zermelo.envs.rules.rules_game import RulesGame

_WORDS: Final = 18
_GAMES: Final = 40
_STATES: Final = 400
_Whole = npt.NDArray[np.int64]


def can_have_tables(features: Any, game: Any) -> bool:
    """True for patterns of planes, over rules for two players without chance whose states are integers."""
    if not isinstance(features, PatternFeatures) or not features.planes or not isinstance(game, RulesGame):
        return False
    traits, kind = game.traits, type(game)
    if kind.observation is not RulesGame.observation or not traits.terminal_rewards_only:
        return False
    if traits.utility_bounds != tuple(method_or_default(game.rules, "utility_bounds")()):
        return False  # an environment's rewards are others
    if traits.seats != 2 or traits.chance is not Chance.NONE or sum(traits.utility_bounds) != traits.constant:
        return False
    return not has_history(game.rules) and all(isinstance(part, int) for part in game.rules.initial_state())


def random_states(game: Any) -> list[Any]:
    """The states of some random games, always the same ones."""
    generator, found = np.random.default_rng(1), list[Any]()
    for _ in range(_GAMES):
        state = game.initial_state()
        while not game.is_terminal(state) and len(found) < _STATES:
            found.append(state)
            actions = game.legal_actions(state)
            state = game.result(state, actions[int(generator.integers(len(actions)))])
    return found


def find_bits(features: PatternFeatures, game: Any, states: Sequence[Any]) -> _Whole | None:
    """Which bit of the state each cell of each plane is, as its mover is shown them; None if they are none.

    Shape (2 seats, cells, planes, 2): which number of the state, and which bit of it.
    """
    movers = np.array([game.to_move(state) for state in states])
    found = np.empty((2, features.rows * features.columns, len(features.planes), 2), np.int64)
    for seat in (0, 1):
        chosen = [state for state, mover in zip(states, movers.tolist(), strict=True) if mover == seat]
        if not chosen:
            return None
        bits = np.array(chosen, np.int64)[:, :, None] >> np.arange(64) & 1
        of_state = bits.reshape(len(chosen), -1).astype(np.uint8).T
        known: dict[bytes, list[int]] = {}
        for number, column in enumerate(of_state):
            known.setdefault(column.tobytes(), []).append(number)
        seen = np.stack([observed_array(game, state) for state in chosen])[..., features.planes] != 0
        seen = seen.reshape(len(chosen), -1, len(features.planes)).astype(np.uint8)
        so_far = np.bitwise_or.accumulate(seen, axis=2)  # the first plane that is set counts, so that will do too
        for plane in range(len(features.planes)):
            for columns in (seen[..., plane].T, so_far[..., plane].T):
                numbers = _numbers([known.get(column.tobytes(), []) for column in columns], features.columns)
                if numbers is not None:
                    break
            else:
                return None
            found[seat, :, plane] = np.stack(np.divmod(numbers, 64), axis=-1)
    return found


def _numbers(candidates: Sequence[Sequence[int]], width: int) -> _Whole | None:
    """Which of the bits that look like each cell it is; None if some look like none.

    Where several do, such as those that were never set, it is the one that lies to the others as the cell does.
    """
    cells = np.arange(len(candidates))
    certain = np.array([len(each) == 1 for each in candidates])
    numbers = np.array([each[0] if each else -1 for each in candidates])
    if (numbers < 0).any():
        return None
    if certain.all():
        return numbers
    places = np.stack((np.ones_like(cells), cells // width, cells % width), axis=1)
    if not certain.any() or np.linalg.matrix_rank(places[certain]) < np.linalg.matrix_rank(places):
        return None
    steps, *_ = np.linalg.lstsq(places[certain].astype(float), numbers[certain].astype(float), rcond=None)
    expected = np.rint(places @ steps).astype(np.int64)
    fits = all(number in each for number, each in zip(expected.tolist(), candidates, strict=True))
    return expected if fits else None


class PatternTables:
    """The words that ``agents.compiled.evaluators.patterns`` reads, at ``address``, as long as this object lives.

    ``bits`` are what ``find_bits`` found, ``written`` is the weight of the written evaluation's log odds.
    """

    is_network = False

    def __init__(
        self,
        features: PatternFeatures,
        weights: npt.NDArray[np.float64],
        bits: _Whole,
        game: Any,
        written: float = 0.0,
    ) -> None:
        cells, blocks = features.rows * features.columns, features.size // features.layout.length
        by_pattern = weights.reshape(blocks, features.layout.length)[:, features.layout.first].ravel()
        numbers: list[int] = []
        found = features.windows()
        for offset, window, powers in found:
            numbers += [len(window), offset]
            for cell, power in zip(window, powers, strict=True):
                numbers += [cell, power]
        straight = np.arange(cells)
        turn = turned(straight.reshape(features.rows, features.columns), max(features.second, 0)).ravel()
        self._arrays: list[npt.NDArray[Any]] = [
            np.ascontiguousarray(bits, np.int64),
            np.concatenate((straight, np.argsort(turn))).astype(np.int64),
            np.array([*features.phases, 0], np.int64),
            np.ascontiguousarray(by_pattern, np.float64),
            np.array(numbers, np.int64),
        ]
        places, order, phases, table, windows = (array.ctypes.data for array in self._arrays)
        seat_weights = features.size // features.seats if features.second == OWN else 0
        self._fields = len(game.rules.initial_state())
        self._words = np.zeros(_WORDS, np.int64)
        self._words[:15] = (
            *(cells, len(features.planes), 0, 0, places, order, len(features.phases), phases),
            *(features.layout.length, table, seat_weights, len(found), windows),
            *map(int, game.traits.utility_bounds),
        )
        self._words[15:].view(np.float64)[:] = written, MIN_PROBABILITY, TIMES
        self._own = self.words()
        self.address = self._own.ctypes.data

    def words(self) -> _Whole:
        """A block of them with room to work in: one for each thread. It is of use as long as this object lives."""
        cells = int(self._words[0])
        block = np.concatenate((self._words, np.zeros(self._fields + cells + 1, np.int64)))
        block[2] = block.ctypes.data + 8 * _WORDS
        block[3] = block[2] + 8 * self._fields
        return block
