"""Which windows of a board there are, which share their weights, and which phases of a game do not.

Mirrors and turns are those under which games from the first position go on alike, and seats can share weights only
as their moves look alike. Whether they do, how large windows are, and phases, is what foretells best how games end
that were not fitted to.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from zermelo.agents.evaluators.feature_sets import AboveEvaluation
from zermelo.agents.evaluators.observed import FeatureSet
from zermelo.agents.evaluators.patterns import OWN, PatternFeatures, turned
from zermelo.envs import Chance

__all__ = ["best_sharing", "seat_turns", "with_symmetries"]

_WALKS: Final = 2
_STEPS: Final = 200
_SEAT_WALKS: Final = 10
_FEWER: Final = 1.03
"""With fewer weights, those of both seats in one or of smaller windows, games may be foretold that much worse.

Searches ask about unusual positions, which such weights know more about, and the games to choose by are few.
"""
_ALIKE: Final = 0.9
"""Turns under which almost as many moves look alike as under the best one may be chosen."""


def with_symmetries(features: FeatureSet, game: Any, start: Any, generator: np.random.Generator) -> FeatureSet:
    """The same features, weights shared by mirror images of the board, where that is a symmetry of the game.

    Under a symmetry what can follow a position looks like what can follow its image; that is tried along games at
    random. Features of other kinds, and those of games of chance, are as they were.
    """
    inner = features.inner if isinstance(features, AboveEvaluation) else features
    if not isinstance(inner, PatternFeatures) or game.traits.chance is not Chance.NONE:
        return features
    among = range(8) if inner.rows == inner.columns else range(4)
    turns = tuple(turn for turn in among if not turn or _is_symmetry(turn, inner, game, start, generator))
    return _outer(features, dataclasses.replace(inner, turns=turns))


def _is_symmetry(
    turn: int, features: PatternFeatures, game: Any, start: Any, generator: np.random.Generator
) -> bool:
    """Whether nothing is found along some games at random that the turn does to one side only."""
    shape = features.rows, features.columns
    places = turned(np.arange(features.rows * features.columns).reshape(shape), turn).ravel()

    def look(state: Any, order: Any = slice(None)) -> tuple[Any, ...]:
        if game.is_terminal(state):
            return tuple(game.utility(state))
        return game.to_move(state), features.cells(game, [state])[0, :-1][order].tobytes()

    if look(start, places) != look(start):
        return False
    for _ in range(_WALKS):
        state = image = start
        for _ in range(_STEPS):
            if game.is_terminal(state):
                break
            following = [game.result(state, action) for action in game.legal_actions(state)]
            state = following[int(generator.integers(len(following)))]
            wanted = look(state, places)
            images = (game.result(image, action) for action in game.legal_actions(image))
            found = next((child for child in images if look(child) == wanted), None)
            if found is None:
                return False
            image = found
    return True


def seat_turns(features: FeatureSet, game: Any, start: Any, generator: np.random.Generator) -> tuple[int, ...]:
    """How the second seat's board may have to be turned for its moves to look like the first seat's.

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
            before, after = inner.cells(game, [state, child], mover)[:, :-1].reshape(2, inner.rows, inner.columns)
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
    """The same features, weights shared by the seats, only small windows, and then weights parted by phases.

    Features of other kinds are as they were.

    Args:
        features: Features of which nothing is shared yet.
        loss_of: How badly features foretell games, fitted to others.
        turns: How the second seat's board may be turned (``seat_turns``).
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
        tried = [dataclasses.replace(best, **setting) for setting in settings]
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
