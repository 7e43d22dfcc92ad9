"""Which mirrors of a board share their weights, which seats do, and in which phases weights differ.

Mirrors and turns share weights if games from the first position go on alike under them. Sharing among seats, the
size of windows and phases are chosen by the loss on games that were not fitted to.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from zermelo.agents.evaluators.fitted.feature_sets import AboveEvaluation
from zermelo.agents.evaluators.fitted.observed import FeatureSet
from zermelo.agents.evaluators.fitted.patterns import OWN, PatternFeatures, turned
from zermelo.envs import Chance

_WALKS: Final = 2
_STEPS: Final = 200
_SEAT_WALKS: Final = 10
_FEWER: Final = 1.03
"""Fewer weights, of both seats in one or of smaller windows, are preferred up to this factor of the loss.

They know more about unusual positions, which searches ask about, and the games to choose by are few.
"""
_ALIKE: Final = 0.9
"""Turns may be chosen under which this share of the moves of the best turn look alike."""


def with_symmetries(features: FeatureSet, game: Any, start: Any, generator: np.random.Generator) -> FeatureSet:
    """The features with weights shared by mirror images of the board, if those are symmetries of the game.

    Under a symmetry what can follow a position looks like what can follow its image; that is tried along games at
    random. Features of other kinds, and those of games of chance, are returned as they are.
    """
    inner = features.inner if isinstance(features, AboveEvaluation) else features
    if not isinstance(inner, PatternFeatures) or game.traits.chance is not Chance.NONE:
        return features
    walks = _Walks(inner, game, start, generator)
    return _outer(features, msgspec.structs.replace(inner, turns=_turns(walks, inner)))


def _turns(walks: _Walks, features: PatternFeatures) -> tuple[int, ...]:
    """The mirrors and turns of the board that are symmetries; what two of them do after each other is one."""
    places = np.arange(features.rows * features.columns).reshape(features.rows, features.columns)
    among = range(8) if features.rows == features.columns else range(4)
    number_of = {turned(places, turn).tobytes(): turn for turn in among}
    turns = {0}
    for turn in among:
        if turn not in turns and walks.are_alike(functools.partial(turned, turn=turn)):
            more = {turn}
            while more:
                turns |= more
                pairs = itertools.product(turns, repeat=2)
                more = {number_of[turned(turned(places, one), two).tobytes()] for one, two in pairs} - turns
    return tuple(sorted(turns))


class _Walks:
    """Some games at random, and whether what happens in them can happen to their images.

    Args:
        features: What there is to see.
        game: The game.
        start: Where they begin.
        generator: Of the moves.
    """

    def __init__(self, features: PatternFeatures, game: Any, start: Any, generator: np.random.Generator) -> None:
        self._features, self._game, self._start = features, game, start
        self._walks: list[list[Any]] = []
        for _ in range(_WALKS):
            state, looks = start, list[Any]()
            while not game.is_terminal(state) and len(looks) < _STEPS:
                actions = game.legal_actions(state)
                state = game.result(state, actions[int(generator.integers(len(actions)))])
                looks.append(self._look(state))
            self._walks.append(looks)

    def _look(self, state: Any) -> tuple[Any, Any]:
        """Who is to move, and the board; how the game ended."""
        if self._game.is_terminal(state):
            return tuple(self._game.utility(state)), None
        features = self._features
        cells = features.cells(self._game, [state])[0, :-1]
        return self._game.to_move(state), cells.reshape(features.rows, features.columns)

    def are_alike(self, image_of: Callable[[Any], Any]) -> bool:
        """True if the images of all positions can follow each other too."""

        def is_image(look: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
            if look[0] != other[0] or (look[1] is None) != (other[1] is None):
                return False
            return look[1] is None or bool(np.array_equal(image_of(look[1]), other[1]))

        game, first = self._game, self._look(self._start)
        if not is_image(first, first):
            return False
        for looks in self._walks:
            state = self._start
            for look in looks:
                following = (game.result(state, action) for action in game.legal_actions(state))
                found = next((child for child in following if is_image(look, self._look(child))), None)
                if found is None:
                    return False
                state = found
        return True


def seat_turns(features: FeatureSet, game: Any, start: Any, generator: np.random.Generator) -> tuple[int, ...]:
    """Turns of the second seat's board under which its moves look like the first seat's.

    What loss says of that is no help: to see a board the wrong way round halves the weights too, and hardly hurts
    where few games are foretold. So the moves of some games at random are compared: which cells change, from what
    to what, wherever they are on the board.
    """
    inner = features.inner if isinstance(features, AboveEvaluation) else features
    if not isinstance(inner, PatternFeatures) or inner.seats != 2:
        return ()
    turns = (0, 1) if inner.rows == 1 else (0, 2, 3)
    seen: dict[int, Counter[bytes]] = {turn: Counter() for turn in (OWN, *turns)}
    for _ in range(_SEAT_WALKS):
        state = start
        for _ in range(_STEPS):
            if game.is_terminal(state) or game.to_move(state) < 0:
                break
            mover = game.to_move(state)
            actions = game.legal_actions(state)
            child = game.result(state, actions[int(generator.integers(len(actions)))])
            before, after = (
                cells[:-1].reshape(inner.rows, inner.columns) for cells in inner.cells(game, [state, child], mover)
            )
            for turn in turns if mover == 1 else (OWN,):
                seen[turn][_change(turned(before, max(turn, 0)), turned(after, max(turn, 0)))] += 1
            state = child
    known = seen.pop(OWN)
    alike = {turn: sum(count for change, count in of.items() if change in known) for turn, of in seen.items()}
    return tuple(turn for turn in turns if alike[turn] >= _ALIKE * max(alike.values()))


def _change(before: Any, after: Any) -> bytes:
    """The part of the board that changes, before and after."""
    rows, columns = np.nonzero(before != after)
    if not len(rows):
        return b""
    box = slice(rows.min(), rows.max() + 1), slice(columns.min(), columns.max() + 1)
    differ = before[box] != after[box]
    parts = np.where(differ, before[box], -1), np.where(differ, after[box], -1)
    return bytes(str(differ.shape), "ascii") + b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


def best_sharing(features: FeatureSet, loss_of: Callable[[FeatureSet], float], turns: Sequence[int]) -> FeatureSet:
    """The features with weight sharing, window size and phases chosen by their loss.

    ``turns`` are those of ``seat_turns``. Features of other kinds are as they were.
    """
    inner = features.inner if isinstance(features, AboveEvaluation) else features
    if not isinstance(inner, PatternFeatures):
        return features
    best = inner
    least = loss_of(_outer(features, inner))
    for settings, worth in (
        ([{"second": turn} for turn in turns], _FEWER),
        ([{"longest": 4}], _FEWER),
        (_by_phases(inner), 1.0),
    ):
        tried = [msgspec.structs.replace(best, **setting) for setting in settings]
        losses = [loss_of(_outer(features, one)) for one in tried]
        if losses and min(losses) < worth * least:
            least = min(losses)
            best = tried[losses.index(least)]
    return _outer(features, best)


def _outer(features: FeatureSet, inner: PatternFeatures) -> FeatureSet:
    return AboveEvaluation(inner) if isinstance(features, AboveEvaluation) else inner


def _by_phases(features: PatternFeatures) -> list[dict[str, Any]]:
    """Four or eight phases, by how full the board is."""
    cells = features.rows * features.columns
    return [
        {"phases": tuple(cells * part // parts for part in range(1, parts))} for parts in (4, 8) if cells >= parts
    ]
