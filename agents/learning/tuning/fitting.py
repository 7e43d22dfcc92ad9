"""Regression of the returns of self-play on features, with a ridge penalty, and which weights features share.

Mirrors and turns of a board share weights if games from the first position go on alike under them. Sharing among
seats, the size of windows and phases are chosen by the loss on games that were not fitted to.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from zermelo.agents.evaluators.fitted.evaluator import FittedEvaluator
from zermelo.agents.evaluators.fitted.feature_sets import LARGE, AboveEvaluation
from zermelo.agents.evaluators.fitted.observed import Entries, FeatureSet
from zermelo.agents.evaluators.fitted.patterns import OWN, PatternFeatures, turned
from zermelo.agents.learning.tuning.self_play import Played
from zermelo.envs import Chance, Traits

_WALKS: Final = 2
_WALK_STEPS: Final = 200
_SEAT_WALKS: Final = 10
_FEWER: Final = 1.03
"""Fewer weights, of both seats in one or of smaller windows, are preferred up to this factor of the loss.

They know more about unusual positions, which searches ask about, and the games to choose by are few.
"""
_ALIKE: Final = 0.9
"""Turns may be chosen under which this share of the moves of the best turn look alike."""
_TEST_SHARE: Final = 0.1
"""Share of the games for the reported loss; another such share chooses settings."""
_RIDGES: Final = (30.0, 150.0, 750.0, 4_000.0)
_STEPS: Final = 150
_LATER_STEPS: Final = 60
"""In later rounds, which begin with the weights of the round before."""
_PILOT_GAMES: Final = 500
"""Games by which weight sharing is chosen."""
_PILOT_STEPS: Final = 40
_PILOT_RIDGE: Final = 150.0
_OUTCOMES: Final = 3
_MIN_PROBABILITY: Final = 1e-6


def with_symmetries(features: FeatureSet, game: Any, start: Any, generator: np.random.Generator) -> FeatureSet:
    """The features with weights shared by mirror images of the board, if those are symmetries of the game.

    Under a symmetry what can follow a position looks like what can follow its image; that is tried along games at
    random. Features of other kinds, and those of games of chance, are returned as they are.
    """
    inner = features.inner if isinstance(features, AboveEvaluation) else features
    if not isinstance(inner, PatternFeatures) or game.traits.chance is not Chance.NONE:
        return features
    walks = [[_look(inner, game, at) for at in _random_walk(game, start, generator)] for _ in range(_WALKS)]
    places = np.arange(inner.rows * inner.columns).reshape(inner.rows, inner.columns)
    among = range(8) if inner.rows == inner.columns else range(4)
    number_of = {turned(places, turn).tobytes(): turn for turn in among}
    turns = {0}
    for turn in among:
        if turn not in turns and all(_can_follow(inner, game, start, looks, turn) for looks in walks):
            more = {turn}
            while more:  # two symmetries after each other are one
                turns |= more
                pairs = itertools.product(turns, repeat=2)
                more = {number_of[turned(turned(places, one), two).tobytes()] for one, two in pairs} - turns
    return _outer(features, msgspec.structs.replace(inner, turns=tuple(sorted(turns))))


def _random_walk(game: Any, state: Any, generator: np.random.Generator) -> Iterator[Any]:
    """States of a game at random, until its end or chance."""
    yield state
    for _ in range(_WALK_STEPS):
        if game.is_terminal(state) or game.to_move(state) < 0:
            return
        actions = game.legal_actions(state)
        state = game.result(state, actions[int(generator.integers(len(actions)))])
        yield state


def _look(features: PatternFeatures, game: Any, state: Any) -> tuple[Any, Any]:
    """Returns who is to move, and the board; or how the game ended."""
    if game.is_terminal(state):
        return tuple(game.utility(state)), None
    cells = features.cells(game, [state])[0, :-1]
    return game.to_move(state), cells.reshape(features.rows, features.columns)


def _can_follow(
    features: PatternFeatures, game: Any, start: Any, looks: Sequence[tuple[Any, Any]], turn: int
) -> bool:
    """True if the images of a game's positions can follow each other too."""

    def is_image(look: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
        if look[0] != other[0] or (look[1] is None) != (other[1] is None):
            return False
        return look[1] is None or bool(np.array_equal(turned(look[1], turn), other[1]))

    if not is_image(looks[0], looks[0]):
        return False
    state = start
    for look in looks[1:]:
        following = (game.result(state, action) for action in game.legal_actions(state))
        state = next((child for child in following if is_image(look, _look(features, game, child))), None)
        if state is None:
            return False
    return True


def seat_turns(features: FeatureSet, game: Any, start: Any, generator: np.random.Generator) -> tuple[int, ...]:
    """Turns of the second seat's board under which its moves look like the first seat's.

    The loss does not tell: a board seen the wrong way round halves the weights too. So the moves of some random
    games are compared: which cells change, from what to what, wherever they are on the board.
    """
    inner = features.inner if isinstance(features, AboveEvaluation) else features
    if not isinstance(inner, PatternFeatures) or inner.seats != 2:
        return ()
    turns = (0, 1) if inner.rows == 1 else (0, 2, 3)
    seen: dict[int, Counter[bytes]] = {turn: Counter() for turn in (OWN, *turns)}
    for _ in range(_SEAT_WALKS):
        for state, child in itertools.pairwise(_random_walk(game, start, generator)):
            mover = game.to_move(state)
            before, after = (
                cells[:-1].reshape(inner.rows, inner.columns) for cells in inner.cells(game, [state, child], mover)
            )
            for turn in turns if mover == 1 else (OWN,):
                seen[turn][_change(turned(before, max(turn, 0)), turned(after, max(turn, 0)))] += 1
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
    lowest = loss_of(_outer(features, inner))
    for settings, worth in (
        ([{"second": turn} for turn in turns], _FEWER),
        ([{"longest": 4}], _FEWER),
        (_by_phases(inner), 1.0),
    ):
        tried = [msgspec.structs.replace(best, **setting) for setting in settings]
        losses = [loss_of(_outer(features, one)) for one in tried]
        if losses and min(losses) < worth * lowest:
            lowest = min(losses)
            best = tried[losses.index(lowest)]
    return _outer(features, best)


def _outer(features: FeatureSet, inner: PatternFeatures) -> FeatureSet:
    return AboveEvaluation(inner) if isinstance(features, AboveEvaluation) else inner


def _by_phases(features: PatternFeatures) -> list[dict[str, Any]]:
    """Four or eight phases, by how full the board is."""
    cells = features.rows * features.columns
    return [
        {"phases": tuple(cells * part // parts for part in range(1, parts))} for parts in (4, 8) if cells >= parts
    ]


Floats = npt.NDArray[np.float64]


class Fit(NamedTuple):
    """A regression's weights, and its loss on the test positions beside that of always predicting the average."""

    weights: Floats
    loss: float
    average: float


def regress(
    entries: Entries,
    targets: Floats,
    train: npt.NDArray[np.int64],
    test: npt.NDArray[np.int64],
    prior: Floats,
    *,
    ridge: float = 10.0,
    logistic: bool = True,
    steps: int = _STEPS,
    start: Floats | None = None,
) -> Fit:
    """A logistic or linear regression by L-BFGS (SciPy's).

    Targets are from 0 to 1 if it is logistic. ``train`` and ``test`` are indices of positions. The penalty
    ``ridge``, in positions, pulls weights towards the prior, at which they begin if no ``start`` is given.
    """
    import scipy.optimize  # where it is used: processes of agents load the modules of this package
    import scipy.sparse

    size = len(prior)
    matrix = scipy.sparse.csr_matrix((entries.values, entries.indices, entries.starts), (len(targets), size))
    rows, goals = matrix[train], targets[train]
    seen = np.unique(rows.indices)  # the others stay at the prior
    rows, center = rows[:, seen], prior[seen]
    columns = rows.T.tocsr()

    def penalty(weights: Floats) -> tuple[float, Floats]:
        predicted = _predictions(rows @ weights, logistic)
        away = weights - center
        loss = _losses(predicted, goals, logistic).sum() + ridge / 2 * float(away @ away)
        slope = predicted - goals if logistic else 2 * (predicted - goals)
        return loss, columns @ slope + ridge * away

    first = center if start is None else start[seen]
    found = scipy.optimize.minimize(penalty, first, jac=True, method="L-BFGS-B", options={"maxiter": steps})
    weights: Floats = prior.copy()
    weights[seen] = found.x
    average = np.full(len(test), goals.mean() if len(goals) else 0.5)
    losses = [
        _losses(predicted, targets[test], logistic)
        for predicted in (_predictions(matrix[test] @ weights, logistic), average)
    ]
    return Fit(weights, *(float(each.mean()) if len(test) else math.nan for each in losses))


def _predictions(sums: Any, logistic: bool) -> Floats:
    predicted: Floats = 1.0 / (1.0 + np.exp(-np.clip(sums, -30.0, 30.0))) if logistic else np.asarray(sums)
    return predicted


def _losses(predicted: Floats, targets: Floats, logistic: bool) -> Floats:
    if not logistic:
        squares: Floats = (predicted - targets) ** 2
        return squares
    predicted = np.clip(predicted, _MIN_PROBABILITY, 1.0 - _MIN_PROBABILITY)
    losses: Floats = -(targets * np.log(predicted) + (1.0 - targets) * np.log(1.0 - predicted))
    return losses


class Split(NamedTuple):
    """Games to fit to, to choose settings by, and to report the loss of."""

    train: Sequence[Played]
    validation: Sequence[Played]
    test: Sequence[Played]


def split_games(before: Sequence[Played], played: Sequence[Played]) -> Split:
    """Splits the games of the last round; very few games are used twice."""
    share = max(1, int(len(played) * _TEST_SHARE))
    validation = played[share : 2 * share] or played
    return Split([*before, *(played[2 * share :] or played)], validation, played[:share])


def prior_of(features: FeatureSet) -> Floats:
    """Weights before the first fit: the written evaluation counts once, other features nothing."""
    prior = np.zeros(features.size)
    if isinstance(features, AboveEvaluation):
        prior[-1] = 1.0 / LARGE
    return prior


def with_features(features: FeatureSet, game: Any, played: Played) -> Played:
    """The game with other features."""
    return dataclasses.replace(played, entries=features.entries(game, played.states))


def outcome_bounds(traits: Traits, played: Sequence[Played]) -> tuple[float, float]:
    """Bounds of outcomes: declared, else observed where only wins, draws and losses at the end were seen."""
    lower, upper = traits.utility_bounds
    if math.isfinite(upper - lower) or not traits.terminal_rewards_only or traits.seats != 2:
        return lower, upper
    seen = np.concatenate([game.returns for game in played])
    seen = np.unique(np.concatenate((seen, traits.constant - seen)))
    return (float(seen[0]), float(seen[-1])) if 1 < len(seen) <= _OUTCOMES else (lower, upper)


def with_sharing(
    features: FeatureSet, game: Any, bounds: tuple[float, float], games: Split, turns: Sequence[int]
) -> FeatureSet:
    """The features with the weight sharing that has the lowest loss on some of the games."""

    def loss_of(one: FeatureSet) -> float:
        train, validation = (
            [with_features(one, game, played) for played in part[:_PILOT_GAMES]] for part in games[:2]
        )
        targets, entries, logistic = _joined(bounds, [*train, *validation])
        first, second = np.split(np.arange(len(targets)), [sum(len(played.returns) for played in train)])
        settings: dict[str, Any] = {"ridge": _PILOT_RIDGE, "logistic": logistic, "steps": _PILOT_STEPS}
        return regress(entries, targets, first, second, prior_of(one), **settings).loss

    return best_sharing(features, loss_of, turns)


def _joined(bounds: tuple[float, float], games: Sequence[Played]) -> tuple[Floats, Entries, bool]:
    """Targets and features of all positions, and whether targets are shares of the utility."""
    lower, upper = bounds
    logistic = math.isfinite(upper - lower)
    targets = np.concatenate([game.returns for game in games])
    if logistic:
        targets = np.clip((targets - lower) / (upper - lower), 0.0, 1.0)
    return targets, Entries.joined([game.entries for game in games]), logistic


def fit(
    bounds: tuple[float, float], games: Split, prior: Floats, ridge: float | None, before: FittedEvaluator | None
) -> tuple[Fit, float]:
    """The regression with the given ridge, or the best one on the validation games; and that ridge."""
    targets, entries, logistic = _joined(bounds, [game for part in games for game in part])
    sizes = [sum(len(game.returns) for game in part) for part in games]
    train, validation, test = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])

    def fitted(strength: float, among: npt.NDArray[np.int64]) -> Fit:
        steps, start = (_STEPS, None) if before is None else (_LATER_STEPS, before.weights)
        return regress(
            entries, targets, train, among, prior, ridge=strength, logistic=logistic, steps=steps, start=start
        )

    if ridge is None:
        ridge = min(_RIDGES, key=lambda strength: fitted(strength, validation).loss)
    return fitted(ridge, test), ridge
